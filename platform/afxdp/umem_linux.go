// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

const (
	headroom       = 256 // what XDP leaves before a frame
	defaultPackets = 8192
	spareSockets   = 4 // a UMEM has frames for so many more sockets than its first device needs
	maxSockets     = 250
)

// umem is memory for frames that sockets share, and the pool over it. A frame is in a
// packet, spare, or held by a socket.
type umem struct {
	set   *worker.Set
	mem   *arena.Range
	size  uint32 // of a frame, a power of two
	shift uint32
	total uint32
	pool  *buffer.Pool

	// holder says which socket the kernel has a frame through, 0 = none. An entry is
	// written by the owner of the queue that gives or takes the frame.
	holder []uint8

	// guarded by umemMu
	spare []uint32
	socks []*xsk // open
	used  [maxSockets + 1]bool
	refs  int
	dead  bool // its pool is being closed
}

var (
	umemMu sync.Mutex
	umems  []*umem
)

// acquire finds a UMEM of the set with room for n sockets, each of which holds per
// frames, or makes one. alone: one that nobody has yet. The UMEM of cfg.Pool is taken if
// there is one.
func acquire(cfg driver.Config, size uint32, n, per int, alone bool) (*umem, error) {
	umemMu.Lock()
	defer umemMu.Unlock()
	for _, u := range umems {
		fits := u.set == cfg.Set && u.size == size && !u.dead && !alone && len(u.spare) >= n*per && len(u.socks)+n <= maxSockets
		if fits && (cfg.Pool == nil || cfg.Pool == u.pool || !u.owns(cfg.Pool)) {
			u.refs++
			return u, nil
		}
	}
	packets := cfg.PoolPackets
	switch {
	case cfg.Pool != nil:
		packets = 64 // packets come from another pool
	case packets <= 0:
		packets = defaultPackets
	}
	total := packets + (n+spareSockets)*per
	u := &umem{set: cfg.Set, size: size, total: uint32(total), holder: make([]uint8, total), refs: 1}
	for 1<<u.shift < size {
		u.shift++
	}
	var err error
	u.mem, err = arena.New(arena.Config{Name: "umem", Size: uint64(total) << u.shift, Huge: true})
	if err != nil {
		return nil, err
	}
	u.pool, err = buffer.NewExternalPool(cfg.Set, buffer.ExternalConfig{Name: "umem", Num: packets, BufSize: int(size), Headroom: headroom, Strict: cfg.Strict})
	if err != nil {
		return nil, errors.Join(err, u.mem.Close())
	}
	for i := range packets {
		u.pool.Attach(i, u.at(uint32(i)), uint32(i))
	}
	for i := total - 1; i >= packets; i-- {
		u.spare = append(u.spare, uint32(i))
	}
	umems = append(umems, u)
	return u, nil
}

// owns reports whether another UMEM has this pool; umemMu is held.
func (u *umem) owns(p *buffer.Pool) bool {
	return slices.ContainsFunc(umems, func(o *umem) bool { return o != u && o.pool == p })
}

// at returns the arena offset / 64 of a frame.
func (u *umem) at(frame uint32) uint32 { return uint32((u.mem.Off + uint64(frame)<<u.shift) >> 6) }

// number gives a socket its number; umemMu is held.
func (u *umem) number() uint8 {
	for i := 1; i <= maxSockets; i++ {
		if !u.used[i] {
			u.used[i] = true
			return uint8(i)
		}
	}
	return 0
}

// take removes n spare frames; nil when there are fewer.
func (u *umem) take(n int) []uint32 {
	if len(u.spare) < n {
		return nil
	}
	at := len(u.spare) - n
	got := slices.Clone(u.spare[at:])
	u.spare = u.spare[:at]
	return got
}

// reclaim takes back what a closed socket held; umemMu is held.
func (u *umem) reclaim(s *xsk) {
	for i, h := range u.holder {
		if h == s.id {
			u.holder[i] = 0
			u.spare = append(u.spare, uint32(i))
		}
	}
	u.spare = append(u.spare, s.free...)
	s.free = nil
	u.used[s.id] = false
	if i := slices.Index(u.socks, s); i >= 0 {
		u.socks = slices.Delete(u.socks, i, i+1)
	}
}

// release drops one device; the last one closes the pool and gives the memory back.
// The error wraps driver.ErrPacketsOut when packets are out: the call can be repeated.
func (u *umem) release(device string) error {
	umemMu.Lock()
	defer umemMu.Unlock()
	if u.refs > 0 {
		u.refs--
	}
	if u.refs > 0 {
		return nil
	}
	u.dead = true
	if err := u.pool.Detach(func(_, ext uint32) { u.spare = append(u.spare, ext) }); err != nil {
		return fmt.Errorf("device %q: %w: %w", device, driver.ErrPacketsOut, err)
	}
	if i := slices.Index(umems, u); i >= 0 {
		umems = slices.Delete(umems, i, i+1)
	}
	return errors.Join(u.pool.Close(), u.mem.Close())
}
