// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/odp-go/godp/internal/arena"
)

// Limits of a pool's configuration.
const (
	MaxName     = 31
	MaxCache    = 1024
	MaxAlign    = 4096
	MaxUserArea = 1 << 20
	MaxSub      = 7
	maxNum      = 1 << 28
	maxSize     = 1 << 30

	defaultCache    = 256
	defaultSize     = 1856 // + headroom 128 = 31 lines, an odd number
	defaultHeadroom = 128
	defaultMaxLen   = 65536
	maxSegs         = 4096 // segments in a packet
)

func wrapPool(name string, err error) error { return fmt.Errorf("%w %q: %w", ErrPool, name, err) }

func (p *Pool) bad(format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrPool, p.cfg.Name, fmt.Sprintf(format, args...))
}

// configure checks cfg, fills in the defaults and does the size arithmetic.
func (p *Pool) configure(cfg PoolConfig) error {
	p.cfg = cfg
	c := &p.cfg
	if len(c.Name) > MaxName {
		return p.bad("the name has %d bytes: allowed up to %d", len(c.Name), MaxName)
	}
	if c.Type == 0 {
		c.Type = TypePacket
	}
	if c.Type > TypeTimeout {
		return p.bad("Type %d is unknown: use TypeBuffer, TypePacket, TypeVector or TypeTimeout", c.Type)
	}
	p.typ = c.Type
	if p.set == nil {
		return p.bad("no worker set: pass the set of the instance")
	}
	if c.Num < 1 || c.Num > maxNum {
		return p.bad("Num %d: allowed 1 to %d", c.Num, maxNum)
	}
	p.num = c.Num
	if err := p.configureSize(); err != nil {
		return err
	}
	if err := p.configureSub(); err != nil {
		return err
	}
	if c.UserArea < 0 || c.UserArea > MaxUserArea {
		return p.bad("UserArea %d: allowed 0 to %d bytes", c.UserArea, MaxUserArea)
	}
	p.areaStep = uint32(c.UserArea+7) &^ 7
	each := uint64(64+coldSize) + uint64(p.areaStep) + uint64(p.stride)
	if total := each * uint64(p.num); total > arena.Size() {
		return p.bad("%d events of %d bytes (header, user area, data) are %d MiB, and the process reserves %d MiB of address space for packet memory: make Num or Size smaller",
			p.num, each, total>>20, arena.Size()>>20)
	}
	return p.configureCache()
}

// configureSize sets stride, segCap, head and maxLen.
func (p *Pool) configureSize() error {
	c := &p.cfg
	if c.Align < 0 || c.Align > MaxAlign || bits.OnesCount(uint(c.Align)) > 1 {
		return p.bad("Align %d: allowed powers of two up to %d", c.Align, MaxAlign)
	}
	size := uint64(max(c.Size, 0))
	switch {
	case c.Size < 0 || c.Size > maxSize:
		return p.bad("Size %d: allowed 1 to %d", c.Size, maxSize)
	case c.Size == 0 && c.Type == TypePacket:
		size = defaultSize
	case c.Size == 0 && c.Type == TypeTimeout:
		size = 64
	case c.Size == 0:
		return p.bad("Size is not set: say how many bytes a buffer, or events a vector, holds")
	case c.Type == TypeVector:
		size *= 8
	}
	if c.Size == 0 {
		c.Size = int(size)
	}
	if c.Type != TypePacket {
		p.stride = stagger(size, max(64, uint64(c.Align)))
		p.maxLen, p.segCap = uint32(size), uint32(size)
		return nil
	}
	if c.Headroom > maxSize {
		return p.bad("Headroom %d: allowed up to %d bytes, -1 for none", c.Headroom, maxSize)
	}
	head := uint64(max(c.Headroom, 0))
	if c.Headroom == 0 {
		head = defaultHeadroom
	}
	if a := uint64(c.Align); a > 1 {
		head = (head + a - 1) &^ (a - 1)
	}
	switch {
	case c.MaxLen == 0:
		c.MaxLen = defaultMaxLen
	case c.MaxLen < 0 || c.MaxLen > maxSize:
		return p.bad("MaxLen %d: allowed 1 to %d", c.MaxLen, maxSize)
	}
	p.stride = stagger(head+size, max(64, uint64(c.Align)))
	p.head, p.segCap = uint32(head), p.stride-uint32(head)
	p.maxLen = uint32(max(c.MaxLen, c.Size))
	c.Headroom, c.MaxLen = int(head), int(p.maxLen)
	return nil
}

// configureSub adds the segments that the packets of the further lengths need.
func (p *Pool) configureSub() error {
	c := &p.cfg
	if len(c.Sub) == 0 {
		return nil
	}
	if c.Type != TypePacket || len(c.Sub) > MaxSub {
		return p.bad("Sub has %d entries: allowed up to %d, in a pool of packets", len(c.Sub), MaxSub)
	}
	c.Sub = slices.Clone(c.Sub)
	below := c.Size
	for i, s := range c.Sub {
		switch {
		case s.Len <= below || s.Len > maxSize:
			return p.bad("Sub[%d].Len %d: allowed %d to %d (above the length before it)", i, s.Len, below+1, maxSize)
		case s.Num < 1 || s.Num > maxNum:
			return p.bad("Sub[%d].Num %d: allowed 1 to %d", i, s.Num, maxNum)
		}
		below = s.Len
		segs := 1
		if rest := s.Len - int(p.segCap); rest > 0 {
			segs += (rest + int(p.stride) - 1) / int(p.stride)
		}
		if segs > maxSegs || s.Num*segs > maxNum-p.num {
			return p.bad("Sub[%d]: %d packets of %d bytes are %d segments: allowed %d in a packet, %d in all", i, s.Num, s.Len, s.Num*segs, maxSegs, maxNum)
		}
		p.num += s.Num * segs
	}
	p.maxLen = max(p.maxLen, uint32(below))
	c.MaxLen = int(p.maxLen)
	return nil
}

// stagger rounds a chunk up to a multiple of align that is an odd number of
// them where the chunk is large, so that starts do not fall on a few cache sets.
func stagger(size, align uint64) uint32 {
	n := (size + align - 1) / align
	if n >= 8 && n&1 == 0 {
		n++
	}
	return uint32(n * align)
}

// configureCache applies the rule Num >= Need + workers x Cache.
func (p *Pool) configureCache() error {
	c := &p.cfg
	if c.Cache < -1 || c.Cache > MaxCache {
		return p.bad("Cache %d: allowed 1 to %d events, 0 for the default, -1 for none", c.Cache, MaxCache)
	}
	if c.Need < 0 || c.Need > p.num {
		return p.bad("Need %d: allowed 0 to Num (%d)", c.Need, p.num)
	}
	if c.Need == 0 {
		c.Need = (p.num + 1) / 2
	}
	if c.Cache == -1 {
		return nil
	}
	want := c.Cache
	if want == 0 {
		want = defaultCache
	}
	fits := (p.num - c.Need) / p.set.Max()
	if fits < 2 {
		fits = -1
	}
	if fits >= want {
		c.Cache = want
		return nil
	}
	if c.Strict && c.Cache > 0 {
		return p.bad("Num %d is less than Need %d + %d workers x Cache %d = %d: raise Num, or lower Cache to %d",
			p.num, c.Need, p.set.Max(), want, c.Need+p.set.Max()*want, fits)
	}
	if fits < 0 {
		p.note("no cache per worker: Num %d, Need %d and %d workers leave no event to cache (wanted %d)", p.num, c.Need, p.set.Max(), want)
	} else {
		p.note("the cache per worker is %d instead of %d: Num %d - Need %d over %d workers", fits, want, p.num, c.Need, p.set.Max())
	}
	c.Cache = fits
	return nil
}

func (p *Pool) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// checkBacking reports or refuses memory without huge pages.
func (p *Pool) checkBacking() error {
	if p.mem.Backing != arena.Plain || p.mem.Size < 1<<20 {
		return nil
	}
	if p.cfg.Strict {
		return p.bad("the memory got no huge pages: set /sys/kernel/mm/transparent_hugepage/enabled to madvise, or vm.nr_hugepages to at least %d", (p.mem.Size+2<<20-1)/(2<<20))
	}
	p.note("the memory got no huge pages")
	return nil
}
