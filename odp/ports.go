// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/schedule"
)

// Mode says how the packets of a port reach the workers.
type Mode uint8

// The modes, ODP's pktin modes.
const (
	// ModeDirect: workers call In.Recv themselves (burst mode).
	ModeDirect Mode = iota
	// ModeScheduled: packets arrive in scheduled queues, and Schedule gives them
	// to the workers (queue mode).
	ModeScheduled
	// ModePlain: the inputs are used as plain queues: Port.Source gives them as a
	// Source, for code that takes any.
	ModePlain
)

var modeNames = [...]string{"direct", "scheduled", "plain"}

// String returns the word for the mode.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// PortConfig says how a port is opened: pktio's Config, and how its packets
// reach the workers. The zero value is burst mode with one queue each way.
type PortConfig struct {
	pktio.Config
	Mode Mode

	// The rest is for ModeScheduled.
	Sync     Sync     // of the queues: Parallel (default), Atomic, Ordered
	Priority Priority // of the queues
	Group    *Group   // workers that poll the input and get its packets; nil = all
	// Groups are the groups of the receive queues, one for each that the port gets, in
	// their order; nil = Group for all.
	Groups []*Group
	Locks  int // ordered locks of each queue
	// QueueSize is how many events each queue holds; 0 = the scheduler's default.
	QueueSize int
	// NumQueues is the number of scheduled queues per receive queue, at most 64.
	// With more than one, packets are spread over them by their flow hash, so that
	// the order within a flow is kept. Default 1.
	NumQueues int
	// Stopped leaves the port stopped; Port.Start lets frames flow.
	Stopped bool
}

// maxSpread is the largest PortConfig.NumQueues: one word of a bit map.
const maxSpread = 64

// Port is an open port of an instance. The instance closes it; Close closes it earlier.
type Port struct {
	*pktio.Port
	in     *Instance
	mode   Mode
	queues []*SchedQueue
	fans   []fan
	feedMu sync.Mutex
	feeds  []feedOf
}

// feedOf is one input that the scheduler polls.
type feedOf struct {
	in     *In
	detach func(ctx context.Context, w *Worker) error
	resume func()
}

// fan is an input whose packets are spread over several scheduled queues; the
// scheduler polls it, and sleeps on the input.
type fan struct{ *pktio.Spread }

// Arm implements schedule.Sleeper.
func (f fan) Arm(wake func()) (fd int, due time.Duration, ready bool) { return f.In().Arm(wake) }

// Disarm implements schedule.Sleeper.
func (f fan) Disarm() { f.In().Disarm() }

// Mode returns how the port's packets reach the workers.
func (p *Port) Mode() Mode { return p.mode }

// Queues returns the scheduled queues of the port: PortConfig.NumQueues for each
// receive queue, in order. The Context of each is the *Port. Applications may
// enqueue events of their own there. Empty in the other modes.
func (p *Port) Queues() []*SchedQueue { return slices.Clone(p.queues) }

// Start lets frames flow; in ModeScheduled the scheduler polls the inputs again. Starting
// a started port is an error.
func (p *Port) Start() error {
	if err := p.Port.Start(); err != nil {
		return err
	}
	p.feedMu.Lock()
	defer p.feedMu.Unlock()
	for _, f := range p.feeds {
		f.resume()
	}
	return nil
}

// Source returns receive queue i as a Source, for ModePlain and ModeDirect; nil
// in ModeScheduled, where the scheduler alone may poll it.
func (p *Port) Source(i int) Source {
	if p.mode == ModeScheduled {
		return nil
	}
	return p.In(i)
}

// OpenPort opens a device as a port of this instance and starts it. The name is
// "kind:device?options", see package pktio; the kinds are those of the platform
// packages that the program imports. In ModeScheduled its queues are made and the
// scheduler polls the inputs. A failed OpenPort leaves nothing behind.
func (in *Instance) OpenPort(ctx context.Context, name string, cfg PortConfig) (*Port, error) {
	if ctx == nil {
		return nil, errNilContext("OpenPort")
	}
	if cfg.Mode > ModePlain {
		return nil, fmt.Errorf("odp: OpenPort %q: PortConfig.Mode %d: allowed are ModeDirect, ModeScheduled and ModePlain", name, cfg.Mode)
	}
	if cfg.NumQueues < 0 || cfg.NumQueues > maxSpread {
		return nil, fmt.Errorf("odp: OpenPort %q: PortConfig.NumQueues %d: allowed is 0 (default) to %d", name, cfg.NumQueues, maxSpread)
	}
	if cfg.NumQueues > 1 && cfg.Mode != ModeScheduled {
		return nil, fmt.Errorf("odp: OpenPort %q: PortConfig.NumQueues %d in mode %v: only ModeScheduled spreads packets over queues; RxQueues asks for more receive queues",
			name, cfg.NumQueues, cfg.Mode)
	}
	if cfg.Groups != nil && cfg.Mode != ModeScheduled {
		return nil, fmt.Errorf("odp: OpenPort %q: PortConfig.Groups in mode %v: only the scheduler knows groups; leave them out", name, cfg.Mode)
	}
	cfg.NumQueues = max(cfg.NumQueues, 1)
	if cfg.NumQueues > 1 && cfg.Hash == pktio.HashNone {
		cfg.Hash = pktio.HashSymmetric
	}
	cfg.Strict = cfg.Strict || in.cfg.Strict
	if cfg.Log == nil {
		cfg.Log = in.log
	}
	done, err := in.beginOpen("OpenPort")
	if err != nil {
		return nil, err
	}
	defer done()
	pp, err := pktio.Open(ctx, in.set, name, cfg.Config)
	if err != nil {
		return nil, fmt.Errorf("odp: OpenPort: %w", err)
	}
	p := &Port{Port: pp, in: in, mode: cfg.Mode}
	if cfg.Mode == ModeScheduled {
		err = p.bind(cfg)
	}
	if err == nil && !cfg.Stopped {
		err = p.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("odp: OpenPort: %w", err), p.close(ctx, false))
	}
	in.mu.Lock()
	in.ports = append(in.ports, p)
	in.mu.Unlock()
	return p, nil
}

// beginOpen keeps the instance from closing until done is called.
func (in *Instance) beginOpen(op string) (done func(), err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.checkOpen(op); err != nil {
		return nil, err
	}
	in.opening.Add(1)
	return in.opening.Done, nil
}

// Pair is an input and an output for one worker alone, see OpenAll.
type Pair = pktio.Pair

// OpenAll opens every queue of a device for burst mode, and starts it: pair i is
// for one worker, whichever uses it first, and needs no lock where the device has
// rings enough; where it has fewer, the flows of a ring are spread over its workers in
// software. There is a pair for each worker of Run. See pktio.OpenAll.
func (in *Instance) OpenAll(ctx context.Context, name string, cfg pktio.Config) (*Port, []Pair, error) {
	cfg.Strict = cfg.Strict || in.cfg.Strict
	if cfg.Log == nil {
		cfg.Log = in.log
	}
	done, err := in.beginOpen("OpenAll")
	if err != nil {
		return nil, nil, err
	}
	defer done()
	pp, pairs, err := pktio.OpenAll(ctx, in.set, name, cfg, in.cfg.Workers)
	if err != nil {
		return nil, nil, fmt.Errorf("odp: OpenAll: %w", err)
	}
	p := &Port{Port: pp, in: in}
	if err := p.Start(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("odp: OpenAll: %w", err), p.close(ctx, false))
	}
	in.mu.Lock()
	in.ports = append(in.ports, p)
	in.mu.Unlock()
	return p, pairs, nil
}

// bind makes the scheduled queues and lets the scheduler poll the inputs.
func (p *Port) bind(cfg PortConfig) error {
	if cfg.Groups != nil && len(cfg.Groups) != p.NumIn() {
		return fmt.Errorf("device %q: PortConfig.Groups has %d groups for %d receive queues: give one for each, or Group for all", p.Name(), len(cfg.Groups), p.NumIn())
	}
	for i := range p.NumIn() {
		rx := p.In(i)
		if cfg.Groups != nil {
			cfg.Group = cfg.Groups[i]
		}
		var qs []*SchedQueue
		for k := range cfg.NumQueues {
			name := fmt.Sprintf("%s/%d", p.Name(), i)
			if cfg.NumQueues > 1 {
				name = fmt.Sprintf("%s.%d", name, k)
			}
			q, err := p.in.sched.NewQueue(schedule.QueueConfig{Name: name, Sync: cfg.Sync, Priority: cfg.Priority,
				Group: cfg.Group, Locks: cfg.Locks, Size: cfg.QueueSize, Context: p})
			if err != nil {
				return err
			}
			qs = append(qs, q)
			p.queues = append(p.queues, q)
		}
		if err := rx.Bind("scheduled queue " + qs[0].Name()); err != nil {
			return err
		}
		f := feedOf{in: rx}
		if cfg.NumQueues == 1 {
			if err := qs[0].AttachSource(rx); err != nil {
				rx.Unbind()
				return err
			}
			f.detach, f.resume = qs[0].DetachSource, qs[0].ResumeSource
		} else {
			var dests []Dest
			for _, q := range qs {
				dests = append(dests, q)
			}
			sp, err := pktio.NewSpread(rx, dests, cfg.Hash)
			if err == nil {
				p.fans = append(p.fans, fan{sp})
				var pl *schedule.Polling
				if pl, err = p.in.sched.AddPoller(fmt.Sprintf("%s/%d spread", p.Name(), i), cfg.Group, cfg.Priority, fan{sp}); err == nil {
					f.detach, f.resume = pl.Remove, pl.Resume
				}
			}
			if err != nil {
				rx.Unbind()
				return err
			}
		}
		p.feeds = append(p.feeds, f)
	}
	return nil
}

// unbind ends the polling of the inputs by the scheduler; events that wait in
// the queues stay there. On an error of one input the others go on being unbound, and
// it may be called again. w is the worker that calls, nil if it is none.
func (p *Port) unbind(ctx context.Context, w *Worker) error {
	var errs []error
	p.feedMu.Lock()
	feeds := p.feeds
	p.feeds = nil
	p.feedMu.Unlock()
	var left []feedOf
	for _, f := range feeds {
		if err := f.detach(ctx, w); err != nil {
			errs = append(errs, err)
			left = append(left, f)
			continue
		}
		f.in.Unbind()
	}
	p.feedMu.Lock()
	p.feeds = append(left, p.feeds...)
	p.feedMu.Unlock()
	return errors.Join(errs...)
}

// Drops are the packets that were dropped so far, by direction and reason ("rx_…", "tx_…"):
// those of Stats, and rx_queue_full, which found no room in the port's scheduled queues.
func (p *Port) Drops() map[string]uint64 {
	m := p.Stats().Drops()
	if n := p.queueFull(); n > 0 {
		m["rx_queue_full"] += n
	}
	return m
}

func (p *Port) queueFull() (n uint64) {
	for _, f := range p.fans {
		n += f.Drops()
	}
	return n
}

// Close takes the port out of the instance: the scheduler stops polling it, events
// that wait in its queues go to the workers as before, accepted packets are sent until
// ctx ends, the device is closed. Events that no worker has taken when ctx ends, or of
// queues whose group has no other worker, are named in the error; they are freed with
// the instance. The second call does nothing.
//
// A worker or control thread may call it. It gives packets of the device's own pool
// that it has in hand back before: they would be waited for until ctx ends.
func (p *Port) Close(ctx context.Context) error {
	if ctx == nil {
		return errNilContext("Port.Close")
	}
	in := p.in
	in.mu.Lock()
	i := slices.Index(in.ports, p)
	if i < 0 {
		in.mu.Unlock()
		return nil
	}
	in.ports = slices.Delete(slices.Clone(in.ports), i, i+1)
	in.opening.Add(1)
	defer in.opening.Done()
	in.mu.Unlock()
	return p.close(ctx, true)
}

// close is Close of a port that is on no list any more. What of it could not be closed is
// the instance's until its end: packets that are out, and inputs that a worker may be polling.
func (p *Port) close(ctx context.Context, flush bool) error {
	w := p.in.caller()
	err := p.unbind(ctx, w)
	if flush {
		err = errors.Join(err, p.Shutdown(ctx))
	} else {
		err = errors.Join(err, p.Port.Close())
	}
	if p.fed() || errors.Is(err, pktio.ErrPacketsOut) {
		p.in.mu.Lock()
		p.in.retired = slices.DeleteFunc(p.in.retired, func(r *Port) bool { return !r.fed() && r.Port.Close() == nil })
		p.in.retired = append(p.in.retired, p)
		p.in.mu.Unlock()
	}
	return errors.Join(err, p.closeQueues(ctx, w))
}

// fed reports whether the scheduler has an input of the port that it could not be rid of.
func (p *Port) fed() bool {
	p.feedMu.Lock()
	defer p.feedMu.Unlock()
	return len(p.feeds) > 0
}

// closeQueues closes the port's queues when the workers have taken what is in them.
// One that can't be closed becomes the instance's, which frees the events at its end.
func (p *Port) closeQueues(ctx context.Context, w *Worker) error {
	var errs []error
	for _, q := range p.queues {
		for {
			err := p.in.closeSched([]*SchedQueue{q})
			if err == nil {
				break
			}
			others := q.Group().Members()
			if w != nil && q.Group().Has(w) {
				others--
			}
			if ctx.Err() == nil && others > 0 && q.Len() > 0 {
				time.Sleep(50 * time.Microsecond)
				continue
			}
			errs = append(errs, fmt.Errorf("odp: close port %q: %w", p.Name(), err))
			p.in.mu.Lock()
			p.in.scheds = append(p.in.scheds, q)
			p.in.mu.Unlock()
			break
		}
	}
	return errors.Join(errs...)
}
