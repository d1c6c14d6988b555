// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"fmt"
	"math"
	"sync"

	"github.com/odp-go/godp/internal/sys"
)

// EffectiveCPUs returns the CPUs that this process may use: the affinity mask
// that it was started with, within its container's CPU set. Where the system has no
// such mask (macOS) they are numbered from 0.
func EffectiveCPUs() CPUMask { return maskOf(sys.EffectiveCPUs(sys.Root()).Set) }

func maskOf(s sys.CPUSet) CPUMask { return MaskOf(s.List()...) }

func setOf(m CPUMask) (s sys.CPUSet) {
	for i := range m.All() {
		s.Add(i)
	}
	return s
}

// usableCPUs is the number of CPUs' worth of time that the process gets: the set,
// or less where a container has a quota.
func usableCPUs(set CPUMask, quota float64) int {
	n := set.Count()
	if quota > 0 {
		n = min(n, int(math.Ceil(quota)))
	}
	return max(n, 1)
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
// odp_cpumask_default_control: the lowest one, which they share.
func DefaultControlMask(set CPUMask, n int) CPUMask { return set.firstN(1) }

// checkCPUs says what is wrong with the wanted set of CPUs.
func checkCPUs(want, have CPUMask) error {
	if miss := want.AndNot(have); !miss.IsZero() {
		return fmt.Errorf("odp: Open: Config.CPUs %s: this process may not run on CPU %s; allowed are %s (widen the affinity with taskset -c, or the container's CPU set)",
			want.List(), miss.List(), have.List())
	}
	return nil
}

// cpuUse counts the workers of all instances on each CPU of the process, so
// that two instances do not pin to the same one while another is free.
var cpuUse struct {
	sync.Mutex
	n [MaskBits]int
}

// cpuOrder returns the CPUs of the set in the order in which workers take them: one
// of each core first, then their siblings; CPU 0, which serves most interrupts, last.
func cpuOrder(set CPUMask) []int {
	t, err := sys.ReadTopology(sys.Root())
	if err != nil {
		t = sys.Topology{}
	}
	return t.Spread(setOf(set))
}

// takeCPU chooses the least used CPU, the first of several. shared tells that
// another worker has it too.
func takeCPU(order []int) (cpu int, shared bool) {
	cpuUse.Lock()
	defer cpuUse.Unlock()
	cpu = -1
	for _, c := range order {
		if cpu < 0 || cpuUse.n[c] < cpuUse.n[cpu] {
			cpu = c
		}
	}
	if cpu < 0 {
		return -1, false
	}
	cpuUse.n[cpu]++
	return cpu, cpuUse.n[cpu] > 1
}

// giveCPU takes back what takeCPU gave.
func giveCPU(cpu int) {
	if cpu < 0 {
		return
	}
	cpuUse.Lock()
	defer cpuUse.Unlock()
	cpuUse.n[cpu]--
}
