// SPDX-License-Identifier: Apache-2.0

//go:build !race && !portable

package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/sys"
)

const (
	align  = sys.HugePage
	anon   = unix.MAP_PRIVATE | unix.MAP_ANON
	rw     = unix.PROT_READ | unix.PROT_WRITE
	huge21 = 21 << 26 // MAP_HUGE_2MB
)

// page is 4, 16 or 64 KiB.
var page = uint64(os.Getpagesize())

// reserve takes addresses only: PROT_NONE counts against no commit limit.
func reserve() (unsafe.Pointer, uint64, string, error) {
	n, why := uint64(128<<30), "all that is ever reserved"
	if unsafe.Sizeof(uintptr(0)) == 4 {
		n, why = 512<<20, "32 bit addresses"
	}
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &lim) == nil {
		for n > 32<<20 && n > lim.Cur/2 { // the Go runtime and the rest need addresses too
			n >>= 1
			why = "limited by ulimit -v"
		}
	}
	var err error
	for ; n >= 32<<20; n >>= 1 {
		var p unsafe.Pointer
		if p, err = unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_NONE, anon|unix.MAP_NORESERVE); err == nil {
			skip := -uintptr(p) & (align - 1)
			return unsafe.Add(p, skip), n - align, why, nil
		}
		if err == unix.ENOMEM && lim.Cur != unix.RLIM_INFINITY {
			why = "limited by ulimit -v"
		} else {
			why = "the system refused more"
		}
	}
	return nil, 0, "", fmt.Errorf("the system refuses to reserve even 32 MiB of addresses: %w: raise the limit (ulimit -v)", os.NewSyscallError("mmap", err))
}

// spanOf leaves a page for the guard, and whole huge pages when they are wanted.
func spanOf(n uint64, huge bool) uint64 {
	if huge {
		n = roundUp(n, sys.HugePage)
	}
	return n + page
}

func back(ctx context.Context, r *Range, huge bool) (clean bool, err error) {
	if huge && r.Size < sys.HugePage/2 {
		huge, r.Note = false, "smaller than a huge page"
	}
	if err := guard(r); err != nil {
		return true, err
	}
	if huge {
		got, clean := backHugeTLB(ctx, r)
		if got || !clean {
			return clean, addressesLost(clean)
		}
	}
	if r.Size > checkFrom {
		if err := sys.MemoryRoom(fsys).Check(r.Size); err != nil {
			return true, err
		}
	}
	if err := mapOver(r.Off, r.Size, rw, anon); err != nil {
		return rereserve(r.Off, r.Size), memoryError(err)
	}
	r.Backing = Plain
	b := Bytes(r.Off, int(r.Size))
	transparent := false
	switch {
	case !huge:
	case !transparentAllowed():
		r.note("transparent huge pages are off (on: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled)")
	default:
		if err := unix.Madvise(b, unix.MADV_HUGEPAGE); err != nil {
			r.note(os.NewSyscallError("madvise(MADV_HUGEPAGE)", err).Error())
		} else {
			transparent = true
		}
	}
	if err := inSteps(ctx, b, populate); err != nil {
		return empty(r) == nil, err
	}
	if transparent {
		checkTransparent(r)
	}
	return true, nil
}

func transparentAllowed() bool {
	mode := sys.ReadHugePages(fsys).Transparent
	return mode == "always" || mode == "madvise"
}

func addressesLost(clean bool) error {
	if clean {
		return nil
	}
	return errors.New("another thread mapped something at these addresses meanwhile: try again")
}

// backHugeTLB tries explicit huge pages and leaves the reason in Note when there are
// none. Not clean: the addresses are lost.
func backHugeTLB(ctx context.Context, r *Range) (got, clean bool) {
	n := roundUp(r.Size, sys.HugePage)
	h := sys.ReadHugePages(fsys)
	if h.Free < n/sys.HugePage {
		r.Note = fmt.Sprintf("no hugetlb pages: %d wanted, %s", n/sys.HugePage, h.Why)
		return false, true
	}
	if h.CountAsMemory {
		if err := sys.MemoryRoom(fsys).Check(n); err != nil {
			r.Note = "no hugetlb pages: " + err.Error()
			return false, true
		}
	}
	if err := mapOver(r.Off, n, rw, anon|unix.MAP_HUGETLB|huge21); err != nil {
		r.Note = fmt.Sprintf("no hugetlb pages: %v", err)
		return false, rereserve(r.Off, n)
	}
	if err := inSteps(ctx, Bytes(r.Off, int(n)), populate); err != nil {
		r.Note = fmt.Sprintf("no hugetlb pages: %v", err)
		return false, mapOver(r.Off, n, unix.PROT_NONE, anon|unix.MAP_NORESERVE) == nil
	}
	r.Backing, r.Note = HugeTLB, fmt.Sprintf("%d huge pages of 2 MiB", n/sys.HugePage)
	return true, true
}

// checkTransparent looks at what the kernel really did.
func checkTransparent(r *Range) {
	start := uint64(uintptr(At(r.Off)))
	got, err := sys.HugeBytes(sys.Root(), start, start+r.Size)
	switch {
	case err != nil:
		r.Backing = Transparent
		r.note("how much is on transparent huge pages is unknown")
	case got == 0:
		r.note("transparent huge pages: none could be made (memory is fragmented: echo 1 > /proc/sys/vm/compact_memory)")
	default:
		r.Backing = Transparent
		r.note(fmt.Sprintf("%s of %s on transparent huge pages", sys.Size(got), sys.Size(r.Size)))
	}
}

// guard makes what follows the range inaccessible, which may be left over from a
// closed range. Huge pages are mapped over a part of it.
func guard(r *Range) error {
	if err := mapOver(r.Off+r.Size, r.span-r.Size, unix.PROT_NONE, anon|unix.MAP_NORESERVE); err != nil {
		return memoryError(err)
	}
	return nil
}

func backFD(r *Range, fd int, offset int64) (clean bool, err error) {
	if err := guard(r); err != nil {
		return true, err
	}
	if _, err := unix.MmapPtr(fd, offset, At(r.Off), uintptr(r.Size), rw, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return rereserve(r.Off, r.Size), os.NewSyscallError("mmap", err)
	}
	return true, nil
}

// empty replaces the mapping of a range, its guard included: so all closed
// neighbours are one mapping for the kernel, which limits their number.
func empty(r *Range) error {
	if err := mapOver(r.Off, r.span, unix.PROT_READ, anon|unix.MAP_NORESERVE); err != nil {
		return memoryError(err)
	}
	return nil
}

func mapOver(off, n uint64, prot, flags int) error {
	_, err := unix.MmapPtr(-1, 0, At(off), uintptr(n), prot, flags|unix.MAP_FIXED)
	return err
}

// rereserve fills the hole that a failed mapping may have left behind, before
// something else is mapped there. It reports whether the addresses are ours still;
// otherwise they must never be used again.
func rereserve(off, n uint64) bool {
	p, err := unix.MmapPtr(-1, 0, At(off), uintptr(n), unix.PROT_NONE, anon|unix.MAP_NORESERVE|unix.MAP_FIXED_NOREPLACE)
	if err == nil && p != At(off) { // kernels before 4.17 take the address as a hint: something is there
		unix.MunmapPtr(p, uintptr(n))
		err = unix.EEXIST
	}
	if err == nil {
		return true // there was a hole
	}
	// either nothing was unmapped, or somebody else took a part
	return err == unix.EEXIST && ours(off, n)
}

// ours reports whether the addresses are still our inaccessible or empty pages:
// private, anonymous, not writable.
func ours(off, n uint64) bool {
	list, err := sys.Mappings(sys.Root())
	if err != nil {
		return false
	}
	at := uint64(uintptr(At(off)))
	end := at + n
	for _, m := range list {
		if m.End <= at || m.Start >= end {
			continue
		}
		if m.Start > at || m.Name != "" || m.Perm != "---p" && m.Perm != "r--p" {
			return false
		}
		if at = m.End; at >= end {
			return true
		}
	}
	return false
}

func memoryError(err error) error {
	e := os.NewSyscallError("mmap", err)
	if err == unix.ENOMEM {
		return fmt.Errorf("%w: raise the limits (ulimit -v, ulimit -d, sysctl vm.max_map_count; vm.overcommit_memory=2 needs a higher vm.overcommit_ratio)", e)
	}
	return e
}
