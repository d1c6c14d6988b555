// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// idleWait is how long a worker waits for packets before it looks at its stop
// flag again, in the scheduled modes and with -idle adaptive (odp_l2fwd: 100 ms).
const idleWait = 100 * time.Millisecond

// ethernetLen is the length of an Ethernet header.
const ethernetLen = 14

// link is where packets come from and where they go.
type link struct {
	in   *odp.In
	out  *odp.Out
	outs []*odp.Out // scheduled modes: by receive queue
	rw   *rewrite
}

// rewrite is what is written over the MAC addresses of every packet sent to an
// interface: computed once, two stores a packet.
type rewrite struct {
	macs     [12]byte // destination, source
	dst, src bool
}

// apply rewrites a burst and returns how many stay: a frame that is too short for
// an Ethernet header is freed.
func (r *rewrite) apply(w *odp.Worker, pkts []*odp.Packet) int {
	n := 0
	for _, p := range pkts {
		if p.SegLen() < ethernetLen {
			buffer.FreePacket(w, p)
			continue
		}
		switch {
		case r.dst && r.src:
			header.SetMACs(p.DataPtr(), &r.macs)
		case r.dst:
			copy(p.Data()[0:6], r.macs[0:6])
		case r.src:
			copy(p.Data()[6:12], r.macs[6:12])
		}
		pkts[n] = p
		n++
	}
	return n
}

// forwarder is what one worker goroutine keeps.
type forwarder struct {
	*run
	w    *odp.Worker
	c    counts
	pub  *published
	pkts [maxBurst]*odp.Packet
	ins  []*odp.In // inputs to sleep on
	sum  byte      // of what -F read
}

// burstLoop receives from each of its links in turn and sends to its output.
func (f *forwarder) burstLoop(links []link) error {
	quiet := 0 // links in a row that had nothing
	for i := 0; f.w.Running(); i++ {
		if i == len(links) {
			i = 0
		}
		l := &links[i]
		n, err := l.in.Recv(f.w, f.pkts[:f.o.burst])
		if err != nil {
			return f.ended(err)
		}
		if n > 0 {
			quiet = 0
			if err := f.forward(f.pkts[:n], l.out, l.rw); err != nil {
				return f.ended(err)
			}
			continue
		}
		f.c.emptyPolls++
		if quiet++; quiet >= len(links) {
			quiet = 0
			if err := f.rest(links); err != nil {
				return f.ended(err)
			}
		}
	}
	return nil
}

// rest is what a worker does when none of its links had a packet: publish its
// counts, and with -idle adaptive sleep until one has.
func (f *forwarder) rest(links []link) error {
	f.publish()
	if f.o.idle != "adaptive" {
		return nil
	}
	ins := f.ins[:0]
	for i := range links {
		ins = append(ins, links[i].in)
	}
	f.ins = ins
	from, n, err := pktio.RecvAny(f.w, ins, f.pkts[:f.o.burst], idleWait)
	if n == 0 || err != nil {
		return err
	}
	return f.forward(f.pkts[:n], links[from].out, links[from].rw)
}

// queueLoop takes bursts from the scheduler. All packets of one came in on one
// interface, the context of their queue, which decides where they go.
func (f *forwarder) queueLoop(links []link) error {
	ev := odp.EventsOf(f.pkts[:f.o.burst])
	for {
		n, q, err := f.inst.Schedule(f.w, ev, idleWait)
		if n == 0 {
			f.c.emptyPolls++
			f.publish()
			if err != nil || !f.w.Running() {
				return f.ended(err)
			}
			continue
		}
		l := &links[f.ifOf[q.Context().(*odp.Port).Index()]]
		_, rx := f.pkts[0].Input()
		if err := f.forward(f.pkts[:n], l.outs[rx%len(l.outs)], l.rw); err != nil {
			return f.ended(err)
		}
	}
}

// ended turns the errors of an orderly end into nil: the ports were stopped.
func (f *forwarder) ended(err error) error {
	f.publish()
	if errors.Is(err, odp.ErrStopped) || (errors.Is(err, odp.ErrClosed) && f.w.Stopping()) {
		return nil
	}
	return err
}

// forward does the work of one burst that was received.
func (f *forwarder) forward(pkts []*odp.Packet, out *odp.Out, rw *rewrite) error {
	f.c.bursts++
	got := len(pkts)
	if f.o.errCheck {
		pkts = f.dropErrors(pkts)
	}
	if f.o.copyPkts {
		pkts = f.copies(pkts)
	}
	if f.o.touch > 0 {
		f.read(pkts)
	}
	if rw.dst || rw.src {
		pkts = pkts[:rw.apply(f.w, pkts)]
	}
	f.c.rxDrops += uint64(got - len(pkts))
	f.c.packets += uint64(len(pkts))
	sent, err := f.send(out, pkts)
	if sent < len(pkts) {
		f.c.txDrops += uint64(len(pkts) - sent)
		odp.FreePackets(f.w, pkts[sent:])
	}
	if f.c.bursts&15 == 0 {
		f.publish()
	}
	return err
}

// send hands a burst to the output, as a packet output or as a queue (-o 1).
func (f *forwarder) send(out *odp.Out, pkts []*odp.Packet) (int, error) {
	if !f.o.outQueue {
		return out.Send(f.w, pkts)
	}
	sent := 0
	for { // a queue is tried until it takes everything, as odp_l2fwd does
		n, err := out.Enqueue(f.w, odp.EventsOf(pkts[sent:]))
		if sent += n; err != nil || sent == len(pkts) || f.w.Stopping() {
			return sent, err
		}
	}
}

func (f *forwarder) dropErrors(pkts []*odp.Packet) []*odp.Packet {
	n := 0
	for _, p := range pkts {
		if p.HasError() {
			buffer.FreePacket(f.w, p)
			continue
		}
		pkts[n] = p
		n++
	}
	return pkts[:n]
}

// copies replaces each packet by a copy from the same pool (-p 1).
func (f *forwarder) copies(pkts []*odp.Packet) []*odp.Packet {
	n := 0
	for _, p := range pkts {
		c, err := p.Copy(f.w, f.pool)
		buffer.FreePacket(f.w, p)
		if err != nil {
			continue
		}
		pkts[n] = c
		n++
	}
	return pkts[:n]
}

// read touches the first byte of some 64-byte blocks of each packet (-F).
func (f *forwarder) read(pkts []*odp.Packet) {
	for _, p := range pkts {
		d := p.Data()
		for off := 0; off < len(d) && off < 64*f.o.touch; off += 64 {
			f.sum += d[off]
		}
	}
}

func (f *forwarder) publish() { f.pub.set(&f.c) }
