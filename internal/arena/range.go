// SPDX-License-Identifier: Apache-2.0

package arena

import (
	"context"
	"fmt"
	"io/fs"
	"sort"
	"sync"

	"github.com/odp-go/godp/internal/sys"
)

// Backing says what memory a Range got.
type Backing string

// The kinds of backing, best first.
const (
	HugeTLB     Backing = "hugetlb"     // explicit 2 MiB pages
	Transparent Backing = "transparent" // plain mapping on transparent huge pages; Note says how much of it
	Plain       Backing = "plain"       // ordinary pages
	GoHeap      Backing = "goheap"      // race detector or portable build: inside a Go slice
	Device      Backing = "device"      // a kernel device mapped in place
)

// Range is a mapped part of the arena. Its fields do not change while it is open.
type Range struct {
	Off     uint64  // byte offset from the base, a multiple of the alignment (2 MiB; a page in a Go slice)
	Size    uint64  // bytes, a multiple of the page size; 0 once closed
	Backing Backing // what it got
	Note    string  // why it did not get better, or how much of it did: for Info and logs
	Name    string  // as given
	span    uint64  // address space taken, with the guard behind it
}

// Config says what a Range is for.
type Config struct {
	Name string // for errors
	Size uint64 // bytes wanted
	Huge bool   // try huge pages first
}

// checkFrom is the size from which on the memory limits are read.
const checkFrom = 1 << 20

var (
	mu      sync.Mutex // guards the book-keeping
	room    *space     // set at start
	open    = map[*Range]bool{}
	backing sync.Mutex // one at a time reads the limits and populates, so that two do not share what is left
	fsys    fs.FS      = sys.Root()
)

// newSpace is everything but the first unit: offset 0 is never handed out, so id 0
// means none.
func newSpace() *space {
	if size <= align {
		return &space{}
	}
	return &space{free: []piece{{align, size - align}}}
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

// take finds address space for n bytes and a guard page behind them.
func take(cfg *Config) (*Range, error) {
	if size == 0 {
		return nil, fmt.Errorf("arena: %s: %w", cfg.Name, reserveErr)
	}
	n := roundUp(cfg.Size, page)
	if cfg.Size == 0 || n < cfg.Size || n > size {
		return nil, fmt.Errorf("arena: %s: size of %d bytes: allowed 1 to %d (%s)", cfg.Name, cfg.Size, size-align, reservedWhy)
	}
	r := &Range{Size: n, Name: cfg.Name, span: roundUp(spanOf(n, cfg.Huge), align)}
	mu.Lock()
	defer mu.Unlock()
	var ok bool
	if r.Off, ok = room.take(r.span); !ok {
		sum, largest := room.total()
		return nil, fmt.Errorf("arena: %s: no address space for %s: %s of %s are free, %s in one piece (%s): close what is not used",
			cfg.Name, sys.Size(n), sys.Size(sum), sys.Size(size), sys.Size(largest), reservedWhy)
	}
	open[r] = true
	return r, nil
}

// note joins what New found out about a range.
func (r *Range) note(s string) {
	if r.Note != "" {
		r.Note += "; "
	}
	r.Note += s
}

// drop forgets a range; its address space is used again unless the system's answer
// leaves doubt about what is mapped there.
func drop(r *Range, reuse bool) {
	mu.Lock()
	defer mu.Unlock()
	delete(open, r)
	if reuse {
		room.give(r.Off, r.span)
	}
	r.Size = 0
}

// New backs address space with zeroed, populated memory: a shortage is an
// error now and not a fault later. The memory limits (control groups and machine) are
// read before, so that populating never gets a process killed; huge pages are tried
// first when asked for, and what was got is in Backing and Note. Control plane, any
// goroutine.
func New(cfg Config) (*Range, error) { return NewContext(context.Background(), cfg) }

// populateStep is how much is populated before ctx is looked at again; at a gigabyte
// a second that is every 60 ms.
var populateStep = 64 << 20

// inSteps populates b piece by piece, until ctx ends.
func inSteps(ctx context.Context, b []byte, populate func(b []byte, from, to int) error) error {
	for from := 0; from < len(b); from += populateStep {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped when %s of %s were populated: %w", sys.Size(uint64(from)), sys.Size(uint64(len(b))), err)
		}
		if err := populate(b, from, min(from+populateStep, len(b))); err != nil {
			return err
		}
	}
	return nil
}

// NewContext is New that gives up, and gives all memory back, when ctx ends meanwhile:
// gigabytes take seconds.
func NewContext(ctx context.Context, cfg Config) (*Range, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("arena: %s: %w", cfg.Name, err)
	}
	r, err := take(&cfg)
	if err != nil {
		return nil, err
	}
	backing.Lock()
	defer backing.Unlock()
	clean, err := back(ctx, r, cfg.Huge)
	if err != nil {
		err = fmt.Errorf("arena: %s: %s: %w", cfg.Name, sys.Size(r.Size), err)
		drop(r, clean)
		return nil, err
	}
	return r, nil
}

// MapFD maps n bytes of a device at its offset 0 into the arena (MAP_SHARED). The
// descriptor may be closed afterwards. Not in builds whose arena is a Go slice.
func MapFD(name string, fd int, n uint64) (*Range, error) { return MapFDAt(name, fd, 0, n) }

// MapFDAt is MapFD for a device that has something else at each offset.
func MapFDAt(name string, fd int, offset int64, n uint64) (*Range, error) {
	r, err := take(&Config{Name: name, Size: n})
	if err != nil {
		return nil, err
	}
	r.Backing = Device
	clean, err := backFD(r, fd, offset)
	if err != nil {
		err = fmt.Errorf("arena: %s: map %d bytes of descriptor %d at offset %#x: %w", name, n, fd, offset, err)
		drop(r, clean)
		return nil, err
	}
	return r, nil
}

// Close replaces the mapping in place by empty read-only pages: a late reader
// sees zeroes, a late writer a fault with the address; the kernel gets the
// memory back. The caller has waited for the grace of all workers, and is the only
// one to call it. Closing nil, or twice, does nothing. (In a Go slice a late
// writer is not found, but by the race detector.)
func (r *Range) Close() error {
	if r == nil {
		return nil
	}
	mu.Lock()
	mine := open[r]
	mu.Unlock()
	if !mine {
		return nil
	}
	err := empty(r)
	if err != nil {
		err = fmt.Errorf("arena: %s: close: %w", r.Name, err)
	}
	drop(r, err == nil)
	return err
}

// Contains reports whether n bytes at an offset lie within the range.
func (r *Range) Contains(off, n uint64) bool {
	return off >= r.Off && n <= r.Size && off-r.Off <= r.Size-n
}

// OpenRanges returns a copy of every range that is open, by offset: for leak checks
// and reports. Control plane, any goroutine.
func OpenRanges() []Range {
	mu.Lock()
	defer mu.Unlock()
	list := make([]Range, 0, len(open))
	for r := range open {
		list = append(list, *r)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Off < list[j].Off })
	return list
}
