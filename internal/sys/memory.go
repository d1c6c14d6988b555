// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"io/fs"
	"math"
)

// Room is how much memory can still be populated before a limit is reached: past
// it the kernel kills a process, perhaps this one.
type Room struct {
	Bytes uint64 // what is left; math.MaxUint64 when no limit is known
	Limit uint64 // the limit that leaves least
	Used  uint64 // what counts against it and can't be reclaimed
	File  string // the file that holds the limit, "" when none is known
}

// Check returns an error that names the limit, what is used, and the cure, when n
// more bytes (with their page tables and some slack) do not fit.
func (r Room) Check(n uint64) error {
	need := n + n/512 + 4<<20
	if r.Bytes >= need {
		return nil
	}
	cure := "free memory, or make the pools smaller"
	if r.File != "/proc/meminfo" {
		cure = "raise the limit of the control group (container memory limit, systemd MemoryMax=), or make the pools smaller"
	}
	return fmt.Errorf("%s of memory are wanted, %s are left under %s (limit %s, in use %s): %s",
		Size(n), Size(r.Bytes), r.File, Size(r.Limit), Size(r.Used), cure)
}

// MemoryRoom looks at the memory limits of the control group (versions 1 and 2) and
// of all groups above it, and at what the system has. File caches count as free,
// since the kernel drops them before it kills. memory.high counts as a limit: beyond it
// the process is slowed down without bound.
func MemoryRoom(fsys fs.FS) Room {
	room := Room{Bytes: math.MaxUint64, Limit: math.MaxUint64}
	if m, err := fields(fsys, "proc/meminfo", "MemAvailable", "MemTotal"); err == nil && m["MemAvailable"] > 0 {
		room = Room{m["MemAvailable"], m["MemTotal"], m["MemTotal"] - min(m["MemTotal"], m["MemAvailable"]), "/proc/meminfo"}
	}
	dirs, v2 := cgroupDirs(fsys, "memory")
	limits, usage, cache := []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", []string{"total_inactive_file", "total_active_file"}
	if v2 {
		limits, usage, cache = []string{"memory.max", "memory.high"}, "memory.current", []string{"inactive_file", "active_file"}
	}
	for _, dir := range dirs {
		used, err := number(fsys, dir+"/"+usage)
		if err != nil {
			continue // the root group has none
		}
		if st, err := fields(fsys, dir+"/memory.stat", cache...); err == nil {
			used -= min(used, st[cache[0]]+st[cache[1]])
		}
		for _, f := range limits {
			limit, err := number(fsys, dir+"/"+f)
			if err != nil || limit > math.MaxInt64/2 {
				continue // "max", or version 1's largest number
			}
			if left := limit - min(limit, used); left < room.Bytes {
				room = Room{left, limit, used, "/" + dir + "/" + f}
			}
		}
	}
	return room
}
