// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"strings"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// schedPktio is odp_sched_pktio: packets of interfaces through the scheduler, and
// optionally through a pipeline of scheduled queues.
type schedPktio struct {
	ifs                  string
	names                []string
	queues, burst, sync  int
	stages, pipe, pipeSz int
	workers              int

	inst    *odp.Instance
	ports   []*odp.Port
	macs    [][12]byte // by output
	place   []int      // place in -i, by port index
	stage   [][]*odp.SchedQueue
	forward []pipeCount // by worker: packets forwarded between stages
}

// pipeCount is a worker's own.
type pipeCount struct {
	n uint64
	_ [120]byte
}

// pipePlace is the context of a queue of the pipeline.
type pipePlace struct{ stage, index int }

func newSchedPktio(fs *flag.FlagSet) task {
	s := &schedPktio{}
	fs.StringVar(&s.ifs, "i", "loop:1?seed=512,loop:2?seed=512", "`interfaces`, separated by commas, an even number or one")
	fs.IntVar(&s.queues, "q", 1, "receive `queues` of each interface; 0 = as many as workers")
	fs.IntVar(&s.burst, "b", 32, "most `events` in a schedule call")
	addChoice(fs, &s.sync, "m", 2, 1, "`kind` of queue", "parallel", "atomic", "ordered")
	fs.IntVar(&s.stages, "pipe-stages", 0, "`stages` of the pipeline after the inputs")
	fs.IntVar(&s.pipe, "pipe-queues", 1, "`queues` in each stage")
	fs.IntVar(&s.pipeSz, "pipe-queue-size", 256, "`events` in a queue of the pipeline")
	refuse(fs, map[string]string{"t": "no timers beside the packets", "s": "the counts are always printed"})
	return s
}

func (s *schedPktio) setWorkers(n int) { s.workers = n }

func (s *schedPktio) check() error {
	s.names = strings.Split(s.ifs, ",")
	n := len(s.names)
	if s.queues == 0 {
		s.queues = s.workers
	}
	return firstErr(when(n != 1 && n%2 != 0 || n > 8, "-i: %d interfaces: one, or an even number up to 8", n),
		within("q", s.queues, 1, 64), within("b", s.burst, 1, maxBurst), within("pipe-stages", s.stages, 0, 64),
		within("pipe-queues", s.pipe, 1, 512), within("pipe-queue-size", s.pipeSz, 32, 1<<16))
}

func (s *schedPktio) params() Params {
	p := Params{{"interfaces", s.ifs}, {"queues", s.queues}, {"burst", s.burst}, {"sync", syncs[s.sync-1].String()}}
	if s.stages > 0 {
		p = append(p, Param{"pipe_stages", s.stages}, Param{"pipe_queues", s.pipe}, Param{"pipe_queue_size", s.pipeSz})
	}
	return p
}

func (s *schedPktio) counted() bool { return false }

func (s *schedPktio) configure(cfg *odp.Config) {
	cfg.Scheduler.MaxQueues = max(1024, s.stages*s.pipe+8*s.queues)
}

func (s *schedPktio) open(e *env) error {
	s.inst, s.ports, s.macs, s.place, s.stage = e.inst, nil, nil, nil, nil
	s.forward = make([]pipeCount, s.workers)
	cfg := odp.PortConfig{Mode: odp.ModeScheduled, Sync: syncs[s.sync-1]}
	cfg.RxQueues, cfg.TxQueues = s.queues, s.workers
	if s.stages > 0 && s.pipe > 1 {
		cfg.Hash = pktio.HashToeplitz
	}
	for i, name := range s.names {
		p, err := e.inst.OpenPort(e.ctx, name, cfg)
		if err != nil {
			return err
		}
		s.ports = append(s.ports, p)
		s.macs = append(s.macs, header.MACPattern([]byte{2, 0, 0, 0, 0, byte(i)}, p.MAC()))
		for len(s.place) <= p.Index() {
			s.place = append(s.place, 0)
		}
		s.place[p.Index()] = i
	}
	for stage := range s.stages {
		var qs []*odp.SchedQueue
		for i := range s.pipe {
			q, err := e.inst.NewSchedQueue(odp.SchedQueueConfig{Sync: syncs[s.sync-1], Size: s.pipeSz, Context: &pipePlace{stage, i}})
			if err != nil {
				return err
			}
			qs = append(qs, q)
		}
		s.stage = append(s.stage, qs)
	}
	return nil
}

// output returns where packets of an interface go.
func (s *schedPktio) output(in int) int {
	if len(s.ports) == 1 {
		return 0
	}
	return in ^ 1
}

func (s *schedPktio) work(w *odp.Worker, i int, m *Meter) error {
	var room [maxBurst]*odp.Event
	ev := room[:s.burst]
	inst := s.inst
	out := make([]*pktio.Out, len(s.ports))
	for k, p := range s.ports {
		out[k] = p.Out(i % p.NumOut())
	}
	s.forward[i].n = 0
	var c Counts
	m.Begin()
	for {
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
		c.Calls++
		if len(s.stage) > 0 {
			last, err := s.pass(w, q, ev[:n], &s.forward[i].n, &c)
			if err != nil {
				return err
			}
			if !last {
				continue
			}
		}
		// Packets in a burst that passed the pipeline may be of several interfaces.
		pkts := odp.PacketsOf(ev[:n])
		for len(pkts) > 0 {
			in, _ := pkts[0].Input()
			k := 1
			for k < len(pkts) {
				if x, _ := pkts[k].Input(); x != in {
					break
				}
				k++
			}
			to := s.output(s.place[in])
			for _, p := range pkts[:k] {
				header.SetMACs(p.DataPtr(), &s.macs[to])
			}
			sent, err := out[to].Send(w, pkts[:k])
			if err := s.rest(w, odp.EventsOf(pkts[sent:k]), err, &c); err != nil {
				return err
			}
			c.Events += uint64(k)
			pkts = pkts[k:]
		}
	}
	m.Finish(c)
	return nil
}

// pass forwards a burst to the next stage of the pipeline, unless it comes from the last.
// In the first stage the queue is that of the packet's flow; a run of packets of one queue
// is one call.
func (s *schedPktio) pass(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event, forwarded *uint64, c *Counts) (last bool, err error) {
	place, ok := q.Context().(*pipePlace)
	if ok && place.stage+1 == len(s.stage) {
		return true, nil
	}
	for len(ev) > 0 && err == nil {
		to, n := s.stage[0][0], len(ev)
		if ok {
			to = s.stage[place.stage+1][place.index]
		} else if s.pipe > 1 {
			to = s.first(ev[0])
			for n = 1; n < len(ev) && s.first(ev[n]) == to; n++ {
			}
		}
		var sent int
		sent, err = to.Enqueue(w, ev[:n])
		err = s.rest(w, ev[sent:n], err, c)
		*forwarded += uint64(sent)
		ev = ev[n:]
	}
	return false, err
}

// first returns the queue of the first stage for a packet.
func (s *schedPktio) first(e *odp.Event) *odp.SchedQueue {
	h, _ := e.Packet().FlowHash()
	return s.stage[0][int(h)%s.pipe]
}

// rest frees what was not taken.
func (s *schedPktio) rest(w *odp.Worker, ev []*odp.Event, err error, c *Counts) error {
	if len(ev) > 0 {
		odp.FreePackets(w, odp.PacketsOf(ev))
		c.Dropped += uint64(len(ev))
	}
	return err
}

// closed tells how much went through the pipeline.
func (s *schedPktio) closed(r *Rep) error {
	if s.stages == 0 {
		return nil
	}
	var n uint64
	for i := range s.forward {
		n += s.forward[i].n
	}
	r.Extra["packets forwarded between stages"] = float64(n)
	return nil
}
