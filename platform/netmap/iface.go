// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"fmt"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// iface is a netmap_if whose table was found to lie inside the region, with the
// numbers that this was decided by: who writes other ones there later changes nothing.
type iface struct {
	f        *abi.If
	tx, rx   uint32 // NIC rings
	htx, hrx uint32 // entries of host rings
}

// netif checks that a netmap_if with its table is inside the region.
func (g *region) netif(device string, off uint64) (iface, error) {
	if off%8 != 0 || off >= g.size || g.size-off < abi.IfSize {
		return iface{}, &Error{Op: "find netmap_if", Device: device, Why: fmt.Sprintf("offset %d in a region of %d bytes", off, g.size)}
	}
	i := iface{f: (*abi.If)(arena.At(g.base + off))}
	i.tx, i.rx = i.f.Rings()
	i.htx, i.hrx = i.f.HostRings()
	if n := uint64(i.tx) + uint64(i.rx) + uint64(i.htx) + uint64(i.hrx); n > (g.size-off-abi.IfSize)/8 {
		return iface{}, &Error{Op: "read the ring table", Device: device, Why: fmt.Sprintf("%d entries at offset %d do not fit in %d bytes", n, off, g.size)}
	}
	return i, nil
}

// entries is the number of entries of the table, rxEntry that of receive ring i (host
// rings follow the NIC's); that of send ring i is i.
func (f iface) entries() uint32         { return f.tx + f.htx + f.rx + f.hrx }
func (f iface) rxEntry(i uint32) uint32 { return f.tx + f.htx + i }

// ringAt checks entry i of the table and the ring there, of n slots. nil without an
// error: this descriptor does not bind the ring.
func (g *region) ringAt(device string, f iface, i uint32) (r *abi.Ring, n uint32, err error) {
	bad := func(format string, a ...any) (*abi.Ring, uint32, error) {
		return nil, 0, &Error{Op: fmt.Sprintf("check ring %d", i), Device: device, Why: fmt.Sprintf(format, a...)}
	}
	if i >= f.entries() {
		return bad("the table has %d entries", f.entries())
	}
	ofs := f.f.RingOfs(i)
	if ofs == 0 {
		return nil, 0, nil
	}
	off := uint64(int64(arena.Off(ptr(f.f))) + ofs - int64(g.base))
	if off%64 != 0 || off >= g.size || g.size-off < abi.RingSize {
		return bad("it is at %d in a region of %d bytes", int64(off), g.size)
	}
	r = (*abi.Ring)(arena.At(g.base + off))
	n = r.NumSlots()
	size, bufs := r.BufSize(), r.BufOfs()
	switch {
	case n < 3:
		return bad("it has %d slots, at least 3 are needed", n)
	case uint64(n) > (g.size-off-abi.RingSize)/abi.SlotSize:
		return bad("its %d slots do not fit in the region", n)
	case size != g.bufs.size:
		return bad("its buffers have %d bytes, those of the region %d", size, g.bufs.size)
	case uint64(int64(g.base+off)+bufs) != uint64(g.bufs.base64)<<6:
		return bad("its buffers start elsewhere than those of the region")
	}
	return r, n, nil
}
