// SPDX-License-Identifier: Apache-2.0

//go:build (linux || freebsd) && !race && !portable

package arena

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"
)

// faultsAt runs f and returns the address of the fault that it ends with.
func faultsAt(t *testing.T, f func()) (addr uintptr) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		a, ok := p.(interface{ Addr() uintptr })
		if !ok {
			t.Errorf("no fault with an address: %v", p)
			return
		}
		addr = a.Addr()
	}()
	f()
	return 0
}

func TestLateWriterPanicsWithTheAddress(t *testing.T) {
	r := made(t, Config{Size: 1 << 20, Huge: true})
	p := (*byte)(At(r.Off + 12345))
	*p = 1
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if a := faultsAt(t, func() { *p = 2 }); a != uintptr(unsafe.Pointer(p)) {
		t.Errorf("fault at %#x, written to %p", a, p)
	}
}

func TestGuards(t *testing.T) {
	if a := faultsAt(t, func() { _ = *(*byte)(volatile(At(0))) }); a != uintptr(At(0)) {
		t.Errorf("id 0 is readable (fault at %#x)", a)
	}
	// a large range first, so that the guards of the next two lie in what was once readable
	mu.Lock()
	old := room
	room = &space{free: []piece{{old.free[len(old.free)-1].off, 16 << 20}}}
	mu.Unlock()
	defer func() { mu.Lock(); room = old; mu.Unlock() }()
	big, err := New(Config{Name: "big", Size: 15 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{2 << 20, 4096} {
		r, err := New(Config{Name: "small", Size: n, Huge: true})
		if err != nil {
			t.Fatal(err)
		}
		*(*byte)(At(r.Off + r.Size - 1)) = 1
		end := At(r.Off + r.Size)
		if a := faultsAt(t, func() { _ = *(*byte)(volatile(end)) }); a != uintptr(end) {
			t.Errorf("%d bytes: the byte behind is readable (fault at %#x)", n, a)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

//go:noinline
func volatile(p unsafe.Pointer) unsafe.Pointer { return p }

func tempFile(t *testing.T, n int64) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "dev")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(n); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMapFD(t *testing.T) {
	f := tempFile(t, 1<<20)
	if _, err := f.WriteAt([]byte("hello"), 65536); err != nil {
		t.Fatal(err)
	}
	r, err := MapFDAt("dev", int(f.Fd()), 65536, 100000)
	if err != nil {
		t.Fatal(err)
	}
	if r.Backing != Device || string(Bytes(r.Off, 5)) != "hello" {
		t.Errorf("%+v: %q", *r, Bytes(r.Off, 5))
	}
	copy(Bytes(r.Off, 5), "HELLO")
	got := make([]byte, 5)
	if _, err := f.ReadAt(got, 65536); err != nil || string(got) != "HELLO" {
		t.Errorf("the device has %q, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if Bytes(r.Off, 1)[0] != 0 {
		t.Error("a late reader sees the device")
	}
	if a := faultsAt(t, func() { Bytes(r.Off, 1)[0] = 1 }); a != uintptr(At(r.Off)) {
		t.Errorf("a late writer: fault at %#x", a)
	}
	if _, err := f.ReadAt(got, 65536); err != nil || string(got) != "HELLO" {
		t.Errorf("closing changed the device: %q, %v", got, err)
	}
}

func TestMapFDFails(t *testing.T) {
	sum, _ := free()
	f := tempFile(t, 4096)
	for name, try := range map[string]func() (*Range, error){
		"bad descriptor": func() (*Range, error) { return MapFD("dev7", 1<<20, 4096) },
		"bad offset":     func() (*Range, error) { return MapFDAt("dev7", int(f.Fd()), 1, 4096) },
		"size 0":         func() (*Range, error) { return MapFD("dev7", int(f.Fd()), 0) },
	} {
		_, err := try()
		if err == nil || !strings.Contains(err.Error(), "dev7") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := free(); after != sum {
		t.Errorf("%d bytes of address space got lost", sum-after)
	}
	made(t, Config{Size: 4096})
}

// A descriptor mapped beyond its end faults when touched: the same as memory that
// the system promised and can't give.
func TestTouchReportsWhatTheSystemDoesNotGive(t *testing.T) {
	f := tempFile(t, 2*int64(page))
	r, err := MapFD("short", int(f.Fd()), 4*page)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := touch(Bytes(r.Off, int(2*page)), 0, int(2*page)); err != nil {
		t.Error(err)
	}
	if err := touch(Bytes(r.Off, int(r.Size)), 0, int(r.Size)); err == nil || !strings.Contains(err.Error(), "populated") {
		t.Errorf("touching beyond the end: %v", err)
	}
}

// The space of closed ranges is used again for ever: 350 MB ranges, thousands of them.
func TestThousandsOfCycles(t *testing.T) {
	const n = 350e6
	f := tempFile(t, n)
	sum, _ := free()
	cycles := 3000
	if testing.Short() {
		cycles = 1000 // the arena is used up twice over
	}
	var held []*Range
	for i := range cycles {
		r, err := MapFD("cycle", int(f.Fd()), n)
		if err != nil {
			t.Fatalf("cycle %d: %v", i, err)
		}
		if held = append(held, r); len(held) > 1+i%3 {
			if err := held[0].Close(); err != nil {
				t.Fatal(err)
			}
			held = held[1:]
		}
	}
	for _, r := range held {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if after, _ := free(); after != sum {
		t.Errorf("%d bytes of address space got lost", sum-after)
	}
}
