// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Packets: bytes in the middle, copies, joining and cutting.

func init() {
	register("PKT",
		Case{"PKT-25", "Bytes inserted in the middle and removed again leave the packet as it was, with its metadata.", nil, pktAddRemData},
		Case{"PKT-26", "A copy carries all metadata.", nil, pktCopyMeta},
		Case{"PKT-27", "A copy, of the whole or of a part, into the same or another pool, is equal and shares nothing; moves inside a packet may overlap.", nil, pktCopy},
		Case{"PKT-28", "Bytes are copied from memory, to memory and between packets, and never beyond either end.", nil, pktCopyData},
		Case{"PKT-29", "Joined packets have the bytes of both, and cutting gives them back.", nil, pktConcatSplit},
		Case{"PKT-30", "Many packets of one byte are joined one after the other.", nil, pktConcatSmall},
		Case{"PKT-31", "Joining, growing and shrinking in turn keep exact lengths and bytes.", nil, pktConcatExtendTrunc},
		Case{"PKT-37", "Align makes bytes contiguous and aligned, and refuses what no segment can hold.", nil, pktAlign},
		Case{"PKT-40", "As many packet pools as the process allows work at the same time.", nil, pktMaxPools},
		Case{"PKT-41", "A user area has the size that was asked for, nil if none; the user flag is set and read through the event.", nil, pktUserArea},
	)
}

func pktAddRemData(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		want := content(k)
		mark(k)
		was := metaOf(k)
		const n = 256
		off := length / 2
		k, err := e.Ops.AddData(k, nil, off, n)
		e.NoError(err, "AddData")
		e.Check(k.Len() == length+n, "length %d, want %d", k.Len(), length+n)
		e.Check(metaOf(k) == was, "AddData changed the metadata from %+v to %+v", was, metaOf(k))
		write(k, off, make([]byte, n))
		e.holds(k, join(want[:off], make([]byte, n), want[off:]), "AddData")
		k, err = e.Ops.RemData(k, nil, off, n)
		e.NoError(err, "RemData")
		e.Check(metaOf(k) == was, "RemData changed the metadata from %+v to %+v", was, metaOf(k))
		e.holds(k, want, "RemData")
		lay := layoutOf(k)
		for _, bad := range [][2]int{{-1, 1}, {length + 1, 1}, {0, -1}} {
			_, err := e.Ops.AddData(k, nil, bad[0], bad[1])
			e.Check(err != nil, "AddData(%d, %d) in %d bytes", bad[0], bad[1], length)
		}
		for _, bad := range [][2]int{{-1, 1}, {length, 1}, {1, length}, {0, length}, {0, -1}} {
			_, err := e.Ops.RemData(k, nil, bad[0], bad[1])
			e.Check(errors.Is(err, buffer.ErrRange), "RemData(%d, %d) in %d bytes: %v", bad[0], bad[1], length, err)
		}
		e.Check(layoutOf(k) == lay, "a refused call changed the packet")
		e.free(nil, &k.Event)
	}
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func pktCopyMeta(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, plainLen)
	mark(k)
	c, err := e.Ops.Copy(k, nil, nil)
	e.NoError(err, "Copy")
	e.Check(metaOf(c) == metaOf(k), "the copy has %+v\nthe packet  %+v", metaOf(c), metaOf(k))
	e.Ops.ResetMeta(k)
	e.Check(metaOf(c) != metaOf(k), "the copy's metadata is that of the packet")
	e.free(nil, &k.Event, &c.Event)
}

func pktCopy(e *Env) {
	p := e.packetPool()
	larger := e.pool(odp.PoolConfig{Num: 100, Size: 900, UserArea: 2 * areaLen})
	smaller := e.pool(odp.PoolConfig{Num: 100, Size: 900, UserArea: areaLen / 2})
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		want := content(k)
		mark(k)
		for _, into := range []*odp.Pool{nil, p, larger} {
			c, err := e.Ops.Copy(k, nil, into)
			e.NoError(err, "Copy")
			e.Check(c != k && addr(c.Data()) != addr(k.Data()) && addr(c.UserArea()) != addr(k.UserArea()), "the copy shares header, data or user area")
			e.Check(into == nil || e.Ops.PoolOf(&c.Event) == into, "the copy is of another pool")
			e.Check(c.Flags() == k.Flags() && string(c.UserArea()[:areaLen]) == string(k.UserArea()), "flags %#x, user area %q", c.Flags(), c.UserArea())
			e.Check(!c.HasRef() && !c.IsReferencing() && !k.HasRef(), "the copy is no normal packet")
			e.holds(c, want, "Copy")
			write(c, 0, make([]byte, length))
			e.holds(k, want, "the copy was written")
			e.free(nil, &c.Event)
		}
		_, err := e.Ops.Copy(k, nil, smaller)
		e.Check(err != nil, "a copy into a pool whose user area is too small")
		for _, bad := range [][2]int{{0, length + 1}, {length, 1}, {1, length}, {-1, 2}, {0, 0}, {0, -1}} {
			_, err := e.Ops.CopyPart(k, nil, bad[0], bad[1], p)
			e.Check(errors.Is(err, buffer.ErrRange), "CopyPart(%d, %d) of %d bytes: %v", bad[0], bad[1], length, err)
		}
		for off := 0; off < length; off += length/8 + 1 {
			for _, n := range []int{1, (length - off + 1) / 2, length - off} {
				c, err := e.Ops.CopyPart(k, nil, off, n, larger)
				e.NoError(err, "CopyPart")
				e.holds(c, want[off:off+n], "CopyPart(%d, %d)", off, n)
				e.defaults(c)
				e.free(nil, &c.Event)
			}
		}
		e.free(nil, &k.Event)
	}
	// inside one packet, over all segment borders
	k := e.newPacket(p, longLen)
	want := content(k)
	seg := k.SegLen()
	for _, m := range [][3]int{{longLen / 2, 0, longLen / 4}, {0, longLen / 2, longLen / 4}, {seg - 10, seg - 30, 50}, {seg - 30, seg - 10, 50}, {1, 0, longLen - 1}, {0, 1, longLen - 1}, {5, 5, 100}} {
		e.NoError(e.Ops.MoveData(k, m[0], m[1], m[2]), "MoveData")
		copy(want[m[0]:m[0]+m[2]], append([]byte(nil), want[m[1]:m[1]+m[2]]...))
		e.holds(k, want, "MoveData(%d, %d, %d)", m[0], m[1], m[2])
	}
	for _, bad := range [][3]int{{0, 1, longLen}, {1, 0, longLen}, {-1, 0, 1}, {0, -1, 1}, {0, 0, -1}} {
		e.Check(errors.Is(e.Ops.MoveData(k, bad[0], bad[1], bad[2]), buffer.ErrRange), "MoveData(%v) of %d bytes is no error", bad, longLen)
	}
	e.holds(k, want, "refused moves")
	e.free(nil, &k.Event)
}

func pktCopyData(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		a, b := e.newPacket(p, length), e.newPacket(p, length)
		buf := make([]byte, length)
		e.NoError(a.CopyToMem(0, buf), "CopyToMem")
		e.Check(string(buf) == string(count(0, length)), "other bytes came out")
		src := count(100, length)
		e.NoError(e.Ops.CopyFromMem(a, 0, src), "CopyFromMem")
		e.holds(a, src, "CopyFromMem")
		for off := 0; off < length; off += 101 {
			n := min(57, length-off)
			e.NoError(e.Ops.CopyFromMem(a, off, make([]byte, n)), "CopyFromMem")
			copy(src[off:], make([]byte, n))
			e.NoError(a.CopyToMem(off, buf[:n]), "CopyToMem")
			e.Check(string(buf[:n]) == string(make([]byte, n)), "offset %d: other bytes came out", off)
		}
		e.holds(a, src, "CopyFromMem at many offsets")
		for i := range length { // byte by byte from the other packet
			if err := a.CopyFromPacket(i, b, i, 1); err != nil {
				e.Fatalf("CopyFromPacket: %v", err)
			}
		}
		e.holds(a, count(0, length), "byte by byte")
		e.NoError(a.CopyFromPacket(0, b, length/4, length/2), "CopyFromPacket")
		e.holds(a, join(count(length/4, length/2), count(length/2, length-length/2)), "a part from offset %d", length/4)
		for _, bad := range [][3]int{{0, 1, length}, {1, 0, length}, {length, 0, 1}, {0, length, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 0, -1}} {
			e.Check(errors.Is(a.CopyFromPacket(bad[0], b, bad[1], bad[2]), buffer.ErrRange), "CopyFromPacket(%v) of %d bytes is no error", bad, length)
		}
		e.Check(a.CopyToMem(1, buf) != nil && e.Ops.CopyFromMem(a, 1, buf) != nil && e.Ops.CopyFromMem(a, -1, buf[:1]) != nil, "copies beyond the end are no error")
		e.free(nil, &a.Event, &b.Event)
	}
}

func pktConcatSplit(e *Env) {
	p := e.packetPool()
	for _, length := range []int{100, plainLen, longLen} {
		k := e.newPacket(p, length)
		want := content(k)
		mark(k)
		was := metaOf(k)
		c, err := e.Ops.Copy(k, nil, nil)
		e.NoError(err, "Copy")
		e.NoError(e.Ops.Concat(k, nil, c), "Concat")
		e.holds(k, join(want, want), "Concat")
		e.Check(metaOf(k) == was, "Concat changed the metadata")
		tail, err := e.Ops.Split(k, nil, length)
		e.NoError(err, "Split")
		e.holds(k, want, "first half")
		e.holds(tail, want, "second half")
		e.Check(metaOf(k) == was, "Split changed the metadata of the first part")
		e.defaults(tail)
		e.Check(e.Ops.PoolOf(&tail.Event) == p, "the second part is of another pool")
		e.free(nil, &tail.Event)
		// into four, and together again
		parts := []*odp.Packet{k}
		for _, at := range []int{length / 2, length / 4, length / 8} {
			t, err := e.Ops.Split(k, nil, at)
			e.NoError(err, "Split")
			parts = append(parts, t)
		}
		sum := 0
		for _, part := range parts {
			sum += part.Len()
			e.sane(part)
		}
		e.Check(sum == length, "the parts have %d bytes, want %d", sum, length)
		for i := len(parts) - 1; i > 0; i-- {
			e.NoError(e.Ops.Concat(k, nil, parts[i]), "Concat")
			e.sane(k)
		}
		e.holds(k, want, "four parts joined")
		lay := layoutOf(k)
		for _, at := range []int{0, length, length + 1, -1} {
			_, err := e.Ops.Split(k, nil, at)
			e.Check(errors.Is(err, buffer.ErrRange), "Split(%d) of %d bytes: %v", at, length, err)
		}
		e.Check(e.Ops.Concat(k, nil, k) != nil, "a packet was joined with itself")
		e.Check(layoutOf(k) == lay, "a refused call changed the packet")
		e.free(nil, &k.Event)
		e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
	}
	other := e.pool(odp.PoolConfig{Num: 10, Size: 300})
	k, src := e.newPacket(p, plainLen), e.newPacket(other, 300)
	e.NoError(e.Ops.Concat(k, nil, src), "Concat of a packet of another pool")
	e.holds(k, join(count(0, plainLen), count(0, 300)), "packets of two pools")
	e.Check(e.Ops.PoolOf(&k.Event) == p, "the result is of another pool")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0 && other.Out() == 0, "%d and %d segments did not come back", p.Out(), other.Out())
}

func pktConcatSmall(e *Env) {
	p := e.pool(odp.PoolConfig{Num: 1024, Size: 64})
	const length = 500
	k := e.newPacket(p, 1)
	for i := 1; i < length; i++ {
		src := e.newPacket(p, 1)
		src.Data()[0] = byte(i % 251)
		e.NoError(e.Ops.Concat(k, nil, src), "Concat")
		e.Must(k.Len() == i+1, "length %d, want %d", k.Len(), i+1)
	}
	e.holds(k, count(0, length), "%d packets of one byte", length)
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktConcatExtendTrunc(e *Env) {
	p := e.packetPool()
	const length, step = 1900, 38
	k := e.newPacket(p, length)
	want := content(k)
	var err error
	for i := range 8 {
		src := e.newPacket(p, 300+i)
		want = append(want, content(src)...)
		e.NoError(e.Ops.Concat(k, nil, src), "Concat")
		e.holds(k, want, "round %d: Concat", i)
		e.NoError(e.Ops.ExtendTail(k, nil, step+i), "ExtendTail")
		write(k, len(want), count(7, step+i))
		want = append(want, count(7, step+i)...)
		e.holds(k, want, "round %d: ExtendTail", i)
		k, err = e.Ops.ExtendHead(k, nil, step+20*i)
		e.NoError(err, "ExtendHead")
		write(k, 0, count(9, step+20*i))
		want = join(count(9, step+20*i), want)
		e.holds(k, want, "round %d: ExtendHead", i)
		k, err = e.Ops.TruncHead(k, nil, 2*step+40*i)
		e.NoError(err, "TruncHead")
		want = want[2*step+40*i:]
		e.holds(k, want, "round %d: TruncHead", i)
		e.NoError(e.Ops.TruncTail(k, nil, 200+30*i), "TruncTail")
		want = want[:len(want)-200-30*i]
		e.holds(k, want, "round %d: TruncTail", i)
	}
	_, err = e.Ops.TruncHead(k, nil, k.Len())
	e.Check(err != nil, "a packet of no bytes")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktAlign(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, longLen)
	want := content(k)
	mark(k)
	was := metaOf(k)
	lay := layoutOf(k)
	same, err := e.Ops.Align(k, nil, 0, longLen, 0)
	e.Check(errors.Is(err, buffer.ErrTooLong) && same == k && layoutOf(k) == lay, "a whole packet of many segments was made contiguous: %v", err)
	seg := k.SegLen()
	k, err = e.Ops.Align(k, nil, seg-5, 300, 0)
	e.NoError(err, "Align")
	e.Check(len(k.Offset(seg-5)) >= 300, "%d contiguous bytes, want 300", len(k.Offset(seg-5)))
	e.holds(k, want, "Align over a border")
	for _, a := range []int{8, 32, 256, 4096} {
		for _, off := range []int{0, 1, 33, seg + 1, longLen - 20} {
			if a == 4096 && off != 1 {
				continue // one is enough: a segment of this pool need not have such a place
			}
			k2, err := e.Ops.Align(k, nil, off, 16, a)
			if a == 4096 && errors.Is(err, buffer.ErrTooLong) {
				continue
			}
			e.NoError(err, "Align(%d, 16, %d)", off, a)
			k = k2
			b := k.Offset(off)
			e.Check(len(b) >= 16 && addr(b)%uintptr(a) == 0, "%d bytes at %#x, want 16 at a multiple of %d", len(b), addr(b), a)
			e.holds(k, want, "Align(%d, 16, %d)", off, a)
		}
	}
	e.Check(metaOf(k) == was, "Align changed the metadata")
	lay = layoutOf(k)
	for _, bad := range [][3]int{{0, 1, 3}, {0, 1, -1}, {-1, 1, 0}, {longLen, 1, 0}, {0, longLen + 1, 0}, {0, -1, 0}} {
		_, err := e.Ops.Align(k, nil, bad[0], bad[1], bad[2])
		e.Check(err != nil, "Align(%v) of %d bytes is no error", bad, longLen)
	}
	e.Check(layoutOf(k) == lay, "a refused call changed the packet")
	e.free(nil, &k.Event)
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktMaxPools(e *Env) { poolIndex(e, 0) }

func pktUserArea(e *Env) {
	for _, size := range []int{0, 1, 5000} {
		p := e.pool(odp.PoolConfig{Num: 10, Size: 64, UserArea: size})
		ev := e.allocAll(p, nil, 10, 10)
		e.Must(len(ev) == 10, "%d packets of 10", len(ev))
		seen := map[uintptr]bool{}
		for i, x := range ev {
			a := e.Ops.UserArea(x)
			e.Check((a == nil) == (size == 0) && len(a) == size, "user area of %d bytes, want %d", len(a), size)
			if size > 0 {
				e.Check(!seen[addr(a)] && addr(a) == addr(x.Packet().UserArea()), "two packets have one user area, or the event another than the packet")
				seen[addr(a)] = true
				a[0], a[size-1] = byte(i), byte(i)
			}
			e.Check(!x.UserFlag(), "the user flag is set after allocation")
			x.SetUserFlag(true)
			e.Check(x.UserFlag() && x.Packet().UserFlag(), "the user flag is not set")
			x.SetUserFlag(false)
			e.Check(!x.UserFlag(), "the user flag is not cleared")
		}
		for i, x := range ev {
			if a := e.Ops.UserArea(x); size > 0 {
				e.Check(a[0] == byte(i) && a[size-1] == byte(i), "user area %d was overwritten", i)
			}
		}
		e.free(nil, ev...)
		e.closePool(p)
	}
	_, err := e.Ops.NewPool(e.Instance(), odp.PoolConfig{Num: 1, UserArea: buffer.MaxUserArea + 1})
	e.Check(err != nil, "a user area above the limit was granted")
	p := e.pool(odp.PoolConfig{Num: 1, Size: 64, UserArea: buffer.MaxUserArea})
	x := e.alloc(p, nil, 1)
	e.Check(len(e.Ops.UserArea(x)) == buffer.MaxUserArea, "the largest user area has %d bytes", len(e.Ops.UserArea(x)))
	e.free(nil, x)
}
