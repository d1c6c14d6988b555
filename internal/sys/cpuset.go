// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// MaxCPUs is the number of CPUs that a CPUSet can name.
const MaxCPUs = 1024

// CPUSet is a set of CPU numbers. The zero value is empty; sets compare with ==.
type CPUSet struct{ bits [MaxCPUs / 64]uint64 }

// CPUs returns the set of the given numbers; those that don't fit are left out.
func CPUs(ids ...int) CPUSet {
	var s CPUSet
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// ParseCPUs reads the kernel's list form: "0-3,8,10-11"; empty is the empty set.
func ParseCPUs(list string) (CPUSet, error) {
	var s CPUSet
	list = strings.TrimSpace(list)
	if list == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.ParseUint(lo, 10, 31)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(hi, 10, 31)
		}
		switch {
		case err != nil || b < a:
			return CPUSet{}, fmt.Errorf("cpu list %q: %q is neither a number nor a range; write it as 0-3,8", list, part)
		case b >= MaxCPUs:
			return CPUSet{}, fmt.Errorf("cpu list %q: CPU %d: allowed 0 to %d", list, b, MaxCPUs-1)
		}
		for ; a <= b; a++ {
			s.Add(int(a))
		}
	}
	return s, nil
}

// Add puts a CPU in; numbers outside 0 to MaxCPUs-1 are left out.
func (s *CPUSet) Add(cpu int) {
	if uint(cpu) < MaxCPUs {
		s.bits[cpu/64] |= 1 << (cpu % 64)
	}
}

// Remove takes a CPU out.
func (s *CPUSet) Remove(cpu int) {
	if uint(cpu) < MaxCPUs {
		s.bits[cpu/64] &^= 1 << (cpu % 64)
	}
}

// Has reports whether the CPU is in the set.
func (s CPUSet) Has(cpu int) bool {
	return uint(cpu) < MaxCPUs && s.bits[cpu/64]&(1<<(cpu%64)) != 0
}

// Len returns the number of CPUs.
func (s CPUSet) Len() int {
	n := 0
	for _, w := range s.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether there is none.
func (s CPUSet) Empty() bool { return s == CPUSet{} }

// And returns what is in both sets.
func (s CPUSet) And(o CPUSet) CPUSet {
	for i := range s.bits {
		s.bits[i] &= o.bits[i]
	}
	return s
}

// Minus returns what is in s and not in o.
func (s CPUSet) Minus(o CPUSet) CPUSet {
	for i := range s.bits {
		s.bits[i] &^= o.bits[i]
	}
	return s
}

// List returns the numbers in ascending order.
func (s CPUSet) List() []int {
	var l []int
	for i, w := range s.bits {
		for ; w != 0; w &= w - 1 {
			l = append(l, i*64+bits.TrailingZeros64(w))
		}
	}
	return l
}

// String is the list form that ParseCPUs reads.
func (s CPUSet) String() string {
	var b strings.Builder
	for i := 0; i < MaxCPUs; i++ {
		if !s.Has(i) {
			continue
		}
		j := i
		for s.Has(j + 1) {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, i)
		if j > i {
			fmt.Fprintf(&b, "-%d", j)
		}
		i = j
	}
	return b.String()
}
