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

// sendBuf is an output's buffer.
type sendBuf struct {
	pkts [maxBurst]*odp.Packet
	n    int
}

// send is the decision for a burst whose outputs are known.
func (f *forwarder) send(pkts []*odp.Packet, b *burst) {
	if b.diff == 0 {
		f.sendRun(b.out[0], pkts)
		return
	}
	n := len(pkts)
	for i := 0; i < n; i += 64 {
		mask := ends(b.out[:], i, n)
		if bits.OnesCount64(mask)*2 > min(64, n-i) { // mostly runs of 1
			for j := i; j < min(i+64, n); j++ {
				f.put(b.out[j], pkts[j])
			}
			continue
		}
		from := i
		for ; mask != 0; mask &= mask - 1 {
			end := i + bits.TrailingZeros64(mask) + 1
			f.sendRun(b.out[from], pkts[from:end])
			from = end
		}
		if from < min(i+64, n) { // goes on in the next 64
			f.sendRun(b.out[from], pkts[from:min(i+64, n)])
		}
	}
}

// sendRun sends a run or puts it into its output's buffer.
func (f *forwarder) sendRun(out uint16, pkts []*odp.Packet) {
	if int(out) >= len(f.outs) {
		f.drop(out, pkts)
		return
	}
	b := &f.bufs[out]
	if len(pkts) >= f.limit && b.n == 0 {
		f.flush(int(out), pkts)
		return
	}
	for _, k := range pkts {
		b.pkts[b.n&(maxBurst-1)] = k
		if b.n++; b.n >= f.limit {
			f.flush(int(out), b.pkts[:b.n])
			b.n = 0
		}
	}
}

// put is sendRun of one packet.
func (f *forwarder) put(out uint16, k *odp.Packet) {
	if int(out) >= len(f.outs) {
		one := [1]*odp.Packet{k}
		f.drop(out, one[:])
		return
	}
	b := &f.bufs[out]
	b.pkts[b.n&(maxBurst-1)] = k
	if b.n++; b.n >= f.limit {
		f.flush(int(out), b.pkts[:b.n])
		b.n = 0
	}
}

// flush hands packets to an output; what it refuses is dropped and counted.
func (f *forwarder) flush(out int, pkts []*odp.Packet) {
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

// drop frees packets that go nowhere, by reason.
func (f *forwarder) drop(out uint16, pkts []*odp.Packet) {
	f.c.drops[int(out)-len(f.outs)] += uint64(len(pkts))
	odp.FreePackets(f.w, pkts)
}

// drain sends what the buffers hold.
func (f *forwarder) drain() {
	for out := range f.bufs {
		if b := &f.bufs[out]; b.n > 0 {
			f.flush(out, b.pkts[:b.n])
			b.n = 0
		}
	}
}
