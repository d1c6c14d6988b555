// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"errors"
	"testing"
	"unsafe"
)

func TestAllocatorsRefuseOtherPools(t *testing.T) {
	set, ws := kit(t, 1)
	w := ws[0]
	for _, typ := range []Type{TypePacket, TypeBuffer, TypeVector, TypeTimeout} {
		p := newPool(t, set, PoolConfig{Type: typ, Num: 8, Size: 64})
		var pk [1]*Packet
		var bufs [1]*Buffer
		var tmo [1]*Timeout
		if got := p.AllocPackets(w, pk[:], 1) == 1; got != (typ == TypePacket) {
			t.Errorf("type %d: AllocPackets %v", typ, got)
		}
		if got := p.AllocBuffers(w, bufs[:]) == 1; got != (typ == TypeBuffer) {
			t.Errorf("type %d: AllocBuffers %v", typ, got)
		}
		b := p.AllocBuffer(w)
		if (b != nil) != (typ == TypeBuffer) {
			t.Errorf("type %d: AllocBuffer %v", typ, b)
		}
		if got := p.AllocTimeouts(w, tmo[:]) == 1; got != (typ == TypeTimeout) {
			t.Errorf("type %d: AllocTimeouts %v", typ, got)
		}
		v := p.AllocVector(w)
		if (v != nil) != (typ == TypeVector) {
			t.Errorf("type %d: AllocVector %v", typ, v)
		}
		switch typ {
		case TypePacket:
			FreePacket(w, pk[0])
		case TypeBuffer:
			FreeBuffers(w, []*Buffer{bufs[0], b})
		case TypeVector:
			FreeEvent(w, &v.Event)
		case TypeTimeout:
			FreeEvent(w, &tmo[0].Event)
		}
		if p.Out() != 0 {
			t.Errorf("type %d: %d out", typ, p.Out())
		}
	}
}

func TestTimeoutStartsFresh(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Type: TypeTimeout, Num: 1})
	for range 2 {
		x := p.AllocTimeout(ws[0])
		if x == nil || x.UserWord() != 0 || x.Flow() != 0 || len(x.Data()) < 64 || x.Type() != TypeTimeout {
			t.Fatalf("%+v", x)
		}
		x.SetUserWord(7)
		x.SetFlow(8)
		FreeEvent(ws[0], &x.Event)
	}
}

func TestMixedBursts(t *testing.T) {
	set, ws := kit(t, 1)
	w := ws[0]
	p, b := newPool(t, set, PoolConfig{Num: 8}), newPool(t, set, PoolConfig{Type: TypeBuffer, Num: 8, Size: 8})
	k := [3]*Packet{p.AllocPacket(w, 1), p.AllocPacket(w, 1), p.AllocPacket(w, 1)}
	u := [2]*Buffer{b.AllocBuffer(w), b.AllocBuffer(w)}
	ev := []*Event{&k[0].Event, &k[1].Event, &u[0].Event, &k[2].Event, &u[1].Event}
	if n, typ := TypeRun(ev); n != 2 || typ != TypePacket {
		t.Errorf("run of %d, type %d", n, typ)
	}
	if n, typ := TypeRun(ev[4:]); n != 1 || typ != TypeBuffer {
		t.Errorf("run of %d, type %d", n, typ)
	}
	if n, typ := TypeRun(nil); n != 0 || typ != 0 {
		t.Errorf("run of %d, type %d of nothing", n, typ)
	}
	var pk [5]*Packet
	if n := FilterPackets(ev, pk[:], ev); n != 3 || [3]*Packet(pk[:3]) != k || ev[0] != &u[0].Event || ev[1] != &u[1].Event {
		t.Errorf("%d packets %v, rest %v", n, pk[:3], ev[:2])
	}
	FreePackets(w, k[:])
	FreeBuffers(w, u[:])
}

func TestValid(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 2})
	k := p.AllocPacket(ws[0], 1)
	if !k.Valid() {
		t.Error("a packet is not valid")
	}
	var heap Event
	for _, e := range []*Event{nil, &heap, (*Event)(unsafe.Add(unsafe.Pointer(k), 8)), (*Event)(k.DataPtr())} {
		if e.Valid() {
			t.Errorf("%p is valid", e)
		}
	}
	FreePacket(ws[0], k)
	if k.Valid() == checked {
		t.Errorf("a free packet: valid %v with checks %v", k.Valid(), checked)
	}
}

func TestSubLengthsAddSegments(t *testing.T) {
	set, ws := kit(t, 1)
	w := ws[0]
	p := newPool(t, set, PoolConfig{Num: 10, Size: 1000, MaxLen: 1000, Sub: []SubConfig{{4, 3000}, {2, 9000}}, Cache: -1})
	if p.MaxLen() != 9000 || p.Num() <= 10+4*3 {
		t.Errorf("longest %d, %d segments", p.MaxLen(), p.Num())
	}
	var all []*Packet
	for _, s := range []SubConfig{{10, 1000}, {4, 3000}, {2, 9000}} {
		for range s.Num {
			k := p.AllocPacket(w, s.Len)
			if k == nil {
				t.Fatalf("no packet of %d bytes beside %d others", s.Len, len(all))
			}
			all = append(all, k)
		}
	}
	if p.Available() != 0 {
		t.Errorf("%d segments too many", p.Available())
	}
	FreePackets(w, all)
	for _, bad := range []PoolConfig{
		{Num: 1, Size: 100, Sub: []SubConfig{{1, 100}}},
		{Num: 1, Size: 100, Sub: []SubConfig{{0, 200}}},
		{Num: 1, Size: 100, Sub: []SubConfig{{1, 200}, {1, 200}}},
		{Num: 1, Size: 1, Sub: []SubConfig{{1 << 27, 1 << 30}}},
		{Num: 1, Type: TypeBuffer, Size: 100, Sub: []SubConfig{{1, 200}}},
		{Num: 1, Size: 100, Sub: make([]SubConfig, MaxSub+1)},
	} {
		if _, err := NewPool(set, bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestBufLen(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 8, Size: 200})
	k := p.AllocPacket(ws[0], 900)
	if n := k.BufLen(); n < k.Len()+k.Headroom()+k.Tailroom() || n != k.NumSegs()*p.Info().Stride {
		t.Errorf("%d bytes of buffers, %d segments of %d", n, k.NumSegs(), p.Info().Stride)
	}
	FreePacket(ws[0], k)
}

// A packet of the pool's greatest length has room in its buffers, and does not grow
// into it: MaxLen counts, not where the bytes would come from.
func TestExtendStopsAtMaxLen(t *testing.T) {
	set, ws := kit(t, 1)
	w := ws[0]
	p := newPool(t, set, PoolConfig{Num: 4, Size: 100, MaxLen: 150})
	k := p.AllocPacket(w, 150)
	if k.Headroom() == 0 || k.Tailroom() == 0 {
		t.Fatal("the packet has no rooms")
	}
	if same, err := k.ExtendHead(w, 1); !errors.Is(err, ErrTooLong) || same != k || k.Len() != 150 {
		t.Errorf("ExtendHead: %v, length %d", err, k.Len())
	}
	if err := k.ExtendTail(w, 1); !errors.Is(err, ErrTooLong) || k.Len() != 150 {
		t.Errorf("ExtendTail: %v, length %d", err, k.Len())
	}
	if _, err := k.ExtendHead(w, 0); err != nil {
		t.Error(err)
	}
	if err := k.ExtendTail(w, 0); err != nil {
		t.Error(err)
	}
	FreePacket(w, k)
}
