// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
)

// Effective is the CPUs that this process may use.
type Effective struct {
	Set      CPUSet  // where threads may be pinned: Affinity ∩ Cpuset ∩ online
	Affinity CPUSet  // mask of the process at its start; empty where unknown
	Cpuset   CPUSet  // of the control group; empty = not limited by it
	Quota    float64 // CPUs' worth of time per period (cpu.max), 0 = not limited
	File     string  // the file that holds the quota
}

// EffectiveCPUs reads what this process was given: the affinity mask that it
// was started with (not what was pinned since), the control group's CPU set as it
// is now, and the quota, which pinned busy workers exhaust: they are then stopped
// for the rest of every period.
func EffectiveCPUs(fsys fs.FS) Effective { return effective(fsys, startAffinity) }

func effective(fsys fs.FS, affinity CPUSet) Effective {
	e := Effective{Affinity: affinity}
	online := cpuFile(fsys, "sys/devices/system/cpu/online")
	e.Cpuset = cgroupCPUs(fsys)
	for _, s := range []CPUSet{affinity, online, e.Cpuset} {
		switch {
		case s.Empty():
		case e.Set.Empty():
			e.Set = s
		case !e.Set.And(s).Empty(): // files of another name space say nothing about this one
			e.Set = e.Set.And(s)
		}
	}
	if e.Set.Empty() {
		for i := range runtime.NumCPU() {
			e.Set.Add(i)
		}
	}
	e.Quota, e.File = cpuQuota(fsys)
	return e
}

// String says it in a line for logs.
func (e Effective) String() string {
	s := fmt.Sprintf("CPUs %v (affinity %v", e.Set, e.Affinity)
	if !e.Cpuset.Empty() {
		s += fmt.Sprintf(", cgroup cpuset %v", e.Cpuset)
	}
	if e.Quota > 0 {
		s += fmt.Sprintf(", quota %.2f CPUs by %s", e.Quota, e.File)
	}
	return s + ")"
}

func cpuFile(fsys fs.FS, name string) CPUSet {
	t, err := text(fsys, name)
	if err != nil {
		return CPUSet{}
	}
	s, err := ParseCPUs(t)
	if err != nil {
		return CPUSet{}
	}
	return s
}

// cgroupCPUs returns the CPU set of the nearest group that has one.
func cgroupCPUs(fsys fs.FS) CPUSet {
	dirs, v2 := cgroupDirs(fsys, "cpuset")
	names := []string{"cpuset.effective_cpus", "cpuset.cpus"}
	if v2 {
		names = []string{"cpuset.cpus.effective"}
	}
	for _, d := range dirs {
		for _, n := range names {
			if s := cpuFile(fsys, d+"/"+n); !s.Empty() {
				return s
			}
		}
	}
	return CPUSet{}
}

// cpuQuota returns the smallest quota of the group and those above it.
func cpuQuota(fsys fs.FS) (cpus float64, file string) {
	dirs, v2 := cgroupDirs(fsys, "cpu")
	for _, d := range dirs {
		var quota, period float64
		name := d + "/cpu.max"
		if v2 {
			t, err := text(fsys, name)
			q, p, ok := strings.Cut(t, " ")
			if err != nil || !ok || q == "max" {
				continue
			}
			quota, _ = strconv.ParseFloat(q, 64)
			period, _ = strconv.ParseFloat(p, 64)
		} else {
			name = d + "/cpu.cfs_quota_us"
			quota = float64(integer(fsys, name, -1))
			period = float64(integer(fsys, d+"/cpu.cfs_period_us", 0))
		}
		if quota <= 0 || period <= 0 {
			continue
		}
		if c := quota / period; file == "" || c < cpus {
			cpus, file = c, "/"+name
		}
	}
	return cpus, file
}
