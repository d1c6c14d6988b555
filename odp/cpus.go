// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// errUnsupported: the system has no such call.
var errUnsupported = errors.New("not supported on " + runtime.GOOS)

// EffectiveCPUs returns the CPUs that this process may use: its affinity mask,
// which a container's cpuset narrows. Where the system has no such mask (macOS)
// they are numbered from 0 to the number of CPUs - 1.
func EffectiveCPUs() CPUMask {
	// A new goroutine: the caller may be a worker, whose thread is pinned.
	c := make(chan CPUMask)
	go func() {
		m, err := threadCPUs()
		if err != nil || m.IsZero() {
			m = MaskRange(0, runtime.NumCPU()-1)
		}
		c <- m
	}()
	return <-c
}

// usableCPUs is the number of CPUs' worth of time that the process gets: the
// effective set, or less where a cgroup has a quota.
func usableCPUs(set CPUMask, root fs.FS) int {
	n := set.Count()
	if q := cgroupQuota(root); q > 0 {
		n = min(n, max(1, int(math.Ceil(q))))
	}
	return max(n, 1)
}

// hostFS is the root of the system's file tree.
func hostFS() fs.FS { return os.DirFS("/") }

// cgroupQuota returns the tightest cpu.max (version 2) or cfs quota (version 1)
// above this process, in CPUs; 0 = none found. root is the file system's root.
func cgroupQuota(root fs.FS) float64 {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	best := 0.0
	tighter := func(q float64) {
		if q > 0 && (best == 0 || q < best) {
			best = q
		}
	}
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		path := strings.Trim(f[2], "/")
		switch {
		case f[0] == "0" && f[1] == "":
			for {
				tighter(quotaV2(root, cgroupFile("sys/fs/cgroup", path, "cpu.max")))
				if path == "" {
					break
				}
				path = path[:max(strings.LastIndexByte(path, '/'), 0)]
			}
		case strings.Contains(","+f[1]+",", ",cpu,"):
			quota := number(root, cgroupFile("sys/fs/cgroup/cpu", path, "cpu.cfs_quota_us"))
			period := number(root, cgroupFile("sys/fs/cgroup/cpu", path, "cpu.cfs_period_us"))
			if quota > 0 && period > 0 {
				tighter(quota / period)
			}
		}
	}
	return best
}

func cgroupFile(mount, path, name string) string {
	if path == "" {
		return mount + "/" + name
	}
	return mount + "/" + path + "/" + name
}

func quotaV2(root fs.FS, name string) float64 {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) != 2 {
		return 0
	}
	quota, err1 := strconv.ParseFloat(f[0], 64) // "max" is no number
	period, err2 := strconv.ParseFloat(f[1], 64)
	if err1 != nil || err2 != nil || period <= 0 {
		return 0
	}
	return quota / period
}

func number(root fs.FS, name string) float64 {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	v, _ := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	return v
}

// DefaultWorkerMask returns the CPUs for n workers of set, ODP's
// odp_cpumask_default_worker: all but the lowest when there is more than one,
// at most n of them (n <= 0: all).
func DefaultWorkerMask(set CPUMask, n int) CPUMask {
	if set.Count() > 1 {
		set.Clear(set.First())
	}
	return set.firstN(n)
}

// DefaultControlMask returns the CPUs for n control threads of set, ODP's
// odp_cpumask_default_control: the lowest one. More than one thread share it.
func DefaultControlMask(set CPUMask, n int) CPUMask { return set.firstN(1) }

// checkCPUs says what is wrong with the wanted set of CPUs.
func checkCPUs(want, have CPUMask) error {
	if miss := want.AndNot(have); !miss.IsZero() {
		return fmt.Errorf("odp: Open: Config.CPUs %s: this process may not run on CPU %s; allowed are %s (widen the affinity with taskset -c, or the container's cpuset)",
			want.List(), miss.List(), have.List())
	}
	return nil
}
