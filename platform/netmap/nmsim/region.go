// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// Geometry is the size of a region's three pools. A zero field means the default
// of the kind of region (Config.Mem or Config.Private). The limits are netmap's:
// If objects up to 4096 bytes, ring objects up to 131072 and 1024 of them, buffers of
// 64 to 65536 bytes in steps of 64, up to 1000000 of them.
type Geometry struct {
	IfSize, IfNum     int
	RingSize, RingNum int
	BufSize, BufNum   int
}

// or fills the zero fields of g from d.
func (g Geometry) or(d Geometry) Geometry {
	for _, f := range []struct{ v, d *int }{
		{&g.IfSize, &d.IfSize}, {&g.IfNum, &d.IfNum}, {&g.RingSize, &d.RingSize},
		{&g.RingNum, &d.RingNum}, {&g.BufSize, &d.BufSize}, {&g.BufNum, &d.BufNum},
	} {
		if *f.v == 0 {
			*f.v = *f.d
		}
	}
	return g
}

func (g Geometry) valid() bool {
	return g.IfSize >= 64 && g.IfSize <= abi.MaxIfSize && g.IfNum >= 1 &&
		g.RingSize >= abi.RingSize && g.RingSize <= abi.MaxRingSize && g.RingNum >= 1 && g.RingNum <= 1024 &&
		g.BufSize >= abi.MinBufSize && g.BufSize <= abi.MaxBufSize && g.BufSize%64 == 0 &&
		g.BufNum >= abi.FirstBuf && g.BufNum <= 1000000
}

// region is one memory allocator: netmap's nr_mem_id. All of it is under World.mu,
// but base, size, geo and bufOff, which do not change while it is in use.
//
//	off 0        ringOff           bufOff
//	[ If objects ][ Ring objects ][ buffers 0 (none), 1 (dummy), 2 ... ]
type region struct {
	id      uint16
	group   int // the NICs that may use it; -1 = nobody yet
	private bool
	geo     Geometry
	ringOff uint64
	bufOff  uint64
	size    uint64
	mem     *arena.Range // nil while idle
	base    unsafe.Pointer
	users   int    // registrations and mappings
	granted uint32 // extra buffers that clients have
	ifs     objects
	rings   objects
	bufs    buffers
}

const page = 4096

func roundPage(n int) int { return (n + page - 1) &^ (page - 1) }

// clusters rounds a number of objects up to what fills whole pages without a rest: the
// kernel allocates objects that way.
func clusters(size, n int) int {
	per := 1
	for size > 0 && per*size%page != 0 && per < page {
		per++
	}
	return (n + per - 1) / per * per
}

func newRegion(id uint16, group int, private bool, g Geometry) *region {
	g.IfNum, g.RingNum, g.BufNum = clusters(g.IfSize, g.IfNum), clusters(g.RingSize, g.RingNum), clusters(g.BufSize, g.BufNum)
	r := &region{id: id, group: group, private: private, geo: g}
	r.ringOff = uint64(roundPage(g.IfSize * g.IfNum))
	r.bufOff = r.ringOff + uint64(roundPage(g.RingSize*g.RingNum))
	r.size = r.bufOff + uint64(roundPage(g.BufSize*g.BufNum))
	return r
}

// hold counts a user and backs the memory for the first one. The page behind the end
// is for reads of whole words at the end of the last buffer.
func (r *region) hold(w *World) syscall.Errno {
	if r.users == 0 && r.mem == nil {
		m, err := arena.New(arena.Config{Name: "nmsim region", Size: r.size + page, Huge: true})
		if err != nil {
			return syscall.ENOMEM
		}
		r.mem, r.base = m, arena.At(m.Off)
	}
	if r.users == 0 {
		r.granted = 0
		r.ifs.reset(r.geo.IfNum)
		r.rings.reset(r.geo.RingNum)
		r.bufs.reset(r.geo.BufNum)
	}
	r.users++
	return 0
}

// drop ends a user; the last one makes the region idle: what is still allocated
// then has leaked, and is found again when the allocator is made anew.
func (r *region) drop(w *World) {
	if r.users--; r.users > 0 {
		return
	}
	w.leaks.Leaked += uint64(r.bufs.used())
	w.leaks.DoubleFree += r.bufs.double
	w.leaks.Foreign += r.bufs.foreign
	r.bufs.double, r.bufs.foreign = 0, 0
	if !w.cfg.KeepIdle {
		r.release()
	}
	if r.private {
		delete(w.regions, r.id)
		r.release()
	}
}

func (r *region) release() {
	if r.mem != nil {
		r.mem.Close()
		r.mem, r.base = nil, nil
	}
}

func (r *region) buf(idx uint32) unsafe.Pointer {
	return unsafe.Add(r.base, uintptr(r.bufOff)+uintptr(idx)*uintptr(r.geo.BufSize))
}

// newIf takes an If object with room for n table entries; false when it does not fit.
func (r *region) newIf(entries int) (off uint64, ok bool) {
	if abi.IfSize+8*entries > r.geo.IfSize {
		return 0, false
	}
	i, ok := r.ifs.take()
	if !ok {
		return 0, false
	}
	off = uint64(i) * uint64(r.geo.IfSize)
	clear(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), r.geo.IfSize))
	return off, true
}

func (r *region) freeIf(off uint64) { r.ifs.give(uint32(off / uint64(r.geo.IfSize))) }

// newRing takes a ring object with room for n slots.
func (r *region) newRing(n uint32) (off uint64, ok bool) {
	if abi.RingSize+abi.SlotSize*int(n) > r.geo.RingSize {
		return 0, false
	}
	i, ok := r.rings.take()
	if !ok {
		return 0, false
	}
	off = r.ringOff + uint64(i)*uint64(r.geo.RingSize)
	clear(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), r.geo.RingSize))
	return off, true
}

func (r *region) freeRing(off uint64) {
	r.rings.give(uint32((off - r.ringOff) / uint64(r.geo.RingSize)))
}

// objects hands out object numbers, lowest first when fresh.
type objects struct{ free []uint32 }

func (o *objects) reset(n int) {
	o.free = o.free[:0]
	for i := n - 1; i >= 0; i-- {
		o.free = append(o.free, uint32(i))
	}
}

func (o *objects) take() (uint32, bool) {
	if len(o.free) == 0 {
		return 0, false
	}
	i := o.free[len(o.free)-1]
	o.free = o.free[:len(o.free)-1]
	return i, true
}

func (o *objects) give(i uint32) { o.free = append(o.free, i) }

// buffers hands out buffer indices and knows which are out.
type buffers struct {
	free    []uint32
	out     []bool
	double  uint64 // given back though free
	foreign uint64 // given back though no buffer index at all
}

func (b *buffers) reset(n int) {
	b.free = b.free[:0]
	if cap(b.out) < n {
		b.out = make([]bool, n)
	}
	b.out = b.out[:n]
	clear(b.out)
	for i := n - 1; i >= abi.FirstBuf; i-- {
		b.free = append(b.free, uint32(i))
	}
}

func (b *buffers) take() (uint32, bool) {
	if len(b.free) == 0 {
		return 0, false
	}
	i := b.free[len(b.free)-1]
	b.free = b.free[:len(b.free)-1]
	b.out[i] = true
	return i, true
}

// give takes a buffer back; false when it was none that is out.
func (b *buffers) give(i uint32) bool {
	switch {
	case i < abi.FirstBuf || int(i) >= len(b.out):
		b.foreign++
		return false
	case !b.out[i]:
		b.double++
		return false
	}
	b.out[i] = false
	b.free = append(b.free, i)
	return true
}

func (b *buffers) used() int { return max(0, len(b.out)-abi.FirstBuf) - len(b.free) }
