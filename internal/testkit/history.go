// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// History collects what several goroutines do to one first-in first-out queue of
// numbers, and judges whether a queue that does one call after the other could have
// answered so. Each call is known by two readings of a common clock, before and after; what
// must hold whatever happened between the two is checked:
//
//   - what comes out was put in, once, and not before its Put began;
//   - what was put in by a call that ended before another one began comes out first,
//     as far as the reading calls did not overlap;
//   - a Put that took less than was asked met a full queue at some time;
//   - a Get that gave less than was asked met an empty queue at some time, or a Put
//     that was not yet over (a burst that is reserved and not written holds up what is behind it).
//
// The idea is that of linearizability checkers; these four rules are necessary for it
// and cheap, a search for the order of all calls is not made.
type History struct {
	clock atomic.Int64
	mu    sync.Mutex
	calls []call
}

type call struct {
	put, all   bool
	begin, end int64
	asked      int
	vals       []uint64
	who        int
}

// Log is one goroutine's part of a History.
type Log struct {
	h   *History
	who int
	own []call
}

// Log begins a part for one goroutine; End joins it.
func (h *History) Log(who int) *Log { return &Log{h: h, who: who} }

// End hands the part over. It is called once.
func (l *Log) End() {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	l.h.calls = append(l.h.calls, l.own...)
}

// Begin reads the clock before a call.
func (l *Log) Begin() int64 { return l.h.clock.Add(1) }

// Put notes a call that began at begin and put in vals, of asked; all: all or nothing.
func (l *Log) Put(begin int64, asked int, all bool, vals []uint64) {
	l.own = append(l.own, call{true, all, begin, l.h.clock.Add(1), asked, slices.Clone(vals), l.who})
}

// Get notes a call that took out vals.
func (l *Log) Get(begin int64, asked int, all bool, vals []uint64) {
	l.own = append(l.own, call{false, all, begin, l.h.clock.Add(1), asked, slices.Clone(vals), l.who})
}

// item is the life of a number: the calls that put it in and took it out.
type item struct {
	v         uint64
	in, out   *call
	inAt, pos int // in which order within a call
}

// Check judges the history of a queue for size numbers, in which left remain in this
// order (nil if it was emptied). All Logs have ended.
func (h *History) Check(size int, left []uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := &call{begin: h.clock.Add(1), end: math.MaxInt64, asked: len(left), vals: left, who: -1}
	slices.SortFunc(h.calls, func(a, b call) int { return cmp.Compare(a.begin, b.begin) })
	items := map[uint64]*item{}
	for i := range h.calls {
		if c := &h.calls[i]; c.put {
			for k, v := range c.vals {
				if items[v] != nil {
					return fmt.Errorf("the test put %#x in twice", v)
				}
				items[v] = &item{v: v, in: c, inAt: k}
			}
		}
	}
	for i := range len(h.calls) + 1 {
		c := last
		if i < len(h.calls) {
			c = &h.calls[i]
		}
		if c.put {
			continue
		}
		for k, v := range c.vals {
			it := items[v]
			switch {
			case it == nil:
				return fmt.Errorf("%#x came out and was never put in: %v", v, c)
			case it.out != nil:
				return fmt.Errorf("%#x came twice: %v and %v", v, it.out, c)
			case it.in.begin > c.end:
				return fmt.Errorf("%#x came before it was put in: %v, %v", v, c, it.in)
			}
			it.out, it.pos = c, k
		}
	}
	list := make([]*item, 0, len(items))
	for _, it := range items {
		if it.out == nil {
			return fmt.Errorf("%#x was lost: %v", it.v, it.in)
		}
		list = append(list, it)
	}
	if err := checkOrder(list); err != nil {
		return err
	}
	return h.checkShort(size, list)
}

// checkOrder looks for two numbers that came in the wrong order.
func checkOrder(list []*item) error {
	wrong := func(a, b *item) error {
		return fmt.Errorf("%#x was put in before %#x and came after it:\n%v\n%v\n%v\n%v", a.v, b.v, a.in, b.in, b.out, a.out)
	}
	byBegin := func(a, b *item) int {
		return cmp.Or(cmp.Compare(a.in.begin, b.in.begin), cmp.Compare(a.inAt, b.inAt))
	}
	// of all that was surely put in before b, the one that came last
	ended := slices.SortedFunc(slices.Values(list), func(a, b *item) int { return cmp.Compare(a.in.end, b.in.end) })
	slices.SortFunc(list, byBegin)
	var lateAll *item
	lateBy := map[int]*item{} // by the same goroutine
	for _, b := range list {
		for len(ended) > 0 && ended[0].in.end < b.in.begin {
			if a := ended[0]; lateAll == nil || a.out.begin > lateAll.out.begin {
				lateAll = a
			}
			ended = ended[1:]
		}
		for _, a := range []*item{lateAll, lateBy[b.in.who]} {
			if a != nil && b.out.end < a.out.begin {
				return wrong(a, b)
			}
		}
		if a := lateBy[b.in.who]; a == nil || b.out.begin > a.out.begin {
			lateBy[b.in.who] = b
		}
	}
	// within a call
	slices.SortFunc(list, func(a, b *item) int {
		return cmp.Or(cmp.Compare(a.out.begin, b.out.begin), cmp.Compare(a.pos, b.pos))
	})
	var newest *item // of those before b in its call, the one put in last
	newestBy := map[int]*item{}
	for i, b := range list {
		if i == 0 || list[i-1].out != b.out {
			newest, newestBy = nil, map[int]*item{}
		}
		if newest != nil && b.in.end < newest.in.begin {
			return wrong(b, newest)
		}
		if a := newestBy[b.in.who]; a != nil && byBegin(b, a) < 0 {
			return wrong(b, a)
		}
		if newest == nil || b.in.begin > newest.in.begin {
			newest = b
		}
		newestBy[b.in.who] = b
	}
	return nil
}

// checkShort looks at the calls that moved less than was asked.
func (h *History) checkShort(size int, list []*item) error {
	times := func(f func(*item) int64) []int64 {
		t := make([]int64, len(list))
		for i, it := range list {
			t[i] = f(it)
		}
		slices.Sort(t)
		return t
	}
	before := func(t []int64, at int64) int { n, _ := slices.BinarySearch(t, at); return n }
	inBegin := times(func(i *item) int64 { return i.in.begin })
	inEnd := times(func(i *item) int64 { return i.in.end })
	outBegin := times(func(i *item) int64 { return i.out.begin })
	outEnd := times(func(i *item) int64 { return i.out.end })
	for i := range h.calls {
		c := &h.calls[i]
		if len(c.vals) == c.asked {
			continue
		}
		if c.put {
			// at most so many were in it at some time of the call
			most := before(inBegin, c.end) - before(outEnd, c.begin)
			if most < size && (!c.all || most+c.asked <= size) {
				return fmt.Errorf("refused, with at most %d of %d in the queue: %v", most, size, c)
			}
			continue
		}
		// at least so many were in it all the time
		least := before(inEnd, c.begin) - before(outBegin, c.end)
		if least <= 0 || c.all && least < c.asked || h.putUnderWay(c) {
			continue
		}
		return fmt.Errorf("%d were there all the time: %v", least, c)
	}
	return nil
}

func (h *History) putUnderWay(c *call) bool {
	for i := range h.calls {
		o := &h.calls[i]
		if o.begin > c.end {
			return false
		}
		if o.put && o.end > c.begin {
			return true
		}
	}
	return false
}

func (c *call) String() string {
	op := "get"
	if c.put {
		op = "put"
	}
	if c.all {
		op += " all"
	}
	return fmt.Sprintf("[%d..%d] %s by %d: %d asked, moved %#x", c.begin, c.end, op, c.who, c.asked, c.vals)
}
