// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/worker"
)

// Routes change as fast as they can in few groups, which are used again and again,
// while workers look up. Each block of addresses has next hops of its own, so that an
// answer out of a group that became another block's is seen.
func TestChangeUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		set, err := worker.NewSet(4)
		if err != nil {
			t.Fatal(err)
		}
		const blocks, readers = 64, 2
		waits := atomic.Int64{}
		tb := kinds[kind](t, Config{Name: "busy", Groups: 12, Default: 1, Grace: func(ctx context.Context) error {
			waits.Add(1)
			return set.Grace(ctx)
		}})
		block := func(b int) netip.Addr {
			if kind == "v6" {
				return netip.AddrFrom16([16]byte{0x20, 1, 0, byte(b), 1, 2, 3, byte(b / 2), 5})
			}
			return netip.AddrFrom4([4]byte{10, 0, byte(b), 8})
		}
		lens := []int{25, 26, 28, 30, 32}
		if kind == "v6" {
			lens = []int{33, 40, 48, 61, 72}
		}
		for b := range blocks {
			p, _ := block(b).Prefix(24)
			if kind == "v6" {
				p, _ = block(b).Prefix(32)
			}
			if err := tb.Add(p, uint32(b*8+8)); err != nil {
				t.Fatal(err)
			}
		}
		ok := func(b int, h uint32) bool { return int(h/8) == b+1 }
		rounds := 20_000
		if testing.Short() || testkit.Race {
			rounds = 300
		}
		var stop atomic.Bool
		var wg sync.WaitGroup
		fault := make(chan string, readers)
		var looked atomic.Int64
		for range readers {
			w, err := set.Join(worker.KindWorker)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				defer w.Leave()
				var list []netip.Addr
				for b := range blocks {
					list = append(list, block(b))
				}
				for !stop.Load() && w.Running() {
					for b, h := range tb.Bulk(list) {
						if one := tb.Lookup(list[b]); !ok(b, h) || !ok(b, one) {
							fault <- fmt.Sprintf("%v leads to %d or %d", list[b], h, one)
							return
						}
					}
					looked.Add(1)
				}
			})
		}
		for looked.Load() == 0 && len(fault) == 0 {
			time.Sleep(time.Millisecond)
		}
		full := 0
		var have []netip.Prefix
		for i := range rounds {
			if len(fault) > 0 {
				break
			}
			b := i * 7 % blocks
			p, _ := block(b).Prefix(lens[i%len(lens)])
			if err := tb.Add(p, uint32(b*8+8+1+i%7)); err != nil {
				full++
			} else if _, ok := tb.Get(p); ok {
				have = append(have, p)
			}
			for len(have) > 3 {
				_ = tb.Delete(have[0]) // may be gone: it was added twice
				have = have[1:]
			}
		}
		stop.Store(true)
		wg.Wait()
		select {
		case what := <-fault:
			t.Error(what)
		default:
		}
		t.Logf("%d rounds of %d look-ups, %d changes, %d refused, %d waits", looked.Load(), 2*blocks, 2*rounds, full, waits.Load())
		if waits.Load() < 5 || full > rounds/10 {
			t.Errorf("groups were used again %d times, %d additions were refused", waits.Load(), full)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
}

// When readers don't come by, a change that needs their groups fails and changes nothing.
func TestGraceFails(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		why := fmt.Errorf("reader 3 does not answer")
		tb := kinds[kind](t, Config{Name: "stuck", Groups: 1, Grace: func(context.Context) error { return why }})
		a, b := pfx("10.0.0.0/30"), pfx("11.0.0.0/30")
		if kind == "v6" {
			a, b = pfx("2001:db8::/30"), pfx("3001:db8::/30")
		}
		if err := tb.Add(a, 1); err != nil {
			t.Fatal(err)
		}
		if err := tb.Delete(a); err != nil {
			t.Fatal(err)
		}
		before := tb.Info()
		if err := tb.Add(b, 2); err == nil || tb.Info() != before || tb.Lookup(b.Addr()) != 0 {
			t.Errorf("%v, %+v", err, tb.Info())
		}
		why = nil
		if err := tb.Add(b, 2); err != nil || tb.Lookup(b.Addr()) != 2 {
			t.Error(err)
		}
	})
}

// A reader that stands in a piece which was taken away finds there what was right when
// it came, until the grace period is over: here the reader is the one who is waited for.
func TestStaleReader(t *testing.T) {
	waited := 0
	look := func() uint32 { return 0 }
	grace := func(context.Context) error {
		waited++
		if h := look(); h != 7 {
			t.Errorf("the stale reader finds %d, want 7", h)
		}
		return nil
	}
	a, b := pfx("10.0.0.0/30"), pfx("11.0.0.0/30")
	v4 := made4[uint16](t, Config{Name: "stale", Groups: 1, Grace: grace})
	if err := v4.Add(a, 7); err != nil {
		t.Fatal(err)
	}
	stale := v4.slot(get[uint16](v4.base, uintptr(word4(a.Addr())>>8)), word4(a.Addr()))
	look = func() uint32 { return uint32(get[uint16](v4.base, stale)) }
	if err := v4.Add(pfx("10.0.0.0/8"), 7); err != nil { // so that both states answer 7
		t.Fatal(err)
	}
	if err := v4.Delete(a); err != nil {
		t.Fatal(err)
	}
	if err := v4.Add(b, 9); err != nil || waited != 1 || look() == 7 {
		t.Errorf("%v, %d waits, the piece holds %d", err, waited, look())
	}

	// a node that another is hung over is copied: the reader in the old one is not led by
	// the routes of fewer addresses
	waited = 0
	v6 := made6(t, Config{Name: "stale", Groups: 4, Default: 7, Grace: grace})
	p := pfx("2001:db8:1:2:3::/80")
	if err := v6.Add(p, 5); err != nil {
		t.Fatal(err)
	}
	n := get[uint32](v6.base, uintptr(word6(p.Addr()).Hi>>40)) & nodeMask
	look = func() uint32 { return v6.head(n).miss }
	for _, s := range []string{"2001:db8:1::/48", "2001:db8:1:2::/64"} {
		if err := v6.Add(pfx(s), 6); err != nil {
			t.Fatal(err)
		}
		if h := look(); h != 7 {
			t.Fatalf("%s: a reader in the old node finds %d, want 7", s, h)
		}
		if err := v6.Delete(pfx(s)); err != nil {
			t.Fatal(err)
		}
	}
	if waited == 0 {
		t.Error("nobody waited")
	}
}
