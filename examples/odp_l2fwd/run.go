// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/odp-go/godp/odp"
)

// run is one run of the forwarder: an instance, its ports, its workers.
type run struct {
	o      *options
	inst   *odp.Instance
	pool   *odp.Pool     // of copies and of -zerocopy=false; nil: the devices' own
	ports  [][]*odp.Port // per interface: one handle, or with -share handles one per worker
	rw     []rewrite     // per interface, for packets sent to it
	ifOf   map[int]int   // port index -> interface
	groups []*odp.Group  // -g N
	links  [][]link      // per worker
	pubs   []published   // per worker
	far    farSide
	mu     sync.Mutex // of slots
	slots  []bool     // which worker numbers are taken
	text   io.Writer  // what a person reads
	log    *slog.Logger
}

// workerNice is the nice value of the worker threads, where the user has the right to it: a
// forwarder goes before everything else on its CPUs. Tests share the machine.
var workerNice = -20

// forward runs the options' forwarder until ctx ends or -t is over.
func forward(ctx context.Context, o *options, text io.Writer) (res result, err error) {
	r := &run{o: o, text: text}
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelInfo
	}
	r.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	r.inst, err = odp.Open(ctx, odp.Config{
		Name: "l2fwd", Workers: workers(o), Nice: o.nice(), Log: r.log,
		Scheduler: idlePolicy(o.idle),
	})
	if err != nil {
		return res, err
	}
	defer func() {
		if end := r.inst.Close(); err == nil {
			err = end
		}
	}()
	if err := r.open(ctx); err != nil {
		return res, err
	}
	r.far = farEnds(o.ifs)
	r.far.expect(r)
	r.describe()
	r.far.begin()
	if o.started != nil {
		o.started(r)
	}

	work, stop := context.WithCancel(context.Background())
	defer stop()
	timed, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.seconds > 0 {
		timed, cancel = context.WithTimeout(ctx, time.Duration(o.seconds)*time.Second)
		defer cancel()
	}
	if o.until != nil {
		go func() {
			for !o.until() && timed.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
	}
	start := time.Now()
	var runErr error // valid when ran is closed
	ran := make(chan struct{})
	go func() {
		defer cancel() // workers that end early end the run
		runErr = r.inst.Run(work, r.work)
		close(ran)
	}()
	ppsMax := speed(timed, text, o.interval, func() counts { return sum(r.pubs) })
	seconds, forwarded := time.Since(start).Seconds(), sum(r.pubs)

	// The end: no new frames, then those on their way, then the workers, then the ports.
	r.far.stop()
	select {
	case <-ran:
	default:
		r.settle(o.drain)
	}
	stop()
	<-ran
	drain, cancelDrain := context.WithTimeout(context.Background(), o.drain+time.Second)
	defer cancelDrain()
	drops, zero := r.drops(), r.zeroCopy()
	r.logLocks(time.Since(start))
	shut := r.inst.Shutdown(drain)
	res = r.result(forwarded, seconds, ppsMax, drops, zero)
	r.far.account(&res)
	return res, errors.Join(runErr, shut)
}

// nice is the nice value of the workers. They go first only while they leave a CPU to the
// rest of the program: workers that poll without end on all CPUs would keep it from
// ending, and the machine from everything. The demonstration does not bother an ordinary
// user with a warning about it.
func (o *options) nice() int {
	if workers(o) >= odp.EffectiveCPUs().Count() || o.demo && os.Geteuid() != 0 {
		return 0
	}
	return workerNice
}

func workers(o *options) int {
	if o.workers == 0 {
		return odp.EffectiveCPUs().Count()
	}
	return o.workers
}

func idlePolicy(name string) odp.SchedulerConfig {
	if name == "adaptive" {
		return odp.SchedulerConfig{Idle: odp.IdleAdaptive}
	}
	return odp.SchedulerConfig{Idle: odp.IdleBusy}
}

// work is the function of every worker.
func (r *run) work(w *odp.Worker) error {
	k := r.claim()
	defer r.unclaim(k)
	f := &forwarder{run: r, w: w, pub: &r.pubs[k], c: sum(r.pubs[k : k+1])} // who had this number before may have counted
	defer f.publish()
	if r.o.mode.Scheduled() {
		for _, g := range r.groups {
			if g == r.inst.Scheduler().Worker() {
				continue // every worker is in it
			}
			if err := g.Join(w); err != nil {
				return err
			}
			defer g.Leave(w)
		}
		return f.queueLoop(r.links[k])
	}
	return f.burstLoop(r.links[k])
}

// claim takes the lowest free worker number: a restarted worker gets its old one.
func (r *run) claim() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, taken := range r.slots {
		if !taken {
			r.slots[k] = true
			return k
		}
	}
	panic("more workers than planned")
}

func (r *run) unclaim(k int) { r.mu.Lock(); r.slots[k] = false; r.mu.Unlock() }

// settle waits until nothing is forwarded any more and far ends that can tell have
// everything, at most d. Interfaces that go on receiving take in nothing any more
// after half of that time.
func (r *run) settle(d time.Duration) {
	const quiet = 30 * time.Millisecond
	half, end := time.Now().Add(d/2), time.Now().Add(d)
	for stopped := false; time.Now().Before(end); {
		c := sum(r.pubs)
		time.Sleep(min(quiet, max(time.Until(end), 0)))
		dropped := c.rxDrops + c.txDrops
		for _, v := range r.drops() {
			dropped += v
		}
		if sum(r.pubs).bursts == c.bursts && r.far.arrived(dropped) {
			return
		}
		if !stopped && (!r.far.all || time.Now().After(half)) {
			stopped = true
			for _, hs := range r.ports {
				for _, p := range hs {
					p.StopInput()
				}
			}
		}
	}
}

// macs are the addresses written into packets that leave through interface i.
func macs(o *options, i int, own net.HardwareAddr) rewrite {
	rw := rewrite{dst: o.dstChange, src: o.srcChange}
	dst := net.HardwareAddr{2, 0, 0, 0, 0, byte(i)}
	if o.dstMACs != nil {
		dst = o.dstMACs[i]
	}
	copy(rw.macs[:6], dst)
	copy(rw.macs[6:], own)
	return rw
}
