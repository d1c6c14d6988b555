// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// MaskBits is the number of ids that a Mask holds: 0 to MaskBits-1.
const MaskBits = 1024

// Mask is a set of small numbers: CPUs (ODP's odp_cpumask_t) or worker ids (odp_thrmask_t).
// It is a value: it may be copied and compared with ==, and the zero value is
// empty. Ids outside 0 to MaskBits-1 are never members, and setting one is ignored.
type Mask struct{ w [MaskBits / 64]uint64 }

// CPUMask is a set of CPU numbers as the system counts them.
type CPUMask = Mask

// ThreadMask is a set of worker ids (Worker.ID).
type ThreadMask = Mask

// ErrMask is wrapped by every error of a mask's text form.
var ErrMask = errors.New("mask")

// MaskOf returns the set of the given ids.
func MaskOf(ids ...int) Mask {
	var m Mask
	for _, i := range ids {
		m.Set(i)
	}
	return m
}

// MaskRange returns the set lo, lo+1 ... hi.
func MaskRange(lo, hi int) Mask {
	var m Mask
	for i := max(lo, 0); i <= min(hi, MaskBits-1); i++ {
		m.Set(i)
	}
	return m
}

// ParseMask reads ODP's text form of a mask: one hexadecimal number, bit n for
// id n, with or without 0x and leading zeros.
func ParseMask(s string) (Mask, error) {
	var m Mask
	h := strings.TrimSpace(s)
	if len(h) > 1 && h[0] == '0' && (h[1] == 'x' || h[1] == 'X') {
		h = h[2:]
	}
	if h == "" {
		return m, fmt.Errorf("%w %q: no digits: a mask is a hexadecimal number such as 0xf0 (CPUs 4 to 7)", ErrMask, s)
	}
	for i := 0; i < len(h); i++ {
		v, err := strconv.ParseUint(h[len(h)-1-i:len(h)-i], 16, 8)
		if err != nil {
			return Mask{}, fmt.Errorf("%w %q: %q is no hexadecimal digit: a mask is a number such as 0xf0 (CPUs 4 to 7)",
				ErrMask, s, h[len(h)-1-i])
		}
		if v == 0 {
			continue
		}
		if i*4+bits.Len64(v) > MaskBits {
			return Mask{}, fmt.Errorf("%w %q: bit %d is set: the highest allowed is %d", ErrMask, s, i*4+bits.Len64(v)-1, MaskBits-1)
		}
		m.w[i/16] |= v << (i % 16 * 4)
	}
	return m, nil
}

// ParseList reads the kernel's text form of a set: "0-3,8".
func ParseList(s string) (Mask, error) {
	var m Mask
	s = strings.TrimSpace(s)
	if s == "" {
		return m, nil
	}
	for _, part := range strings.Split(s, ",") {
		a, b, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err1 := strconv.Atoi(a)
		hi, err2 := lo, error(nil)
		if isRange {
			hi, err2 = strconv.Atoi(b)
		}
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi >= MaskBits {
			return Mask{}, fmt.Errorf("%w %q: %q is neither a number nor a range; allowed is a list such as 0-3,8 with numbers up to %d",
				ErrMask, s, part, MaskBits-1)
		}
		for i := lo; i <= hi; i++ {
			m.Set(i)
		}
	}
	return m, nil
}

// String returns ODP's text form: 0x and hexadecimal digits without leading zeros.
func (m Mask) String() string {
	var b strings.Builder
	b.WriteString("0x")
	top := len(m.w) - 1
	for top > 0 && m.w[top] == 0 {
		top--
	}
	fmt.Fprintf(&b, "%x", m.w[top])
	for i := top - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "%016x", m.w[i])
	}
	return b.String()
}

// List returns the kernel's text form: "0-3,8".
func (m Mask) List() string {
	var b strings.Builder
	for lo := m.First(); lo >= 0; {
		hi := lo
		for m.Has(hi + 1) {
			hi++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(lo))
		if hi > lo {
			b.WriteString("-" + strconv.Itoa(hi))
		}
		lo = m.Next(hi)
	}
	return b.String()
}

// MarshalText writes the mask as String does.
func (m Mask) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the mask as ParseMask does.
func (m *Mask) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMask(string(b))
	return err
}

// Set adds id i.
func (m *Mask) Set(i int) {
	if uint(i) < MaskBits {
		m.w[i/64] |= 1 << (i % 64)
	}
}

// Clear removes id i.
func (m *Mask) Clear(i int) {
	if uint(i) < MaskBits {
		m.w[i/64] &^= 1 << (i % 64)
	}
}

// Has reports whether id i is in the set.
func (m Mask) Has(i int) bool { return uint(i) < MaskBits && m.w[i/64]>>(i%64)&1 == 1 }

// Count returns the number of ids in the set.
func (m Mask) Count() int {
	n := 0
	for _, w := range m.w {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsZero reports whether the set is empty.
func (m Mask) IsZero() bool { return m == Mask{} }

// And returns the ids that are in both sets.
func (m Mask) And(o Mask) Mask {
	for i := range m.w {
		m.w[i] &= o.w[i]
	}
	return m
}

// Or returns the ids that are in either set.
func (m Mask) Or(o Mask) Mask {
	for i := range m.w {
		m.w[i] |= o.w[i]
	}
	return m
}

// Xor returns the ids that are in exactly one of the sets.
func (m Mask) Xor(o Mask) Mask {
	for i := range m.w {
		m.w[i] ^= o.w[i]
	}
	return m
}

// AndNot returns the ids of m that are not in o.
func (m Mask) AndNot(o Mask) Mask {
	for i := range m.w {
		m.w[i] &^= o.w[i]
	}
	return m
}

// First returns the lowest id, -1 for the empty set.
func (m Mask) First() int { return m.Next(-1) }

// Next returns the lowest id above i, -1 when there is none.
func (m Mask) Next(i int) int {
	i = max(i+1, 0)
	if i >= MaskBits {
		return -1
	}
	k := i / 64
	w := m.w[k] >> (i % 64) << (i % 64)
	for w == 0 {
		if k++; k == len(m.w) {
			return -1
		}
		w = m.w[k]
	}
	return k*64 + bits.TrailingZeros64(w)
}

// Last returns the highest id, -1 for the empty set.
func (m Mask) Last() int {
	for k := len(m.w) - 1; k >= 0; k-- {
		if m.w[k] != 0 {
			return k*64 + bits.Len64(m.w[k]) - 1
		}
	}
	return -1
}

// All yields the ids in rising order.
func (m Mask) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := m.First(); i >= 0; i = m.Next(i) {
			if !yield(i) {
				return
			}
		}
	}
}

// firstN returns the n lowest ids (n <= 0: all).
func (m Mask) firstN(n int) Mask {
	if n <= 0 {
		return m
	}
	var r Mask
	for i := m.First(); i >= 0 && n > 0; i, n = m.Next(i), n-1 {
		r.Set(i)
	}
	return r
}
