// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"bytes"
	"errors"
	"sync"
	"testing"
)

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// filled allocates a packet with pattern(n) in it.
func filled(t testing.TB, p *Pool, n int) *Packet {
	t.Helper()
	k := p.AllocPacket(nil, n)
	if k == nil {
		t.Fatalf("no packet of %d bytes", n)
	}
	if err := k.CopyFromMem(0, pattern(n)); err != nil {
		t.Fatal(err)
	}
	return k
}

func content(t testing.TB, k *Packet) []byte {
	t.Helper()
	b := make([]byte, k.Len())
	if err := k.CopyToMem(0, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRefStatic(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 10, Size: 100, Headroom: -1})
	k := filled(t, p, 250)
	if k.HasRef() {
		t.Fatal("a new packet has a reference")
	}
	first, second := k.RefStatic(), k.RefStatic()
	if first != k || second != k || !k.HasRef() || k.IsReferencing() {
		t.Fatal("static reference")
	}
	if k.Headroom() != 0 || k.Tailroom() != 0 || !errors.Is(k.CopyFromMem(0, []byte{1}), ErrShared) || !errors.Is(k.Reset(nil, 10), ErrShared) || k.Exchangeable() {
		t.Fatal("a shared packet can be written")
	}
	FreePacket(nil, k)
	FreePackets(nil, []*Packet{k})
	if k.HasRef() || p.Out() != k.NumSegs() || !bytes.Equal(content(t, k), pattern(250)) {
		t.Fatalf("after two frees: out %d", p.Out())
	}
	if err := k.CopyFromMem(0, []byte{1}); err != nil {
		t.Fatal(err)
	}
	FreePacket(nil, k)
	if p.Out() != 0 {
		t.Fatalf("out %d", p.Out())
	}
}

// For every offset, over one to four segments: the base does not change, lengths
// add up, the data stays when the base is freed.
func TestRefAtEveryOffset(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 40, Size: 128, Headroom: -1, UserArea: 8})
	for _, n := range []int{1, 128, 129, 400} {
		for off := 0; off < n; off++ {
			k := filled(t, p, n)
			k.SetUserWord(77)
			k.SetFlowHash(5)
			r, err := k.Ref(ws[0], off)
			if err != nil {
				t.Fatal(err)
			}
			if !k.HasRef() || r.HasRef() || k.IsReferencing() || !r.IsReferencing() || r.Len()+off != n || r.PoolOf() != p || r.Headroom() != 0 || r.Tailroom() != 0 {
				t.Fatalf("len %d off %d", n, off)
			}
			if _, ok := r.FlowHash(); ok || r.UserWord() != 0 || r.Flags() != 0 || k.UserWord() != 77 || k.Len() != n {
				t.Fatal("metadata")
			}
			if !bytes.Equal(content(t, r), pattern(n)[off:]) || !bytes.Equal(content(t, k), pattern(n)) {
				t.Fatal("data")
			}
			r2, err := r.Ref(ws[0], r.Len()/2) // a reference of a reference
			if err != nil {
				t.Fatal(err)
			}
			FreePacket(ws[0], k)
			if !bytes.Equal(content(t, r), pattern(n)[off:]) {
				t.Fatal("data after the base was freed")
			}
			r, err = r.ExtendHead(ws[0], 14)
			if err != nil || r.CopyFromMem(0, pattern(14)) != nil || r.Headroom() == 0 {
				t.Fatalf("a head for the reference: %v", err)
			}
			FreePacket(ws[0], r)
			if !bytes.Equal(content(t, r2), pattern(n)[off+(n-off)/2:]) {
				t.Fatal("data of the second reference")
			}
			FreePacket(ws[0], r2)
			if p.Out() != 0 {
				t.Fatalf("len %d off %d: %d out", n, off, p.Out())
			}
		}
	}
}

func TestRefPacket(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 8, Size: 100})
	k, hdr := filled(t, p, 60), filled(t, p, 20)
	hdr.SetUserWord(9)
	r, err := k.RefPacket(nil, 14, hdr)
	if err != nil || r != hdr || r.UserWord() != 9 || r.Len() != 20+46 || !r.IsReferencing() {
		t.Fatalf("%v", err)
	}
	if want := append(pattern(20), pattern(60)[14:]...); !bytes.Equal(content(t, r), want) {
		t.Fatal("data")
	}
	if _, err := k.RefPacket(nil, 60, hdr); !errors.Is(err, ErrRange) {
		t.Fatalf("offset at the end: %v", err)
	}
	// an empty pool: hdr stays the caller's
	var all []*Packet
	for k := p.AllocPacket(nil, 1); k != nil; k = p.AllocPacket(nil, 1) {
		all = append(all, k)
	}
	if _, err := k.RefPacket(nil, 0, all[0]); !errors.Is(err, ErrEmpty) || all[0].Len() != 1 {
		t.Fatalf("empty pool: %v", err)
	}
	FreePackets(nil, append(all, k, r))
	if p.Out() != 0 {
		t.Fatalf("out %d", p.Out())
	}
}

// The packet is freed by many owners at the same time, each segment goes back once.
func TestRefsFreedConcurrently(t *testing.T) {
	const owners = 4
	set, ws := kit(t, owners)
	p := newPool(t, set, PoolConfig{Num: 200, Size: 100, Headroom: -1, Cache: 8})
	for round := range 300 {
		k := filled(t, p, 220)
		var hold [owners]*Packet
		for i := range hold {
			if i == 0 {
				hold[i] = k
			} else if round%2 == 0 {
				hold[i] = k.RefStatic()
			} else {
				r, err := k.Ref(ws[0], i)
				if err != nil {
					t.Fatal(err)
				}
				hold[i] = r
			}
		}
		var wg sync.WaitGroup
		for i, h := range hold {
			wg.Go(func() {
				if b := h.Data(); len(b) == 0 || round%2 == 1 && b[0] != byte(i*7) {
					t.Error("data")
				}
				FreePacket(ws[i], h)
			})
		}
		wg.Wait()
		if p.Out() != 0 {
			t.Fatalf("round %d: %d out", round, p.Out())
		}
	}
}
