// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// round is one round that runs.
type round struct {
	Round
	cfg  *Config
	plan plan
	rng  *rand.Rand // of the script

	sim    *nmsim.World
	kind   string // of the devices' names
	inst   *odp.Instance
	cards  []*card
	copies *odp.Pool // nil: nothing is copied
	groups []*odp.Group
	side   []*side

	calm  atomic.Bool // the disturbances have ended
	app   app
	drops map[string]uint64 // of ports that were closed

	mu    sync.Mutex
	lost  bool // goroutines did not end: nothing more can be checked
	slots []bool

	runs     sync.WaitGroup // the goroutine that calls Run
	stopRuns atomic.Bool
	again    func()        // stops the workers, which start again
	held     []*odp.Packet // by "empty pool"
	broken   int           // slots
}

// app is what the workers count.
type app struct {
	bursts   atomic.Uint64
	noPort   atomic.Uint64 // the output was closed or faulted
	full     atomic.Uint64
	noRoom   atomic.Uint64 // of a stage's queue
	noCopy   atomic.Uint64 // the pool for copies was empty
	consumed atomic.Uint64 // at random
	panicked atomic.Uint64 // in hand
	panics   atomic.Uint64
}

// card is one simulated card and the port that has it open.
type card struct {
	name   string
	link   bool                     // as the script set it
	port   atomic.Pointer[odp.Port] // nil: not open
	faulty atomic.Bool              // a burst call said so
	stages [][]*odp.SchedQueue      // per receive queue
}

// route is the context of a scheduled queue: what its packets have behind them.
type route struct {
	card *card
	rx   int // receive queue
	hop  int // stages passed
	side *side
}

func newRound(cfg *Config, number int) *round {
	rng := rand.New(rand.NewPCG(cfg.Seed, uint64(number)))
	r := &round{cfg: cfg, plan: drawPlan(rng), rng: rng, drops: map[string]uint64{}}
	r.Round = Round{Number: number, Plan: r.plan.String(), Counts: newCounts()}
	return r
}

func (r *round) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.Problems) < 20 {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

func (r *round) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Problems) > 0
}

// run is the round, from its devices to the account.
func (r *round) run() {
	p := &r.plan
	cfg := nmsim.Config{Personality: p.who, BlockWhenDown: p.block}
	cfg.Mem.BufNum = 3*2*2*(p.slots+8) + 3*p.pool + 2048
	r.sim = nmsim.NewWorld(cfg)
	defer r.sim.Close()
	for i := range p.cards {
		c := &card{name: fmt.Sprintf("eth%d", i), link: true}
		err := r.sim.NIC(c.name, nmsim.NICConfig{TxRings: p.rings, RxRings: p.rings, TxSlots: p.slots, RxSlots: p.slots,
			Source: &nmsim.SourceConfig{PPS: p.pps, Len: p.length, Flows: p.flows}, Sink: &nmsim.SinkConfig{}})
		if err != nil {
			r.problem("no card: %v", err)
			return
		}
		r.cards = append(r.cards, c)
	}
	// A kind of device belongs to the process for ever, so there is one for all rounds.
	r.kind = deviceKind(r.cfg.wrap, r.sim)
	if err := r.open(); err != nil {
		r.problem("%v", err)
	} else {
		r.disturb()
		r.quiet()
	}
	r.end()
	r.account()
}

// current is the driver of the round that runs, behind the one name that is registered.
type current struct{ d atomic.Pointer[driver.Driver] }

func (c *current) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	return (*c.d.Load()).Open(ctx, name, cfg)
}

var (
	registered sync.Once
	behind     current
)

const kindName = "chaos"

func deviceKind(wrap func(driver.Driver) driver.Driver, sim *nmsim.World) string {
	var d driver.Driver = netmap.NewSim(kindName, sim)
	if wrap != nil {
		d = wrap(d)
	}
	behind.d.Store(&d)
	registered.Do(func() { driver.Register(kindName, &behind) })
	return kindName
}

// open makes the forwarder and starts its workers.
func (r *round) open() (err error) {
	p := &r.plan
	policy := odp.RestartWorker
	if p.stopAll {
		policy = odp.StopAll
	}
	r.inst, err = odp.Open(context.Background(), odp.Config{
		Name: "chaos", Workers: p.workers, Pin: odp.PinOff, OnPanic: policy, RestartLimit: 1 << 20, Scheduler: p.idle,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return err
	}
	for i := range p.groups {
		g, err := r.inst.NewGroup(fmt.Sprintf("g%d", i))
		if err != nil {
			return err
		}
		r.groups = append(r.groups, g)
	}
	if p.copies > 0 {
		if r.copies, err = r.inst.NewPool(odp.PoolConfig{Name: "copies", Num: p.copies, Size: 2048}); err != nil {
			return err
		}
	}
	for _, c := range r.cards {
		if err := r.openStages(c); err != nil {
			return err
		}
	}
	for _, c := range r.cards {
		if err := r.openCard(c); err != nil {
			return err
		}
	}
	for i, s := range p.side {
		if err := r.openSide(i, s); err != nil {
			return err
		}
	}
	r.slots = make([]bool, p.workers)
	r.start()
	return nil
}

// group draws the group of a queue; nil = all workers.
func (r *round) group() *odp.Group {
	if i := r.rng.IntN(len(r.groups) + 1); i < len(r.groups) {
		return r.groups[i]
	}
	return nil
}

func (r *round) priority() odp.Priority { return odp.PriorityLevel(r.rng.IntN(8)) }

// openStages makes the queues that a card's packets pass on their way out.
func (r *round) openStages(c *card) error {
	for rx := range r.plan.rings {
		var list []*odp.SchedQueue
		for hop, sync := range r.plan.stages {
			q, err := r.inst.NewSchedQueue(odp.SchedQueueConfig{Name: fmt.Sprintf("%s/%d stage %d", c.name, rx, hop), Sync: sync,
				Priority: r.priority(), Group: r.group(), Size: r.plan.size, Context: &route{card: c, rx: rx, hop: hop + 1}})
			if err != nil {
				return err
			}
			list = append(list, q)
		}
		c.stages = append(c.stages, list)
	}
	return nil
}

// openCard opens a card's port; workers use it from then on.
func (r *round) openCard(c *card) error {
	p := &r.plan
	cfg := odp.PortConfig{Mode: p.mode, Stopped: true}
	cfg.RxQueues, cfg.TxQueues, cfg.LockLevel, cfg.PoolPackets, cfg.LinkWait = p.rings, p.rings, p.locks, p.pool, -1
	if p.mode == odp.ModeScheduled {
		cfg.Sync, cfg.NumQueues, cfg.QueueSize, cfg.Priority, cfg.Group = p.sync, p.spread, p.size, r.priority(), r.group()
	}
	port, err := r.inst.OpenPort(context.Background(), r.kind+":"+c.name, cfg)
	if err != nil {
		return err
	}
	for i, q := range port.Queues() {
		q.SetContext(&route{card: c, rx: i / p.spread})
	}
	if err := port.Start(); err != nil {
		return errors.Join(err, port.Close(context.Background()))
	}
	c.faulty.Store(false)
	c.port.Store(port)
	return nil
}

// closeCard closes a card's port, and keeps what it counted.
func (r *round) closeCard(c *card) {
	port := c.port.Swap(nil)
	if port == nil {
		return
	}
	r.letGo()
	if r.plan.block { // a worker may sleep in the kernel: the cure is the operator's
		r.sim.SetUp(c.name, true)
	}
	patience := 300 * time.Millisecond
	if r.calm.Load() && r.app.panicked.Load() == 0 { // else what was in hand is waited for
		patience = r.cfg.Patience
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := port.Close(ctx)
	for k, v := range port.Drops() {
		r.drops[k] += v
	}
	var drain *netmap.Error // frames that a card without link did not send
	if errors.Is(err, context.DeadlineExceeded) && !r.calm.Load() {
		return
	}
	if errors.As(err, &drain) && strings.HasPrefix(drain.Op, "drain") && !r.calm.Load() {
		return
	}
	if err != nil && !r.leaked(err) {
		r.problem("close %s: %v", c.name, err)
	}
}

// leaked reports whether an error is that of packets that a worker had in hand when it
// panicked.
func (r *round) leaked(err error) bool {
	if r.app.panicked.Load() == 0 {
		return false
	}
	return errors.Is(err, odp.ErrLeak) || errors.Is(err, driver.ErrPacketsOut)
}

// start runs the workers on a goroutine of its own, again and again until the end.
func (r *round) start() {
	ready := make(chan struct{})
	var once sync.Once
	r.runs.Add(1)
	go func() {
		defer r.runs.Done()
		for !r.stopRuns.Load() {
			ctx, stop := context.WithCancel(context.Background())
			r.mu.Lock()
			r.again = stop
			r.mu.Unlock()
			once.Do(func() { close(ready) })
			err := r.inst.Run(ctx, r.work)
			stop()
			if pe, ok := odp.AsPanic(err); err != nil && (!ok || pe.Value != panicValue) {
				r.problem("Run: %v", err)
				return
			}
		}
	}()
	<-ready
}

// stopWorkers asks the workers to stop; they are started again unless the end has come.
func (r *round) stopWorkers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again()
}

// await waits until f is true. It gives up when nothing has moved for Patience.
func (r *round) await(what string, moved func() uint64, f func() bool) bool {
	last, since := moved(), time.Now()
	for !f() {
		if now := moved(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > r.cfg.Patience {
			r.problem("%s: nothing has moved for %v", what, r.cfg.Patience)
			return false
		}
		if r.failed() {
			return false
		}
		time.Sleep(500 * time.Microsecond)
	}
	return true
}
