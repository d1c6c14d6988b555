// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
)

// side is a stream of numbered events that goes through a scheduled queue beside the
// packets:
//
//	control thread ─▶ atomic queue   ─▶ any worker: the next number, and nobody else is inside
//	               ─▶ ordered queue  ─▶ any worker ─▶ plain queue ─▶ the control thread: in order
//	               ─▶ parallel queue ─▶ any worker: all of them
type side struct {
	r    *round
	name string
	sync odp.Sync
	pool *odp.Pool
	in   *odp.SchedQueue
	out  *odp.Queue // ordered: where the workers put them

	stop     atomic.Bool // make no more
	sent     atomic.Uint64
	received atomic.Uint64 // by whom they are for
	lost     atomic.Uint64 // no room in out

	inside atomic.Int32
	next   uint64 // atomic: the next number; plain memory, so that the race detector sees two inside
	locked uint64 // ordered: the next number under the ordered lock
	last   uint64 // control thread: the last number that came out, plus 1
}

func (r *round) openSide(i int, sync odp.Sync) (err error) {
	s := &side{r: r, name: fmt.Sprintf("side %d", i), sync: sync}
	if s.pool, err = r.inst.NewPool(odp.PoolConfig{Name: s.name, Type: buffer.TypeBuffer, Num: one(r.rng, 64, 300), Size: 8}); err != nil {
		return err
	}
	cfg := odp.SchedQueueConfig{Name: s.name, Sync: sync, Priority: r.priority(), Group: r.group(), Size: 256, Context: &route{side: s}}
	if sync == odp.Ordered {
		cfg.Locks = 1
		if s.out, err = r.inst.NewQueue(odp.QueueConfig{Name: s.name, Size: one(r.rng, 32, 512)}); err != nil {
			return err
		}
	}
	if s.in, err = r.inst.NewSchedQueue(cfg); err != nil {
		return err
	}
	r.side = append(r.side, s)
	return r.inst.Go(s.name, s.make)
}

// make is the control thread.
func (s *side) make(w *odp.Worker) error {
	var bufs [16]*buffer.Buffer
	var seq uint64
	for w.Running() {
		s.collect(w)
		if s.stop.Load() {
			time.Sleep(100 * time.Microsecond)
			continue
		}
		n := s.pool.AllocBuffers(w, bufs[:])
		for i, b := range bufs[:n] {
			binary.LittleEndian.PutUint64(b.Data(), seq+uint64(i))
		}
		ev := make([]*odp.Event, n)
		for i, b := range bufs[:n] {
			ev[i] = &b.Event
		}
		m, err := s.in.EnqueueNew(w, ev)
		seq += uint64(m)
		s.sent.Add(uint64(m))
		buffer.FreeEvents(w, ev[m:])
		if err != nil {
			if errors.Is(err, queue.ErrStopped) || errors.Is(err, queue.ErrClosed) {
				return nil
			}
			return err
		}
		if m == 0 {
			time.Sleep(100 * time.Microsecond)
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
	s.collect(w)
	return nil
}

// collect takes what the workers put in order, and looks at it.
func (s *side) collect(w *odp.Worker) {
	if s.out == nil {
		return
	}
	var ev [32]*odp.Event
	for {
		n, err := s.out.Dequeue(w, ev[:])
		for _, e := range ev[:n] {
			if seq := number(e); seq < s.last {
				s.r.problem("%s: event %d came out of the ordered queue behind %d", s.name, seq, s.last-1)
			} else {
				s.last = seq + 1
			}
		}
		buffer.FreeEvents(w, ev[:n])
		s.received.Add(uint64(n))
		if n == 0 || err != nil {
			return
		}
	}
}

func number(e *odp.Event) uint64 { return binary.LittleEndian.Uint64(e.Buffer().Data()) }

// got is what a worker does with a burst.
func (s *side) got(w *odp.Worker, ev []*odp.Event) {
	switch s.sync {
	case odp.Atomic:
		if s.inside.Add(1) != 1 {
			s.r.problem("%s: two workers are inside of an atomic queue", s.name)
		}
		for _, e := range ev {
			if seq := number(e); seq != s.next {
				s.r.problem("%s: event %d came out of the atomic queue, expected %d", s.name, seq, s.next)
				s.next = seq
			}
			s.next++
		}
		if s.next&63 == 0 {
			runtime.Gosched()
		}
		s.inside.Add(-1)
	case odp.Ordered:
		sched := s.r.inst.Scheduler()
		if number(ev[0])%3 == 0 { // a lock that is not used is passed on
			sched.OrderLock(w, 0)
			if seq := number(ev[0]); seq < s.locked {
				s.r.problem("%s: event %d has the ordered lock behind %d", s.name, seq, s.locked-1)
			}
			s.locked = number(ev[len(ev)-1]) + 1
			sched.OrderUnlock(w, 0)
		}
		n, err := s.out.Enqueue(w, ev)
		if err != nil && !errors.Is(err, queue.ErrStopped) && !errors.Is(err, queue.ErrClosed) {
			s.r.problem("%s: enqueue: %v", s.name, err)
		}
		s.lost.Add(uint64(len(ev) - n))
		buffer.FreeEvents(w, ev[n:])
		return
	}
	s.received.Add(uint64(len(ev)))
	buffer.FreeEvents(w, ev)
}

// done reports whether all that was made has arrived. Only when nothing more is made.
func (s *side) done() bool { return s.received.Load()+s.lost.Load() >= s.sent.Load() }

func (s *side) check() {
	if got, sent := s.received.Load()+s.lost.Load(), s.sent.Load(); got != sent {
		s.r.problem("%s (%v): %d events enqueued, %d came out and %d found no room", s.name, s.sync, sent, s.received.Load(), s.lost.Load())
	}
	s.r.Events += s.received.Load()
}
