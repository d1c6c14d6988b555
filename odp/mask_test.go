// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMaskText(t *testing.T) {
	for _, c := range []struct {
		in, out, list string
	}{
		{"0", "0x0", ""}, {"0x0", "0x0", ""}, {"1", "0x1", "0"}, {"0xF0", "0xf0", "4-7"}, {"00000f", "0xf", "0-3"},
		{"0x8000000000000001", "0x8000000000000001", "0,63"}, {"10000000000000000", "0x10000000000000000", "64"},
		{" 0Xa ", "0xa", "1,3"},
	} {
		m, err := ParseMask(c.in)
		if err != nil || m.String() != c.out || m.List() != c.list {
			t.Errorf("ParseMask(%q) = %s, list %q, %v; want %s, %q", c.in, m, m.List(), err, c.out, c.list)
		}
		back, err := ParseList(m.List())
		if err != nil || back != m {
			t.Errorf("ParseList(%q) = %s, %v; want %s", m.List(), back, err, m)
		}
	}
	for _, bad := range []string{"", "0x", "g", "0x1g", "-1", "1 2", "0x1" + string(slices.Repeat([]byte("0"), MaskBits/4))} {
		if m, err := ParseMask(bad); !errors.Is(err, ErrMask) || m != (Mask{}) {
			t.Errorf("ParseMask(%q) = %s, %v; want an error and no member", bad, m, err)
		}
	}
	for _, bad := range []string{"x", "3-1", "-1", "1,,2", "1-", "1024"} {
		if _, err := ParseList(bad); !errors.Is(err, ErrMask) {
			t.Errorf("ParseList(%q): %v; want an error", bad, err)
		}
	}
	if m, err := ParseMask("0x8" + string(slices.Repeat([]byte("0"), MaskBits/4-1))); err != nil || m.Last() != MaskBits-1 {
		t.Errorf("highest bit: %v, %v", m.Last(), err)
	}
}

func TestMaskJSON(t *testing.T) {
	var v struct{ M Mask }
	if err := json.Unmarshal([]byte(`{"M":"0x14"}`), &v); err != nil || v.M != MaskOf(2, 4) {
		t.Fatalf("%v %v", v, err)
	}
	if b, err := json.Marshal(v); err != nil || string(b) != `{"M":"0x14"}` {
		t.Fatalf("%s %v", b, err)
	}
}

func TestMaskOutOfRange(t *testing.T) {
	var m Mask
	m.Set(-1)
	m.Set(MaskBits)
	m.Clear(-1)
	m.Clear(MaskBits)
	if !m.IsZero() || m.Has(-1) || m.Has(MaskBits) || m.First() != -1 || m.Last() != -1 || m.Next(MaskBits) != -1 {
		t.Error("ids out of range have an effect")
	}
}

// The mask against a map, over random operations.
func TestMaskModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.IntRange(0, MaskBits-1), 0, 40)
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		ma, mb := MaskOf(a...), MaskOf(b...)
		model := func(f func(ina, inb bool) bool) (want []int) {
			for i := range MaskBits {
				if f(slices.Contains(a, i), slices.Contains(b, i)) {
					want = append(want, i)
				}
			}
			return
		}
		check := func(name string, got Mask, f func(ina, inb bool) bool) {
			want := model(f)
			if l := slices.Collect(got.All()); !slices.Equal(l, want) {
				t.Fatalf("%s: %v, want %v", name, l, want)
			}
			first, last := -1, -1
			if len(want) > 0 {
				first, last = want[0], want[len(want)-1]
			}
			if got.Count() != len(want) || got.First() != first || got.Last() != last {
				t.Fatalf("%s: count %d first %d last %d, want %d %d %d", name, got.Count(), got.First(), got.Last(), len(want), first, last)
			}
		}
		check("a", ma, func(x, _ bool) bool { return x })
		check("and", ma.And(mb), func(x, y bool) bool { return x && y })
		check("or", ma.Or(mb), func(x, y bool) bool { return x || y })
		check("xor", ma.Xor(mb), func(x, y bool) bool { return x != y })
		check("andnot", ma.AndNot(mb), func(x, y bool) bool { return x && !y })
		if p, err := ParseMask(ma.String()); err != nil || p != ma {
			t.Fatalf("%s read back: %s, %v", ma, p, err)
		}
		for _, i := range b {
			ma.Clear(i)
		}
		check("clear", ma, func(x, y bool) bool { return x && !y })
	})
}

func TestDefaultMasks(t *testing.T) {
	eight := MaskRange(0, 7)
	for _, c := range []struct {
		set  CPUMask
		n    int
		want string
	}{
		{eight, 0, "1-7"}, {eight, 1, "1"}, {eight, 3, "1-3"}, {eight, 99, "1-7"}, {MaskOf(5), 0, "5"}, {MaskOf(5), 4, "5"},
	} {
		if got := DefaultWorkerMask(c.set, c.n); got.List() != c.want {
			t.Errorf("DefaultWorkerMask(%s, %d) = %s, want %s", c.set.List(), c.n, got.List(), c.want)
		}
		ctl := DefaultControlMask(c.set, c.n)
		if ctl.Count() != 1 || ctl.AndNot(c.set) != (Mask{}) {
			t.Errorf("DefaultControlMask(%s) = %s", c.set.List(), ctl.List())
		}
	}
	all := EffectiveCPUs()
	if all.IsZero() {
		t.Error("no CPU at all")
	}
}

func TestUsableCPUs(t *testing.T) {
	eight := MaskRange(0, 7)
	for _, c := range []struct {
		set   CPUMask
		quota float64
		want  int
	}{{eight, 0, 8}, {eight, 0.5, 1}, {eight, 2.5, 3}, {eight, 100, 8}, {Mask{}, 0, 1}} {
		if got := usableCPUs(c.set, c.quota); got != c.want {
			t.Errorf("%s with quota %v: %d, want %d", c.set.List(), c.quota, got, c.want)
		}
	}
}

// The least used CPU is taken, in order; sharing is told.
func TestTakeCPU(t *testing.T) {
	order := []int{1003, 1001, 1002}
	for i, want := range []int{1003, 1001, 1002, 1003, 1001} {
		c, shared := takeCPU(order)
		defer giveCPU(c)
		if c != want || shared != (i >= 3) {
			t.Errorf("%d: CPU %d shared %v, want %d", i, c, shared, want)
		}
	}
	if c, _ := takeCPU(nil); c != -1 {
		t.Errorf("CPU %d of none", c)
	}
}
