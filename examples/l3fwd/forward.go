// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math/bits"
	"time"
	"unsafe"

	"github.com/odp-go/godp/lookup"
	"github.com/odp-go/godp/odp"
)

const (
	drainAfter = 80 * time.Microsecond // packets wait at most 100 us in a buffer:
	drainLook  = 16                    // the clock is read each so many polls
	eventWait  = 100 * time.Millisecond
)

// maxOuts is room for 64 outputs and the reasons to drop.
const maxOuts = 128

// counts are one worker's.
type counts struct {
	packets, sent, refused uint64
	bursts, polls          uint64
	drops                  [numDrops]uint64
}

// forwarder is what one worker keeps: all that is decided at set-up, and its buffers.
type forwarder struct {
	w     *odp.Worker
	ins   []*odp.In
	hops  [][]hop // by input: what a route table's answer means there
	outs  []*odp.Out
	bufs  *[maxOuts]sendBuf
	v4    *lookup.V4[uint16]
	v6    *lookup.V6
	limit int // -tx-burst
	size  int // -rx-burst
	loose bool
	dec6  byte // 1, or 0 with -check=dpdk
	one   bool // -staged=false
	plain bool // receive and send only, to output (input xor 1): the feed's own speed
	c     counts
	pub   *published
	err   error
	b     burst
	pkts  [maxBurst]*odp.Packet
}

// process takes a burst that came in through one input through all stages.
func (f *forwarder) process(pkts []*odp.Packet, in int) {
	hops := f.hops[in]
	f.c.packets += uint64(len(pkts))
	f.c.bursts++
	switch {
	case f.plain:
		f.sendRun(uint16(in^1), pkts)
		return
	case f.one:
		for _, k := range pkts {
			f.single(k, hops)
		}
		return
	}
	b := &f.b
	fail := uint16(len(f.outs))
	if f.loose {
		b.loose(pkts, fail)
	} else {
		b.strict(pkts, fail)
	}
	if b.n4 > 0 {
		f.v4.LookupBulk(b.addr4[:b.n4], b.hop4[:b.n4])
	}
	if b.n6 > 0 {
		f.v6.LookupBulk(b.addr6[:b.n6], b.hop6[:b.n6])
	}
	b.rewrite(pkts, hops, f.dec6)
	f.send(pkts, b)
}

// single is -staged=false: one packet through all stages with the same look-up,
// rewrite and send code.
func (f *forwarder) single(k *odp.Packet, hops []hop) {
	p, n, total := k.DataPtr(), uint32(k.SegLen()), uint32(k.Len())
	fail := uint16(len(f.outs))
	if n < ethLen {
		f.put(fail+dropShort, k)
		return
	}
	var h *hop
	switch load16(p, 12) {
	case typeIPv4:
		r := 0
		if f.loose {
			r = loose4(p, n)
		} else {
			r = check4(p, n, total)
		}
		if r != 0 {
			f.put(fail+uint16(r), k)
			return
		}
		h = &hops[f.v4.Lookup(bits.ReverseBytes32(load32(p, ethLen+16)))]
		setMACs(p, h)
		ttl4(p)
	case typeIPv6:
		r := 0
		if !f.loose {
			r = check6(p, n, total)
		} else if n < ethLen+40 {
			r = dropShort
		}
		if r != 0 {
			f.put(fail+uint16(r), k)
			return
		}
		h = &hops[f.v6.Lookup(lookup.Addr6{Hi: bits.ReverseBytes64(load64(p, ethLen+24)), Lo: bits.ReverseBytes64(load64(p, ethLen+32))})]
		setMACs(p, h)
		*(*byte)(unsafe.Add(p, ethLen+7)) -= f.dec6
	default:
		f.put(fail+dropType, k)
		return
	}
	f.put(h.out, k)
}

// poll is the loop of burst mode: the worker receives from its inputs in turn.
func (f *forwarder) poll(mine []int) error {
	quiet, since := 0, odp.Now()
	for i := 0; f.w.Running(); i++ {
		if i >= len(mine) {
			i = 0
		}
		in := mine[i]
		n, err := f.ins[in].Recv(f.w, f.pkts[:f.size])
		if n > 0 {
			f.process(f.pkts[:n], in)
			quiet = 0
		} else if quiet++; quiet >= len(mine) { // nothing came anywhere: nothing is worth waiting for
			f.drain()
			f.publish()
			quiet = 0
		}
		if f.c.polls++; f.c.polls%drainLook == 0 {
			if now := odp.Now(); now-since >= int64(drainAfter) {
				f.drain()
				f.publish()
				since = now
			}
		}
		if err == nil {
			err = f.err
		}
		if err != nil {
			return f.end(err)
		}
	}
	return f.end(nil)
}

// events is the loop of event mode: the scheduler hands out bursts of one input. They
// leave before the next is asked for, so that an order or an atomic context is kept.
func (f *forwarder) events(inst *odp.Instance, inputOf func(*odp.Port) int) error {
	for {
		n, q, err := inst.Schedule(f.w, odp.EventsOf(f.pkts[:f.size]), eventWait)
		if n > 0 {
			f.process(f.pkts[:n], inputOf(q.Context().(*odp.Port)))
			f.drain()
		} else {
			f.publish()
		}
		if f.c.polls++; f.c.polls%64 == 0 {
			f.publish()
		}
		if err == nil {
			err = f.err
		}
		if err != nil || n == 0 && !f.w.Running() {
			return f.end(err)
		}
	}
}

// end leaves nothing in the buffers. Errors of an orderly end are none.
func (f *forwarder) end(err error) error {
	f.drain()
	f.publish()
	if errors.Is(err, odp.ErrStopped) || errors.Is(err, odp.ErrClosed) && f.w.Stopping() {
		return nil
	}
	return err
}

func (f *forwarder) publish() { f.pub.set(&f.c) }
