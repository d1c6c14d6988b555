// SPDX-License-Identifier: Apache-2.0

package arena

import (
	"fmt"
	"sort"
	"sync"
)

// Backing says what memory a Range got.
type Backing string

// The kinds of backing, best first.
const (
	HugeTLB     Backing = "hugetlb"     // explicit 2 MiB pages
	Transparent Backing = "transparent" // plain mapping, advised to use huge pages
	Plain       Backing = "plain"       // ordinary pages
	GoHeap      Backing = "goheap"      // race detector or portable build: inside a Go slice
	Device      Backing = "device"      // a kernel device mapped in place
)

// Range is a mapped part of the arena. Its fields do not change while it is open.
type Range struct {
	Off     uint64 // byte offset from the base, a multiple of the alignment
	Size    uint64 // bytes, a multiple of the page size
	Backing Backing
}

const (
	pageSize = 4096
	hugeSize = 2 << 20
)

// Config says what a Range is for.
type Config struct {
	Name string // for errors
	Size uint64 // bytes wanted
	Huge bool   // try huge pages first
}

var (
	mu    sync.Mutex
	next  uint64  = hugeSize // offset 0 is never handed out: id 0 means none
	freed []Range            // closed, waiting for reuse, oldest first
)

// take finds address space; it does not back it.
func take(n uint64) (uint64, error) {
	n = (n + hugeSize - 1) &^ (hugeSize - 1)
	mu.Lock()
	defer mu.Unlock()
	if next+n <= size {
		off := next
		next += n
		return off, nil
	}
	sort.SliceStable(freed, func(i, j int) bool { return freed[i].Size < freed[j].Size })
	for i, f := range freed {
		if f.Size >= n {
			freed = append(freed[:i:i], freed[i+1:]...)
			return f.Off, nil
		}
	}
	return 0, fmt.Errorf("arena: no address space for %d bytes (%d reserved)", n, size)
}

func give(r Range) {
	mu.Lock()
	defer mu.Unlock()
	r.Size = (r.Size + hugeSize - 1) &^ (hugeSize - 1)
	freed = append(freed, r)
}

// New backs address space with zeroed, populated memory: a shortage is an
// error now and not a fault later.
func New(cfg Config) (*Range, error) {
	if cfg.Size == 0 {
		return nil, fmt.Errorf("arena: %s: size 0", cfg.Name)
	}
	n := (cfg.Size + pageSize - 1) &^ (pageSize - 1)
	off, err := take(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	b, err := back(off, n, cfg.Huge)
	if err != nil {
		give(Range{Off: off, Size: n})
		return nil, fmt.Errorf("arena: %s: %d bytes: %w", cfg.Name, n, err)
	}
	return &Range{Off: off, Size: n, Backing: b}, nil
}

// MapFD maps n bytes of a device at its offset 0 into the arena (MAP_SHARED).
func MapFD(name string, fd int, n uint64) (*Range, error) {
	off, err := take(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := backFD(off, n, fd); err != nil {
		give(Range{Off: off, Size: n})
		return nil, fmt.Errorf("arena: %s: map %d bytes: %w", name, n, err)
	}
	return &Range{Off: off, Size: n, Backing: Device}, nil
}

// Close replaces the mapping in place by empty read-only pages: a late reader
// sees zeroes, a late writer a fault with the address; the kernel gets the
// memory back. The caller has waited for the grace of all workers.
func (r *Range) Close() error {
	if r == nil || r.Size == 0 {
		return nil
	}
	err := drop(r.Off, r.Size, r.Backing)
	give(*r)
	r.Size = 0
	return err
}
