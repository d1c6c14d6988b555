// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// run is one call of Run.
type run struct {
	in      *Instance
	ctx     context.Context
	fn      func(*Worker) error
	slots   []*slot
	reports chan report
	halt    chan struct{} // closed when the workers were asked to stop

	mu       sync.Mutex
	stopping bool
	others   []error // of control threads that ended the run
}

// slot is the place of one worker: it survives a restart of it.
type slot struct {
	w     *Worker // nil when it has ended; guarded by run.mu
	going bool    // w may still be asked to stop; guarded by run.mu
	goid  int64   // goroutine of w; guarded by run.mu
	cpu   int     // to pin to, -1 = not
}

type report struct {
	s   *slot
	w   *Worker
	err error
}

// Run starts Config.Workers workers, each calling fn with its own Worker, and
// returns when all have ended. A worker ends when fn returns; fn should return soon
// after Running answers false, which happens when ctx ends, Stop, Shutdown or Close
// is called, or another worker fails. Shutdown stops the inputs first: Recv then
// returns ErrStopped while Running is still true, so that the rest can be sent.
//
// The result is nil if all ended orderly (ErrStopped and ctx's error count as
// orderly once the worker was asked to stop), else the errors of all, each with
// its worker's id: errors.Is and errors.As see into it. A panic is a *PanicError.
// If one worker returns an error the others are asked to stop; if it returns nil
// they go on. Ids start at the lowest free one, in start order.
//
// One Run at a time; it may be called again after it returned.
func (in *Instance) Run(ctx context.Context, fn func(w *Worker) error) error {
	if ctx == nil {
		return errNilContext("Run")
	}
	if fn == nil {
		return errors.New("odp: Run: the workers' function is nil")
	}
	if ctx.Err() != nil {
		return nil
	}
	n := in.cfg.Workers
	r := &run{in: in, ctx: ctx, fn: fn, reports: make(chan report, n), halt: make(chan struct{})}
	for range n {
		r.slots = append(r.slots, &slot{cpu: -1})
	}
	in.mu.Lock()
	if err := in.checkOpen("Run"); err != nil {
		in.mu.Unlock()
		return err
	}
	if in.active != nil {
		in.mu.Unlock()
		return fmt.Errorf("odp: Run: instance %q runs already: stop it first, or open a second instance", in.cfg.Name)
	}
	in.active = r
	in.mu.Unlock()
	defer func() {
		in.mu.Lock()
		in.active = nil
		in.mu.Unlock()
		in.closeSet()
	}()
	unwatch := context.AfterFunc(ctx, r.stop)
	defer unwatch()
	return r.supervise()
}

func (r *run) supervise() error {
	in := r.in
	var errs []error
	alive := 0
	if in.cfg.Pin != PinOff {
		order := cpuOrder(in.cfg.CPUs)
		for _, s := range r.slots {
			cpu, shared := takeCPU(order)
			defer giveCPU(cpu)
			if !shared || in.cfg.Pin == PinForce {
				s.cpu = cpu
			}
		}
	}
	for _, s := range r.slots { // all ids first: a worker that ends early must not pass its own on
		if err := r.join(s); err != nil {
			errs = append(errs, err)
			break
		}
	}
	for _, s := range r.slots {
		switch {
		case s.w == nil: // not joined
		case len(errs) > 0:
			r.unjoin(s)
		default:
			if err := r.start(s); err != nil {
				errs = append(errs, err)
				r.stop()
				continue
			}
			alive++
		}
	}
	limit := restarts{limit: in.cfg.RestartLimit, window: in.cfg.RestartWindow}
	halt, late := r.halt, (<-chan time.Time)(nil)
	for alive > 0 {
		select {
		case rep := <-r.reports:
			alive--
			if rep.err == nil {
				continue
			}
			err := fmt.Errorf("worker %d%s: %w", rep.w.ID(), onCPU(rep.w), rep.err)
			in.lastError.Store(err)
			again, why := r.restart(rep, &limit)
			if again {
				alive++
				continue
			}
			errs = append(errs, errors.Join(err, why))
			r.stop()
		case <-halt:
			halt, late = nil, time.After(in.cfg.StopTimeout)
		case <-late:
			in.log.Warn("workers were asked to stop and still run: their function must return when Running answers false",
				"workers", r.running().List(), "since", in.cfg.StopTimeout)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(append(errs, r.others...)...)
}

// fail ends the run with an error from elsewhere. Any goroutine.
func (r *run) fail(err error) {
	r.mu.Lock()
	r.others = append(r.others, err)
	r.mu.Unlock()
	r.stop()
}

// join gives slot s an identity.
func (r *run) join(s *slot) error {
	w, err := r.in.set.Join(KindWorker)
	if err != nil {
		return fmt.Errorf("odp: Run: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.w, s.going = w, true
	if r.stopping {
		w.RequestStop()
	}
	return nil
}

// unjoin takes the identity back from a slot that was not started.
func (r *run) unjoin(s *slot) {
	r.mu.Lock()
	w := s.w
	s.w, s.going = nil, false
	r.mu.Unlock()
	w.Leave()
}

// start starts slot s, which has joined.
func (r *run) start(s *slot) error {
	w := s.w
	body := func() error {
		defer func() {
			r.mu.Lock()
			s.going = false // from here on w gives its identity back
			r.mu.Unlock()
		}()
		if err := r.in.place(w, s.cpu); err != nil {
			return err
		}
		r.mu.Lock()
		s.goid = goid()
		r.mu.Unlock()
		err := r.fn(w)
		if err != nil && r.orderly(w, err) {
			return nil
		}
		return err
	}
	err := r.in.spawn(w, body, func(err error) {
		r.mu.Lock()
		s.w, s.going, s.goid = nil, false, 0
		r.mu.Unlock()
		r.reports <- report{s, w, err}
	})
	if err != nil {
		r.unjoin(s)
		return fmt.Errorf("odp: Run: worker %d: %w", w.ID(), err)
	}
	return nil
}

// orderly reports whether err only says that the worker was asked to stop, or that
// the instance ends.
func (r *run) orderly(w *Worker, err error) bool {
	ending := r.in.state.Load() != stateOpen
	if !w.Stopping() && !ending {
		return false
	}
	if errors.Is(err, ErrStopped) || ending && errors.Is(err, ErrClosed) {
		return true
	}
	c := r.ctx.Err()
	return c != nil && (errors.Is(err, c) || errors.Is(err, context.Cause(r.ctx)))
}

// restart starts a worker again after a panic, if the policy and its limit allow.
func (r *run) restart(rep report, limit *restarts) (again bool, why error) {
	in := r.in
	var pe *PanicError
	if in.cfg.OnPanic != RestartWorker || !errors.As(rep.err, &pe) || r.isStopping() {
		return false, nil
	}
	if !limit.allow(time.Now()) {
		return false, fmt.Errorf("%d restarts within %v: not started again", limit.limit, limit.window)
	}
	in.log.Error("worker panicked; it is started again", "worker", rep.w.ID(), "panic", pe.Value, "stack", string(pe.Stack))
	if err := r.join(rep.s); err != nil {
		return false, err
	}
	if err := r.start(rep.s); err != nil {
		return false, err
	}
	in.restarted.Inc()
	return true, nil
}

// stop asks the workers of this run to stop, also those that start later. Any goroutine.
func (r *run) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopping {
		r.stopping = true
		close(r.halt)
	}
	for _, s := range r.slots {
		if s.going {
			s.w.RequestStop()
		}
	}
}

func (r *run) isStopping() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.stopping }

// running returns the ids of the workers that have not ended.
func (r *run) running() ThreadMask {
	r.mu.Lock()
	defer r.mu.Unlock()
	var m ThreadMask
	for _, s := range r.slots {
		if s.w != nil {
			m.Set(s.w.ID())
		}
	}
	return m
}

// isWorker reports whether the calling goroutine is a worker of this run.
func (r *run) isWorker() bool { return r.caller(goid()) != nil }

// caller returns the worker whose goroutine has the number, nil if there is none.
func (r *run) caller(id int64) *Worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		if id != 0 && s.goid == id {
			return s.w
		}
	}
	return nil
}

func onCPU(w *Worker) string {
	if w.CPU() < 0 {
		return ""
	}
	return fmt.Sprintf(" (CPU %d)", w.CPU())
}
