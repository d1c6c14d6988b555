// SPDX-License-Identifier: Apache-2.0

//go:build !race && !portable

package arena

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/sys"
)

func resident(t *testing.T) (bytes uint64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var total, res uint64
	if _, err := fmt.Sscan(string(b), &total, &res); err != nil {
		t.Fatal(err)
	}
	return res * page
}

func TestMemoryIsPopulatedAndGivenBack(t *testing.T) {
	const n = 64 << 20
	before := resident(t)
	r := made(t, Config{Size: n})
	if got := resident(t); got < before+n*9/10 {
		t.Errorf("resident %d, before %d: not populated", got, before)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := resident(t); got > before+n/2 {
		t.Errorf("resident %d, before %d: not given back", got, before)
	}
}

func TestTransparentHugePages(t *testing.T) {
	r := made(t, Config{Size: 32 << 20, Huge: true})
	mode := sys.ReadHugePages(sys.Root()).Transparent
	switch r.Backing {
	case HugeTLB:
		t.Skip("the machine has free hugetlb pages")
	case Transparent:
		if mode == "never" || !strings.Contains(r.Note, "of 32 MiB") {
			t.Errorf("mode %q: %+v", mode, *r)
		}
	case Plain:
		if !strings.Contains(r.Note, "transparent") {
			t.Errorf("mode %q, and no word why: %+v", mode, *r)
		}
	}
	if !strings.Contains(r.Note, "hugetlb") {
		t.Errorf("no word why there are no hugetlb pages: %q", r.Note)
	}
}

// What is off is not asked for, and the note says how to turn it on.
func TestTransparentHugePagesOff(t *testing.T) {
	defer func(f fs.FS) { fsys = f }(fsys)
	fsys = fstest.MapFS{"sys/kernel/mm/transparent_hugepage/enabled": {Data: []byte("always madvise [never]\n")}}
	r := made(t, Config{Size: 8 << 20, Huge: true})
	if r.Backing != Plain || !strings.Contains(r.Note, "echo madvise >") {
		t.Errorf("%+v", *r)
	}
	r = made(t, Config{Size: 4096, Huge: true})
	if r.Backing != Plain || r.Note == "" {
		t.Errorf("%+v", *r)
	}
	if r = made(t, Config{Size: 8 << 20}); r.Backing != Plain || r.Note != "" {
		t.Errorf("huge pages were not asked for: %+v", *r)
	}
}

// The counts promise pages that the kernel does not have: the next kind is used.
func TestHugeTLBFallsBack(t *testing.T) {
	if sys.ReadHugePages(sys.Root()).Free != 0 {
		t.Skip("the machine has free hugetlb pages")
	}
	defer func(f fs.FS) { fsys = f }(fsys)
	const dir = "sys/kernel/mm/hugepages/hugepages-2048kB/"
	fsys = fstest.MapFS{dir + "free_hugepages": {Data: []byte("100")}, dir + "nr_hugepages": {Data: []byte("100")}}
	sum, _ := free()
	r := made(t, Config{Size: 5<<20 + 4096, Huge: true})
	if r.Backing != Plain || !strings.Contains(r.Note, "no hugetlb pages: ") {
		t.Errorf("%+v", *r)
	}
	Bytes(r.Off, int(r.Size))[r.Size-1] = 1
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if after, _ := free(); after != sum {
		t.Errorf("%d bytes of address space got lost", sum-after)
	}
}

func TestHugeTLB(t *testing.T) {
	h := sys.ReadHugePages(sys.Root())
	if h.Free < 4 {
		// as testkit.Need, which imports this package
		if strings.Contains(os.Getenv("GODP_MUST_RUN"), "hugetlb") {
			t.Fatal("must run here, but there are no 4 hugetlb pages:", h.Why)
		}
		t.Skip("needs 4 hugetlb pages:", h.Why)
	}
	r := made(t, Config{Size: 5<<20 + 4096, Huge: true})
	if r.Backing != HugeTLB || r.Note == "" {
		t.Fatalf("%+v", *r)
	}
	if left := sys.ReadHugePages(sys.Root()).Free; left != h.Free-3 {
		t.Errorf("%d pages are free, before %d", left, h.Free)
	}
	b := Bytes(r.Off, int(r.Size))
	b[r.Size-1] = 1
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if b[len(b)-1] != 0 {
		t.Error("a late reader sees old data")
	}
	if a := faultsAt(t, func() { b[5] = 1 }); a == 0 {
		t.Error("a late writer is not found")
	}
	if left := sys.ReadHugePages(sys.Root()).Free; left != h.Free {
		t.Errorf("%d pages are free after Close, before %d", left, h.Free)
	}
	if r := made(t, Config{Size: (h.Free + 1) * sys.HugePage, Huge: true}); r.Backing == HugeTLB {
		t.Error("more huge pages than there are")
	}
}

// With few addresses allowed the arena is smaller, and says why; with none it does
// not prevent the start of a program that needs no arena.
func TestAddressLimit(t *testing.T) {
	if os.Getenv("ARENA_LIMITED") != "" {
		fmt.Printf("size=%d why=%q\n", Size(), reservedWhy)
		_, err := New(Config{Name: "x", Size: Size() + 1})
		fmt.Println("err:", err)
		if Size() > 0 {
			r, err := New(Config{Name: "x", Size: 4096})
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	for _, kib := range []int{8 << 20, 2 << 20} {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -v %d && exec %q -test.run '^TestAddressLimit$' -test.v", kib, exe))
		cmd.Env = append(os.Environ(), "ARENA_LIMITED=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%d KiB: %v\n%s", kib, err, out)
		}
		var size uint64
		if i := strings.Index(string(out), "size="); i < 0 {
			t.Fatalf("%s", out)
		} else if _, err := fmt.Sscanf(string(out)[i:], "size=%d", &size); err != nil {
			t.Fatal(err)
		}
		if size == 0 || size > uint64(kib)<<10/2 || !strings.Contains(string(out), "ulimit -v") {
			t.Errorf("%d KiB of addresses: arena of %d bytes\n%s", kib, size, out)
		}
	}
}

func TestMemoryErrorNamesTheCure(t *testing.T) {
	if err := memoryError(unix.ENOMEM); !strings.Contains(err.Error(), "ulimit") {
		t.Error(err)
	}
	if err := memoryError(unix.EINVAL); !strings.Contains(err.Error(), "mmap") {
		t.Error(err)
	}
}

func TestFailedMappingLeavesNoHole(t *testing.T) {
	r := made(t, Config{Size: 1 << 20})
	off := r.Off
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !rereserve(off, 1<<20) {
		t.Error("empty pages of ours are not recognised")
	}
	if err := unix.MunmapPtr(At(off+4096*4), 4096*4); err != nil {
		t.Fatal(err)
	}
	if rereserve(off, 1<<20) {
		t.Error("a hole in the middle is overlooked")
	}
	if !rereserve(off+4096*4, 4096*4) {
		t.Error("the hole can't be filled")
	}
}

// The kernel limits the number of mappings of a process: closed ranges must not
// count, however many there were.
func TestClosedRangesAreOneMapping(t *testing.T) {
	count := func() int {
		ms, err := sys.Mappings(sys.Root())
		if err != nil {
			t.Skip(err)
		}
		return len(ms)
	}
	before := count()
	for i := range 500 {
		r, err := New(Config{Name: "small", Size: uint64(1+i%3) * 4096})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(); n > before+50 {
		t.Errorf("%d mappings after 500 ranges were closed, %d before", n, before)
	}
}
