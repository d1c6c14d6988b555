// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/odp-go/godp/internal/arena"
)

// Sentinels of changes; the errors say more.
var (
	ErrFull    = errors.New("table full")
	ErrNoRoute = errors.New("no such route")
	ErrRange   = errors.New("out of range")
	ErrClosed  = errors.New("table closed")
)

// Config describes a table. The zero value of a field is its default.
type Config struct {
	Name string // for errors and Info
	// Default is the answer for addresses without a route.
	Default uint32
	// MaxHop is the largest next hop. The numbers of an entry above it count groups, so
	// that a V4 of 2 bytes has room for 65535-MaxHop groups. Default: half of what an entry
	// can hold.
	MaxHop uint32
	// Groups is how many second-level pieces the table has: one for each /24 of IPv4
	// that has a longer route in it; for IPv6 up to two for each route longer than /24,
	// far fewer when routes lie close together. Default 4096.
	Groups int
	// Routes is how many routes are expected: nothing is refused above it, but the map of
	// routes then grows on the way. Default 0.
	Routes int
	// Grace returns when no look-up that had begun before the call is under way:
	// worker.Set.Grace. nil is for tables that nobody reads while they are changed.
	Grace func(context.Context) error
}

// graceTimeout is how long a change waits for readers before it gives up.
const graceTimeout = 2 * time.Second

// Info says what a table is and holds.
type Info struct {
	Name   string
	Routes int
	Groups int // in use
	Room   int // groups in all
	Bytes  uint64
	Hot    uint64 // the part of Bytes that look-ups touch
	Memory string // what pages it got, and why no better ones
}

func info(cfg *Config, r *arena.Range, g *groups, routes int, hot uint64) Info {
	i := Info{Name: cfg.Name, Routes: routes, Groups: int(g.next) - len(g.free) - len(g.limbo), Room: int(g.max), Hot: hot}
	if r != nil {
		i.Bytes, i.Memory = r.Size, string(r.Backing)
		if r.Note != "" {
			i.Memory += ": " + r.Note
		}
	}
	return i
}

// groups hands out the numbers of second-level pieces.
type groups struct {
	next, max uint32   // next that was never used
	free      []uint32 // used before, and no reader can be in them
	limbo     []uint32 // taken away, readers may still be in them
	grace     func(context.Context) error
}

// reserve makes sure that the next n calls of take succeed.
func (g *groups) reserve(n int) error {
	have := int(g.max-g.next) + len(g.free)
	if have >= n {
		return nil
	}
	if have+len(g.limbo) < n {
		return fmt.Errorf("%w: all %d groups are in use: give Config.Groups a larger value", ErrFull, g.max)
	}
	if g.grace != nil {
		ctx, cancel := context.WithTimeout(context.Background(), graceTimeout)
		defer cancel()
		if err := g.grace(ctx); err != nil {
			return fmt.Errorf("groups to use again wait for their readers: %w", err)
		}
	}
	g.free = append(g.free, g.limbo...)
	g.limbo = g.limbo[:0]
	return nil
}

func (g *groups) take() uint32 {
	if n := len(g.free); n > 0 {
		i := g.free[n-1]
		g.free = g.free[:n-1]
		return i
	}
	g.next++
	return g.next - 1
}

func (g *groups) retire(i uint32) {
	if g.grace == nil {
		g.free = append(g.free, i)
		return
	}
	g.limbo = append(g.limbo, i)
}

// fill writes v to all entries of a table that nobody knows yet, whose memory is zeroed.
func fill[H Hop](entries []H, v H) {
	if v == 0 {
		return
	}
	entries[0] = v
	for n := 1; n < len(entries); n *= 2 {
		copy(entries[n:], entries[:n])
	}
}

// check is what all changes ask of their prefix.
func check(op, name string, p netip.Prefix, v4 bool) error {
	if !p.IsValid() || p.Addr().Is4() != v4 || p.Addr().Zone() != "" {
		kind, bits := "IPv6", 128
		if v4 {
			kind, bits = "IPv4", 32
		}
		return fmt.Errorf("lookup: table %q: %s %v: %w: an %s prefix of 0 to %d bits is wanted", name, op, p, ErrRange, kind, bits)
	}
	return nil
}

func fail(op, name string, p netip.Prefix, err error) error {
	return fmt.Errorf("lookup: table %q: %s %v: %w", name, op, p.Masked(), err)
}
