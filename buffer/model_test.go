// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// The slow model of a packet: its bytes and its metadata. A machine does random
// calls on real packets and models, and compares everything after each call.
type modelPacket struct {
	k     *Packet
	data  []byte
	word  uint64
	flag  bool // IPv4
	value any
	area  byte // every byte of the user area
	pool  *Pool
}

type machine struct {
	w     *worker.Worker
	pools []*Pool
	live  []*modelPacket
	next  byte // fills new bytes
}

const modelLimit = 3000

func (m *machine) draw(t *rapid.T) *modelPacket {
	if len(m.live) == 0 {
		k := m.pools[0].AllocPacket(m.w, 10)
		return m.add(t, k, m.fill(t, k, 0, 10))
	}
	return m.live[rapid.IntRange(0, len(m.live)-1).Draw(t, "packet")]
}

func (m *machine) pool(t *rapid.T) *Pool {
	return m.pools[rapid.IntRange(0, len(m.pools)-1).Draw(t, "pool")]
}

func (m *machine) drop(mp *modelPacket) {
	for i, o := range m.live {
		if o == mp {
			m.live = append(m.live[:i], m.live[i+1:]...)
			return
		}
	}
}

// fill writes new bytes, which must be private, and returns them.
func (m *machine) fill(t *rapid.T, k *Packet, off, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		m.next = m.next*31 + 7
		b[i] = m.next
	}
	if err := k.CopyFromMem(off, b); err != nil {
		t.Fatalf("new bytes %d to %d of %d: %v", off, off+n, k.Len(), err)
	}
	return b
}

// add adopts a fresh packet whose data must be written.
func (m *machine) add(t *rapid.T, k *Packet, data []byte) *modelPacket {
	mp := &modelPacket{k: k, data: data}
	m.area(mp)
	m.live = append(m.live, mp)
	return mp
}

func (m *machine) area(mp *modelPacket) {
	m.next = m.next*31 + 7
	mp.area, mp.pool = m.next, mp.k.PoolOf()
	for i := range mp.k.UserArea() {
		mp.k.UserArea()[i] = mp.area
	}
}

// either checks that err is one that the situation allows.
func either(t *rapid.T, op string, err error, allowed ...error) bool {
	if err == nil {
		return true
	}
	for _, a := range allowed {
		if errors.Is(err, a) {
			return false
		}
	}
	t.Fatalf("%s: %v", op, err)
	return false
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"alloc": func(t *rapid.T) {
			p := m.pool(t)
			n := rapid.IntRange(0, 900).Draw(t, "len")
			k := p.AllocPacket(m.w, n)
			if k == nil {
				if have := p.Available() * p.Info().Stride; have > n+2*p.Info().Stride {
					t.Fatalf("no packet of %d, %d segments are free", n, p.Available())
				}
				return
			}
			if k.Headroom() != p.Headroom() || k.Flags() != 0 || k.UserWord() != 0 || k.Value() != nil || k.L2Offset() != NoOffset {
				t.Fatalf("fresh packet: headroom %d, flags %x, word %d", k.Headroom(), k.Flags(), k.UserWord())
			}
			m.add(t, k, m.fill(t, k, 0, n))
		},
		"free": func(t *rapid.T) {
			mp := m.draw(t)
			FreePacket(m.w, mp.k)
			m.drop(mp)
		},
		"meta": func(t *rapid.T) {
			mp := m.draw(t)
			mp.word, mp.flag = rapid.Uint64().Draw(t, "word"), !mp.flag
			mp.k.SetUserWord(mp.word)
			mp.k.SetFlag(meta.IPv4, mp.flag)
			mp.value = nil
			if mp.flag {
				mp.value = mp.word
			}
			mp.k.SetValue(mp.value)
		},
		"pushHead": func(t *rapid.T) {
			mp := m.draw(t)
			room := mp.k.Headroom()
			n := rapid.IntRange(0, room+1).Draw(t, "n")
			b := mp.k.PushHead(n)
			if (b == nil) != (n > room) {
				t.Fatalf("push %d of %d: %v", n, room, b == nil)
			}
			if n <= room {
				mp.data = append(m.fill(t, mp.k, 0, n), mp.data...)
			}
		},
		"pushTail": func(t *rapid.T) {
			mp := m.draw(t)
			room := mp.k.Tailroom()
			n := rapid.IntRange(0, room+1).Draw(t, "n")
			b := mp.k.PushTail(n)
			if (b == nil) != (n > room) || n <= room && len(b) != n {
				t.Fatalf("push %d of %d: %d", n, room, len(b))
			}
			if n <= room {
				mp.data = append(mp.data, m.fill(t, mp.k, len(mp.data), n)...)
			}
		},
		"pullHead": func(t *rapid.T) {
			mp := m.draw(t)
			seg := mp.k.SegLen()
			n := rapid.IntRange(0, seg+1).Draw(t, "n")
			if b := mp.k.PullHead(n); (b == nil) != (n >= seg) {
				t.Fatalf("pull %d of %d", n, seg)
			} else if b != nil {
				mp.data = mp.data[n:]
			}
		},
		"pullTail": func(t *rapid.T) {
			mp := m.draw(t)
			seg := mp.k.LastSeg().Len()
			n := rapid.IntRange(0, seg+1).Draw(t, "n")
			if ok := mp.k.PullTail(n); ok != (n < seg) {
				t.Fatalf("pull %d of %d: %v", n, seg, ok)
			} else if ok {
				mp.data = mp.data[:len(mp.data)-n]
			}
		},
		"extendHead": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, 700).Draw(t, "n")
			k, err := mp.k.ExtendHead(m.w, n)
			mp.k = k
			if either(t, "ExtendHead", err, ErrEmpty, ErrTooLong) {
				mp.data = append(m.fill(t, k, 0, n), mp.data...)
			}
		},
		"extendTail": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, 700).Draw(t, "n")
			if either(t, "ExtendTail", mp.k.ExtendTail(m.w, n), ErrEmpty, ErrTooLong) {
				mp.data = append(mp.data, m.fill(t, mp.k, len(mp.data), n)...)
			}
		},
		"truncHead": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, len(mp.data)+1).Draw(t, "n")
			k, err := mp.k.TruncHead(m.w, n)
			mp.k = k
			if (err != nil) != (n != 0 && n >= len(mp.data)) {
				t.Fatalf("TruncHead %d of %d: %v", n, len(mp.data), err)
			}
			if err == nil {
				mp.data = mp.data[n:]
			}
		},
		"truncTail": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, len(mp.data)+1).Draw(t, "n")
			err := mp.k.TruncTail(m.w, n)
			if (err != nil) != (n != 0 && n >= len(mp.data)) {
				t.Fatalf("TruncTail %d of %d: %v", n, len(mp.data), err)
			}
			if err == nil {
				mp.data = mp.data[:len(mp.data)-n]
			}
		},
		"concat": func(t *rapid.T) {
			a, b := m.draw(t), m.draw(t)
			if a == b {
				if err := a.k.Concat(m.w, a.k); !errors.Is(err, ErrRange) {
					t.Fatalf("concat with itself: %v", err)
				}
				return
			}
			if len(a.data)+len(b.data) > modelLimit {
				return
			}
			if either(t, "Concat", a.k.Concat(m.w, b.k), ErrEmpty, ErrTooLong) {
				a.data = append(bytes.Clone(a.data), b.data...)
				m.drop(b)
			}
		},
		"split": func(t *rapid.T) {
			mp := m.draw(t)
			off := rapid.IntRange(0, len(mp.data)).Draw(t, "off")
			tail, err := mp.k.Split(m.w, off)
			if off == 0 || off >= len(mp.data) {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("split at %d of %d: %v", off, len(mp.data), err)
				}
				return
			}
			if either(t, "Split", err, ErrEmpty) {
				m.add(t, tail, bytes.Clone(mp.data[off:]))
				mp.data = mp.data[:off:off]
			}
		},
		"addData": func(t *rapid.T) {
			mp := m.draw(t)
			off := rapid.IntRange(0, len(mp.data)+1).Draw(t, "off")
			n := rapid.IntRange(0, 300).Draw(t, "n")
			k, err := mp.k.AddData(m.w, off, n)
			mp.k = k
			if off > len(mp.data) {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("AddData at %d of %d: %v", off, len(mp.data), err)
				}
				return
			}
			if either(t, "AddData", err, ErrEmpty, ErrTooLong) {
				b := m.fill(t, k, off, n)
				mp.data = append(append(bytes.Clone(mp.data[:off]), b...), mp.data[off:]...)
			}
		},
		"remData": func(t *rapid.T) {
			mp := m.draw(t)
			off := rapid.IntRange(0, len(mp.data)).Draw(t, "off")
			n := rapid.IntRange(0, len(mp.data)-off+1).Draw(t, "n")
			k, err := mp.k.RemData(m.w, off, n)
			mp.k = k
			if off+n > len(mp.data) || n != 0 && n == len(mp.data) {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("RemData %d at %d of %d: %v", n, off, len(mp.data), err)
				}
				return
			}
			if either(t, "RemData", err, ErrEmpty) {
				mp.data = append(bytes.Clone(mp.data[:off]), mp.data[off+n:]...)
			}
		},
		"align": func(t *rapid.T) {
			mp := m.draw(t)
			if len(mp.data) == 0 {
				return
			}
			off := rapid.IntRange(0, len(mp.data)-1).Draw(t, "off")
			n := rapid.IntRange(0, len(mp.data)-off).Draw(t, "n")
			al := 1 << rapid.IntRange(0, 7).Draw(t, "align")
			k, err := mp.k.Align(m.w, off, n, al)
			mp.k = k
			if either(t, "Align", err, ErrEmpty, ErrTooLong) {
				b := k.Offset(off)
				if len(b) < n || uintptr(unsafe.Pointer(&b[0]))%uintptr(al) != 0 {
					t.Fatalf("Align: %d of %d bytes at %p, multiple of %d", len(b), n, &b[0], al)
				}
			}
		},
		"write": func(t *rapid.T) {
			mp := m.draw(t)
			off := rapid.IntRange(0, len(mp.data)).Draw(t, "off")
			n := rapid.IntRange(0, len(mp.data)-off).Draw(t, "n")
			b := bytes.Repeat([]byte{m.next}, n)
			if either(t, "CopyFromMem", mp.k.CopyFromMem(off, b), ErrShared) {
				mp.data = bytes.Clone(mp.data)
				copy(mp.data[off:], b)
			} else if !mp.k.HasRef() && !mp.k.IsReferencing() {
				t.Fatal("a private packet is refused")
			}
		},
		"move": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, len(mp.data)).Draw(t, "n")
			dst := rapid.IntRange(0, len(mp.data)-n).Draw(t, "dst")
			src := rapid.IntRange(0, len(mp.data)-n).Draw(t, "src")
			if either(t, "MoveData", mp.k.MoveData(dst, src, n), ErrShared) {
				mp.data = bytes.Clone(mp.data)
				copy(mp.data[dst:dst+n], mp.data[src:src+n])
			}
		},
		"copyFrom": func(t *rapid.T) {
			a, b := m.draw(t), m.draw(t)
			n := rapid.IntRange(0, min(len(a.data), len(b.data))).Draw(t, "n")
			dst := rapid.IntRange(0, len(a.data)-n).Draw(t, "dst")
			src := rapid.IntRange(0, len(b.data)-n).Draw(t, "src")
			if either(t, "CopyFromPacket", a.k.CopyFromPacket(dst, b.k, src, n), ErrShared) {
				from := bytes.Clone(b.data[src : src+n])
				a.data = bytes.Clone(a.data)
				copy(a.data[dst:], from)
			}
		},
		"copy": func(t *rapid.T) {
			mp, p := m.draw(t), m.pool(t)
			c, err := mp.k.Copy(m.w, p)
			if !either(t, "Copy", err, ErrEmpty, ErrTooLong) {
				return
			}
			if c.IsReferencing() || c.HasRef() || c.PoolOf() != p {
				t.Fatal("the copy is no packet of its own")
			}
			n := &modelPacket{k: c, data: bytes.Clone(mp.data), word: mp.word, flag: mp.flag, area: mp.area, pool: p}
			if len(mp.k.UserArea()) < len(c.UserArea()) {
				m.area(n)
			}
			m.live = append(m.live, n)
		},
		"copyPart": func(t *rapid.T) {
			mp, p := m.draw(t), m.pool(t)
			off := rapid.IntRange(0, len(mp.data)).Draw(t, "off")
			n := rapid.IntRange(0, len(mp.data)-off+1).Draw(t, "n")
			c, err := mp.k.CopyPart(m.w, off, n, p)
			if n == 0 || off+n > len(mp.data) {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("CopyPart %d at %d of %d: %v", n, off, len(mp.data), err)
				}
				return
			}
			if either(t, "CopyPart", err, ErrEmpty, ErrTooLong) {
				m.add(t, c, bytes.Clone(mp.data[off:off+n]))
			}
		},
		"ref": func(t *rapid.T) {
			mp := m.draw(t)
			off := rapid.IntRange(0, len(mp.data)).Draw(t, "off")
			r, err := mp.k.Ref(m.w, off)
			if off == len(mp.data) {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("Ref at the end: %v", err)
				}
				return
			}
			if either(t, "Ref", err, ErrEmpty) {
				if !r.IsReferencing() || !mp.k.HasRef() && !mp.k.IsReferencing() || r.HasRef() || r.Headroom() != 0 || r.Tailroom() != 0 {
					t.Fatal("the reference's state")
				}
				m.add(t, r, bytes.Clone(mp.data[off:]))
			}
		},
		"refPacket": func(t *rapid.T) {
			mp, hdr := m.draw(t), m.draw(t)
			if mp == hdr || len(mp.data) == 0 || len(mp.data)+len(hdr.data) > modelLimit {
				return
			}
			off := rapid.IntRange(0, len(mp.data)-1).Draw(t, "off")
			r, err := mp.k.RefPacket(m.w, off, hdr.k)
			if either(t, "RefPacket", err, ErrEmpty, ErrTooLong) {
				hdr.k = r
				hdr.data = append(bytes.Clone(hdr.data), mp.data[off:]...)
			}
		},
		"reset": func(t *rapid.T) {
			mp := m.draw(t)
			n := rapid.IntRange(0, mp.k.ResetMaxLen()+1).Draw(t, "n")
			err := mp.k.Reset(m.w, n)
			if n > mp.k.ResetMaxLen() {
				if !errors.Is(err, ErrRange) {
					t.Fatalf("Reset %d: %v", n, err)
				}
			} else if either(t, "Reset", err, ErrShared) {
				mp.word, mp.flag, mp.value = 0, false, nil
				mp.data = m.fill(t, mp.k, 0, n)
			}
		},
		"": m.check,
	}
}

// check compares all packets with their models, and the pools with what is held.
func (m *machine) check(t *rapid.T) {
	held := map[*Pool]map[*Event]bool{}
	for _, p := range m.pools {
		held[p] = map[*Event]bool{}
	}
	for _, mp := range m.live {
		k := mp.k
		got := make([]byte, len(mp.data))
		if k.Len() != len(mp.data) || k.CopyToMem(0, got) != nil || !bytes.Equal(got, mp.data) {
			t.Fatalf("packet of %d bytes, model of %d, or other bytes", k.Len(), len(mp.data))
		}
		sum, segs := 0, 0
		for s := k.FirstSeg(); s != nil; s = s.Next() {
			if s.Len() == 0 && k.Len() != 0 && k.NumSegs() == 1 {
				t.Fatal("an empty segment")
			}
			sum += s.Len()
			segs++
			held[s.PoolOf()][&s.Event] = true
			if s.state == stateIndirect {
				target := FromID(s.PoolOf().cold(&s.Event).target)
				held[target.PoolOf()][target] = true
			} else if uint64(s.buf)<<6 > s.data || s.data+uint64(s.segLen) > uint64(s.buf)<<6+uint64(s.bufLen) {
				t.Fatal("data outside of the buffer")
			}
		}
		if sum != k.Len() || segs != k.NumSegs() {
			t.Fatalf("segments: %d bytes in %d, packet says %d in %d", sum, segs, k.Len(), k.NumSegs())
		}
		if k.UserWord() != mp.word || k.HasIPv4() != mp.flag || k.Value() != mp.value {
			t.Fatalf("metadata: word %d %d, flag %v %v, value %v %v", k.UserWord(), mp.word, k.HasIPv4(), mp.flag, k.Value(), mp.value)
		}
		if k.PoolOf() != mp.pool { // another pool's segment came to the front
			m.area(mp)
		}
		for _, b := range k.UserArea() {
			if b != mp.area {
				t.Fatalf("user area %v, should be %d", k.UserArea(), mp.area)
			}
		}
	}
	for p, h := range held {
		if p.Out() != len(h) {
			t.Fatalf("pool %q: %d segments are out, %d are in packets", p.Name(), p.Out(), len(h))
		}
	}
}

func TestPacketModel(t *testing.T) {
	set, ws := kit(t, 2)
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{w: ws[0]}
		if rapid.Bool().Draw(t, "control plane") {
			m.w = nil
		}
		for i, c := range []PoolConfig{
			{Num: 60, Size: 60, Headroom: 36, MaxLen: 2000},
			{Num: 20, Size: 300, Headroom: -1, MaxLen: 1500, UserArea: 16, Cache: -1},
			{Num: 30, Size: 150, Headroom: 100, Align: 32, UserArea: 8},
		} {
			c.Name = string(rune('a' + i))
			p, err := NewPool(set, c)
			if err != nil {
				t.Fatal(err)
			}
			m.pools = append(m.pools, p)
			defer func() {
				if !p.closed.Load() { // after a failure, so that rapid can look for a smaller one
					p.unregister()
					p.mem.Close()
				}
			}()
		}
		for range 3 {
			t.Repeat(m.actions())
		}
		for _, mp := range m.live {
			FreePacket(m.w, mp.k)
		}
		for _, p := range m.pools {
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
