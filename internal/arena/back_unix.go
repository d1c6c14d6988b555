// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race && !portable

package arena

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	for n := uint64(128 << 30); n >= 1<<30; n >>= 1 {
		p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err == nil {
			skip := -uintptr(p) & (hugeSize - 1)
			base, size = unsafe.Add(p, skip), n-uint64(hugeSize)
			return
		}
	}
	panic("arena: the system refuses to reserve even 1 GiB of address space: raise ulimit -v")
}

func back(off, n uint64, huge bool) (Backing, error) {
	prot, flags := unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED
	if huge {
		h := (n + hugeSize - 1) &^ (hugeSize - 1)
		if _, err := unix.MmapPtr(-1, 0, At(off), uintptr(h), prot, flags|unix.MAP_HUGETLB|unix.MAP_POPULATE); err == nil {
			return HugeTLB, nil
		}
	}
	if _, err := unix.MmapPtr(-1, 0, At(off), uintptr(n), prot, flags); err != nil {
		return "", err
	}
	b := Plain
	if huge && unix.Madvise(Bytes(off, int(n)), unix.MADV_HUGEPAGE) == nil {
		b = Transparent
	}
	if err := unix.Madvise(Bytes(off, int(n)), unix.MADV_POPULATE_WRITE); err != nil && err != unix.EINVAL {
		return "", err
	}
	return b, nil
}

func backFD(off, n uint64, fd int) error {
	_, err := unix.MmapPtr(fd, 0, At(off), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

func drop(off, n uint64, b Backing) error {
	if b == HugeTLB {
		n = (n + hugeSize - 1) &^ (hugeSize - 1)
	}
	_, err := unix.MmapPtr(-1, 0, At(off), uintptr(n), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}
