// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/worker"
)

// ExternalConfig describes a pool whose buffers are a platform's: netmap
// buffers, UMEM frames.
type ExternalConfig struct {
	Name     string
	Num      int  // headers; each gets one buffer
	BufSize  int  // bytes of each buffer
	Headroom int  // bytes before the data of a packet that AllocPackets makes (default 0)
	MaxLen   int  // largest length ever allocated (default 65536)
	UserArea int  // as in PoolConfig
	Cache    int  // as in PoolConfig
	Need     int  // as in PoolConfig
	Strict   bool // as in PoolConfig
}

// NewExternalPool makes a packet pool of headers only. The platform gives each
// header a buffer with Attach and takes them off with Detach when it closes.
// In between buffers may change headers (Event.SwapBuf): what is kept is that each
// header has one. The caches per worker and the rules are those of every pool.
func NewExternalPool(set *worker.Set, cfg ExternalConfig) (*Pool, error) {
	p := &Pool{set: set, ext: true}
	head := cfg.Headroom
	if head <= 0 {
		head = -1
	}
	if cfg.BufSize < 64 || cfg.BufSize > maxSize || head >= cfg.BufSize {
		return nil, fmt.Errorf("%w %q: BufSize %d with Headroom %d: allowed 64 to %d, and more than Headroom", ErrPool, cfg.Name, cfg.BufSize, cfg.Headroom, maxSize)
	}
	err := p.configure(PoolConfig{Name: cfg.Name, Type: TypePacket, Num: cfg.Num, Size: cfg.BufSize - max(head, 0), Headroom: head,
		MaxLen: cfg.MaxLen, UserArea: cfg.UserArea, Cache: cfg.Cache, Need: cfg.Need, Strict: cfg.Strict})
	if err != nil {
		return nil, err
	}
	p.stride = uint32(cfg.BufSize)
	p.segCap = p.stride - p.head
	if err := p.open(context.Background()); err != nil {
		return nil, err
	}
	return p, nil
}

// Attach gives header i the buffer at arena offset buf*64, which the platform
// knows as number ext, and makes it available for allocation. The header must have
// none. Control plane: one caller at a time.
func (p *Pool) Attach(i int, buf, ext uint32) {
	e := p.EventAt(i)
	if !p.ext || e.state != stateDetached {
		panic(fmt.Sprintf("buffer: pool %q: Attach(%d): the header has a buffer already", p.cfg.Name, i))
	}
	e.buf, e.bufLen, e.ext = buf, p.stride, ext
	e.state = stateAlloc
	if checked {
		e.state = stateFree
	}
	p.attached.Add(1)
	ev := [1]uintptr{uintptr(unsafe.Pointer(e))}
	p.give(nil, ev[:])
}

// Detach takes the buffers off all headers that are in the pool and calls f with
// each. Afterwards workers do not cache any more, so that what comes back later
// can be had by calling Detach again. The error says how many are still out.
// Control plane: one caller at a time.
func (p *Pool) Detach(f func(buf, ext uint32)) error {
	if !p.ext {
		return p.bad("Detach: the pool owns its buffers; only a pool from NewExternalPool can be detached from")
	}
	err := p.revoke()
	var ev [64]uintptr
	for {
		n := p.take(nil, ev[:])
		if n == 0 {
			break
		}
		for _, w := range ev[:n] {
			e := (*Event)(p.ptr(w))
			buf, ext := e.buf, e.ext
			e.buf, e.bufLen, e.ext, e.state = 0, 0, 0, stateDetached
			p.attached.Add(^uint64(0))
			f(buf, ext)
		}
	}
	if err != nil {
		return err
	}
	if n := p.attached.LoadAcq(); n != 0 {
		return p.bad("Detach: %d of %d packets are still out%s", n, p.num, p.holders())
	}
	return nil
}

// Lose takes a header out of the pool whose buffer is gone (SwapBuf left none): it
// counts as detached from then on. The caller owns the packet, and forgets it.
func (p *Pool) Lose(k *Packet) {
	k.buf, k.bufLen, k.ext, k.state = 0, 0, 0, stateDetached
	if checked {
		p.cold(&k.Event).owner.StoreRel(0)
	}
	p.attached.Add(^uint64(0))
}

// Attached returns how many headers have a buffer. Any goroutine.
func (p *Pool) Attached() int { return int(p.attached.LoadAcq()) }

// ptr makes a pointer of a word of the free list.
func (p *Pool) ptr(w uintptr) unsafe.Pointer {
	return unsafe.Pointer(p.EventAt(int((w - p.store.base) >> 6)))
}
