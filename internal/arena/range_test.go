// SPDX-License-Identifier: Apache-2.0

package arena

import (
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unsafe"
)

// made opens a range that the test closes.
func made(t testing.TB, cfg Config) *Range {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = t.Name()
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestRangeIsZeroedAlignedAndReported(t *testing.T) {
	for _, c := range []Config{{Size: 1}, {Size: 4096}, {Size: 5000, Huge: true}, {Size: 3 << 20}, {Size: 5<<20 + 1, Huge: true}} {
		r := made(t, c)
		if r.Size < c.Size || r.Size%page != 0 || r.Off%align != 0 || r.Off == 0 {
			t.Errorf("%+v: %+v", c, *r)
		}
		if r.Backing == "" || (c.Huge && r.Note == "") || r.Name != t.Name() {
			t.Errorf("%+v: what was got is not reported: %+v", c, *r)
		}
		t.Logf("%d bytes: %s: %s", c.Size, r.Backing, r.Note)
		for i, b := range Bytes(r.Off, int(r.Size)) {
			if b != 0 {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
		b := Bytes(r.Off, int(r.Size))
		for i := range b {
			b[i] = 0xa5
		}
	}
	// the same space again, later: zeroed again
	r := made(t, Config{Size: 64 << 10})
	if Bytes(r.Off, 1)[0] != 0 {
		t.Error("memory is not zeroed")
	}
}

func TestAddressing(t *testing.T) {
	r := made(t, Config{Size: 64 << 10})
	for _, off := range []uint64{0, 64, 4096, r.Size - 64} {
		p := At(r.Off + off)
		if Off(p) != r.Off+off {
			t.Errorf("Off(At(%d)) = %d", r.Off+off, Off(p))
		}
		id := ID(p)
		if id == 0 || Ptr(id) != p {
			t.Errorf("offset %d: id %d resolves to another place", off, id)
		}
	}
	if (*byte)(At(r.Off)) != unsafe.SliceData(Bytes(r.Off, 10)) || cap(Bytes(r.Off, 10)) != 10 {
		t.Error("Bytes is another place, or reaches further than asked")
	}
	if (Size()-1)>>6 > 1<<32-1 {
		t.Errorf("an arena of %d bytes has places that 32 bits don't name", Size())
	}
	for _, c := range []struct {
		off, n uint64
		want   bool
	}{{r.Off, r.Size, true}, {r.Off, 0, true}, {r.Off + r.Size, 0, true}, {r.Off - 1, 1, false}, {r.Off + 1, r.Size, false}, {r.Off + r.Size, 1, false}, {r.Off, 1<<64 - 1, false}, {1<<64 - 1, 2, false}} {
		if r.Contains(c.off, c.n) != c.want {
			t.Errorf("Contains(%#x, %d) is %v", c.off-r.Off, c.n, !c.want)
		}
	}
}

func TestWrongSizes(t *testing.T) {
	before := len(OpenRanges())
	for _, n := range []uint64{0, Size() + 1, 1<<64 - 1, 1 << 63} {
		_, err := New(Config{Name: "wrong", Size: n})
		if err == nil || !strings.Contains(err.Error(), "wrong") || !strings.Contains(err.Error(), "allowed 1 to") {
			t.Errorf("size %d: %v", n, err)
		}
	}
	if n := len(OpenRanges()); n != before {
		t.Errorf("%d ranges are open after failures, %d before", n, before)
	}
}

func TestCloseAndOpenRanges(t *testing.T) {
	before := len(OpenRanges())
	a := made(t, Config{Name: "a", Size: 4096})
	b := made(t, Config{Name: "b", Size: 4096})
	list := OpenRanges()
	if len(list) != before+2 {
		t.Fatalf("%d open, want %d", len(list), before+2)
	}
	names := ""
	for i, r := range list {
		names += r.Name + " "
		if i > 0 && list[i-1].Off+list[i-1].Size > r.Off {
			t.Errorf("%v and %v overlap", list[i-1], r)
		}
	}
	if !strings.Contains(names, "a ") || !strings.Contains(names, "b ") {
		t.Error("names:", names)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if a.Size != 0 || len(OpenRanges()) != before+1 {
		t.Error("a is still open")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := (*Range)(nil).Close(); err != nil {
		t.Error(err)
	}
}

func TestLateReaderSeesZeroes(t *testing.T) {
	r := made(t, Config{Size: 1 << 20, Huge: true})
	b := Bytes(r.Off, int(r.Size))
	for i := range b {
		b[i] = 1
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		if b[i] != 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
}

// The limits are read before memory is taken: the error says what to do, and no
// address space gets lost.
func TestMemoryLimitIsAnErrorBefore(t *testing.T) {
	defer func(f fs.FS) { fsys = f }(fsys)
	fsys = fstest.MapFS{
		"proc/self/cgroup":             {Data: []byte("0::/\n")},
		"proc/self/mountinfo":          {Data: []byte("35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")},
		"sys/fs/cgroup/memory.max":     {Data: []byte("67108864\n")},
		"sys/fs/cgroup/memory.current": {Data: []byte("33554432\n")},
	}
	sum, _ := free()
	_, err := New(Config{Name: "pool x", Size: 40 << 20, Huge: true})
	if err == nil {
		t.Fatal("40 MiB are populated where 32 are left")
	}
	for _, w := range []string{"pool x", "40 MiB", "/sys/fs/cgroup/memory.max", "limit 64 MiB", "raise the limit"} {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not say %q: %v", w, err)
		}
	}
	if after, _ := free(); after != sum {
		t.Errorf("%d bytes of address space got lost", sum-after)
	}
	made(t, Config{Size: 8 << 20, Huge: true})
}

func free() (sum, largest uint64) {
	mu.Lock()
	defer mu.Unlock()
	return room.total()
}

func TestAddressSpaceRunsOut(t *testing.T) {
	mu.Lock()
	old := room
	room = &space{free: []piece{{old.free[len(old.free)-1].off, 8 << 20}}}
	mu.Unlock()
	defer func() { mu.Lock(); room = old; mu.Unlock() }()
	a, err := New(Config{Name: "a", Size: 3 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(Config{Name: "b", Size: 7 << 20})
	if err == nil || !strings.Contains(err.Error(), "no address space") || !strings.Contains(err.Error(), "close what is not used") {
		t.Errorf("b: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Name: "b", Size: 7 << 20})
	if err != nil {
		t.Fatal("the closed space is not merged: ", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenAndCloseFromMany(t *testing.T) {
	before, _ := free()
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range rounds {
				r, err := New(Config{Name: "x", Size: uint64(1+i%5) * 40000, Huge: i%2 == 0})
				if err != nil {
					t.Error(err)
					return
				}
				b := Bytes(r.Off, int(r.Size))
				for k := range b {
					if b[k] != 0 {
						t.Errorf("byte %d is %d", k, b[k])
						break
					}
				}
				for k := range b {
					b[k] = byte(g + 1)
				}
				for k := range b {
					if b[k] != byte(g+1) {
						t.Errorf("somebody else wrote %d into my range", b[k])
						break
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if after, _ := free(); after != before {
		t.Errorf("%d bytes of address space got lost", before-after)
	}
}
