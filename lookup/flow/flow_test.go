// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func made(t testing.TB, cfg Config) *Table {
	t.Helper()
	cfg.Name = "test"
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// few makes keys of which many differ in one word only.
func few(r *rand.Rand) Key {
	var k Key
	for i := range k {
		k[i] = uint64(r.IntN(3))
	}
	if r.IntN(2) == 0 {
		k[r.IntN(len(k))] = uint64(r.IntN(200)) << r.IntN(60)
	}
	return k
}

// Inserts, deletes, expiry and look-ups in random order, against a map.
func TestAgainstMap(t *testing.T) {
	steps := 100_000
	if testing.Short() {
		steps = 20_000
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := made(t, Config{Flows: 500, Idle: 1000, Seed: seed + 1})
		type state struct {
			value uint64
			seen  uint32
		}
		m := map[Key]state{}
		var keys []Key
		for i := range steps {
			now := uint32(i / 4)
			k := few(r)
			keys = append(keys, k)
			switch s, there := m[k]; r.IntN(4) {
			case 0, 1:
				at, err := f.Insert(&k, now)
				if err != nil {
					if there || len(m) < 400 || !errors.Is(err, ErrFull) {
						t.Fatalf("%d flows: %v", len(m), err)
					}
					break
				}
				if x := f.Flow(at); x.Key != k || there && (x.Value[0] != s.value || x.Seen != s.seen) || !there && x.Value != [2]uint64{} {
					t.Fatalf("%+v, want %+v", x, s)
				}
				m[k] = state{r.Uint64(), now}
				f.Flow(at).Value[0], f.Flow(at).Seen = m[k].value, now
			case 2:
				if f.Delete(&k) != there {
					t.Fatalf("%v is there: %v", k, there)
				}
				delete(m, k)
			case 3:
				at := f.Lookup(&k)
				if (at >= 0) != there || there && f.Flow(at).Value[0] != s.value {
					t.Fatalf("%v is there: %v", k, there)
				}
			}
			if i%500 == 0 {
				gone := 0
				for k, s := range m {
					if now-s.seen > 1000 {
						delete(m, k)
						gone++
					}
				}
				if n := f.Expire(now, 1<<20); n != gone {
					t.Fatalf("%d flows expired, want %d", n, gone)
				}
			}
			if f.Len() != len(m) {
				t.Fatalf("%d flows, want %d", f.Len(), len(m))
			}
		}
		for _, n := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, len(keys)} {
			at := make([]int32, n+1)
			at[n] = 12345
			f.LookupBulk(keys[:n], at[:n])
			for i, k := range keys[:n] {
				if at[i] != f.Lookup(&k) {
					t.Fatalf("burst of %d, %d: place %d, one by one %d", n, i, at[i], f.Lookup(&k))
				}
			}
			if at[n] != 12345 {
				t.Error("wrote behind the burst")
			}
		}
		n := 0
		f.All(func(x *Flow) bool {
			if m[x.Key].value != x.Value[0] {
				t.Errorf("%+v, want %+v", x, m[x.Key])
			}
			n++
			return true
		})
		if n != len(m) {
			t.Errorf("All shows %d flows of %d", n, len(m))
		}
	}
}

// All flows that were asked for find a place, whatever the seed; one more is refused,
// and the table is as it was.
func TestFillsUp(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	for seed := range uint64(3) {
		f := made(t, Config{Flows: n, Seed: seed + 1})
		bytes := f.Info().Bytes
		for i := range n {
			k := V4(uint32(i), 0x0a000001, 1, 2, 17)
			if _, err := f.Insert(&k, 0); err != nil {
				t.Fatalf("flow %d: %v", i, err)
			}
		}
		k := V4(1<<31, 2, 3, 4, 6)
		if _, err := f.Insert(&k, 5); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "test") {
			t.Error(err)
		}
		if s := f.Stats(); s.Refused != 1 || s.Flows != n || s.Evicted != 0 || f.Info().Bytes != bytes {
			t.Errorf("%+v", s)
		}
		for i := range n {
			k := V4(uint32(i), 0x0a000001, 1, 2, 17)
			if f.Lookup(&k) < 0 {
				t.Fatalf("flow %d is gone", i)
			}
		}
	}
}

// A flood of new flows takes the places of idle ones only, and what is in use stays.
func TestFlood(t *testing.T) {
	const inUse, idle, flood = 300, 300, 20_000
	f := made(t, Config{Flows: 1000, Idle: 10, Full: EvictIdle, Seed: 3})
	key := func(kind, i int) *Key { k := V4(uint32(kind), uint32(i), 5, 6, 17); return &k }
	for i := range inUse + idle {
		if _, err := f.Insert(key(1, i), 0); err != nil {
			t.Fatal(err)
		}
	}
	refused := 0
	for i := range flood {
		now := uint32(20 + i/2000)
		if i%1000 == 0 {
			for u := range inUse {
				at := f.Lookup(key(1, u))
				if at < 0 {
					t.Fatalf("flow %d was in use and is gone after %d new flows", u, i)
				}
				f.Flow(at).Seen = now
			}
		}
		if _, err := f.Insert(key(2, i), now); err != nil {
			refused++
		}
	}
	s := f.Stats()
	if s.Flows > 1000 || s.Evicted == 0 || s.Evicted > idle+flood || s.Refused != uint64(refused) || s.Refused == 0 || s.Inserted != uint64(inUse+idle+flood-refused) {
		t.Errorf("%+v, %d refused", s, refused)
	}
	left := 0
	for i := inUse; i < inUse+idle; i++ {
		if f.Lookup(key(1, i)) >= 0 {
			left++
		}
	}
	if left == idle {
		t.Error("no idle flow made room")
	}
}

// Keys made to collide, which takes the seed: they fill their two buckets and no more,
// and other flows don't notice.
func TestCollisions(t *testing.T) {
	f := made(t, Config{Flows: 100, Seed: 77})
	a1, a2, _ := f.hash(&Key{})
	var others []Key
	taken, refused := 0, 0
	for i := uint64(0); refused < 100; i++ {
		k := Key{i, 1, 2, 3, 4}
		b1, b2, _ := f.hash(&k)
		all, none := (b1 == a1 || b1 == a2) && (b2 == a1 || b2 == a2) && a1 != a2, b1 != a1 && b1 != a2 && b2 != a1 && b2 != a2
		switch {
		case none && len(others) < 50:
			others = append(others, k)
		case all:
		default:
			continue
		}
		_, err := f.Insert(&k, 0)
		switch {
		case none && err != nil:
			t.Fatal(err)
		case all && err != nil:
			refused++
		case all:
			taken++
		}
	}
	if s := f.Stats(); s.Flows != len(others)+taken || s.Refused != uint64(refused) || taken > 2*ways || taken < ways {
		t.Errorf("%+v: %d others and %d that collide", s, len(others), taken)
	}
	for _, k := range others {
		if f.Lookup(&k) < 0 {
			t.Fatal("another flow was pushed out")
		}
	}
}

// Two tables hash differently, so that what collides in one does not in another.
func TestSeed(t *testing.T) {
	a, b, c := made(t, Config{}), made(t, Config{}), made(t, Config{Seed: 5})
	d := made(t, Config{Seed: 5})
	same := 0
	for i := range 100 {
		k := Key{uint64(i)}
		x, _, _ := a.hash(&k)
		y, _, _ := b.hash(&k)
		if x == y {
			same++
		}
		v1, v2, v3 := c.hash(&k)
		w1, w2, w3 := d.hash(&k)
		if v1 != w1 || v2 != w2 || v3 != w3 {
			t.Fatal("a seed that was given does not decide the hash")
		}
	}
	if same > 10 {
		t.Errorf("%d of 100 keys have the same bucket in two tables", same)
	}
}

func TestKeysDiffer(t *testing.T) {
	var a, b [16]byte
	b[15] = 1
	seen := map[Key]bool{}
	for _, k := range []Key{V4(1, 2, 3, 4, 6), V4(2, 1, 3, 4, 6), V4(1, 2, 4, 3, 6), V4(1, 2, 3, 4, 17), V6(&a, &b, 3, 4, 6), V6(&b, &a, 3, 4, 6), V6(&a, &b, 4, 3, 6), V4(0, 0, 0, 0, 0), V6(&a, &a, 0, 0, 0)} {
		if seen[k] {
			t.Error("twice the same key")
		}
		seen[k] = true
	}
	for _, n := range []int{-1, 1<<26 + 1} {
		if _, err := New(Config{Flows: n}); err == nil {
			t.Errorf("%d flows are accepted", n)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	f := made(t, Config{Flows: 100})
	keys, at := make([]Key, 40), make([]int32, 40)
	for i := range keys {
		keys[i] = Key{uint64(i)}
	}
	testkit.NoAllocs(t, "a round of a flow table", 100, func() {
		for i := range keys {
			if _, err := f.Insert(&keys[i], 1); err != nil {
				t.Fatal(err)
			}
		}
		f.LookupBulk(keys, at)
		f.Expire(100, 1000)
	})
}

func BenchmarkLookupBulk(b *testing.B) {
	for name, n := range map[string]int{"1M": 1 << 20, "4k": 4096} {
		b.Run(name, func(b *testing.B) {
			f := made(b, Config{Flows: n, Seed: 1})
			r := rand.New(rand.NewPCG(1, 1))
			keys := make([]Key, n)
			for i := range keys {
				keys[i] = V4(r.Uint32(), r.Uint32(), uint16(r.Uint32()), uint16(r.Uint32()), 17)
				if _, err := f.Insert(&keys[i], 0); err != nil {
					b.Fatal(err)
				}
			}
			r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			at := make([]int32, 32)
			b.ResetTimer()
			k := 0
			for i := 0; i < b.N; i += 32 {
				f.LookupBulk(keys[k:k+32], at)
				k = (k + 32) & (n - 1)
			}
		})
	}
}
