// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"errors"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/worker"
)

// region is a memory region of the kernel (one nr_mem_id), mapped once for the
// process through a descriptor of its own, which binds no port (NR_REG_NULL).
//
// Extra buffers that any port of the region was granted become pool memory: they
// are taken out of that port's list at once, and put into the list of the region's own
// descriptor when the last port closes, where the kernel frees them.
//
//	granted = buffers in headers and in spare + swapped into slots - swapped out
//
// All fields are under conn.mu, but for bufs and lost.
type region struct {
	c       *conn
	id      uint16
	refs    int
	fd      int
	nif     iface
	mapping abi.Mapping
	base    uint64 // arena offset of the region
	size    uint64
	bufs    bufMap
	granted int
	spare   []uint32 // granted, and in no pool
	pools   map[*worker.Set]*regionPool
	lost    relax.Uint64 // buffers that a bad slot swallowed
}

// bufMap turns a buffer index into a place. It does not change while the region is open.
type bufMap struct {
	base64   uint32 // arena offset / 64 of buffer 0
	stride64 uint32 // buffer size / 64
	total    uint32 // indices are below it
	size     uint32
}

// ok checks an index that was read from shared memory: 2 <= idx < total.
func (b *bufMap) ok(idx uint32) bool { return idx-abi.FirstBuf < b.total-abi.FirstBuf }

// at returns the arena offset / 64 of a checked index.
func (b *bufMap) at(idx uint32) uint32 {
	if invariants.Enabled && !b.ok(idx) {
		invariants.Failf("buffer index %d is used, of %d, and was not checked", idx, b.total)
	}
	return b.base64 + idx*b.stride64
}

// regionPool is the pool of one set of workers over a region's buffers.
type regionPool struct {
	*buffer.Pool
	reg  *region
	refs int
}

// openRegion finds or maps the region that fd's port uses.
func (c *conn) openRegion(device string, got abi.Register) (*region, error) {
	if g := c.regions[got.MemID]; g != nil {
		if g.size != got.MemSize {
			return nil, &Error{Op: "share memory region", Device: device, Why: fmt.Sprintf("region %d is mapped with %d bytes, the kernel now says %d", got.MemID, g.size, got.MemSize), Cure: "close all ports of this process and open them again"}
		}
		g.refs++
		return g, nil
	}
	b := binding{port: "godp", mode: abi.ModeNull, memID: got.MemID}
	fd, r, errno := c.register(b)
	if errno != 0 {
		return nil, &Error{Op: fmt.Sprintf("bind memory region %d", got.MemID), Device: device, Errno: errno}
	}
	g := &region{c: c, id: got.MemID, refs: 1, fd: fd, size: r.MemSize, pools: map[*worker.Set]*regionPool{}}
	if err := g.mapIn(device, r, got.Offset); err != nil {
		if g.mapping != nil {
			g.mapping.Unmap()
		}
		c.k.Close(fd)
		return nil, err
	}
	c.regions[g.id] = g
	return g, nil
}

func (g *region) mapIn(device string, r abi.Register, port uint64) (err error) {
	if r.MemID != g.id {
		return &Error{Op: "bind memory region", Device: device, Why: fmt.Sprintf("asked for region %d, got %d", g.id, r.MemID)}
	}
	m, errno := g.c.k.Map(g.fd, r.MemSize)
	if errno != 0 {
		return &Error{Op: fmt.Sprintf("map %d bytes of region %d", r.MemSize, g.id), Device: device, Errno: errno, Why: "no address space", Cure: "raise ulimit -v, or lower netmap's buf_num"}
	}
	g.mapping, g.base = m, m.Off()
	f, err := g.netif(device, port)
	if err != nil {
		return err
	}
	if err = g.findBuffers(device, f); err != nil {
		return err
	}
	g.nif, err = g.netif(device, r.Offset)
	return err
}

// findBuffers works out where the buffers are from the first ring that a port binds:
// they fill the region from there to its end. (POOLS_INFO_GET would tell the same, but it
// looks a port up by its name, and can make or change it.)
func (g *region) findBuffers(device string, f iface) error {
	var ofs int64
	for i, n := uint32(0), f.entries(); i < n && ofs == 0; i++ {
		ofs = f.f.RingOfs(i)
	}
	bad := func(what string, v, lo, hi uint64) error {
		return &Error{Op: "check the memory layout", Device: device, Why: fmt.Sprintf("%s is %d, allowed %d to %d", what, int64(v), lo, hi)}
	}
	ring := uint64(int64(arena.Off(ptr(f.f))) + ofs - int64(g.base))
	if ofs == 0 || ring%64 != 0 || ring >= g.size || g.size-ring < abi.RingSize {
		return bad("the offset of the first ring", ring, abi.IfSize, g.size-abi.RingSize)
	}
	r := (*abi.Ring)(arena.At(g.base + ring))
	sz, at := uint64(r.BufSize()), ring+uint64(r.BufOfs())
	switch {
	case sz < abi.MinBufSize || sz > abi.MaxBufSize || sz%64 != 0:
		return bad("the buffer size (a multiple of 64)", sz, abi.MinBufSize, abi.MaxBufSize)
	case at >= g.size || (g.base+at)%64 != 0:
		return bad("the offset of the buffers (a multiple of 64)", at, 0, g.size)
	}
	n := (g.size - at) / sz
	if n <= abi.FirstBuf || n > 1<<24 {
		return bad("the number of buffers", n, abi.FirstBuf+1, 1<<24)
	}
	g.bufs = bufMap{base64: uint32((g.base + at) >> 6), stride64: uint32(sz >> 6), total: uint32(n), size: uint32(sz)}
	return nil
}

// takeExtra moves the extra buffers of a descriptor to the spare ones. The chain is
// checked: an index outside the region, or a chain longer than granted, ends it.
func (g *region) takeExtra(f *abi.If, granted uint32) (got int) {
	idx := f.BufsHead()
	f.SetBufsHead(0)
	for i := uint32(0); i < granted && g.bufs.ok(idx); i++ {
		g.spare = append(g.spare, idx)
		idx = (*relax.Uint32)(arena.Ptr(g.bufs.at(idx))).LoadAcq()
		got++
	}
	g.granted += got
	return got
}

// giveExtra links the spare buffers into the list of the region's own descriptor,
// ended by 0. A buffer that is not free any more must not be in it.
func (g *region) giveExtra() {
	next := uint32(0)
	for _, idx := range g.spare {
		(*relax.Uint32)(arena.Ptr(g.bufs.at(idx))).StoreSeq(next)
		next = idx
	}
	g.nif.f.SetBufsHead(next)
	g.spare = nil
}

// ask gets up to n more extra buffers, through a descriptor that binds no port.
func (g *region) ask(n int) {
	fd, r, errno := g.c.register(binding{port: "godp", mode: abi.ModeNull, memID: g.id, extra: uint32(n)})
	if errno != 0 {
		return
	}
	if f, err := g.netif(g.c.prefix, r.Offset); err == nil {
		g.takeExtra(f.f, r.ExtraBufs)
	}
	g.c.k.Close(fd)
}

// pool returns the set's pool of the region. The first port of the set makes it,
// with at most want packets out of the spare buffers.
func (g *region) pool(set *worker.Set, want int, headroom uint32, strict bool) (*regionPool, error) {
	if p := g.pools[set]; p != nil {
		p.refs++
		return p, nil
	}
	n := min(want, len(g.spare))
	if n == 0 {
		return nil, errors.New("no buffer was granted")
	}
	pl, err := buffer.NewExternalPool(set, buffer.ExternalConfig{
		Name: fmt.Sprintf("%s region %d", g.c.prefix, g.id), Num: n, BufSize: int(g.bufs.size), Headroom: int(headroom), Strict: strict,
	})
	if err != nil {
		return nil, err
	}
	for i := 0; i < n; i++ {
		idx := g.spare[len(g.spare)-1]
		g.spare = g.spare[:len(g.spare)-1]
		pl.Attach(i, g.bufs.at(idx), idx)
	}
	p := &regionPool{Pool: pl, reg: g, refs: 1}
	g.pools[set] = p
	return p, nil
}

// release drops one user of a pool; the last one takes its buffers back. With
// driver.ErrPacketsOut some of its packets are still with somebody: nothing is allocated from
// it any more, and release is to be called again. Buffers of a pool that was abandoned
// meanwhile are lost until netmap's memory is idle.
func (g *region) release(set *worker.Set, p *regionPool) error {
	if p.refs > 1 {
		p.refs--
		return nil
	}
	if g.pools[set] == p {
		delete(g.pools, set)
	}
	if p.Closed() {
		return nil
	}
	err := p.Detach(func(_, ext uint32) {
		if ext != 0 {
			g.spare = append(g.spare, ext)
		}
	})
	switch {
	case err == nil:
		return p.Close()
	case p.Attached() > 0:
		return fmt.Errorf("%w: %w", driver.ErrPacketsOut, err)
	}
	return errors.Join(err, p.Abandon()) // the headers' memory goes back all the same
}

// close drops one user of the region; the last one gives everything back. The
// order suits both systems: Linux keeps a port in netmap mode while a mapping made
// through its descriptor exists, so the mapping goes first; FreeBSD tears down
// when the descriptor is closed, and then no page of it may be mapped any more.
func (g *region) close() error {
	if g.refs--; g.refs > 0 {
		return nil
	}
	delete(g.c.regions, g.id)
	g.giveExtra()
	err := g.mapping.Unmap()
	if errno := g.c.k.Close(g.fd); errno != 0 && err == nil {
		err = errno
	}
	return err
}
