// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/odp"
)

// The last two stages: runs of neighbours with the same output, and the decision how
// each run leaves.
//
//	out    1 1 1 1 0 0 2 1 …     output of each packet
//	ends   0 0 0 1 0 1 1 …       bit i: packet i is the last of its run
//
// A run of at least limit packets whose output has nothing buffered is sent as it is.
// Shorter ones are put into the output's buffer, which is sent when it is full or
// 100 us old. So the order of each output is that of arrival.

// ends marks the last packet of each run among 64 packets from i on; bits behind n are 0.
func ends(out []uint16, i, n int) (mask uint64) {
	for j := 0; j < 64 && i+j < n; j += 4 {
		p := unsafe.Pointer(&out[i+j])
		x := load64(p, 0) ^ load64(p, 2)
		x = (x&0x7fff7fff7fff7fff + 0x7fff7fff7fff7fff | x) >> 15 & 0x0001000100010001 // lanes that differ
		mask |= x * (1<<48 | 1<<33 | 1<<18 | 1<<3) >> 48 & 15 << j                     // one bit each
	}
	if left := n - i; left <= 64 {
		mask |= 1 << (left - 1) // what lies behind the burst decides nothing
		mask &= 1<<(left-1)<<1 - 1
	}
	return mask
}

// sendBuf is an output's buffer, or one of packets to be dropped for a reason. What it
// holds are pointers to packets, whose memory is not the collector's: as numbers they
// need no write barrier.
type sendBuf struct {
	n    int
	pkts [maxBurst]uintptr
}

// all views the buffered packets.
func (b *sendBuf) all() []*odp.Packet {
	return unsafe.Slice((**odp.Packet)(unsafe.Pointer(&b.pkts)), b.n)
}

func word(k *odp.Packet) uintptr { return uintptr(unsafe.Pointer(k)) }

// send is the decision for a burst whose outputs are known.
func (f *forwarder) send(pkts []*odp.Packet, b *burst) {
	if b.diff == 0 {
		f.sendRun(b.out[0], pkts)
		return
	}
	n := len(pkts)
	for i := 0; i < n; i += 64 {
		m := min(64, n-i)
		mask := ends(b.out[:], i, n)
		if bits.OnesCount64(mask)*2 > m { // mostly runs of 1
			f.putAll(b.out[i:i+m], pkts[i:i+m])
			continue
		}
		from := i
		for ; mask != 0; mask &= mask - 1 {
			end := i + bits.TrailingZeros64(mask) + 1
			f.sendRun(b.out[from], pkts[from:end])
			from = end
		}
		if from < i+m { // goes on in the next 64
			f.sendRun(b.out[from], pkts[from:i+m])
		}
	}
}

// sendRun sends a run or puts it into its output's buffer.
func (f *forwarder) sendRun(out uint16, pkts []*odp.Packet) {
	b := &f.bufs[out&(maxOuts-1)]
	if len(pkts) >= f.limit && b.n == 0 {
		f.flush(int(out), pkts)
		return
	}
	for len(pkts) > 0 {
		m := min(len(pkts), f.limit-b.n)
		to := b.pkts[b.n&(maxBurst-1):]
		for i, k := range pkts[:m] {
			if i < len(to) {
				to[i] = word(k)
			}
		}
		b.n += m
		if pkts = pkts[m:]; b.n == f.limit {
			f.flushBuf(out, b)
		}
	}
}

// putAll puts each packet of a burst into its output's buffer.
func (f *forwarder) putAll(out []uint16, pkts []*odp.Packet) {
	limit := f.limit
	for i, k := range pkts {
		o := out[i]
		b := &f.bufs[o&(maxOuts-1)]
		b.pkts[b.n&(maxBurst-1)] = word(k)
		if b.n++; b.n == limit {
			f.flushBuf(o, b)
		}
	}
}

// put is putAll of one packet.
func (f *forwarder) put(out uint16, k *odp.Packet) {
	b := &f.bufs[out&(maxOuts-1)]
	b.pkts[b.n&(maxBurst-1)] = word(k)
	if b.n++; b.n == f.limit {
		f.flushBuf(out, b)
	}
}

//go:noinline
func (f *forwarder) flushBuf(out uint16, b *sendBuf) {
	f.flush(int(out), b.all())
	b.n = 0
}

// flush hands packets to an output; what it refuses is dropped and counted. What has
// no output is freed, and counted by reason.
func (f *forwarder) flush(out int, pkts []*odp.Packet) {
	if out >= len(f.outs) {
		f.c.drops[out-len(f.outs)] += uint64(len(pkts))
		odp.FreePackets(f.w, pkts)
		return
	}
	n, err := f.outs[out].Send(f.w, pkts)
	if n < len(pkts) {
		f.c.refused += uint64(len(pkts) - n)
		odp.FreePackets(f.w, pkts[n:])
	}
	f.c.sent += uint64(n)
	if err != nil && f.err == nil {
		f.err = err
	}
}

// drain sends what the buffers hold.
func (f *forwarder) drain() {
	for out := range len(f.outs) + numDrops {
		if b := &f.bufs[out]; b.n > 0 {
			f.flushBuf(uint16(out), b)
		}
	}
}
