// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Packets: references, and what every edit does to every kind of packet.

func init() {
	register("PKT",
		Case{"PKT-39", "References, static and dynamic, from any offset and of references, have the expected bytes and outlive their base.", nil, pktRef},
		Case{"PKT-72", "A reference from every offset has the length and bytes from there, no rooms and default metadata; its base does not change.", nil, pktRefBasic},
		Case{"PKT-73", "ExtendHead with every length, on every kind of packet, adds private bytes and touches nothing else.", nil, func(e *Env) { eachKind(e, editExtendHead) }},
		Case{"PKT-74", "PushHead with every length, on every kind of packet, adds private bytes within the headroom and touches nothing else.", nil, func(e *Env) { eachKind(e, editPushHead) }},
		Case{"PKT-75", "TruncHead with every length, on every kind of packet, takes off exactly these bytes.", nil, func(e *Env) { eachKind(e, editTruncHead) }},
		Case{"PKT-76", "PullHead with every length, on every kind of packet, takes bytes off the first segment only.", nil, func(e *Env) { eachKind(e, editPullHead) }},
		Case{"PKT-77", "ExtendTail with every length, on every kind of packet, adds private bytes and touches nothing else.", nil, func(e *Env) { eachKind(e, editExtendTail) }},
		Case{"PKT-78", "PushTail with every length, on every kind of packet, adds private bytes within the tailroom and touches nothing else.", nil, func(e *Env) { eachKind(e, editPushTail) }},
		Case{"PKT-79", "TruncTail with every length, on every kind of packet, takes off exactly these bytes.", nil, func(e *Env) { eachKind(e, editTruncTail) }},
		Case{"PKT-80", "PullTail with every length, on every kind of packet, takes bytes off the last segment only.", nil, func(e *Env) { eachKind(e, editPullTail) }},
		Case{"PKT-81", "ResetMeta on every kind of packet keeps layout, bytes and references.", nil, pktRefResetMeta},
		Case{"PKT-82", "A copy of every kind of packet is a normal packet with the same bytes.", nil, pktRefCopy},
		Case{"PKT-83", "A copy of a part of every kind of packet is a normal packet with these bytes.", nil, pktRefCopyPart},
		Case{"PKT-84", "Every kind of packet is appended to every kind, and whatever shares bytes with either is unaffected.", nil, pktRefConcat},
		Case{"PKT-85", "Every kind of packet is cut at every position, and whatever shares its bytes is unaffected.", nil, pktRefSplit},
		Case{"PKT-86", "Bytes are inserted at every offset of every kind of packet, private to it.", nil, pktRefAddData},
		Case{"PKT-87", "Bytes are removed at every offset of every kind of packet, from it alone.", nil, pktRefRemData},
		Case{"PKT-88", "Bytes of every kind of packet are made contiguous and aligned, for it alone.", nil, pktRefAlign},
	)
}

// form is how a packet shares its bytes.
type form int

const (
	normal       form = iota // with nobody
	referred                 // a reference to it exists, from offset 3
	referring                // it is a reference to another packet
	referringHdr             // it is a header of its own with a reference behind
	forms
)

func (f form) String() string {
	return [...]string{"normal", "referred", "referring", "header+reference"}[f]
}

// fixture is a packet with what shares its bytes.
type fixture struct {
	k      *odp.Packet
	want   []byte
	meta   metadata
	others []*odp.Packet // must not change
	theirs [][]byte
}

// tight makes a packet of tiny segments: each has its few bytes at the end of its
// buffer, so that joining links them.
func (e *Env) tight(p *odp.Pool, first int, lens ...int) *odp.Packet {
	e.Helper()
	var k *odp.Packet
	for _, n := range lens {
		s := e.newPacket(p, p.SegCap())
		e.Must(s.PullHead(p.SegCap()-n) != nil, "no segment of %d bytes", n)
		write(s, 0, count(first, n))
		first += n
		if k == nil {
			k = s
		} else {
			e.NoError(k.Concat(nil, s), "Concat")
		}
	}
	e.Must(k.NumSegs() == len(lens), "%d segments, want %d", k.NumSegs(), len(lens))
	return k
}

var layouts = [][]int{{13}, {7, 9}, {5, 1, 11}, {4, 6, 3, 8}}

func (e *Env) fixture(p *odp.Pool, f form, lens []int) (x fixture) {
	e.Helper()
	k := e.tight(p, 1, lens...)
	var err error
	x.k = k
	switch f {
	case referred:
		r, err := e.Ops.Ref(k, nil, 3)
		e.NoError(err, "Ref")
		x.others = append(x.others, r)
	case referring:
		x.k, err = e.Ops.Ref(k, nil, 2)
		e.NoError(err, "Ref")
		x.others = append(x.others, k)
	case referringHdr:
		x.k, err = e.Ops.RefPacket(k, nil, 2, e.tight(p, 200, 6))
		e.NoError(err, "RefPacket")
		x.others = append(x.others, k)
	}
	x.want = content(x.k)
	for _, o := range x.others {
		x.theirs = append(x.theirs, content(o))
	}
	mark(x.k)
	x.meta = metaOf(x.k)
	return x
}

// check asserts contents and metadata of the packet, and that nobody else changed.
func (x *fixture) check(e *Env, want []byte, format string, args ...any) {
	e.Helper()
	e.holds(x.k, want, format, args...)
	if m := metaOf(x.k); m != x.meta {
		e.Fatalf("the metadata changed from %+v to %+v: "+format, append([]any{x.meta, m}, args...)...)
	}
	x.unaffected(e, format, args...)
}

func (x *fixture) unaffected(e *Env, format string, args ...any) {
	e.Helper()
	for i, o := range x.others {
		e.holds(o, x.theirs[i], "the other packet: "+format, args...)
	}
}

// end frees all, the packet first or last.
func (x *fixture) end(e *Env, p *odp.Pool, last bool, more ...*odp.Packet) {
	e.Helper()
	all := append(more, x.others...)
	if last {
		all = append(all, x.k)
	} else {
		all = append([]*odp.Packet{x.k}, all...)
	}
	e.free(nil, odp.EventsOf(all)...)
	if p.Out() != 0 {
		e.Fatalf("%d segments did not come back", p.Out())
	}
}

func (e *Env) refPool() *odp.Pool {
	e.Helper()
	return e.pool(odp.PoolConfig{Name: "refs", Num: 64, Size: 64, MaxLen: 4096, UserArea: areaLen, Cache: -1})
}

// each runs f for every form and layout.
func each(e *Env, p *odp.Pool, f func(form form, lens []int)) {
	for form := range forms {
		for _, lens := range layouts {
			f(form, lens)
		}
	}
}

// edit is one of the calls that change one end of a packet; what it did is checked
// by its caller. It returns whether it was done and what the bytes are then.
type edit func(e *Env, x *fixture, n int) (done bool, want []byte)

func eachKind(e *Env, call edit) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		size := len(e.size(p, f, lens))
		for n := 0; n <= size+1; n++ {
			x := e.fixture(p, f, lens)
			was := layoutOf(x.k)
			before := append([]byte(nil), x.want...)
			done, want := call(e, &x, n)
			if !done {
				want = before
				e.Must(layoutOf(x.k) == was, "%v %v: refused for %d bytes, and the layout changed", f, lens, n)
			}
			x.check(e, want, "%v %v, %d bytes", f, lens, n)
			x.end(e, p, n%2 == 0)
		}
	})
}

// size returns the bytes that a fixture has.
func (e *Env) size(p *odp.Pool, f form, lens []int) []byte {
	e.Helper()
	x := e.fixture(p, f, lens)
	x.end(e, p, false)
	return x.want
}

// fresh writes n new bytes at off, which must be private, and returns them.
func (x *fixture) fresh(off, n int) []byte {
	b := bytes.Repeat([]byte{0xee}, n)
	write(x.k, off, b)
	return b
}

func editExtendHead(e *Env, x *fixture, n int) (bool, []byte) {
	k, err := e.Ops.ExtendHead(x.k, nil, n)
	e.NoError(err, "ExtendHead(%d)", n)
	x.k = k
	return true, join(x.fresh(0, n), x.want)
}

func editExtendTail(e *Env, x *fixture, n int) (bool, []byte) {
	e.NoError(e.Ops.ExtendTail(x.k, nil, n), "ExtendTail(%d)", n)
	return true, join(x.want, x.fresh(len(x.want), n))
}

func editPushHead(e *Env, x *fixture, n int) (bool, []byte) {
	room := x.k.Headroom()
	b := e.Ops.PushHead(x.k, n)
	e.Must((b != nil) == (n <= room), "PushHead(%d) with headroom %d: done %v", n, room, b != nil)
	if b == nil {
		return false, nil
	}
	e.Check(x.k.Headroom() == room-n, "PushHead(%d): headroom %d, was %d", n, x.k.Headroom(), room)
	return true, join(x.fresh(0, n), x.want)
}

func editPushTail(e *Env, x *fixture, n int) (bool, []byte) {
	room := x.k.Tailroom()
	b := e.Ops.PushTail(x.k, n)
	e.Must((b != nil) == (n <= room), "PushTail(%d) with tailroom %d: done %v", n, room, b != nil)
	if b == nil {
		return false, nil
	}
	return true, join(x.want, x.fresh(len(x.want), n))
}

func editTruncHead(e *Env, x *fixture, n int) (bool, []byte) {
	k, err := e.Ops.TruncHead(x.k, nil, n)
	e.Must((err == nil) == (n < len(x.want)), "TruncHead(%d) of %d bytes: %v", n, len(x.want), err)
	x.k = k
	return err == nil, x.want[min(n, len(x.want)):]
}

func editTruncTail(e *Env, x *fixture, n int) (bool, []byte) {
	err := e.Ops.TruncTail(x.k, nil, n)
	e.Must((err == nil) == (n < len(x.want)), "TruncTail(%d) of %d bytes: %v", n, len(x.want), err)
	return err == nil, x.want[:max(0, len(x.want)-n)]
}

func editPullHead(e *Env, x *fixture, n int) (bool, []byte) {
	seg := x.k.SegLen()
	done := e.Ops.PullHead(x.k, n) != nil
	e.Must(done == (n < seg), "PullHead(%d) of a first segment of %d bytes: done %v", n, seg, done)
	return done, x.want[min(n, len(x.want)):]
}

func editPullTail(e *Env, x *fixture, n int) (bool, []byte) {
	seg := x.k.LastSeg().Len()
	done := e.Ops.PullTail(x.k, n)
	e.Must(done == (n < seg), "PullTail(%d) of a last segment of %d bytes: done %v", n, seg, done)
	return done, x.want[:max(0, len(x.want)-n)]
}

func pktRef(e *Env) {
	p := e.refPool()
	for _, lens := range layouts {
		// static: one header, several owners
		k := e.tight(p, 1, lens...)
		want := content(k)
		e.Check(!k.HasRef() && !k.IsReferencing(), "a packet without references has one")
		s := k.RefStatic()
		e.Check(s == k && k.HasRef() && s.HasRef(), "a static reference is another packet, or is not seen")
		e.holds(s, want, "static reference")
		e.Check(k.Headroom() == 0 && k.Tailroom() == 0, "rooms %d and %d of a constant packet", k.Headroom(), k.Tailroom())
		e.Check(errors.Is(e.Ops.CopyFromMem(k, 0, []byte{1}), buffer.ErrShared) && errors.Is(e.Ops.Reset(k, nil, 1), buffer.ErrShared), "a constant packet was written or reset")
		e.free(nil, &k.Event)
		e.Check(!s.HasRef(), "the last owner sees another")
		e.holds(s, want, "the last owner")

		// dynamic: the base is freed first
		r, err := e.Ops.Ref(s, nil, 0)
		e.NoError(err, "Ref")
		e.Check(s.HasRef() && !r.HasRef() && r.IsReferencing() && !s.IsReferencing(), "base referred to %v, reference referring %v", s.HasRef(), r.IsReferencing())
		hdr := e.tight(p, 100, 4)
		rp, err := e.Ops.RefPacket(s, nil, 3, hdr)
		e.NoError(err, "RefPacket")
		e.Check(rp == hdr && rp.Len() == 4+len(want)-3, "length %d, want %d", rp.Len(), 4+len(want)-3)
		e.holds(r, want, "reference from 0")
		e.holds(rp, join(count(100, 4), want[3:]), "header and reference from 3")
		// compound: of a reference
		rr, err := e.Ops.Ref(rp, nil, 2)
		e.NoError(err, "Ref of a reference")
		both := join(count(102, 2), want[3:])
		e.holds(rr, both, "reference of a reference")
		e.free(nil, &s.Event)
		e.holds(r, want, "the base is free")
		e.free(nil, &rp.Event)
		e.holds(rr, both, "base and middle are free")
		// a head of its own
		rr, err = e.Ops.ExtendHead(rr, nil, 5)
		e.NoError(err, "ExtendHead of a reference")
		write(rr, 0, count(50, 5))
		e.Check(e.Ops.PullHead(rr, 2) != nil && e.Ops.PushHead(rr, 2) != nil, "pull and push at a head of its own")
		write(rr, 0, count(50, 5))
		e.holds(rr, join(count(50, 5), both), "a head of its own")
		e.holds(r, want, "the other reference")
		e.free(nil, &r.Event, &rr.Event)
		e.Must(p.Out() == 0, "%d segments did not come back", p.Out())
	}
	k := e.newPacket(p, 10)
	for _, off := range []int{-1, 10, 11} {
		_, err := e.Ops.Ref(k, nil, off)
		e.Check(errors.Is(err, buffer.ErrRange) && !k.HasRef(), "a reference from %d of 10 bytes: %v", off, err)
	}
	e.free(nil, &k.Event)
}

func pktRefBasic(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		x := e.fixture(p, f, lens)
		was := layoutOf(x.k)
		for off := range x.want {
			r, err := e.Ops.Ref(x.k, nil, off)
			e.NoError(err, "Ref(%d)", off)
			e.holds(r, x.want[off:], "%v %v: reference from %d", f, lens, off)
			if f == normal {
				e.Check(x.k.HasRef() && !x.k.IsReferencing(), "the base: referred to %v, referring %v", x.k.HasRef(), x.k.IsReferencing())
			}
			e.Check(!r.HasRef() && r.IsReferencing() && r.Headroom() == 0 && r.Tailroom() == 0 && e.Ops.PoolOf(&r.Event) == p, "the reference: referred to %v, referring %v, rooms %d, %d", r.HasRef(), r.IsReferencing(), r.Headroom(), r.Tailroom())
			e.defaults(r)
			e.Check(errors.Is(e.Ops.CopyFromMem(r, 0, []byte{0}), buffer.ErrShared), "shared bytes were written")
			e.free(nil, &r.Event)
		}
		e.Check(layoutOf(x.k) == was, "%v %v: the layout changed from %+v to %+v", f, lens, was, layoutOf(x.k))
		x.check(e, x.want, "%v %v: after all references were freed", f, lens)
		x.end(e, p, false)
	})
}

func pktRefResetMeta(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		x := e.fixture(p, f, lens)
		was, ref, ring := layoutOf(x.k), x.k.HasRef(), x.k.IsReferencing()
		e.Ops.ResetMeta(x.k)
		e.defaults(x.k)
		e.Check(layoutOf(x.k) == was && x.k.HasRef() == ref && x.k.IsReferencing() == ring, "%v %v: layout or references changed", f, lens)
		e.Check(string(x.k.UserArea()) == x.meta.area, "the user area was changed")
		e.holds(x.k, x.want, "%v %v", f, lens)
		x.unaffected(e, "%v %v", f, lens)
		x.end(e, p, true)
	})
}

func pktRefCopy(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		x := e.fixture(p, f, lens)
		c, err := e.Ops.Copy(x.k, nil, nil)
		e.NoError(err, "Copy")
		e.Check(!c.HasRef() && !c.IsReferencing() && metaOf(c) == x.meta, "%v %v: the copy is no normal packet or has other metadata", f, lens)
		e.holds(c, x.want, "%v %v: copy", f, lens)
		e.NoError(e.Ops.CopyFromMem(c, 0, make([]byte, c.Len())), "writing the copy")
		x.check(e, x.want, "%v %v", f, lens)
		x.end(e, p, false, c)
	})
}

func pktRefCopyPart(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		x := e.fixture(p, f, lens)
		for off := range x.want {
			n := 1 + (len(x.want)-off)/2
			n = min(n, len(x.want)-off)
			c, err := e.Ops.CopyPart(x.k, nil, off, n, nil)
			e.NoError(err, "CopyPart(%d, %d)", off, n)
			e.Check(!c.HasRef() && !c.IsReferencing(), "%v %v: the copy is no normal packet", f, lens)
			e.holds(c, x.want[off:off+n], "%v %v: part", f, lens)
			e.defaults(c)
			e.NoError(e.Ops.CopyFromMem(c, 0, make([]byte, n)), "writing the copy")
			e.free(nil, &c.Event)
		}
		x.check(e, x.want, "%v %v", f, lens)
		x.end(e, p, false)
	})
}

func pktRefConcat(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		for g := range forms {
			x, y := e.fixture(p, f, lens), e.fixture(p, g, layouts[1])
			at := fmt.Sprintf("%v %v + %v", f, lens, g)
			e.NoError(e.Ops.Concat(x.k, nil, y.k), "Concat: %s", at)
			x.check(e, join(x.want, y.want), "%s", at)
			y.unaffected(e, "%s", at)
			e.Check(x.k.IsReferencing() == (f >= referring || g >= referring), "%s: referring %v", at, x.k.IsReferencing())
			x.end(e, p, true, y.others...)
		}
	})
}

func pktRefSplit(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		for at := 1; at < len(e.size(p, f, lens)); at++ {
			x := e.fixture(p, f, lens)
			tail, err := e.Ops.Split(x.k, nil, at)
			e.NoError(err, "Split(%d)", at)
			e.holds(tail, x.want[at:], "%v %v cut at %d: tail", f, lens, at)
			e.defaults(tail)
			e.Check(e.Ops.PoolOf(&tail.Event) == p, "the tail is of another pool")
			e.holds(x.k, x.want[:at], "%v %v cut at %d: head", f, lens, at)
			if x.k.L4Offset() != x.meta.l4 || x.k.UserWord() != x.meta.word || x.k.Flags() != x.meta.flags {
				e.Fatalf("%v %v cut at %d: the head lost metadata", f, lens, at)
			}
			x.unaffected(e, "%v %v cut at %d", f, lens, at)
			x.end(e, p, at%2 == 0, tail)
		}
	})
}

func pktRefAddData(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		for off := 0; off <= len(e.size(p, f, lens)); off++ {
			for _, n := range []int{1, 70} {
				x := e.fixture(p, f, lens)
				k, err := e.Ops.AddData(x.k, nil, off, n)
				e.NoError(err, "AddData(%d, %d)", off, n)
				x.k = k
				b := x.fresh(off, n)
				x.check(e, join(x.want[:off], b, x.want[off:]), "%v %v: %d bytes at %d", f, lens, n, off)
				x.end(e, p, off%2 == 0)
			}
		}
	})
}

func pktRefRemData(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		size := len(e.size(p, f, lens))
		for off := range size {
			for n := 1; n <= size-off; n += 2 {
				x := e.fixture(p, f, lens)
				k, err := e.Ops.RemData(x.k, nil, off, n)
				x.k = k
				if n == size { // a packet keeps a byte
					e.Must(err != nil, "RemData of all bytes")
					x.check(e, x.want, "%v %v: a refused RemData", f, lens)
				} else {
					e.NoError(err, "RemData(%d, %d)", off, n)
					x.check(e, join(x.want[:off], x.want[off+n:]), "%v %v: %d bytes at %d", f, lens, n, off)
				}
				x.end(e, p, off%2 == 0)
			}
		}
	})
}

func pktRefAlign(e *Env) {
	p := e.refPool()
	each(e, p, func(f form, lens []int) {
		size := len(e.size(p, f, lens))
		for off := range size {
			for _, align := range []int{0, 1, 8, 32} {
				x := e.fixture(p, f, lens)
				n := size - off
				k, err := e.Ops.Align(x.k, nil, off, n, align)
				e.NoError(err, "Align(%d, %d, %d)", off, n, align)
				x.k = k
				b := k.Offset(off)
				e.Must(len(b) >= n && addr(b)%uintptr(max(align, 1)) == 0, "%v %v: %d bytes at %#x, want %d at a multiple of %d", f, lens, len(b), addr(b), n, align)
				x.check(e, x.want, "%v %v: Align(%d, %d, %d)", f, lens, off, n, align)
				x.end(e, p, off%2 == 0)
			}
		}
	})
}
