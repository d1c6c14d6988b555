// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

const maxBurst = 256

// Kinds of event, as numbered by the originals.
const (
	kindBuffer = iota
	kindPacket
	kindVector
)

// Bits of -S.
const (
	stressSquare = 1 << iota
	stressLog2
	stressSqrt
	stressFloat
)

// sched is odp_sched_perf: events that lie in scheduled queues are scheduled and
// enqueued again.
type sched struct {
	queues, low, high, dummy int
	events, num, burst, sync int
	groups, join             int
	forward                  int
	fair                     bool
	wait                     time.Duration
	stress                   int
	ctxRead, ctxWrite        int
	dataRead, dataWrite      int
	areaRead, areaWrite      int
	kind                     int
	inst                     *odp.Instance
	made                     []*odp.SchedQueue
	group                    []*odp.Group
	touch, useCtx            bool
	sink                     atomic.Uint64 // keeps what was read
}

// schedContext is the context of a queue where a benchmark uses it.
type schedContext struct {
	next  *odp.SchedQueue
	words []uint64
	count atomic.Uint64
	_     [64]byte
}

func newSched(fs *flag.FlagSet) task {
	s := &sched{}
	fs.IntVar(&s.queues, "q", 1, "`queues` of default priority")
	fs.IntVar(&s.low, "L", 0, "`queues` of lowest priority")
	fs.IntVar(&s.high, "H", 0, "`queues` of highest priority")
	fs.IntVar(&s.dummy, "d", 0, "`queues` that stay empty")
	fs.IntVar(&s.events, "e", 100, "`events` per queue")
	fs.IntVar(&s.num, "s", 0, "`events` that each worker schedules; 0 = for the time of -time")
	fs.IntVar(&s.burst, "b", 100, "most `events` in a schedule or enqueue call")
	addChoice(fs, &s.sync, "t", 0, 0, "`kind` of queue", "parallel", "atomic", "ordered")
	fs.IntVar(&s.groups, "g", 0, "`groups`: 0 all threads, -1 all workers, N own ones; workers and queues in turn")
	fs.IntVar(&s.join, "j", 0, "`groups` that each worker joins; 0 = all")
	fs.IntVar(&s.forward, "f", 0, "0 enqueue to the same queue, 1 to the next one, `N` to the next one within N sets of queues")
	fs.BoolVar(&s.fair, "F", false, "count events per queue and report the deviation from their average")
	fs.DurationVar(&s.wait, "w", 0, "busy `time` before the enqueue of a burst")
	fs.IntVar(&s.stress, "S", 0, "work per 32 bits of data that is read (-n, -m): `sum` of 1 square, 2 log2, 4 square root, 8 square root of a float")
	fs.IntVar(&s.ctxRead, "k", 0, "`words` of the queue context read per event")
	fs.IntVar(&s.ctxWrite, "l", 0, "`words` of the queue context modified per event")
	fs.IntVar(&s.dataRead, "n", 0, "`words` of event data read")
	fs.IntVar(&s.dataWrite, "m", 0, "`words` of event data modified")
	fs.IntVar(&s.areaRead, "u", 0, "`words` of the user area read")
	fs.IntVar(&s.areaWrite, "U", 0, "`words` of the user area modified")
	addChoice(fs, &s.kind, "p", 0, 0, "`kind` of event", "buffer", "packet", "vector")
	refuse(fs, map[string]string{
		"T": "control threads have no CPU of their own",
		"P": "the scheduler has no prefetch call (in ODP's it does nothing)",
		"C": "there are no cache stash hints",
	})
	return s
}

func (s *sched) check() error {
	n := s.queues + s.low + s.high
	words := s.ctxRead + s.ctxWrite + s.dataRead + s.dataWrite + s.areaRead + s.areaWrite
	s.touch = words > 0
	s.useCtx = s.forward > 0 || s.fair || s.ctxRead+s.ctxWrite > 0
	return firstErr(
		within("q", s.queues, 0, 1<<15), within("L", s.low, 0, 1<<15), within("H", s.high, 0, 1<<15),
		when(n == 0, "no queues: -q, -L or -H"),
		within("d", s.dummy, 0, 1<<15), within("e", s.events, 1, 1<<20), within("s", s.num, 0, math.MaxInt),
		when(n*s.events > 1<<22, "-e %d: %d queues would hold more than %d events", s.events, n, 1<<22),
		within("b", s.burst, 1, maxBurst), within("g", s.groups, -1, 60), within("j", s.join, 0, max(s.groups, 0)),
		within("f", s.forward, 0, n),
		when(s.forward > 1 && n%s.forward != 0, "-f %d: %d queues can't be divided into so many sets", s.forward, n),
		within("S", s.stress, 0, 15), when(words < 0 || words > 4096, "words to touch: 0 to 4096"),
		when(s.kind == kindVector && s.dataRead+s.dataWrite > 0, "-n, -m: vectors have no data"),
	)
}

func (s *sched) params() Params {
	p := Params{{"queues", s.queues}, {"events", s.events}, {"burst", s.burst}, {"sync", syncs[s.sync].String()}}
	add := func(name string, v int) {
		if v != 0 {
			p = append(p, Param{name, v})
		}
	}
	add("low", s.low)
	add("high", s.high)
	add("empty", s.dummy)
	add("num", s.num)
	add("groups", s.groups)
	add("join", s.join)
	add("forward", s.forward)
	add("wait_ns", int(s.wait))
	add("stress", s.stress)
	add("ctx_read", s.ctxRead)
	add("ctx_write", s.ctxWrite)
	add("data_read", s.dataRead)
	add("data_write", s.dataWrite)
	add("area_read", s.areaRead)
	add("area_write", s.areaWrite)
	return append(p, Param{"event", [...]string{"buffer", "packet", "vector"}[s.kind]})
}

var syncs = [...]odp.Sync{odp.Parallel, odp.Atomic, odp.Ordered}

func (s *sched) counted() bool { return s.num > 0 }

func (s *sched) configure(cfg *odp.Config) {
	cfg.Scheduler.MaxQueues = max(1024, s.queues+s.low+s.high+s.dummy)
}

// open makes the queues and fills them.
func (s *sched) open(e *env) (err error) {
	s.inst, s.made, s.group = e.inst, nil, nil
	for i := range s.groups {
		g, err := e.inst.NewGroup(fmt.Sprint("group", i))
		if err != nil {
			return err
		}
		s.group = append(s.group, g)
	}
	n := s.queues + s.low + s.high
	size := s.events // events that may end up in a queue
	if s.forward > 0 {
		size = s.events * n / s.forward
	}
	for i := range n {
		cfg := odp.SchedQueueConfig{Sync: syncs[s.sync], Size: size, Group: s.groupOf(i)}
		switch {
		case i < s.low:
			cfg.Priority = odp.PriorityLevel(0)
		case i < s.low+s.high:
			cfg.Priority = odp.PriorityLevel(7)
		}
		if s.useCtx {
			cfg.Context = &schedContext{words: make([]uint64, s.ctxRead+s.ctxWrite)}
		}
		q, err := e.inst.NewSchedQueue(cfg)
		if err != nil {
			return err
		}
		s.made = append(s.made, q)
	}
	for i := range s.dummy {
		if _, err := e.inst.NewSchedQueue(odp.SchedQueueConfig{Sync: syncs[s.sync], Group: s.groupOf(i)}); err != nil {
			return err
		}
	}
	if s.forward > 0 {
		set := n / s.forward
		for i, q := range s.made {
			next := i - i%set + (i+1)%set
			q.Context().(*schedContext).next = s.made[next]
		}
	}
	alloc, err := eventPool(e.inst, s.kind, n*s.events, 8*max(2, s.dataRead+s.dataWrite), 8*(s.areaRead+s.areaWrite))
	if err != nil {
		return err
	}
	for _, q := range s.made {
		ev, err := alloc(s.events)
		if err == nil {
			err = enqueueAll(q, ev)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the group of queue i.
func (s *sched) groupOf(i int) *odp.Group {
	switch {
	case s.groups > 0:
		return s.group[i%s.groups]
	case s.groups < 0:
		return s.inst.Scheduler().Worker()
	}
	return nil
}

// joinGroups makes worker i a member of its groups.
func (s *sched) joinGroups(w *odp.Worker, i int) error {
	n := s.join
	if n == 0 {
		n = len(s.group)
	}
	for k := range n {
		g := s.group[(i+k)%len(s.group)]
		if g.Has(w) {
			continue
		}
		if err := g.Join(w); err != nil {
			return err
		}
	}
	return nil
}

// work is the measured loop.
func (s *sched) work(w *odp.Worker, i int, m *Meter) error {
	if err := s.joinGroups(w, i); err != nil {
		return err
	}
	var room [maxBurst]*odp.Event
	ev := room[:s.burst]
	inst, limit := s.inst, m.Limit(uint64(s.num))
	extra := s.touch || s.useCtx || s.wait > 0
	var c Counts
	m.Begin()
	for c.Events < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n, q, err := inst.Schedule(w, ev, 0)
		if n == 0 {
			if err != nil {
				return err
			}
			c.Empty++
			continue
		}
		c.Events += uint64(n)
		c.Calls++
		if extra {
			q = s.extra(q, ev[:n])
		}
		for rest := ev[:n]; len(rest) > 0; {
			k, err := q.Enqueue(w, rest)
			if err != nil {
				return err
			}
			rest = rest[k:]
			c.Enqueues++
		}
	}
	m.Finish(c)
	return nil
}

// extra is what a loop does with a burst beside moving it. It returns the queue to
// enqueue to.
func (s *sched) extra(q *odp.SchedQueue, ev []*odp.Event) *odp.SchedQueue {
	var sum uint64
	if s.areaRead+s.areaWrite > 0 {
		for _, e := range ev {
			sum += touchBytes(e.UserArea(), s.areaRead, s.areaWrite)
		}
	}
	if s.useCtx {
		x := q.Context().(*schedContext)
		if s.forward > 0 {
			q = x.next
		}
		if s.fair {
			x.count.Add(uint64(len(ev)))
		}
		for range ev {
			sum += touchWords(x.words, s.ctxRead, s.ctxWrite)
		}
	}
	if s.dataRead+s.dataWrite > 0 {
		for _, e := range ev {
			sum += touchBytes(dataOf(e, s.kind), s.dataRead, s.dataWrite)
			if s.stress != 0 {
				sum += stress(dataOf(e, s.kind)[:8*(s.dataRead+s.dataWrite)], s.stress)
			}
		}
	}
	if s.wait > 0 {
		for end := cycles() + toCycles(s.wait); cycles() < end; {
		}
	}
	if s.touch {
		s.sink.Store(sum)
	}
	return q
}

// closed adds the deviation of the queues' counts.
func (s *sched) closed(r *Rep) error {
	if !s.fair {
		return nil
	}
	var counts []float64
	sum := 0.0
	for _, q := range s.made {
		v := float64(q.Context().(*schedContext).count.Load())
		counts = append(counts, v)
		sum += v
	}
	mean, dev := sum/float64(len(counts)), 0.0
	for _, v := range counts {
		dev = max(dev, math.Abs(v-mean))
	}
	if mean == 0 {
		return errors.New("no events were counted")
	}
	r.Extra["fairness of the queues (Jain)"] = Jain(counts)
	r.Extra["largest deviation of a queue, %"] = 100 * dev / mean
	return nil
}

// dataOf returns the data of a buffer or packet.
func dataOf(e *odp.Event, kind int) []byte {
	if kind == kindPacket {
		return e.Packet().Data()
	}
	return e.Buffer().Data()
}

// touchWords reads and modifies words, and returns a sum so that the reads are needed.
func touchWords(v []uint64, read, write int) (sum uint64) {
	for _, x := range v[:read] {
		sum += x
	}
	v = v[read : read+write]
	for i := range v {
		sum += v[i]
		v[i]++
	}
	return sum
}

// touchBytes is touchWords on words that lie in bytes.
func touchBytes(b []byte, read, write int) (sum uint64) {
	for i := range read {
		sum += word(b[8*i:])
	}
	b = b[8*read:]
	for i := range write {
		v := word(b[8*i:])
		sum += v
		putWord(b[8*i:], v+1)
	}
	return sum
}

// stress computes with each 32 bits of b.
func stress(b []byte, flags int) (sum uint64) {
	for ; len(b) >= 4; b = b[4:] {
		v := uint32(word32(b))
		if flags&stressSquare != 0 {
			sum += uint64(v) * uint64(v)
		}
		if flags&stressLog2 != 0 {
			sum += uint64(bits.Len32(v))
		}
		if flags&stressSqrt != 0 {
			sum += uint64(isqrt(v))
		}
		if flags&stressFloat != 0 {
			sum += uint64(math.Sqrt(float64(v)))
		}
	}
	return sum
}

// isqrt is the integer square root by the binary digit method.
func isqrt(v uint32) (root uint32) {
	for bit := uint32(1) << 30; bit != 0; bit >>= 2 {
		if v >= root+bit {
			v -= root + bit
			root = root>>1 + bit
		} else {
			root >>= 1
		}
	}
	return root
}

// enqueueAll fills a queue from the control plane.
func enqueueAll(q odp.Dest, ev []*odp.Event) error {
	n, err := q.Enqueue(nil, ev)
	if err == nil && n < len(ev) {
		err = fmt.Errorf("a queue for %d events took %d", len(ev), n)
	}
	return err
}

// eventPool makes a pool of a kind and returns how to allocate from it.
func eventPool(inst *odp.Instance, kind, num, size, area int) (func(n int) ([]*odp.Event, error), error) {
	cfg := odp.PoolConfig{Name: "bench", Num: num, Size: size, UserArea: area, Need: num}
	cfg.Type = [...]buffer.Type{buffer.TypeBuffer, buffer.TypePacket, buffer.TypeVector}[kind]
	if kind == kindVector {
		cfg.Size = 32
	}
	p, err := inst.NewPool(cfg)
	if err != nil {
		return nil, err
	}
	return func(n int) ([]*odp.Event, error) {
		ev := make([]*odp.Event, n)
		for i := range ev {
			switch kind {
			case kindBuffer:
				if b := p.AllocBuffer(nil); b != nil {
					ev[i] = &b.Event
				}
			case kindPacket:
				if k := p.AllocPacket(nil, size); k != nil {
					ev[i] = &k.Event
				}
			case kindVector:
				if v := p.AllocVector(nil); v != nil {
					ev[i] = &v.Event
				}
			}
			if ev[i] == nil {
				return nil, fmt.Errorf("a pool of %d events gave %d", num, i)
			}
		}
		return ev, nil
	}, nil
}
