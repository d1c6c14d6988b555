// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// maxQueues is how many queues per direction an interface can have.
const maxQueues = 64

// open makes the pool, the groups and the ports, and deals the queues to the workers.
func (r *run) open(ctx context.Context) error {
	o := r.o
	n := workers(o)
	r.pubs, r.slots, r.ifOf = make([]published, n), make([]bool, n), map[int]int{}
	if !o.zeroCopy || o.copyPkts {
		var err error
		if r.pool, err = r.inst.NewPool(odp.PoolConfig{Name: "l2fwd", Num: o.packets}); err != nil {
			return err
		}
	}
	p := makePlan(n, o.out)
	if o.mode.Scheduled() {
		if err := r.makeGroups(); err != nil {
			return err
		}
	}
	gotRx, gotTx := make([]int, len(o.ifs)), make([]int, len(o.ifs))
	for i := range o.ifs {
		if err := r.openInterface(ctx, i, &p); err != nil {
			return err
		}
		first := r.ports[i][0]
		gotRx[i], gotTx[i] = first.NumIn(), first.NumOut()
		if len(r.ports[i]) > 1 { // each worker has a handle of its own: queues are not dealt
			gotRx[i], gotTx[i] = p.rxQueues[i], p.txQueues[i]
		}
		r.rw = append(r.rw, macs(o, i, first.MAC()))
	}
	if o.mode.Scheduled() {
		return r.linkScheduled(n)
	}
	sharedRx, sharedTx := p.fit(gotRx, gotTx)
	if o.lock == "none" && len(sharedRx)+len(sharedTx) > 0 {
		return opt.Usage("-lock none with %d workers: %s would have rings that several workers use: use -lock queue, fewer workers (-c), or an interface with more rings", n, sharedNames(o.ifs, sharedRx, sharedTx))
	}
	for _, i := range sharedRx {
		fmt.Fprintf(r.text, "Sharing %d input queues of %s between %d workers\n", gotRx[i], o.ifs[i], p.rxQueues[i])
	}
	for _, i := range sharedTx {
		fmt.Fprintf(r.text, "Sharing %d output queues of %s between %d workers\n", gotTx[i], o.ifs[i], p.txQueues[i])
	}
	for w := range p.pairs {
		var links []link
		for _, pr := range p.pairs[w] {
			links = append(links, link{in: r.in(pr), out: r.out(pr), rw: &r.rw[pr.out]})
		}
		r.links = append(r.links, links)
	}
	return nil
}

func sharedNames(ifs []string, a, b []int) string {
	var names []string
	for i, n := range ifs {
		if slices.Contains(a, i) || slices.Contains(b, i) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// in is the receive queue of a pair: of a worker's own handle, or the port's.
func (r *run) in(pr pair) *odp.In {
	hs := r.ports[pr.in]
	if len(hs) > 1 {
		return hs[pr.rxQ].In(0)
	}
	return hs[0].In(pr.rxQ)
}

func (r *run) out(pr pair) *odp.Out {
	hs := r.ports[pr.out]
	if len(hs) > 1 {
		h := hs[pr.txQ%len(hs)]
		return h.Out(0)
	}
	return hs[0].Out(pr.txQ)
}

// linkScheduled: every worker serves all interfaces. In the modes that keep order the
// send queue follows from the receive queue, whoever has the packets: packets of one
// queue that left through two rings could pass each other. Without order to keep, a
// worker sends through a queue of its own where the outputs have enough.
func (r *run) linkScheduled(n int) error {
	if r.o.lock == "none" && n > 1 && r.o.mode != opt.Parallel {
		return opt.Usage("-lock none with -m %s and %d workers: the packets of a queue leave through one ring, whichever worker has them, so several workers use a ring; use -lock queue, or -c 1", r.o.mode, n)
	}
	for w := range n {
		var links []link
		for _, out := range r.o.out {
			hs := r.ports[out]
			h := hs[w%len(hs)]
			l := link{rw: &r.rw[out]}
			if r.o.lock == "none" && h.NumOut() < n {
				return opt.Usage("-lock none with %d workers: %s has %d send rings, so several workers would use one: use -lock queue, fewer workers (-c), or an interface with more rings", n, r.o.ifs[out], h.NumOut())
			}
			if r.o.mode == opt.Parallel {
				l.outs = append(l.outs, h.Out(w%h.NumOut()))
			} else {
				for k := range h.NumOut() {
					l.outs = append(l.outs, h.Out(k))
				}
			}
			links = append(links, l)
		}
		r.links = append(r.links, links)
	}
	return nil
}

func (r *run) openInterface(ctx context.Context, i int, p *plan) error {
	o := r.o
	cfg := odp.PortConfig{Mode: odp.ModeDirect}
	level, err := pktio.ParseLockLevel(o.lock)
	if err != nil {
		return err
	}
	cfg.LockLevel, cfg.Promisc, cfg.LockStats = level, o.promisc == 1, o.verbose
	cfg.TakeOver = o.takeOver
	cfg.PoolPackets = o.packets
	if !o.zeroCopy {
		cfg.Pool = r.pool
	}
	handles := 1
	switch {
	case o.mode.Scheduled():
		cfg.Mode, cfg.Sync = odp.ModeScheduled, syncOf(o.mode)
		cfg.RxQueues, cfg.TxQueues = o.rxQueues, len(r.pubs)
		if o.rxQueues == 0 {
			cfg.RxQueues = len(r.pubs)
		}
		cfg.RxQueues, cfg.TxQueues = min(cfg.RxQueues, maxQueues), min(cfg.TxQueues, maxQueues)
		if len(r.groups) > 0 {
			cfg.Group = r.groups[i%len(r.groups)]
		}
		if o.share == "handles" {
			handles, cfg.RxQueues, cfg.TxQueues = len(r.pubs), 1, 1
		}
	case o.share == "handles":
		handles = p.rxQueues[i]
	default:
		cfg.RxQueues, cfg.TxQueues = p.rxQueues[i], p.txQueues[i]
	}
	if o.mode == opt.Plain {
		cfg.Mode = odp.ModePlain
	}
	cfg.Shared = handles > 1
	if cfg.Shared && o.lock == "none" {
		return opt.Usage("-lock none with -share handles and %d workers: the handles of %s share its rings; use -lock queue, device or pktio, or -share queues", len(r.pubs), o.ifs[i])
	}
	var hs []*odp.Port
	for k := range handles {
		if k > 0 && o.mode.Scheduled() {
			cfg.Mode = odp.ModeDirect // one handle feeds the scheduler, the others send
		}
		name := o.ifs[i]
		if k > 0 { // the options of the platform belong to the first handle
			name, _, _ = strings.Cut(name, "?")
		}
		h, err := r.inst.OpenPort(ctx, name, cfg)
		if err != nil {
			return err
		}
		hs = append(hs, h)
		r.ifOf[h.Index()] = i
	}
	r.ports = append(r.ports, hs)
	return nil
}

func syncOf(m opt.Mode) odp.Sync {
	switch m {
	case opt.Atomic:
		return odp.Atomic
	case opt.Ordered:
		return odp.Ordered
	}
	return odp.Parallel
}

// makeGroups makes the scheduler groups of -g.
func (r *run) makeGroups() error {
	switch {
	case r.o.groups < 0:
		r.groups = append(r.groups, r.inst.Scheduler().Worker())
		return nil
	case r.o.groups == 0:
		return nil
	}
	for k := range r.o.groups {
		g, err := r.inst.NewGroup(fmt.Sprintf("l2fwd-%d", k))
		if err != nil {
			return err
		}
		r.groups = append(r.groups, g)
	}
	return nil
}
