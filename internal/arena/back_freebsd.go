// SPDX-License-Identifier: Apache-2.0

//go:build !race && !portable

package arena

import (
	"context"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/sys"
)

const (
	align = sys.HugePage
	anon  = unix.MAP_PRIVATE | unix.MAP_ANON
	rw    = unix.PROT_READ | unix.PROT_WRITE
	excl  = 0x4000 // MAP_EXCL: with MAP_FIXED, fails where something is mapped
)

var page = uint64(os.Getpagesize())

// reserve takes addresses only: a guard has no memory and no swap.
func reserve() (unsafe.Pointer, uint64, string, error) {
	n, why := uint64(128<<30), "all that is ever reserved"
	if unsafe.Sizeof(uintptr(0)) == 4 {
		n, why = 512<<20, "32 bit addresses"
	}
	var err error
	for ; n >= 32<<20; n >>= 1 {
		var p unsafe.Pointer
		if p, err = unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_NONE, unix.MAP_GUARD); err == nil {
			skip := -uintptr(p) & (align - 1)
			return unsafe.Add(p, skip), n - align, why, nil
		}
		why = "the system refused more"
	}
	return nil, 0, "", fmt.Errorf("the system refuses to reserve even 32 MiB of addresses: %w: raise the limit (limits -v)", os.NewSyscallError("mmap", err))
}

func spanOf(n uint64, huge bool) uint64 { return n + page }

// back gives plain memory, aligned for superpages, which the kernel makes by itself.
func back(ctx context.Context, r *Range, huge bool) (clean bool, err error) {
	if r.Size > checkFrom {
		if err := memoryRoom().Check(r.Size); err != nil {
			return true, err
		}
	}
	if err := guard(r); err != nil {
		return true, err
	}
	if err := mapOver(r.Off, r.Size, rw, anon); err != nil {
		return rereserve(r.Off, r.Size), memoryError(err)
	}
	r.Backing = Plain
	if err := inSteps(ctx, Bytes(r.Off, int(r.Size)), touch); err != nil {
		return empty(r) == nil, err
	}
	if huge {
		if on, err := unix.SysctlUint32("vm.pmap.pg_ps_enabled"); err == nil && on != 0 {
			r.Backing, r.Note = Transparent, "superpages are made by the kernel as it sees fit"
		} else {
			r.Note = "superpages are off (loader tunable vm.pmap.pg_ps_enabled=1)"
		}
	}
	return true, nil
}

// memoryRoom is what is free or easily made free; rctl and jail limits are found by
// touching.
func memoryRoom() sys.Room {
	var sum uint64
	for _, name := range []string{"vm.stats.vm.v_free_count", "vm.stats.vm.v_inactive_count", "vm.stats.vm.v_laundry_count"} {
		n, err := unix.SysctlUint32(name)
		if err != nil {
			return sys.Room{Bytes: 1<<64 - 1}
		}
		sum += uint64(n) * page
	}
	total, _ := unix.SysctlUint64("hw.physmem")
	return sys.Room{Bytes: sum, Limit: total, Used: total - min(total, sum), File: "sysctl vm.stats.vm"}
}

// guard makes what follows the range inaccessible, which may be left over from a
// closed range.
func guard(r *Range) error {
	if err := mapOver(r.Off+r.Size, r.span-r.Size, unix.PROT_NONE, unix.MAP_GUARD); err != nil {
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
// neighbours are one mapping for the kernel.
func empty(r *Range) error {
	if err := mapOver(r.Off, r.span, unix.PROT_READ, anon); err != nil {
		return memoryError(err)
	}
	return nil
}

func mapOver(off, n uint64, prot, flags int) error {
	_, err := unix.MmapPtr(-1, 0, At(off), uintptr(n), prot, flags|unix.MAP_FIXED)
	return err
}

// rereserve fills the hole that a failed mapping may have left behind. It reports
// whether the addresses are ours for sure; otherwise they are never used again.
func rereserve(off, n uint64) bool {
	return mapOver(off, n, unix.PROT_NONE, unix.MAP_GUARD|excl) == nil
}

func memoryError(err error) error {
	e := os.NewSyscallError("mmap", err)
	if err == unix.ENOMEM {
		return fmt.Errorf("%w: raise the limits (limits -v, -d; sysctl vm.max_user_wired; swap)", e)
	}
	return e
}
