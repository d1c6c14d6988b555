// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"math"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// pool is odp_pool_perf: a round allocates some bursts and frees them. An event is one
// allocation and one free.
type pool struct {
	events, rounds, burst, bursts, size int
	kind, cache                         int

	inst *odp.Instance
	p    *odp.Pool
}

func newPool(fs *flag.FlagSet) task {
	p := &pool{}
	fs.IntVar(&p.events, "e", 1000, "`events` in the pool")
	fs.IntVar(&p.rounds, "r", 0, "`rounds` of each worker; 0 = for the time of -time")
	fs.IntVar(&p.burst, "b", 32, "most `events` in a call; 0 = calls for single events")
	fs.IntVar(&p.bursts, "n", 1, "`bursts` allocated one after the other, then freed")
	fs.IntVar(&p.size, "s", 64, "`bytes` of data")
	addChoice(fs, &p.kind, "t", 0, 0, "`kind` of event", "buffer", "packet")
	fs.IntVar(&p.cache, "C", -1, "`events` that a worker caches; 0 = none, -1 = the default of the pool")
	refuse(fs, map[string]string{"S": "the statistics are always on: they cost nothing in the loop"})
	return p
}

func (p *pool) check() error {
	return firstErr(
		within("e", p.events, 1, 1<<20), within("r", p.rounds, 0, math.MaxInt), within("b", p.burst, 0, maxBurst), within("n", p.bursts, 1, 1024),
		within("s", p.size, 1, 1<<16), within("C", p.cache, -1, 1024),
		when(max(1, p.burst)*p.bursts > p.events, "-e %d: fewer than the %d events of a round", p.events, max(1, p.burst)*p.bursts),
	)
}

func (p *pool) params() Params {
	x := Params{{"event", [...]string{"buffer", "packet"}[p.kind]}, {"events", p.events}, {"burst", p.burst}, {"bursts", p.bursts}, {"size", p.size}}
	if p.rounds > 0 {
		x = append(x, Param{"rounds", p.rounds})
	}
	if p.p != nil {
		x = append(x, Param{"cache", p.p.Info().CacheSize})
	}
	return x
}

func (p *pool) counted() bool { return p.rounds > 0 }

func (p *pool) open(e *env) (err error) {
	p.inst = e.inst
	cfg := odp.PoolConfig{Name: "bench", Num: p.events, Size: p.size, Type: buffer.TypeBuffer, Need: max(1, p.burst) * p.bursts * e.com.Workers}
	if p.kind == kindPacket {
		cfg.Type = buffer.TypePacket
	}
	cfg.Need = min(cfg.Need, p.events)
	switch {
	case p.cache == 0:
		cfg.Cache = -1
	case p.cache > 0:
		cfg.Cache = p.cache
	}
	p.p, err = e.inst.NewPool(cfg)
	return err
}

// configure: a worker id that nobody uses would take its share of the pool.
func (p *pool) configure(cfg *odp.Config) { cfg.MaxWorkers = cfg.Workers + 1 }

func (p *pool) work(w *odp.Worker, _ int, m *Meter) error {
	n := max(1, p.burst) * p.bursts
	switch {
	case p.kind == kindBuffer && p.burst == 0:
		p.singleBuffers(w, m, make([]*odp.Buffer, n))
	case p.kind == kindBuffer:
		p.buffers(w, m, make([]*odp.Buffer, n))
	case p.burst == 0:
		p.singlePackets(w, m, make([]*odp.Packet, n))
	default:
		p.packets(w, m, make([]*odp.Packet, n))
	}
	return nil
}

// buffers moves bursts.
func (p *pool) buffers(w *odp.Worker, m *Meter, bufs []*odp.Buffer) {
	pool, burst, limit := p.p, p.burst, m.Limit(uint64(p.rounds))
	var c Counts
	m.Begin()
	for c.Rounds < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n := 0
		for range p.bursts {
			k := pool.AllocBuffers(w, bufs[n:n+burst])
			n += k
			c.Calls++
			if k == 0 {
				c.Empty++
			}
		}
		c.Events += uint64(n)
		for rest := bufs[:n]; len(rest) > 0; {
			k := min(burst, len(rest))
			buffer.FreeBuffers(w, rest[:k])
			rest = rest[k:]
		}
	}
	m.Finish(c)
}

// packets moves bursts.
func (p *pool) packets(w *odp.Worker, m *Meter, pkts []*odp.Packet) {
	pool, burst, limit, size := p.p, p.burst, m.Limit(uint64(p.rounds)), p.size
	var c Counts
	m.Begin()
	for c.Rounds < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n := 0
		for range p.bursts {
			k := pool.AllocPackets(w, pkts[n:n+burst], size)
			n += k
			c.Calls++
			if k == 0 {
				c.Empty++
			}
		}
		c.Events += uint64(n)
		for rest := pkts[:n]; len(rest) > 0; {
			k := min(burst, len(rest))
			odp.FreePackets(w, rest[:k])
			rest = rest[k:]
		}
	}
	m.Finish(c)
}

// singleBuffers uses the calls for one event.
func (p *pool) singleBuffers(w *odp.Worker, m *Meter, bufs []*odp.Buffer) {
	pool, limit := p.p, m.Limit(uint64(p.rounds))
	var c Counts
	m.Begin()
	for c.Rounds < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n := 0
		for range bufs {
			b := pool.AllocBuffer(w)
			c.Calls++
			if b == nil {
				c.Empty++
				continue
			}
			bufs[n] = b
			n++
		}
		c.Events += uint64(n)
		for _, b := range bufs[:n] {
			pool.FreeBuffer(w, b)
		}
	}
	m.Finish(c)
}

// singlePackets uses the calls for one event.
func (p *pool) singlePackets(w *odp.Worker, m *Meter, pkts []*odp.Packet) {
	pool, limit, size := p.p, m.Limit(uint64(p.rounds)), p.size
	var c Counts
	m.Begin()
	for c.Rounds < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n := 0
		for range pkts {
			k := pool.AllocPacket(w, size)
			c.Calls++
			if k == nil {
				c.Empty++
				continue
			}
			pkts[n] = k
			n++
		}
		c.Events += uint64(n)
		for _, k := range pkts[:n] {
			buffer.FreePacket(w, k)
		}
	}
	m.Finish(c)
}

// closed looks whether the pool gave what it should have.
func (p *pool) closed(r *Rep) error {
	if out := p.p.Out(); out != 0 {
		return fmt.Errorf("%d events are out after the loops", out)
	}
	return nil
}
