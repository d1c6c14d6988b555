// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// closeWait bounds what Close waits for calls inside the device. They do not block; what
// is left is a worker that died in one without ReleaseWorker, and a kernel that sleeps in a
// call because the interface went down a moment ago. Tests make it shorter.
var closeWait = 5 * time.Second

const (
	// settle is how long a plain store of another thread may take to be seen; it
	// leaves the store buffer within microseconds, at the latest when its thread
	// is descheduled.
	settle = 200 * time.Microsecond
)

// Start lets frames flow. Starting a started port is an error.
func (p *Port) Start() error {
	p.ctl.Lock()
	defer p.ctl.Unlock()
	switch p.state.LoadAcq() {
	case stClosed:
		return fmt.Errorf("device %q: start: %w", p.name, queue.ErrClosed)
	case stRunning:
		return fmt.Errorf("device %q: start: it is started already", p.name)
	case stNoInput: // the device is started
		p.state.StoreSeq(stRunning)
		return nil
	}
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started == 0 {
		if err := d.drv.Start(); err != nil {
			return fmt.Errorf("device %q: start: %w", p.name, err)
		}
	}
	d.started++
	p.state.StoreSeq(stRunning)
	return nil
}

// Stop ends receiving and sending by this handle; calls return queue.ErrStopped.
// What was accepted for sending is still sent. The device stops with its last
// started handle. Stopping a stopped port is an error.
func (p *Port) Stop() error {
	p.ctl.Lock()
	defer p.ctl.Unlock()
	switch p.state.LoadAcq() {
	case stClosed:
		return fmt.Errorf("device %q: stop: %w", p.name, queue.ErrClosed)
	case stStopped:
		return fmt.Errorf("device %q: stop: it is not started", p.name)
	}
	p.state.StoreSeq(stStopped)
	p.wakeAll()
	return p.stopDevice()
}

// StopInput ends receiving by this handle, while what the workers have in hand can
// still be sent: the first step of an orderly end. Recv returns queue.ErrStopped.
// Start takes it back. On a port that is not started it does nothing.
func (p *Port) StopInput() {
	p.ctl.Lock()
	defer p.ctl.Unlock()
	if p.state.LoadAcq() == stRunning {
		p.state.StoreSeq(stNoInput)
		p.wakeAll()
	}
}

func (p *Port) stopDevice() error {
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started--
	if d.started > 0 {
		return nil
	}
	if err := d.drv.Stop(); err != nil {
		return fmt.Errorf("device %q: stop: %w", p.name, err)
	}
	return nil
}

// Close closes the handle at once, from any goroutine: calls of the queues return
// queue.ErrClosed from now on. The last handle closes the device, after every call in
// it has ended; packets that wait in rings are freed and counted. The error wraps
// ErrPacketsOut when packets of the device's own pool are out: the device is closed,
// its memory stays until they are back. Closing again is no error, unless such
// packets are still out.
func (p *Port) Close() error {
	p.ctl.Lock()
	defer p.ctl.Unlock()
	st := p.state.LoadAcq()
	if st == stClosed {
		reap()
		if isRetired(p.dev.drv) {
			return fmt.Errorf("device %q: closed, but %w", p.name, ErrPacketsOut)
		}
		return nil
	}
	p.state.StoreSeq(stClosed)
	var err error
	if st < stStopped {
		err = p.stopDevice()
	}
	return errors.Join(err, p.dev.leave(p))
}

// Shutdown closes the handle in order: no packet is accepted any more, what was
// accepted is sent (until ctx ends), then Close; then it waits, until ctx ends, for
// packets of the device's own pool that are still with somebody: the error names
// how many, and whose. After a Close that left some out it is that wait alone.
func (p *Port) Shutdown(ctx context.Context) error {
	p.ctl.Lock()
	st := p.state.LoadAcq()
	if st == stClosed {
		p.ctl.Unlock()
		reap()
		if isRetired(p.dev.drv) {
			return awaitPackets(ctx, p.dev.drv, fmt.Errorf("device %q: closed, but %w", p.name, ErrPacketsOut))
		}
		return nil
	}
	p.state.StoreSeq(stStopped)
	p.wakeAll()
	var err error
	d := p.dev
	if st < stStopped {
		d.mu.Lock()
		last := d.started == 1
		d.mu.Unlock()
		if last {
			err = d.flush(ctx, p)
		}
		err = errors.Join(err, p.stopDevice())
	}
	p.ctl.Unlock()
	cerr := p.Close()
	if errors.Is(cerr, ErrPacketsOut) {
		cerr = awaitPackets(ctx, d.drv, cerr)
	}
	return errors.Join(err, cerr)
}

// flush sends everything that was accepted, under all send locks. Port p, the
// last, takes no packets any more.
func (d *device) flush(ctx context.Context, p *Port) error {
	switch p.level {
	case LockPktio:
		if !p.tick.lockUntil(ctx) {
			return fmt.Errorf("device %q: shutdown: a worker is inside of a call: %w", d.key.dev, ctx.Err())
		}
		defer p.tick.unlock()
	default:
		time.Sleep(settle)
		for _, o := range d.owners(p) {
			for o.busy.LoadAcq() != 0 && ctx.Err() == nil {
				time.Sleep(20 * time.Microsecond)
			}
		}
	}
	var s worker.Spin
	var held []*lock
	defer func() {
		for _, l := range held {
			l.unlock(nil)
		}
	}()
	seen := map[*lock]bool{}
	for _, r := range d.tx {
		if seen[r.lk] {
			continue
		}
		seen[r.lk] = true
		for {
			if err := r.lk.take(ctx); err != nil {
				return fmt.Errorf("device %q: shutdown: send queue %d: a worker is inside of a call: %w", d.key.dev, r.index, err)
			}
			if !r.lk.drain(nil) {
				held = append(held, r.lk)
				break
			}
			r.lk.word.StoreSeq(0)
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("device %q: shutdown: send queue %d is full and holds %d packets back: %w", d.key.dev, r.index, r.stage.pending(), err)
			}
			s.Wait()
		}
	}
	if err := d.drv.Drain(ctx); err != nil {
		return fmt.Errorf("device %q: drain: %w", d.key.dev, err)
	}
	return nil
}

// leave takes a handle off the device; the last one closes it.
func (d *device) leave(p *Port) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var err error
	if p.dev != nil {
		p.wakeAll()
		if p.level == LockPktio {
			if p.tick.lockUntil(ctx) { // nobody is in the line any more
				p.tick.unlock()
			} else {
				err = fmt.Errorf("device %q: close: a worker has been inside of a call for %v", d.key.dev, closeWait)
			}
		}
	}
	d.mu.Lock()
	for i, h := range d.handles {
		if h == p {
			d.handles = append(d.handles[:i:i], d.handles[i+1:]...)
			break
		}
	}
	last := len(d.handles) == 0
	d.mu.Unlock()
	if last && d.drv != nil {
		err = errors.Join(err, d.close(ctx, p))
	}
	regMu.Lock()
	if last {
		delete(devices, d.key)
	}
	if p.index >= 0 {
		ports[p.index].CompareAndSwap(p, nil)
	}
	regMu.Unlock()
	return err
}

// close ends every call in the device, until ctx ends, and closes it. No handle is left.
func (d *device) close(ctx context.Context, p *Port) error {
	var errs []error
	for _, r := range d.rx {
		for r.armed.LoadAcq() != notArmed && ctx.Err() == nil {
			p.wakeAll()
			time.Sleep(20 * time.Microsecond)
		}
	}
	for _, l := range d.locks() {
		if !l.close(ctx) {
			errs = append(errs, fmt.Errorf("device %q: close: a worker has held a lock for %v", d.key.dev, closeWait))
		}
	}
	if d.level == LockNone {
		time.Sleep(settle)
		for _, o := range d.owners(p) {
			for o.busy.LoadAcq() != 0 && ctx.Err() == nil {
				time.Sleep(20 * time.Microsecond)
			}
			if who := o.busy.LoadAcq(); who != 0 {
				errs = append(errs, fmt.Errorf("device %q: close: worker %d has been inside a call for %v", d.key.dev, who-1, closeWait))
			}
		}
	}
	for _, r := range d.tx {
		r.kick.timer.Stop()
		r.lost.Add(uint64(r.stage.close()))
	}
	for _, in := range p.in {
		in.discard()
	}
	reap()
	if err := retire(d.drv); err != nil {
		errs = append(errs, fmt.Errorf("device %q: close: %w", d.key.dev, err))
	}
	return errors.Join(errs...)
}

// close takes the lock for ever.
func (l *lock) close(ctx context.Context) bool {
	var s worker.Spin
	for !l.word.CAS(0, heldForever) {
		if ctx.Err() != nil {
			return false
		}
		s.Wait()
	}
	return true
}

// wakeAll ends the waits of the set's workers.
func (p *Port) wakeAll() { p.set.Workers((*worker.Worker).Wake) }

// ReleaseWorker gives back what a worker holds of this port after a panic: its
// locks, its place as a ring's owner, its watch on a ring. The worker's own
// goroutine calls it, from its recover.
func (p *Port) ReleaseWorker(w *worker.Worker) {
	if w == nil {
		return
	}
	mine := holderOf(w)
	for _, l := range p.dev.locks() {
		if l.word.LoadAcq() == mine {
			l.abandon()
		}
	}
	if p.level == LockPktio && p.tick.holder.LoadAcq() == mine {
		p.tick.unlock()
	}
	for _, in := range p.in {
		in.release(w)
	}
	for _, out := range p.out {
		out.ring.own.release(w)
	}
}
