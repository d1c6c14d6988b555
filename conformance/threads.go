// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/odp-go/godp/odp"
)

// Threads and CPUs: ids, counts, masks. A mask of threads and one of CPUs are the
// same type here, so both suites run the same assertions with ids of their own.

func init() {
	register("THR",
		Case{"THR-01", "The first thread has id 0, and every id is below the limit.", nil, thrIDs},
		Case{"THR-02", "The threads of each kind are counted while they are there.", nil, thrCount},
		Case{"THR-03", "The limits of threads are positive, and the workers fit into them.", nil, thrLimits},
		Case{"THR-17", "The workers' mask is empty before and after Run, and has their ids in start order meanwhile.", nil, thrWorkers},
		Case{"THR-18", "The control threads' mask has exactly those that joined.", nil, thrControls},
	)
	for i, c := range []struct {
		what string
		run  func(e *Env, id func(i int) int)
	}{
		{"The text form of a mask is hexadecimal, without leading zeros, and is read back.", maskString},
		{"Two masks are equal when they have the same ids.", maskEqual},
		{"The zero mask has no id.", maskZero},
		{"Set adds one id.", maskSet},
		{"Clear takes one id away.", maskClear},
		{"Has answers for ids inside and outside.", maskHas},
		{"Count is the number of ids.", maskCount},
		{"And is the intersection.", maskAnd},
		{"Or is the union.", maskOr},
		{"Xor is the difference of both sides, and a result may replace its operand.", maskXor},
		{"A copy is a value of its own.", maskCopy},
		{"First is the lowest id, -1 when there is none.", maskFirst},
		{"Last is the highest id, -1 when there is none.", maskLast},
		{"Next goes through all ids and ends with -1.", maskNext},
	} {
		register("CPU", Case{fmt.Sprintf("CPU-%02d", 1+i), "CPU mask: " + c.what, nil, func(e *Env) { c.run(e, func(i int) int { return i }) }})
		if i < 13 { // ODP's list has one case less for threads: Next is asserted with Last
			register("THR", Case{fmt.Sprintf("THR-%02d", 4+i), "Thread mask: " + c.what, nil, func(e *Env) {
				c.run(e, func(i int) int { return i * 2 })
				if i == 12 {
					maskNext(e, func(i int) int { return i * 2 })
				}
			}})
		}
	}
	register("CPU",
		Case{"CPU-15", "A range sets all ids of it, up to the largest mask.", nil, maskAll},
		Case{"CPU-16", "The default CPUs of control threads are some of those that the process may use.", nil,
			func(e *Env) { cpuDefault(e, odp.DefaultControlMask) }},
		Case{"CPU-17", "The default CPUs of workers are some of those that the process may use, as many as asked for at most.", nil,
			func(e *Env) { cpuDefault(e, odp.DefaultWorkerMask) }},
		Case{"CPU-18", "The CPUs that an instance may use are those of workers and control threads together.", nil, cpuAll},
	)
}

func thrIDs(e *Env) {
	in := e.Open(odp.Config{Workers: 3})
	w := e.Control(in, odp.KindControl)
	e.Check(w.ID() == 0, "the first thread has id %d", w.ID())
	var mu sync.Mutex
	seen := map[int]bool{0: true}
	e.Workers(in, func(w *odp.Worker) error {
		mu.Lock()
		defer mu.Unlock()
		if id := w.ID(); id < 0 || id >= in.Set().Max() || seen[id] {
			return fmt.Errorf("id %d is out of range (0 to %d) or there twice", id, in.Set().Max()-1)
		}
		seen[w.ID()] = true
		return nil
	})
	e.Check(len(seen) == 4, "%d ids, want 4", len(seen))
	var none *odp.Worker
	e.Check(none.ID() == -1 && none.Kind() == odp.KindControl, "no worker: id %d, %v", none.ID(), none.Kind())
}

func thrCount(e *Env) {
	in := e.Open(odp.Config{Workers: 2})
	e.Check(e.Ops.Sync.Workers(in).Count() == 0 && in.Controls().Count() == 0, "%d workers, %d control threads before any came", e.Ops.Sync.Workers(in).Count(), in.Controls().Count())
	e.Control(in, odp.KindControl)
	e.Check(e.Ops.Sync.Workers(in).Count() == 0 && in.Controls().Count() == 1, "%d workers, %d control threads; want 0, 1", e.Ops.Sync.Workers(in).Count(), in.Controls().Count())
	n := 0
	in.Set().Workers(func(*odp.Worker) { n++ })
	e.Check(n == 1, "%d threads in all, want 1", n)
}

func thrLimits(e *Env) {
	in := e.Open(odp.Config{Workers: 2, MaxWorkers: 4})
	e.Check(in.Set().Max() == 4 && in.Config().Workers == 2, "at most %d threads, %d workers; asked were 4, 2", in.Set().Max(), in.Config().Workers)
	for range 4 {
		e.Control(in, odp.KindControl)
	}
	_, err := in.Control(odp.KindControl)
	e.Check(err != nil, "a thread more than the limit")
	_, err = odp.Open(e.Context(), odp.Config{Workers: 4, MaxWorkers: 2})
	e.Check(err != nil && strings.Contains(err.Error(), "MaxWorkers"), "more workers than threads: %v", err)
}

func thrWorkers(e *Env) {
	const n = 3
	in := e.Open(odp.Config{Workers: n})
	e.Control(in, odp.KindControl) // has id 0
	e.Check(e.Ops.Sync.Workers(in).IsZero(), "workers %v before Run", e.Ops.Sync.Workers(in).List())
	b := odp.NewBarrier(n)
	e.Workers(in, func(w *odp.Worker) error {
		if err := b.Wait(w); err != nil {
			return err
		}
		if m := e.Ops.Sync.Workers(in); m.List() != "1-3" || m.Count() != n || !m.Has(w.ID()) {
			return fmt.Errorf("workers %v, want 1-3", m.List())
		}
		if w.Kind() != odp.KindWorker {
			return fmt.Errorf("worker %d is of kind %v", w.ID(), w.Kind())
		}
		return b.Wait(w)
	})
	e.Check(e.Ops.Sync.Workers(in).IsZero(), "workers %v after Run", e.Ops.Sync.Workers(in).List())
}

func thrControls(e *Env) {
	in := e.Open(odp.Config{Workers: 1})
	w := e.Control(in, odp.KindControl)
	e.Check(in.Controls() == odp.MaskOf(w.ID()), "control threads %v, want %d", in.Controls().List(), w.ID())
	e.Workers(in, func(o *odp.Worker) error {
		if in.Controls() != odp.MaskOf(w.ID()) {
			return fmt.Errorf("control threads %v with a worker, want %d", in.Controls().List(), w.ID())
		}
		return nil
	})
}

func maskString(e *Env, id func(int) int) {
	for _, c := range [][]int{{}, {0}, {1, 2}, {63, 64}, {5, 100}, {0, 255}} {
		var m odp.Mask
		for _, i := range c {
			m.Set(id(i))
		}
		s := m.String()
		e.Check(strings.HasPrefix(s, "0x") && (s == "0x0" || s[2] != '0'), "%v is written %q", c, s)
		for _, form := range []string{s, s[2:], "0x000" + s[2:], strings.ToUpper(s[2:])} {
			got, err := e.Ops.Sync.ParseMask(form)
			e.Check(err == nil && got == m, "%q is read as %v, %v", form, got, err)
		}
		list, err := odp.ParseList(m.List())
		e.Check(err == nil && list == m, "%q is read as %v, %v", m.List(), list, err)
	}
	for _, bad := range []string{"", "0x", "0xg", "-1", "1 2", "0x" + strings.Repeat("f", odp.MaskBits/4+1)} {
		_, err := e.Ops.Sync.ParseMask(bad)
		e.Check(err != nil, "%q is read as a mask", bad)
	}
}

func maskEqual(e *Env, id func(int) int) {
	var a, b odp.Mask
	e.Check(a == b, "two empty masks differ")
	a.Set(id(3))
	e.Check(a != b, "a mask with %d equals the empty one", id(3))
	b.Set(id(4))
	e.Check(a != b, "%d equals %d", id(3), id(4))
	b.Clear(id(4))
	b.Set(id(3))
	e.Check(a == b, "two masks with %d differ", id(3))
}

func maskZero(e *Env, id func(int) int) {
	m := odp.MaskOf(id(1), id(70))
	e.Check(!m.IsZero(), "a mask with two ids is empty")
	m = odp.Mask{}
	e.Check(m.IsZero() && m.Count() == 0 && m.String() == "0x0", "%d ids, %q", m.Count(), m)
}

func maskSet(e *Env, id func(int) int) {
	var m odp.Mask
	for n, i := range []int{0, 1, 64, 200} {
		m.Set(id(i))
		m.Set(id(i)) // again: nothing happens
		e.Check(m.Has(id(i)) && m.Count() == n+1, "%d: has it %v, %d ids", id(i), m.Has(id(i)), m.Count())
	}
	was := m
	m.Set(-1)
	m.Set(odp.MaskBits)
	e.Check(m == was, "ids outside of the mask were set")
}

func maskClear(e *Env, id func(int) int) {
	m := odp.MaskOf(id(0), id(64), id(200))
	m.Clear(id(64))
	m.Clear(id(65))
	e.Check(m == odp.MaskOf(id(0), id(200)), "%s is left", m.List())
	m.Clear(id(0))
	m.Clear(id(200))
	e.Check(m.IsZero(), "%s is left", m.List())
}

func maskHas(e *Env, id func(int) int) {
	m := odp.MaskOf(id(1), id(100))
	for _, i := range []int{id(1), id(100)} {
		e.Check(m.Has(i), "%d is not in", i)
	}
	for _, i := range []int{-1, id(0), id(2), id(99), odp.MaskBits, 1 << 30} {
		e.Check(!m.Has(i), "%d is in", i)
	}
}

func maskCount(e *Env, id func(int) int) {
	var m odp.Mask
	for i := range 150 {
		e.Check(m.Count() == i, "%d ids, want %d", m.Count(), i)
		m.Set(id(i))
	}
}

func two(id func(int) int) (a, b odp.Mask) {
	return odp.MaskOf(id(0), id(1), id(64)), odp.MaskOf(id(1), id(2), id(64), id(90))
}

func maskAnd(e *Env, id func(int) int) {
	a, b := two(id)
	e.Check(a.And(b) == odp.MaskOf(id(1), id(64)) && a.And(odp.Mask{}).IsZero() && a.And(a) == a, "%s", a.And(b).List())
}

func maskOr(e *Env, id func(int) int) {
	a, b := two(id)
	e.Check(a.Or(b) == odp.MaskOf(id(0), id(1), id(2), id(64), id(90)) && a.Or(odp.Mask{}) == a && a.Or(a) == a, "%s", a.Or(b).List())
}

func maskXor(e *Env, id func(int) int) {
	a, b := two(id)
	e.Check(a.Xor(b) == odp.MaskOf(id(0), id(2), id(90)) && a.Xor(odp.Mask{}) == a && a.Xor(a).IsZero(), "%s", a.Xor(b).List())
	c := a
	a = a.Xor(b)
	a = a.Xor(b)
	e.Check(a == c, "twice the same leaves %s, want %s", a.List(), c.List())
}

func maskCopy(e *Env, id func(int) int) {
	a := odp.MaskOf(id(7))
	b := a
	b.Set(id(8))
	e.Check(a == odp.MaskOf(id(7)) && b.Count() == 2, "the original is %s, the copy %s", a.List(), b.List())
}

func maskFirst(e *Env, id func(int) int) {
	e.Check(odp.Mask{}.First() == -1, "first of none: %d", odp.Mask{}.First())
	m := odp.MaskOf(id(130))
	e.Check(m.First() == id(130), "first %d", m.First())
	m.Set(id(3))
	e.Check(m.First() == id(3), "first %d", m.First())
}

func maskLast(e *Env, id func(int) int) {
	e.Check(odp.Mask{}.Last() == -1, "last of none: %d", odp.Mask{}.Last())
	m := odp.MaskOf(id(3))
	e.Check(m.Last() == id(3), "last %d", m.Last())
	m.Set(id(130))
	e.Check(m.Last() == id(130), "last %d", m.Last())
}

func maskNext(e *Env, id func(int) int) {
	want := []int{id(0), id(1), id(63), id(64), id(130)}
	m := odp.MaskOf(want...)
	var got []int
	for i := e.Ops.Sync.Next(m, -1); i >= 0 && len(got) < 10; i = e.Ops.Sync.Next(m, i) {
		got = append(got, i)
	}
	e.Check(slices.Equal(got, want) && slices.Equal(slices.Collect(m.All()), want), "ids %v, want %v", got, want)
	e.Check(e.Ops.Sync.Next(odp.Mask{}, -1) == -1, "an id after the last one")
}

func maskAll(e *Env) {
	m := odp.MaskRange(0, odp.MaskBits-1)
	e.Check(m.Count() == odp.MaskBits && m.First() == 0 && m.Last() == odp.MaskBits-1, "%d ids from %d to %d", m.Count(), m.First(), m.Last())
	e.Check(odp.MaskRange(3, 5) == odp.MaskOf(3, 4, 5) && odp.MaskRange(5, 3).IsZero(), "ranges %v, %v", odp.MaskRange(3, 5).List(), odp.MaskRange(5, 3).List())
}

func cpuDefault(e *Env, def func(set odp.CPUMask, n int) odp.CPUMask) {
	have := odp.EffectiveCPUs()
	e.Must(have.Count() > 0, "the process may use no CPU")
	for _, set := range []odp.CPUMask{have, odp.MaskOf(2, 3, 5, 8), odp.MaskOf(4)} {
		all := def(set, 0)
		e.Check(all.Count() > 0 && all.And(set) == all, "%s of %s", all.List(), set.List())
		e.Check(def(set, 1).Count() == 1, "one of %s: %s", set.List(), def(set, 1).List())
		for n := range 6 {
			m := def(set, n)
			e.Check((n == 0 || m.Count() <= n) && m.And(all) == m, "%d of %s: %s", n, set.List(), m.List())
		}
	}
}

func cpuAll(e *Env) {
	in := e.Instance()
	all := in.Config().CPUs
	e.Check(all == odp.EffectiveCPUs(), "the instance may use CPUs %s, the process %s", all.List(), odp.EffectiveCPUs().List())
	both := odp.DefaultWorkerMask(all, 0).Or(odp.DefaultControlMask(all, 0))
	e.Check(both == all, "workers and control threads together: %s, all: %s", both.List(), all.List())
	want := all.Last() + 1
	bad := all
	bad.Set(want)
	_, err := odp.Open(e.Context(), odp.Config{CPUs: bad})
	e.Check(err != nil && strings.Contains(err.Error(), fmt.Sprint(want)), "a CPU that is not there: error %v, want one that names %d", err, want)
}
