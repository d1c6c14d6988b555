// SPDX-License-Identifier: Apache-2.0

package odp

import "sync"

// cpuUse counts the workers of all instances on each CPU of the process, so
// that two instances do not pin to the same one while another is free.
var cpuUse struct {
	sync.Mutex
	n [MaskBits]int
}

// takeCPU chooses the least used CPU of the set, the highest of several: the
// lowest serves most interrupts. shared tells that another worker has it too.
func takeCPU(set CPUMask) (cpu int, shared bool) {
	cpuUse.Lock()
	defer cpuUse.Unlock()
	cpu = -1
	for c := range set.All() {
		if cpu < 0 || cpuUse.n[c] <= cpuUse.n[cpu] {
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
