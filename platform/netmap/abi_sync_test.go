// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// testFrame is frame number seq: addresses, an experimental type, the number, and
// bytes that only this frame has.
func testFrame(seq uint64, n int) []byte {
	b := make([]byte, n)
	copy(b, []byte{2, 0, 0, 0, 9, 2, 2, 0, 0, 0, 9, 1, 0x88, 0xb5})
	binary.BigEndian.PutUint64(b[14:], 0x676f6470_6e6d6170)
	binary.BigEndian.PutUint64(b[22:], seq)
	x := seq*2654435761 + 1
	for i := 30; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// isTest tells test frames from what else comes along a real interface.
func isTest(b []byte) bool {
	return len(b) >= 30 && b[12] == 0x88 && b[13] == 0xb5 && binary.BigEndian.Uint64(b[14:]) == 0x676f6470_6e6d6170
}

// take reads all visible test frames, joined, and releases their slots.
func (r *raw) take(g *abi.Ring) (frames [][]byte) {
	head, n := g.Head(), g.NumSlots()
	var f []byte
	for left := avail(g); left > 0; left-- {
		s := g.Slot(head)
		idx, ln, fl := s.Load()
		f = append(f, bufOf(g, idx)[:ln]...)
		s.Store(idx, ln, 0)
		head = abi.Next(head, n)
		if fl&abi.SlotMoreFrag == 0 {
			if isTest(f) {
				frames = append(frames, f)
			}
			f = nil
			g.SetHead(head)
		}
	}
	return frames
}

// until calls f until it is true, for at most 5 s.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 5 s", what)
		}
	}
}

// abiPair is two ports that reach each other.
type abiPair struct {
	what, a, b string
	lossless   bool // a full receiver holds the sender back
	chains     bool
}

func (w *abiWorld) pairs() []abiPair {
	return []abiPair{
		{"NIC", w.a, w.b, false, false},
		{"VALE", "vale5:a", "vale5:b", false, true},
		{"pipe", "px{1", "px}1", true, true},
		{"pipe of a switch port", "vale6:p{7", "vale6:p}7", true, true},
	}
}

// TestABISync sends frames one burst at a time, and looks at the indices.
func TestABISync(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs() {
		t.Run(p.what, func(t *testing.T) {
			w.t = t
			a, b := w.bind(p.a, abi.ModeAllNIC, abi.FlagNoTxPoll, nil), w.bind(p.b, abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
			w.ready(p, a, b)
			g, h := a.tx(0), b.rx(0)
			var got [][]byte
			seq := uint64(0)
			for burst := 1; burst <= 40; burst++ {
				for range burst {
					a.queue(g, testFrame(seq, 60+int(seq)%1400))
					seq++
				}
				if e := a.txSync(); e != 0 {
					t.Fatal(e)
				}
				until(t, "frames arrive", func() bool {
					if e := b.rxSync(); e != 0 {
						t.Fatal(e)
					}
					got = append(got, b.take(h)...)
					if h.Cur() != h.Head() {
						t.Fatalf("cur %d, head %d", h.Cur(), h.Head())
					}
					return uint64(len(got)) >= seq
				})
			}
			for i, f := range got {
				if !bytes.Equal(f, testFrame(uint64(i), 60+i%1400)) {
					t.Fatalf("frame %d of %d bytes differs: % x", i, len(f), f[:min(len(f), 40)])
				}
			}
			b.rxSync() // a pipe gives slots back when the receiver syncs
			until(t, "all sent", func() bool { a.txSync(); return avail(g) == g.NumSlots()-1 })
		})
	}
}

// ready waits for what is on a real interface's way up, and takes what is there.
func (w *abiWorld) ready(p abiPair, a, b *raw) {
	w.t.Helper()
	if w.sim != nil || p.what != "NIC" {
		return
	}
	for _, n := range []string{p.a, p.b} {
		if err := w.v.c.sys.SetPromisc(n, true); err != nil {
			w.t.Fatal(err)
		}
		until(w.t, "the link", func() bool { i, err := w.v.c.sys.Interface(n); return err == nil && i.Running })
	}
	until(w.t, "a first frame", func() bool {
		a.queue(a.tx(0), testFrame(1<<40, 60))
		a.txSync()
		time.Sleep(time.Millisecond)
		b.rxSync()
		return len(b.take(b.rx(0))) > 0
	})
	time.Sleep(20 * time.Millisecond)
	b.rxSync()
	b.take(b.rx(0))
}

// TestABIFull: n-1 slots can be used, and a full receiver drops or holds back.
func TestABIFull(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs()[1:] {
		t.Run(p.what, func(t *testing.T) {
			w.t = t
			a, b := w.bind(p.a, abi.ModeAllNIC, abi.FlagNoTxPoll, nil), w.bind(p.b, abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
			g, h := a.tx(0), b.rx(0)
			n := g.NumSlots()
			if avail(g) != n-1 {
				t.Fatalf("%d of %d slots are free in a new ring", avail(g), n)
			}
			for i := uint32(0); i < n-1; i++ {
				a.queue(g, testFrame(uint64(i), 60))
			}
			if avail(g) != 0 {
				t.Fatalf("%d slots left after n-1 frames", avail(g))
			}
			a.txSync()
			if p.lossless {
				a.txSync()
				if avail(g) != 0 {
					t.Errorf("%d slots came back while the receiver did not read", avail(g))
				}
			} else {
				if avail(g) != n-1 {
					t.Errorf("a switch takes everything at once: %d of %d slots are free", avail(g), n-1)
				}
				a.queue(g, testFrame(uint64(n), 60))
				a.txSync() // dropped
			}
			b.rxSync()
			got := b.take(h)
			if len(got) != int(n-1) {
				t.Errorf("%d of %d frames arrived", len(got), n-1)
			}
			b.rxSync()
			a.txSync()
			if avail(g) != n-1 {
				t.Errorf("%d slots are free at the end, want %d", avail(g), n-1)
			}
			b.rxSync()
			if more := b.take(h); len(more) != 0 {
				t.Errorf("%d frames more than fit", len(more))
			}
		})
	}
}

// TestABIPeerAbsent: a pipe without its other end fills up; nothing is lost when that
// comes.
func TestABIPeerAbsent(t *testing.T) {
	w := newABI(t)
	a := w.bind("py{1", abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
	g := a.tx(0)
	for i := uint64(0); i < 100; i++ {
		a.queue(g, testFrame(i, 60))
	}
	a.txSync()
	b := w.bind("py}1", abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
	var got [][]byte
	until(t, "the frames", func() bool {
		a.txSync()
		b.rxSync()
		got = append(got, b.take(b.rx(0))...)
		return len(got) >= 100
	})
	for i, f := range got {
		if !bytes.Equal(f, testFrame(uint64(i), 60)) {
			t.Fatalf("frame %d differs", i)
		}
	}
}

// TestABIChains: frames of several slots, on ports that carry them.
func TestABIChains(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs()[1:] {
		t.Run(p.what, func(t *testing.T) {
			w.t = t
			a, b := w.bind(p.a, abi.ModeAllNIC, abi.FlagNoTxPoll, nil), w.bind(p.b, abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
			for frags := 1; frags <= 8; frags++ {
				f := testFrame(uint64(frags), 60+300*frags)
				var pieces [][]byte
				for i := range frags {
					lo := i * len(f) / frags
					pieces = append(pieces, f[lo:(i+1)*len(f)/frags])
				}
				a.queue(a.tx(0), pieces...)
				a.txSync()
				b.rxSync()
				h := b.rx(0)
				if p.what == "VALE" && avail(h) > 0 {
					if _, _, fl := h.Slot(h.Head()).Load(); int(fl>>abi.SlotRFragsShift) < 1 {
						t.Errorf("%d slots: flags %#x do not count them", frags, fl)
					}
				}
				got := b.take(h)
				if len(got) != 1 || !bytes.Equal(got[0], f) {
					t.Fatalf("%d slots: got %d frames", frags, len(got))
				}
			}
		})
	}
}

// TestABIBadHead: the kernel answers 0 to a sync with an impossible index, and puts the
// ring back.
func TestABIBadHead(t *testing.T) {
	w := newABI(t)
	r := w.bind("vale5:h", abi.ModeAllNIC, 0, nil)
	g := r.tx(0)
	g.SetHead(g.NumSlots() + 7)
	if e := r.txSync(); e != 0 {
		t.Errorf("sync: %v, want 0", e)
	}
	if g.Head() >= g.NumSlots() || g.Tail() >= g.NumSlots() {
		t.Errorf("head %d tail %d of %d", g.Head(), g.Tail(), g.NumSlots())
	}
	g.SetHead(g.NumSlots() + 7)
	if rev, e := w.k.Poll(r.fd, abi.PollOut, 0); e != 0 || rev&abi.PollErr == 0 {
		t.Errorf("poll: %#x %v, want POLLERR", rev, e)
	}
}

// TestABIPoll: POLLIN does not send on a descriptor with NO_TX_POLL, and wakes for a frame.
func TestABIPoll(t *testing.T) {
	w := newABI(t)
	a := w.bind("vale5:q", abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
	b := w.bind("vale5:r", abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
	a.queue(a.tx(0), testFrame(1, 60))
	if rev, e := w.k.Poll(a.fd, abi.PollIn, 0); e != 0 || rev != 0 {
		t.Errorf("poll of the sender: %#x %v", rev, e)
	}
	b.rxSync()
	if n := len(b.take(b.rx(0))); n != 0 {
		t.Errorf("a poll for reading sent %d frames", n)
	}
	done := make(chan string)
	go func() {
		rev, e := w.k.Poll(b.fd, abi.PollIn, 5*time.Second)
		done <- fmt.Sprint(rev&abi.PollIn, e)
	}()
	time.Sleep(5 * time.Millisecond)
	if e := a.txSync(); e != 0 {
		t.Error(e)
	}
	if s := <-done; s != fmt.Sprint(abi.PollIn, syscall.Errno(0)) {
		t.Errorf("poll of the receiver: %s", s)
	}
	if n := len(b.take(b.rx(0))); n != 1 {
		t.Errorf("%d frames after the poll", n)
	}
}

// TestABIMemory: who shares a region: NICs, a pipe with its other end; a switch port
// has its own.
func TestABIMemory(t *testing.T) {
	w := newABI(t)
	id := func(port string, mem uint16) (*raw, uint16) {
		r := w.bind(port, abi.ModeAllNIC, 0, func(q *abi.Register) { q.MemID = mem })
		return r, r.reg.MemID
	}
	_, a := id(w.a, 0)
	_, b := id(w.b, 0)
	_, p := id("pm{1", 0)
	_, q := id("pm}1", 0)
	_, v := id("vale5:m", 0)
	_, u := id("vale5:n", 0)
	if a != b || p != q || v == a || u == v {
		t.Errorf("regions: NICs %d %d, pipe %d %d, switch ports %d %d", a, b, p, q, v, u)
	}
	if _, x := id("vale5:o", v); x != v {
		t.Errorf("a switch port in region %d: got %d", v, x)
	}
}
