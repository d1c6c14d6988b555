// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Packets: headroom, tailroom, growing and shrinking at both ends.

func init() {
	register("PKT",
		Case{"PKT-15", "Pull and push at the head change headroom and length by exactly the number of bytes, and data never moves.", nil, pktHeadroom},
		Case{"PKT-16", "Pull and push at the tail change tailroom and length by exactly the number of bytes; layer offsets stay.", nil, pktTailroom},
		Case{"PKT-32", "Taking off the segment that Concat linked, and one byte more, gives tailroom for it.", nil, pktTruncThreeSegs},
		Case{"PKT-33", "A packet grows from 1 to 32000 bytes one byte at a time, at the tail and at the head.", nil, pktExtendSmall},
		Case{"PKT-34", "A packet grows by large chunks at both ends, and the new bytes are where the length says.", nil, pktExtendLarge},
		Case{"PKT-35", "A packet grows by small and then large chunks at both ends, and its bytes are in order.", nil, pktExtendMix},
		Case{"PKT-36", "A packet of the greatest length does not grow; one that is shorter does, and a reference to it grows alone.", nil, pktExtendRef},
	)
}

func pktHeadroom(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		room, seg, first, want := k.Headroom(), k.SegLen(), head(k), content(k)
		e.Must(room >= p.Headroom() && room > 0, "headroom %d", room)
		push := func(n int) {
			e.Helper()
			data, was := uintptr(k.DataPtr()), layoutOf(k)
			b := e.Ops.PushHead(k, n)
			e.Must(b != nil && addr(b) == data-uintptr(n) && len(b) == was.seg+n, "push of %d: %d bytes of data", n, len(b))
			e.Check(k.Headroom() == was.headroom-n && k.Len() == was.length+n && k.SegLen() == was.seg+n && head(k) == first, "push of %d: headroom %d to %d, length %d to %d", n, was.headroom, k.Headroom(), was.length, k.Len())
			e.sane(k)
		}
		pull := func(n int) {
			e.Helper()
			data, was := uintptr(k.DataPtr()), layoutOf(k)
			b := e.Ops.PullHead(k, n)
			e.Must(b != nil && addr(b) == data+uintptr(n), "pull of %d: %d bytes of data", n, len(b))
			e.Check(k.Headroom() == was.headroom+n && k.Len() == was.length-n && k.SegLen() == was.seg-n && head(k) == first, "pull of %d: headroom %d to %d, length %d to %d", n, was.headroom, k.Headroom(), was.length, k.Len())
			e.sane(k)
		}
		pull(seg / 2)
		push(seg/2 + room)
		pull(room)
		push(0)
		pull(0)
		e.holds(k, want, "push and pull")
		was := layoutOf(k)
		e.Check(e.Ops.PushHead(k, room+1) == nil && e.Ops.PullHead(k, seg) == nil && e.Ops.PushHead(k, -1) == nil && e.Ops.PullHead(k, -1) == nil, "more than the rooms allow is not refused")
		e.Check(layoutOf(k) == was, "a refused call changed the packet")
		// beyond the headroom, with further segments
		g, err := e.Ops.ExtendHead(k, nil, 2*room)
		e.NoError(err, "ExtendHead")
		e.sane(g)
		e.Check(g.Len() == length+2*room && addr(g.Data()) == addr(g.Offset(0)), "extended to %d bytes, want %d", g.Len(), length+2*room)
		g, err = e.Ops.ExtendHead(g, nil, 0)
		e.NoError(err, "ExtendHead(0)")
		e.holds(g, append(content(g)[:2*room:2*room], want...), "ExtendHead")
		k, err = e.Ops.TruncHead(g, nil, 2*room)
		e.NoError(err, "TruncHead")
		e.holds(k, want, "TruncHead")
		e.free(nil, &k.Event)
		e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
	}
}

func pktTailroom(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen - 100, longLen} {
		k := e.newPacket(p, length)
		k.SetL2Offset(1)
		k.SetL3Offset(2)
		k.SetL4Offset(3)
		room, want := k.Tailroom(), content(k)
		e.Must(room > 0, "tailroom %d of a packet of %d", room, length)
		tail := func() uintptr { return addr(k.LastSeg().Data()) + uintptr(k.LastSeg().Len()) }
		push := func(n int) {
			e.Helper()
			was, old := layoutOf(k), tail()
			b := e.Ops.PushTail(k, n)
			e.Must(b != nil && len(b) == n && (n == 0 || addr(b) == old), "push of %d gave %d bytes", n, len(b))
			e.Check(k.Tailroom() == was.tailroom-n && k.Len() == was.length+n && tail() == old+uintptr(n), "push of %d: tailroom %d to %d, length %d to %d", n, was.tailroom, k.Tailroom(), was.length, k.Len())
			e.sane(k)
		}
		pull := func(n int) {
			e.Helper()
			was, old := layoutOf(k), tail()
			e.Must(e.Ops.PullTail(k, n), "pull of %d", n)
			e.Check(k.Tailroom() == was.tailroom+n && k.Len() == was.length-n && tail() == old-uintptr(n), "pull of %d: tailroom %d to %d, length %d to %d", n, was.tailroom, k.Tailroom(), was.length, k.Len())
			e.sane(k)
		}
		last := k.LastSeg().Len()
		pull(last / 2)
		push(last/2 + room)
		pull(room)
		push(0)
		pull(0)
		e.Check(k.L2Offset() == 1 && k.L3Offset() == 2 && k.L4Offset() == 3, "layer offsets %d, %d, %d changed", k.L2Offset(), k.L3Offset(), k.L4Offset())
		e.Check(len(content(k)) == length, "length %d", k.Len())
		was := layoutOf(k)
		e.Check(e.Ops.PushTail(k, room+1) == nil && !e.Ops.PullTail(k, k.LastSeg().Len()) && e.Ops.PushTail(k, -1) == nil && !e.Ops.PullTail(k, -1), "more than the rooms allow is not refused")
		e.Check(layoutOf(k) == was, "a refused call changed the packet")
		grow := room + p.SegCap()
		e.NoError(e.Ops.ExtendTail(k, nil, grow), "ExtendTail")
		e.Check(k.Len() == length+grow && len(k.Offset(length)) > 0, "extended to %d, want %d", k.Len(), length+grow)
		e.sane(k)
		e.NoError(e.Ops.TruncTail(k, nil, grow), "TruncTail")
		e.Check(k.Tailroom() == room && k.Len() == length, "tailroom %d after trunc, was %d", k.Tailroom(), room)
		write(k, 0, want)
		e.holds(k, want, "TruncTail")
		e.Check(e.Ops.TruncTail(k, nil, length) != nil && k.Len() == length, "a packet of no bytes")
		e.free(nil, &k.Event)
		e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
	}
}

func pktTruncThreeSegs(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, p.SegCap()*2) // the tail is full
	e.Must(k.NumSegs() == 2 || k.Segmented(), "%d segments", k.NumSegs())
	e.NoError(e.Ops.ExtendTail(k, nil, k.Tailroom()), "ExtendTail")
	before, segs := k.Len(), k.NumSegs()
	src := e.newPacket(p, 300)
	e.NoError(e.Ops.Concat(k, nil, src), "Concat")
	e.Check(k.NumSegs() == segs+1, "%d segments after Concat, want %d", k.NumSegs(), segs+1)
	e.NoError(e.Ops.TruncTail(k, nil, 300+1), "TruncTail")
	e.Check(k.Len() == before-1 && k.NumSegs() == segs && k.Tailroom() == 1, "length %d, %d segments, tailroom %d; want %d, %d, 1", k.Len(), k.NumSegs(), k.Tailroom(), before-1, segs)
	e.sane(k)
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

const bigLen = 32000

// bigPool has segments for one packet of bigLen that grows in many small segments.
func (e *Env) bigPool() *odp.Pool {
	e.Helper()
	return e.pool(odp.PoolConfig{Num: 400, Size: 1000, MaxLen: bigLen})
}

func pktExtendSmall(e *Env) {
	p := e.bigPool()
	k := e.newPacket(p, 1)
	k.Data()[0] = 0
	for n := 1; n < bigLen; n++ {
		if err := e.Ops.ExtendTail(k, nil, 1); err != nil {
			e.Fatalf("ExtendTail at %d: %v", n, err)
		}
		last := k.LastSeg().Data()
		last[len(last)-1] = byte(n % 251)
	}
	e.holds(k, count(0, bigLen), "one byte at a time at the tail")
	e.free(nil, &k.Event)

	k = e.newPacket(p, 1)
	k.Data()[0] = byte((bigLen - 1) % 251)
	var err error
	for n := bigLen - 2; n >= 0; n-- {
		if k, err = e.Ops.ExtendHead(k, nil, 1); err != nil {
			e.Fatalf("ExtendHead at %d: %v", n, err)
		}
		k.Data()[0] = byte(n % 251)
	}
	e.holds(k, count(0, bigLen), "one byte at a time at the head")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktExtendLarge(e *Env) {
	p := e.bigPool()
	for div := 1; div <= 16; div++ {
		chunk := bigLen / div
		k := e.newPacket(p, 1)
		k.Data()[0] = 0
		for k.Len() < bigLen {
			n := min(chunk, bigLen-k.Len())
			old := k.Len()
			e.NoError(e.Ops.ExtendTail(k, nil, n), "ExtendTail")
			b := k.Offset(old)
			e.Must(k.Len() == old+n && len(b) >= 1 && len(b) <= n, "%d new bytes, %d of them in one segment, length %d", n, len(b), k.Len())
			write(k, old, count(old, n))
		}
		e.holds(k, count(0, bigLen), "chunks of %d at the tail", chunk)
		e.free(nil, &k.Event)

		k = e.newPacket(p, 1)
		k.Data()[0] = byte((bigLen - 1) % 251)
		var err error
		for k.Len() < bigLen {
			n := min(chunk, bigLen-k.Len())
			k, err = e.Ops.ExtendHead(k, nil, n)
			e.NoError(err, "ExtendHead")
			e.Must(addr(k.Offset(0)) == uintptr(k.DataPtr()), "the data is not at the new head")
			write(k, 0, count(bigLen-k.Len(), n))
		}
		e.holds(k, count(0, bigLen), "chunks of %d at the head", chunk)
		e.free(nil, &k.Event)
	}
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktExtendMix(e *Env) {
	p := e.bigPool()
	steps := make([]int, 30)
	for i := range steps {
		steps[i] = bigLen / 100
	}
	for range 3 {
		steps = append(steps, bigLen/5)
	}
	k := e.newPacket(p, 1)
	for _, n := range steps {
		old := k.Len()
		e.NoError(e.Ops.ExtendTail(k, nil, n), "ExtendTail")
		write(k, old, count(old, n))
	}
	e.holds(k, count(0, k.Len()), "small and large chunks at the tail")
	total := k.Len()
	e.free(nil, &k.Event)
	k = e.newPacket(p, 1)
	k.Data()[0] = byte((total - 1) % 251)
	var err error
	for _, n := range steps {
		k, err = e.Ops.ExtendHead(k, nil, n)
		e.NoError(err, "ExtendHead")
		write(k, 0, count(total-k.Len(), n))
	}
	e.holds(k, count(0, total), "small and large chunks at the head")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktExtendRef(e *Env) {
	p := e.bigPool()
	k := e.newPacket(p, bigLen)
	same, err := e.Ops.ExtendHead(k, nil, 1)
	e.Check(errors.Is(err, buffer.ErrTooLong) && same == k, "a packet of the greatest length grew at the head: %v", err)
	err = e.Ops.ExtendTail(k, nil, 1)
	e.Check(errors.Is(err, buffer.ErrTooLong), "a packet of the greatest length grew at the tail: %v", err)
	e.holds(k, count(0, bigLen), "refused calls")
	e.NoError(e.Ops.TruncTail(k, nil, 100), "TruncTail")
	e.NoError(e.Ops.ExtendTail(k, nil, 1), "ExtendTail after a trunc")
	e.NoError(e.Ops.TruncTail(k, nil, 1), "TruncTail")
	want := content(k)
	e.Check(!k.HasRef(), "a packet without references has one")
	r, err := e.Ops.Ref(k, nil, 100)
	e.NoError(err, "Ref")
	e.Check(r.Len() == bigLen-200 && k.HasRef(), "the reference has %d bytes, want %d; base referred to %v", r.Len(), bigLen-200, k.HasRef())
	r, err = e.Ops.ExtendHead(r, nil, 20)
	e.NoError(err, "ExtendHead of the reference")
	e.NoError(e.Ops.ExtendTail(r, nil, 20), "ExtendTail of the reference")
	write(r, 0, make([]byte, 20))
	write(r, r.Len()-20, make([]byte, 20))
	e.holds(k, want, "the reference grew")
	e.holds(r, append(append(make([]byte, 20), want[100:]...), make([]byte, 20)...), "the reference itself")
	e.free(nil, &r.Event)
	e.Check(!k.HasRef(), "the base is referred to after its reference was freed")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}
