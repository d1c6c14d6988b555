// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

type fifo interface {
	Enqueue([]uint32) int
	EnqueueAll([]uint32) bool
	Dequeue([]uint32) int
	DequeueAll([]uint32) bool
	EnqueueEvents([]*buffer.Event) int
	DequeueEvents([]*buffer.Event) int
	Len() int
	Total() (in, out uint64)
	Cap() int
}

// kinds makes every kind with its positions starting at pos.
var kinds = []struct {
	name     string
	mp, mc   bool
	at       func(n int, pos uint64) fifo
	exported func(n int) fifo
}{
	{"SPSC", false, false, func(n int, p uint64) fifo { return newSPSCAt(n, p) }, func(n int) fifo { return NewSPSC(n) }},
	{"SPMC", false, true, func(n int, p uint64) fifo { return newSPMCAt(n, p) }, func(n int) fifo { return NewSPMC(n) }},
	{"MPSC", true, false, func(n int, p uint64) fifo { return newMPSCAt(n, p) }, func(n int) fifo { return NewMPSC(n) }},
	{"MPMC", true, true, func(n int, p uint64) fifo { return newMPMCAt(n, p) }, func(n int) fifo { return NewMPMC(n) }},
}

func TestSize(t *testing.T) {
	for _, c := range []struct{ n, want int }{{1, 1}, {2, 2}, {3, 4}, {1000, 1024}, {1024, 1024}, {1025, 2048}, {MaxSize, MaxSize}, {MaxSize - 1, MaxSize}} {
		if got, err := Size(c.n); err != nil || got != c.want {
			t.Errorf("Size(%d) = %d, %v; want %d", c.n, got, err, c.want)
		}
	}
	for _, n := range []int{0, -1, MaxSize + 1, -1 << 62} {
		if _, err := Size(n); err == nil || !strings.Contains(err.Error(), "allowed 1 to 268435456") {
			t.Errorf("Size(%d): error %v must name the limits", n, err)
		}
	}
	for _, k := range kinds {
		if c := k.exported(100).Cap(); c != 128 {
			t.Errorf("%s: Cap %d, want 128", k.name, c)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: size 0 was taken", k.name)
				}
			}()
			k.exported(0)
		}()
	}
}

// TestModel compares every kind with a slice, positions crossing 2^32 included.
func TestModel(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := 1 << rapid.IntRange(0, 7).Draw(t, "log size")
				start := rapid.SampledFrom([]uint64{0, 1<<31 - 100, 1<<32 - 1, 1<<32 - 64, 1<<32 - 300, 1<<33 - 50, 1<<64 - 90}).Draw(t, "start")
				r := k.at(size, start)
				var model []uint32
				next := uint32(1)
				steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
					return [2]int{rapid.IntRange(0, 5).Draw(t, "op"), rapid.IntRange(0, size+3).Draw(t, "n")}
				}), 1, 200).Draw(t, "steps")
				for _, s := range steps {
					n := s[1]
					ids := make([]uint32, n+1)
					ids[n] = 0xdeadbeef // guard
					ev := make([]*buffer.Event, n)
					room, have := min(n, size-len(model)), min(n, len(model))
					for i := range ids[:n] {
						ids[i] = next + uint32(i)
						ev[i] = buffer.FromID(ids[i])
					}
					added := 0
					switch s[0] {
					case 0:
						if added = r.Enqueue(ids[:n]); added != room {
							t.Fatalf("Enqueue(%d) = %d, want %d", n, added, room)
						}
					case 1:
						ok := r.EnqueueAll(ids[:n])
						if ok != (room == n) {
							t.Fatalf("EnqueueAll(%d) = %v with room %d", n, ok, room)
						}
						if ok {
							added = n
						}
					case 2:
						if added = r.EnqueueEvents(ev); added != room {
							t.Fatalf("EnqueueEvents(%d) = %d, want %d", n, added, room)
						}
					case 3:
						clear(ids[:n])
						got := r.Dequeue(ids[:n])
						if got != have || !slices.Equal(ids[:got], model[:got]) {
							t.Fatalf("Dequeue(%d) = %v, want %v", n, ids[:got], model[:have])
						}
						model = model[got:]
					case 4:
						clear(ids[:n])
						ok := r.DequeueAll(ids[:n])
						if ok != (have == n) || ok && !slices.Equal(ids[:n], model[:n]) {
							t.Fatalf("DequeueAll(%d) = %v %v, want %v", n, ok, ids[:n], model[:have])
						}
						if ok {
							model = model[n:]
						}
					case 5:
						clear(ev)
						got := r.DequeueEvents(ev)
						if got != have {
							t.Fatalf("DequeueEvents(%d) = %d, want %d", n, got, have)
						}
						for i, e := range ev[:got] {
							if e.ID() != model[i] {
								t.Fatalf("event %d: id %d, want %d", i, e.ID(), model[i])
							}
						}
						model = model[got:]
					}
					for i := 0; i < added; i++ {
						model = append(model, next)
						next++
					}
					if ids[n] != 0xdeadbeef {
						t.Fatalf("op %d wrote beyond its burst", s[0])
					}
					if r.Len() != len(model) {
						t.Fatalf("Len %d, want %d", r.Len(), len(model))
					}
					if in, out := r.Total(); in-start != uint64(next-1) || in-out != uint64(len(model)) {
						t.Fatalf("Total %d %d, want %d more than %d", in, out, next-1, start)
					}
				}
			})
		})
	}
}

// TestAllBurstLengths moves each n from 0 to 2*unroll+1 from each position of a small ring.
func TestAllBurstLengths(t *testing.T) {
	for _, k := range kinds {
		for n := 0; n <= 2*unroll+1; n++ {
			r := k.at(32, 1<<32-70)
			in, out := make([]uint32, n), make([]uint32, n)
			for lap := uint32(0); lap < 40; lap++ {
				for i := range in {
					in[i] = lap*100 + uint32(i)
				}
				if got := r.Enqueue(in); got != n {
					t.Fatalf("%s: Enqueue %d = %d", k.name, n, got)
				}
				if got := r.Dequeue(out); got != n || !slices.Equal(in, out) {
					t.Fatalf("%s: lap %d: got %v, want %v", k.name, lap, out[:got], in)
				}
				one := []uint32{lap} // moves the start by one more
				if !r.EnqueueAll(one) || !r.DequeueAll(one) || one[0] != lap {
					t.Fatalf("%s: single id lost", k.name)
				}
			}
		}
	}
}

// TestDescheduledWriter: a writer that reserved and did not write yet delays
// readers behind it, never a writer.
func TestDescheduledWriter(t *testing.T) {
	for _, start := range []uint64{0, 1<<32 - 3} {
		mpmc, mpsc := newMPMCAt(8, start), newMPSCAt(8, start)
		for _, c := range []struct {
			name string
			r    fifo
			prod *producers
			s    *slots
			tail *relax.Uint64
		}{{"MPMC", mpmc, &mpmc.prod, &mpmc.slots, &mpmc.r}, {"MPSC", mpsc, &mpsc.prod, &mpsc.slots, &mpsc.r}} {
			out := make([]uint32, 8)
			if n := c.r.Enqueue([]uint32{1}); n != 1 {
				t.Fatal(n)
			}
			pos, n := c.prod.reserve(c.s, c.tail, 2, false) // 2 and 3, asleep now
			if n != 2 {
				t.Fatal(n)
			}
			if n := c.r.Enqueue([]uint32{4, 5, 6, 7, 8, 9}); n != 5 {
				t.Fatalf("%s: a sleeping writer held others back: %d of 5 accepted", c.name, n)
			}
			if c.r.Len() != 8 || c.r.Enqueue([]uint32{9}) != 0 || c.r.EnqueueAll([]uint32{9}) {
				t.Fatalf("%s: ring of 8 is full at Len %d", c.name, c.r.Len())
			}
			if n := c.r.Dequeue(out); n != 1 || out[0] != 1 {
				t.Fatalf("%s: before the hole: %v", c.name, out[:n])
			}
			if n := c.r.Dequeue(out); n != 0 || c.r.DequeueAll(out[:1]) {
				t.Fatalf("%s: read from the hole: %v", c.name, out[:n])
			}
			c.s.write(pos, []uint32{2}) // it wakes, writes one and sleeps again
			if n := c.r.Dequeue(out); n != 1 || out[0] != 2 {
				t.Fatalf("%s: half written burst: %v", c.name, out[:n])
			}
			c.s.write(pos+1, []uint32{3})
			if n := c.r.Dequeue(out); !slices.Equal(out[:n], []uint32{3, 4, 5, 6, 7, 8}) {
				t.Fatalf("%s: after the hole: %v", c.name, out[:n])
			}
		}
	}
}

// TestDescheduledReader: a reader that copied and did not advance yet delays
// nobody, and what it copied is thrown away when others were faster.
func TestDescheduledReader(t *testing.T) {
	r := newMPMCAt(4, 1<<32-2)
	r.Enqueue([]uint32{1, 2, 3})
	pos, mine := r.r.LoadAcq(), make([]uint32, 2)
	if r.read(pos, mine) != 2 {
		t.Fatal("nothing to read")
	}
	out := make([]uint32, 4)
	for i := uint32(0); i < 9; i++ {
		if n := r.Dequeue(out[:3]); n == 0 || r.Enqueue([]uint32{10 + i, 20 + i, 30 + i}[:n]) != n {
			t.Fatal("a sleeping reader held others back")
		}
	}
	if r.r.CAS(pos, pos+2) {
		t.Fatal("a stale reader advanced the position")
	}
}

func TestSeparation(t *testing.T) {
	var s SPSC
	var m MPMC
	var c MPSC
	for _, d := range []struct {
		name string
		a, b uintptr
	}{
		{"SPSC read-only/prod", unsafe.Offsetof(s.slots) + 24, unsafe.Offsetof(s.prod)},
		{"SPSC prod/w", unsafe.Offsetof(s.prod) + 16, unsafe.Offsetof(s.w)},
		{"SPSC w/cons", unsafe.Offsetof(s.w) + 8, unsafe.Offsetof(s.cons)},
		{"SPSC cons/r", unsafe.Offsetof(s.cons) + 16, unsafe.Offsetof(s.r)},
		{"SPSC r/end", unsafe.Offsetof(s.r) + 8, unsafe.Sizeof(s)},
		{"MPMC slots/prod", unsafe.Sizeof(m.slots), unsafe.Offsetof(m.prod)},
		{"MPMC prod/r", unsafe.Offsetof(m.prod) + 16, unsafe.Offsetof(m.r)},
		{"MPMC r/end", unsafe.Offsetof(m.r) + 8, unsafe.Sizeof(m)},
		{"MPSC prod/tail", unsafe.Offsetof(c.prod) + 16, unsafe.Offsetof(c.tail)},
		{"MPSC tail/r", unsafe.Offsetof(c.tail) + 8, unsafe.Offsetof(c.r)},
	} {
		if d.b-d.a < line {
			t.Errorf("%s: %d bytes apart, want %d", d.name, d.b-d.a, line)
		}
	}
	for n := uint32(1); n < 300; n += 7 {
		a, b := words[uint32](n), words[uint64](n)
		if uintptr(unsafe.Pointer(&a[0]))%line != 0 || uintptr(unsafe.Pointer(&b[0]))%line != 0 || len(a) != int(n) || cap(b) != int(n) {
			t.Fatalf("%d words are not on a line of their own", n)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	for _, k := range kinds {
		r := k.at(64, 0)
		ids, ev := make([]uint32, 32), make([]*buffer.Event, 32)
		for i := range ev {
			ev[i] = buffer.FromID(uint32(i + 1))
		}
		if n := testing.AllocsPerRun(100, func() {
			r.Enqueue(ids)
			r.Dequeue(ids)
			r.EnqueueAll(ids[:3])
			r.DequeueAll(ids[:3])
			r.EnqueueEvents(ev)
			r.DequeueEvents(ev)
			r.Len()
		}); n != 0 {
			t.Errorf("%s: %v allocations", k.name, n)
		}
	}
}
