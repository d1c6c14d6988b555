// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Priorities and kinds of event of odp_sched_latency.
const (
	prioHigh = iota
	prioLow

	kindTraffic = 0
	kindWarmUp  = 1
	kindSample  = 2
)

// latency is odp_sched_latency: traffic events go round in queues of two priorities, and
// one event carries the time of its enqueue.
type latency struct {
	rounds, forward, groups, sync    int
	isolate                          bool
	lowQueues, highQueues            int
	lowEvents, highEvents            int
	lowPerQueue, highPerQueue, perPr bool
	warmUp                           int
	wait                             time.Duration

	inst   *odp.Instance
	queues [2][]*odp.SchedQueue
	group  [2][]*odp.Group
	stats  [][2]latencyStat // by worker
	result [][2]latencyStat // sums of the repetitions
}

// message is what the data of an event holds.
//
//	0 kind   8 priority   16 warm-up rounds   24, 32 queue of each priority   40 time of the enqueue
const messageSize = 48

type latencyStat struct {
	events, samples, sum, max uint64
	min                       uint64
	_                         [88]byte
}

func newLatency(fs *flag.FlagSet) task {
	l := &latency{}
	fs.IntVar(&l.rounds, "d", 0, "`millions` of scheduling rounds of each worker; 0 = for the time of -time")
	addChoice(fs, &l.forward, "f", 0, 0, "which `queue` an event goes to next", "random", "incremental", "source")
	fs.IntVar(&l.groups, "g", 0, "`groups` that queues are spread over; 0 = all workers' group")
	fs.BoolVar(&l.isolate, "i", false, "groups of their own for each priority")
	fs.IntVar(&l.lowQueues, "l", 64, "`queues` of low priority")
	fs.IntVar(&l.highQueues, "t", 16, "`queues` of high priority")
	fs.IntVar(&l.lowEvents, "m", 32, "`events` in each queue of low priority")
	fs.IntVar(&l.highEvents, "n", 0, "`events` in each queue of high priority")
	fs.BoolVar(&l.lowPerQueue, "o", false, "-m is the number in all queues together")
	fs.BoolVar(&l.highPerQueue, "p", false, "-n is the number in all queues together")
	fs.BoolVar(&l.perPr, "r", false, "a sample for each priority; else one that changes its priority each time")
	addChoice(fs, &l.sync, "s", 0, 0, "`kind` of queue", "parallel", "atomic", "ordered")
	fs.IntVar(&l.warmUp, "w", 100, "`rounds` of the sample before it counts")
	fs.DurationVar(&l.wait, "W", 0, "busy `time` after each event")
	refuse(fs, map[string]string{"b": "an event for each schedule call, as in the original's default"})
	return l
}

func (l *latency) check() error {
	return firstErr(within("d", l.rounds, 0, 1<<20), within("g", l.groups, 0, 25), within("l", l.lowQueues, 0, 4096), within("t", l.highQueues, 0, 4096),
		when(l.lowQueues+l.highQueues == 0, "no queues: -l or -t"),
		within("m", l.lowEvents, 0, 1<<16), within("n", l.highEvents, 0, 1<<16), within("w", l.warmUp, 0, 1<<30),
		when(l.isolate && l.groups == 0, "-i needs -g"))
}

func (l *latency) params() Params {
	return Params{{"sync", syncs[l.sync].String()}, {"low_queues", l.lowQueues}, {"low_events", l.lowEvents}, {"high_queues", l.highQueues}, {"high_events", l.highEvents},
		{"forward", [...]string{"random", "incremental", "source"}[l.forward]}, {"groups", l.groups}, {"isolate", l.isolate}, {"sample_per_priority", l.perPr},
		{"wait_ns", int(l.wait)}}
}

func (l *latency) counted() bool { return l.rounds > 0 }

func (l *latency) configure(cfg *odp.Config) {
	cfg.Scheduler.MaxQueues = max(1024, l.lowQueues+l.highQueues)
}

// numEvents returns how many traffic events a priority has.
func (l *latency) numEvents(prio int) int {
	n, q, all := l.lowEvents, l.lowQueues, l.lowPerQueue
	if prio == prioHigh {
		n, q, all = l.highEvents, l.highQueues, l.highPerQueue
	}
	if !all {
		n *= q
	}
	return n
}

func (l *latency) open(e *env) error {
	l.inst, l.queues, l.group = e.inst, [2][]*odp.SchedQueue{}, [2][]*odp.Group{}
	l.stats = make([][2]latencyStat, e.com.Workers)
	if l.result == nil {
		l.result = make([][2]latencyStat, e.com.Workers)
	}
	for i := range l.groups {
		for prio := range 2 {
			if prio > 0 && !l.isolate {
				l.group[prio] = append(l.group[prio], l.group[0][i])
				continue
			}
			g, err := e.inst.NewGroup("group" + strconv.Itoa(2*i+prio))
			if err != nil {
				return err
			}
			l.group[prio] = append(l.group[prio], g)
		}
	}
	total := l.numEvents(prioHigh) + l.numEvents(prioLow) + 2
	pool, err := e.inst.NewPool(odp.PoolConfig{Name: "bench", Type: buffer.TypeBuffer, Num: total, Need: total, Size: messageSize})
	if err != nil {
		return err
	}
	for prio, n := range [2]int{l.highQueues, l.lowQueues} {
		for i := range n {
			cfg := odp.SchedQueueConfig{Sync: syncs[l.sync], Size: total, Priority: odp.PriorityLevel(7 * (1 - prio))}
			if len(l.group[prio]) > 0 {
				cfg.Group = l.group[prio][i%l.groups]
			}
			q, err := e.inst.NewSchedQueue(cfg)
			if err != nil {
				return err
			}
			l.queues[prio] = append(l.queues[prio], q)
		}
		if l.forward == 0 {
			rand.New(rand.NewPCG(1, uint64(prio))).Shuffle(n, func(i, j int) {
				l.queues[prio][i], l.queues[prio][j] = l.queues[prio][j], l.queues[prio][i]
			})
		}
	}
	return l.fill(pool)
}

// fill puts the traffic and the samples into the queues.
func (l *latency) fill(pool *odp.Pool) error {
	put := func(prio, kind, queue int) error {
		b := pool.AllocBuffer(nil)
		d := b.Data()
		clear(d)
		putWord(d, uint64(kind))
		putWord(d[8:], uint64(prio))
		putWord(d[24+8*prio:], uint64(queue))
		return enqueueAll(l.queues[prio][queue], []*odp.Event{&b.Event})
	}
	for prio := range 2 {
		n := len(l.queues[prio])
		if n == 0 {
			continue
		}
		for i := range l.numEvents(prio) {
			if err := put(prio, kindTraffic, i%n); err != nil {
				return err
			}
		}
		if l.perPr || prio == prioHigh || len(l.queues[prioHigh]) == 0 {
			if err := put(prio, kindWarmUp, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *latency) work(w *odp.Worker, i int, m *Meter) error {
	for _, gs := range l.group {
		for _, g := range gs {
			if !g.Has(w) {
				if err := g.Join(w); err != nil {
					return err
				}
			}
		}
	}
	var ev [1]*odp.Event
	inst, limit := l.inst, m.Limit(uint64(l.rounds)*1e6)
	st := &l.stats[i]
	for p := range st {
		st[p] = latencyStat{min: math.MaxUint64}
	}
	var c Counts
	m.Begin()
	for c.Events < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n, _, err := inst.Schedule(w, ev[:], 0)
		if n == 0 {
			if err != nil {
				return err
			}
			c.Empty++
			continue
		}
		now := cyclesStrict()
		if l.wait > 0 {
			for end := now + toCycles(l.wait); cycles() < end; {
			}
		}
		q, kind := l.next(ev[0].Buffer().Data(), st, now, m.Start)
		if kind == kindSample {
			putWord(ev[0].Buffer().Data()[40:], cyclesStrict())
		}
		for {
			k, err := q.Enqueue(w, ev[:])
			if err != nil {
				return err
			}
			if k == 1 {
				break
			}
			c.Full++
		}
		c.Events++
		c.Calls++
	}
	m.Finish(c)
	return nil
}

// next looks at an event that was scheduled at now: a sample is counted, unless it was
// sent before the clock was started (it waited for the barrier then). It returns the queue
// that the event goes to.
func (l *latency) next(d []byte, st *[2]latencyStat, now, start uint64) (q *odp.SchedQueue, kind uint64) {
	d = d[:messageSize]
	kind = word(d)
	prio := int(word(d[8:]) & 1)
	s := &st[prio]
	if kind == kindSample {
		if sent := word(d[40:]); sent >= start && now > sent {
			lat := now - sent
			s.max, s.min = max(s.max, lat), min(s.min, lat)
			s.samples++
			s.sum += lat
		}
		if other := 1 - prio; !l.perPr && len(l.queues[other]) > 0 {
			prio = other
			putWord(d[8:], uint64(prio))
		}
	}
	if kind == kindWarmUp {
		n := word(d[16:]) + 1
		putWord(d[16:], n)
		if int(n) >= l.warmUp {
			kind = kindSample
			putWord(d, kind)
		}
	} else {
		s.events++
	}
	to := int(word(d[24+8*prio:]))
	if l.forward != 2 {
		if to++; to >= len(l.queues[prio]) {
			to = 0
		}
		putWord(d[24+8*prio:], uint64(to))
	}
	return l.queues[prio][to], kind
}

// closed adds the repetition to the sums.
func (l *latency) closed(r *Rep) error {
	for i := range l.stats {
		for p := range l.stats[i] {
			a, b := &l.result[i][p], &l.stats[i][p]
			if b.samples == 0 {
				continue
			}
			if a.samples == 0 {
				a.min = math.MaxUint64
			}
			a.events += b.events
			a.samples += b.samples
			a.sum += b.sum
			a.max, a.min = max(a.max, b.max), min(a.min, b.min)
		}
	}
	for p, name := range [...]string{"high", "low"} {
		var sum, n uint64
		for i := range l.stats {
			sum, n = sum+l.stats[i][p].sum, n+l.stats[i][p].samples
		}
		if n > 0 {
			r.Extra[name+" priority, average latency, ns"] = toNs(sum) / float64(n)
		}
	}
	return nil
}

// finish adds the tables to the report.
func (l *latency) finish(res *Result) {
	for p, name := range [...]string{"high", "low"} {
		var all latencyStat
		all.min = math.MaxUint64
		for i := range l.result {
			s := &l.result[i][p]
			if s.samples == 0 {
				continue
			}
			res.Latency = append(res.Latency, s.line(name, strconv.Itoa(i)))
			all.events += s.events
			all.samples += s.samples
			all.sum += s.sum
			all.max, all.min = max(all.max, s.max), min(all.min, s.min)
		}
		if all.samples > 0 {
			res.Latency = append(res.Latency, all.line(name, "all"))
		}
	}
}

func (s *latencyStat) line(prio, thread string) LatencyResult {
	return LatencyResult{Priority: prio, Thread: thread, Avg: toNs(s.sum) / float64(s.samples), Min: toNs(s.min), Max: toNs(s.max), Samples: s.samples, Events: s.events}
}
