// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/worker"
)

// kit is a set with some workers, all run by the test's goroutine.
func kit(t testing.TB, workers int) (*worker.Set, []*worker.Worker) {
	t.Helper()
	set, err := worker.NewSet(workers)
	if err != nil {
		t.Fatal(err)
	}
	var ws []*worker.Worker
	for range workers {
		w, err := set.Join(worker.KindWorker)
		if err != nil {
			t.Fatal(err)
		}
		ws = append(ws, w)
	}
	t.Cleanup(func() { set.Workers((*worker.Worker).Leave) })
	return set, ws
}

func newPool(t testing.TB, set *worker.Set, cfg PoolConfig) *Pool {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "test"
	}
	p, err := NewPool(set, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.closed.Load() {
			return
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestConfigErrors(t *testing.T) {
	set, _ := kit(t, 4)
	for _, c := range []struct {
		cfg  PoolConfig
		want string
	}{
		{PoolConfig{}, "Num 0: allowed 1 to"},
		{PoolConfig{Num: -5}, "Num -5"},
		{PoolConfig{Num: math.MaxInt}, "allowed 1 to"},
		{PoolConfig{Num: maxNum, Size: maxSize}, "make Num or Size smaller"},
		{PoolConfig{Num: maxNum, UserArea: MaxUserArea}, "make Num or Size smaller"},
		{PoolConfig{Num: 1, Size: math.MaxInt}, "Size"},
		{PoolConfig{Num: 1, Size: -1}, "Size -1"},
		{PoolConfig{Num: 1, MaxLen: math.MaxInt}, "MaxLen"},
		{PoolConfig{Num: 1, MaxLen: -1}, "MaxLen -1"},
		{PoolConfig{Num: 1, Headroom: math.MaxInt}, "Headroom"},
		{PoolConfig{Num: 1, Align: 3}, "Align 3: allowed powers of two"},
		{PoolConfig{Num: 1, Align: 8192}, "Align 8192"},
		{PoolConfig{Num: 1, UserArea: -1}, "UserArea -1"},
		{PoolConfig{Num: 1, UserArea: math.MaxInt}, "UserArea"},
		{PoolConfig{Num: 1, Cache: 5000}, "Cache 5000"},
		{PoolConfig{Num: 1, Cache: -2}, "Cache -2"},
		{PoolConfig{Num: 1, Need: 2}, "Need 2: allowed 0 to Num (1)"},
		{PoolConfig{Num: 1, Type: TypeBuffer}, "Size is not set"},
		{PoolConfig{Num: 1, Type: TypeVector}, "Size is not set"},
		{PoolConfig{Num: 1, Type: 77}, "Type 77"},
		{PoolConfig{Num: 1, Name: strings.Repeat("x", 32)}, "name has 32 bytes"},
		{PoolConfig{Num: 100, Need: 60, Cache: 20, Strict: true}, "raise Num, or lower Cache to 10"},
	} {
		if p, err := NewPool(set, c.cfg); err == nil {
			t.Errorf("%+v: no error", c.cfg)
			p.Close()
		} else if !errors.Is(err, ErrPool) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v: wanted %q", c.cfg, err, c.want)
		}
	}
	if _, err := NewPool(nil, PoolConfig{Num: 1}); err == nil || !strings.Contains(err.Error(), "worker set") {
		t.Errorf("nil set: %v", err)
	}
}

// The cache shrinks until Num >= Need + workers x cache, and says so.
func TestCacheRule(t *testing.T) {
	set, _ := kit(t, 4)
	for _, c := range []struct {
		cfg   PoolConfig
		cache int
		note  string
	}{
		{PoolConfig{Num: 4096}, 256, ""},
		{PoolConfig{Num: 4096, Need: 4096 - 4*64, Cache: 64}, 64, ""},
		{PoolConfig{Num: 4096, Need: 4096 - 4*64 + 1, Cache: 64}, 63, "63 instead of 64"},
		{PoolConfig{Num: 1000}, 125, "125 instead of 256"},
		{PoolConfig{Num: 1}, 0, "no cache per worker"},
		{PoolConfig{Num: 1000, Cache: -1}, 0, ""},
		{PoolConfig{Num: 1000, Cache: 2, Strict: true}, 2, ""},
		{PoolConfig{Num: 1000, Strict: true}, 125, "125 instead of 256"},
	} {
		p := newPool(t, set, c.cfg)
		i := p.Info()
		notes := strings.Join(i.Notes, "; ")
		if i.CacheSize != c.cache || !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "cache") {
			t.Errorf("%+v: cache %d, notes %q: wanted %d, %q", c.cfg, i.CacheSize, notes, c.cache, c.note)
		}
	}
}

func TestAllOfAPool(t *testing.T) {
	set, ws := kit(t, 2)
	for _, typ := range []Type{TypePacket, TypeBuffer, TypeVector, TypeTimeout} {
		for _, num := range []int{1, 2, 31, 32, 33, 100, 1000} {
			for _, cache := range []int{-1, 0, 1, 2, 1024} {
				for _, w := range []*worker.Worker{ws[0], nil} {
					name := fmt.Sprintf("%v num %d cache %d worker %d", typ, num, cache, w.ID())
					p := newPool(t, set, PoolConfig{Name: "all", Type: typ, Num: num, Cache: cache, Size: 64})
					for round := range 3 {
						var ev []*Event
						seen := map[*Event]bool{}
						for {
							var one [1]uintptr
							if p.get(w, one[:]) == 0 {
								break
							}
							if checked {
								p.checkAlloc(w, one[:])
							}
							e := (*Event)(p.ptr(one[0]))
							if seen[e] || e.Type() != typ || e.PoolOf() != p {
								t.Fatalf("%s: event %d: twice %v, type %v, pool %p", name, e.index, seen[e], e.Type(), e.PoolOf())
							}
							seen[e] = true
							ev = append(ev, e)
						}
						if len(ev) != num || p.Out() != num || p.Available() != 0 {
							t.Fatalf("%s round %d: got %d, out %d, available %d", name, round, len(ev), p.Out(), p.Available())
						}
						for i := 0; i < len(ev); i += 7 {
							p.freeWords(w, words(ev[i:min(i+7, len(ev))]))
						}
						if p.Out() != 0 || p.Available() != num {
							t.Fatalf("%s: after free out %d, available %d", name, p.Out(), p.Available())
						}
					}
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if len(ws) != 2 || Lookup("all") != nil {
		t.Fatal("pools are left")
	}
}

func TestLayoutOfThePool(t *testing.T) {
	set, _ := kit(t, 1)
	for _, c := range []PoolConfig{
		{}, {Size: 2048}, {Size: 64}, {Size: 1}, {Size: 1500, Headroom: -1}, {Align: 256}, {Align: 4096, Size: 100},
		{Type: TypeBuffer, Size: 1}, {Type: TypeBuffer, Size: 4096, Align: 2048}, {UserArea: 1}, {UserArea: 77},
	} {
		c.Num = 50
		p := newPool(t, set, c)
		i := p.Info()
		if lines := i.Stride / max(64, c.Align); lines >= 8 && lines&1 == 0 {
			t.Errorf("%+v: stride %d is an even number of units", c, i.Stride)
		}
		var spans [][2]uintptr
		span := func(b []byte) {
			if len(b) > 0 {
				a := uintptr(unsafe.Pointer(&b[0]))
				spans = append(spans, [2]uintptr{a, a + uintptr(len(b))})
			}
		}
		for j := range p.Num() {
			e := p.EventAt(j)
			span(unsafe.Slice((*byte)(unsafe.Pointer(e)), 64))
			span(unsafe.Slice((*byte)(unsafe.Pointer(p.cold(e))), 64))
			if a := e.UserArea(); len(a) != c.UserArea {
				t.Errorf("%+v: user area of %d bytes", c, len(a))
			}
			span(e.UserArea())
			b := e.Buffer().Data()
			span(b)
			a := uintptr(unsafe.Pointer(&b[0]))
			if a < i.MinDataAddr || a+uintptr(len(b))-1 > i.MaxDataAddr || a%64 != 0 || c.Type == TypeBuffer && c.Align > 0 && a%uintptr(c.Align) != 0 {
				t.Errorf("%+v: buffer %d at %#x, data addresses %#x to %#x", c, j, a, i.MinDataAddr, i.MaxDataAddr)
			}
			if len(b) < c.Size {
				t.Errorf("%+v: buffer of %d bytes", c, len(b))
			}
		}
		slices.SortFunc(spans, func(a, b [2]uintptr) int { return int(int64(a[0]) - int64(b[0])) })
		for j := 1; j < len(spans); j++ {
			if spans[j][0] < spans[j-1][1] {
				t.Fatalf("%+v: parts of the pool overlap", c)
			}
		}
		if c.Type != TypeBuffer {
			k := p.AllocPacket(nil, 10)
			if a := uintptr(k.DataPtr()); c.Align > 0 && a%uintptr(c.Align) != 0 {
				t.Errorf("%+v: data at %#x", c, a)
			}
			if h := k.Headroom(); h != p.Headroom() || h < c.Headroom || c.Headroom == 0 && h < 128 {
				t.Errorf("%+v: headroom %d", c, h)
			}
			FreePacket(nil, k)
		}
	}
}

func TestUserAreaInit(t *testing.T) {
	set, ws := kit(t, 1)
	for _, typ := range []Type{TypePacket, TypeBuffer, TypeVector, TypeTimeout} {
		seen := make([]int, 10)
		p := newPool(t, set, PoolConfig{Type: typ, Num: 10, Size: 128, UserArea: 9, UserAreaInit: func(a []byte, i int) {
			seen[i]++
			for j := range a {
				a[j] = byte(i*16 + j)
			}
		}})
		for i, n := range seen {
			if n != 1 {
				t.Errorf("init ran %d times for event %d", n, i)
			}
		}
		for range 2 { // the area outlives free and alloc
			var ev [10]uintptr
			if p.get(ws[0], ev[:]) != 10 {
				t.Fatal("not all events")
			}
			if checked {
				p.checkAlloc(ws[0], ev[:])
			}
			for _, w := range ev {
				e := (*Event)(p.ptr(w))
				for j, b := range e.UserArea() {
					if b != byte(int(e.index)*16+j) {
						t.Fatalf("area of event %d is %v", e.index, e.UserArea())
					}
				}
			}
			p.freeWords(ws[0], ev[:])
		}
	}
}

func TestLookupAndNames(t *testing.T) {
	set, _ := kit(t, 1)
	long := strings.Repeat("n", MaxName)
	a := newPool(t, set, PoolConfig{Name: long, Num: 1})
	b := newPool(t, set, PoolConfig{Name: long, Num: 1})
	if Lookup(long) != a || a.Name() != long || Lookup("no such pool") != nil {
		t.Fatal("lookup")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if Lookup(long) != b {
		t.Fatal("the second pool of the name is not found")
	}
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), "closed already") {
		t.Fatalf("second Close: %v", err)
	}
}

func TestTooManyPools(t *testing.T) {
	set, _ := kit(t, 1)
	start := 0
	Pools(func(*Pool) { start++ })
	var ps []*Pool
	idx := map[int]bool{}
	for range MaxPools - start {
		p := newPool(t, set, PoolConfig{Type: TypeBuffer, Num: 1, Size: 8})
		if idx[p.Index()] || p.Index() < 1 || p.Index() > MaxPools {
			t.Fatalf("index %d", p.Index())
		}
		idx[p.Index()] = true
		ps = append(ps, p)
	}
	if _, err := NewPool(set, PoolConfig{Type: TypeBuffer, Num: 1, Size: 8}); err == nil || !strings.Contains(err.Error(), "most allowed") {
		t.Fatalf("one too many: %v", err)
	}
	for _, p := range ps {
		b := p.AllocBuffer(nil)
		if b == nil || p.AllocBuffer(nil) != nil {
			t.Fatal("a pool of 1")
		}
		FreeBuffers(nil, []*Buffer{b})
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What a program does with an event of a closed pool must not go by silently.
func TestLateAccess(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 8})
	k := p.AllocPacket(ws[0], 60)
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "1 of 8 events are still allocated") {
		t.Fatalf("Close with a packet out: %v", err)
	}
	p.FreePacket(ws[0], k)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if k.PoolOf() != nil || k.Len() != 0 {
		t.Fatalf("late reader: pool %v, length %d", k.PoolOf(), k.Len())
	}
	if n := p.AllocPackets(ws[0], make([]*Packet, 4), 60); n != 0 {
		t.Fatalf("%d packets from a closed pool", n)
	}
	for want, f := range map[string]func(){
		"its pool is closed": func() { FreePacket(ws[0], k) },
		"after its Close":    func() { p.put(ws[0], words([]*Packet{k})) },
	} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, want) {
					t.Errorf("late free: %v, wanted %q", s, want)
				}
			}()
			f()
		}()
	}
}

func TestStats(t *testing.T) {
	set, ws := kit(t, 2)
	p := newPool(t, set, PoolConfig{Type: TypeBuffer, Num: 100, Size: 64, Need: 60, Cache: 20})
	if s := p.Stats(); s.Available != 100 || s.CacheAvailable != 0 {
		t.Fatalf("fresh: %+v", s)
	}
	p.ResetStats()
	var bufs []*Buffer
	for range 120 {
		if b := p.AllocBuffer(ws[0]); b != nil {
			bufs = append(bufs, b)
		}
	}
	s := p.Stats()
	if len(bufs) != 100 || s.AllocFails != 20 || s.AllocOps+s.CacheAllocOps != 120 || s.FreeOps != 0 || s.Available != 0 || s.CacheAvailable != 0 || s.TotalOps != s.AllocOps {
		t.Fatalf("%d buffers, %+v", len(bufs), s)
	}
	p.FreeBuffers(ws[1], bufs[:10])
	p.FreeBuffers(ws[0], bufs[10:])
	s = p.Stats()
	if s.Available+s.CacheAvailable != 100 || p.CacheAvailable(1) != 10 || s.FreeOps != 1 || s.CacheFreeOps != 1 {
		t.Fatalf("%+v", s)
	}
	// 90 are in the list, worker 1 caches 10: a miss asks for them
	if n := p.AllocBuffers(ws[0], bufs); n != 90 || p.Stats().FlushRequests != 1 {
		t.Fatalf("%d, %+v", n, p.Stats())
	}
	ws[1].Quiesce()
	if n := p.AllocBuffers(ws[0], bufs[90:]); n != 10 {
		t.Fatalf("after the flush: %d", n)
	}
	p.FreeBuffers(nil, bufs)
	p.ResetStats()
	if s := p.Stats(); s.Available != 100 || s.TotalOps != 0 || s.AllocFails != 0 || s.FlushRequests != 0 || s.CacheAllocOps != 0 {
		t.Fatalf("after reset: %+v", s)
	}
}

func TestFlushOnParkAndLeave(t *testing.T) {
	set, ws := kit(t, 2)
	p := newPool(t, set, PoolConfig{Num: 200, Cache: 50})
	pk := make([]*Packet, 20)
	for i, end := range []func(){
		func() { ws[0].Wake(); ws[0].Park(-1, nil) },
		func() { p.Flush(ws[0]) },
		func() { set.RequestFlush(); ws[0].Quiesce() },
		func() { ws[0].Leave() },
	} {
		p.AllocPackets(ws[0], pk, 60)
		p.FreePackets(ws[0], pk)
		if p.CacheAvailable(0) == 0 {
			t.Fatalf("%d: nothing is cached", i)
		}
		end()
		if p.CacheAvailable(0) != 0 || p.Stats().Available != 200 {
			t.Fatalf("%d: %d cached, %+v", i, p.CacheAvailable(0), p.Stats())
		}
	}
}

// A worker of another instance, and a worker that was given no cache, use the shared list.
func TestWorkerOfAnotherSet(t *testing.T) {
	set, _ := kit(t, 1)
	_, other := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 100, Cache: 16})
	pk := make([]*Packet, 10)
	if p.AllocPackets(other[0], pk, 60) != 10 {
		t.Fatal("alloc")
	}
	p.FreePackets(other[0], pk)
	if s := p.Stats(); s.CacheAvailable != 0 || s.Available != 100 {
		t.Fatalf("%+v", s)
	}
}
