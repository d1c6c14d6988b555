// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// published is a worker's counts as others may read them.
type published struct {
	v [5 + numDrops]atomic.Uint64
	_ [128]byte
}

func (p *published) set(c *counts) {
	for i, v := range [5]uint64{c.packets, c.sent, c.refused, c.bursts, c.polls} {
		p.v[i].Store(v)
	}
	for i, v := range c.drops {
		p.v[5+i].Store(v)
	}
}

func (p *published) get() (c counts) {
	c.packets, c.sent, c.refused, c.bursts, c.polls = p.v[0].Load(), p.v[1].Load(), p.v[2].Load(), p.v[3].Load(), p.v[4].Load()
	for i := range c.drops {
		c.drops[i] = p.v[5+i].Load()
	}
	return c
}

// router is one run: an instance, its ports, tables and workers.
type router struct {
	o      *options
	inst   *odp.Instance
	ports  []*odp.Port
	macs   []net.HardwareAddr
	inputs []*odp.In // by entry of -config; event mode: by port
	inPort []int     // port of each input
	portOf map[int]int
	t      *tables
	pubs   []published
	next   atomic.Int32 // workers that have begun
	text   io.Writer
	ran    time.Duration
}

var workerNice = -20 // of the worker threads; tests share the machine

// open makes everything but the workers' run.
func open(ctx context.Context, o *options, text io.Writer) (r *router, err error) {
	r = &router{o: o, text: text, portOf: map[int]int{}, pubs: make([]published, o.workers)}
	nice := 0
	if o.workers < odp.EffectiveCPUs().Count() && os.Geteuid() == 0 {
		nice = workerNice
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	r.inst, err = odp.Open(ctx, odp.Config{Name: "l3fwd", Workers: o.workers, Nice: nice, Log: log, Scheduler: odp.SchedulerConfig{Idle: odp.IdleBusy}})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.t, err = newTables(o, r.say, nil); err != nil {
		return r, err
	}
	r.say("%v\n", r.t)
	return r, r.openPorts(ctx)
}

func (r *router) say(format string, a ...any) { fmt.Fprintf(r.text, format, a...) }

func (r *router) openPorts(ctx context.Context) error {
	o := r.o
	queues := map[int]int{}
	for _, e := range o.config {
		queues[e[0]]++
	}
	level := o.lock
	if level == "auto" { // a worker alone needs no locks
		level = "queue"
		if o.workers == 1 && !o.event {
			level = "none"
		}
	}
	cfg := odp.PortConfig{}
	cfg.LockLevel, _ = pktio.ParseLockLevel(level)
	cfg.Promisc, cfg.TxQueues, cfg.Parse = o.promisc, o.workers, pktio.ParseNone
	if o.event {
		cfg.Mode, cfg.Sync, cfg.TxQueues = odp.ModeScheduled, map[string]odp.Sync{"atomic": odp.Atomic, "ordered": odp.Ordered, "parallel": odp.Parallel}[o.sched], 1
	}
	if o.ownPool {
		pool, err := r.inst.NewPool(odp.PoolConfig{Name: "l3fwd", Num: 8192})
		if err != nil {
			return err
		}
		cfg.Pool = pool
	}
	for i, name := range o.ifs {
		c := cfg
		c.RxQueues, c.NoInput = max(1, queues[i]), !o.enabled(i) || !o.event && queues[i] == 0
		p, err := r.inst.OpenPort(ctx, name, c)
		if err != nil {
			return err
		}
		r.ports, r.macs = append(r.ports, p), append(r.macs, p.MAC())
		r.portOf[p.Index()] = i
		if o.event {
			r.inPort = append(r.inPort, i)
		} else if p.NumIn() < queues[i] {
			return fmt.Errorf("%s has %d receive queues, -config names %d", name, p.NumIn(), queues[i])
		}
	}
	for _, e := range o.config {
		r.inputs = append(r.inputs, r.ports[e[0]].In(e[1]))
		r.inPort = append(r.inPort, e[0])
	}
	return nil
}

// work is the function of every worker.
func (r *router) work(w *odp.Worker) error {
	me := int(r.next.Add(1)-1) % r.o.workers
	f := &forwarder{
		w: w, ins: r.inputs, bufs: new([maxOuts]sendBuf), v4: r.t.v4, v6: r.t.v6, pub: &r.pubs[me],
		limit: r.o.txBurst, size: r.o.rxBurst, loose: r.o.check == "dpdk", dec6: 1, one: !r.o.staged, plain: r.o.plain,
	}
	if f.loose {
		f.dec6 = 0
	}
	for _, p := range r.ports {
		f.outs = append(f.outs, p.Out(me%p.NumOut()))
	}
	for _, in := range r.inPort {
		f.hops = append(f.hops, r.t.hops(r.o, r.macs, in))
	}
	if r.o.event {
		return f.events(r.inst, func(p *odp.Port) int { return r.portOf[p.Index()] })
	}
	var mine []int
	for i, e := range r.o.config {
		if e[2] == me {
			mine = append(mine, i)
		}
	}
	return f.poll(mine)
}

// run routes until ctx ends or -t is over, and closes everything in order: no new
// frames, the workers' buffers, the ports.
func (r *router) run(ctx context.Context) error {
	if r.o.seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.o.seconds*float64(time.Second)))
		defer cancel()
	}
	done := make(chan error, 1)
	start := time.Now()
	go func() { done <- r.inst.Run(context.Background(), r.work) }()
	var tick <-chan time.Time
	if r.o.interval > 0 {
		t := time.NewTicker(time.Duration(r.o.interval) * time.Second)
		defer t.Stop()
		tick = t.C
	}
	var err error
	ended := false
	for last := (counts{}); !ended && ctx.Err() == nil; {
		select {
		case err = <-done:
			ended = true
		case <-ctx.Done():
		case <-tick:
			c := r.sum()
			r.say("%.3f Mpps, %d refused, %d dropped\n", float64(c.sent-last.sent)/float64(r.o.interval)/1e6, c.refused, c.dropped())
			last = c
		}
	}
	for _, p := range r.ports {
		p.StopInput()
	}
	if !ended {
		r.inst.Stop()
		err = <-done
	}
	r.ran = time.Since(start)
	return errors.Join(err, r.close())
}

// close ends the instance, then the tables: nobody looks anything up any more.
func (r *router) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := r.inst.Shutdown(ctx)
	if r.t != nil {
		err = errors.Join(err, r.t.close())
	}
	return err
}

func (c *counts) dropped() (n uint64) {
	for _, d := range c.drops {
		n += d
	}
	return n
}

func (r *router) sum() (t counts) {
	for i := range r.pubs {
		c := r.pubs[i].get()
		t.packets += c.packets
		t.sent += c.sent
		t.refused += c.refused
		t.bursts += c.bursts
		t.polls += c.polls
		for k, d := range c.drops {
			t.drops[k] += d
		}
	}
	return t
}
