// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// config is a mutant that changes what a pool is asked for.
func config(f func(c *odp.PoolConfig)) func(o *ops) {
	return func(o *ops) {
		real := o.NewPool
		o.NewPool = func(in *odp.Instance, cfg odp.PoolConfig) (*odp.Pool, error) {
			f(&cfg)
			return real(in, cfg)
		}
	}
}

func TestPoolSuiteBites(t *testing.T) {
	suiteBites(t, "POOL", "3[789]|4[0145]", []mutant{
		{"names are cut", config(func(c *odp.PoolConfig) { c.Name = c.Name[:min(len(c.Name), 30)] }), "13"},
		{"no pool is found by its name", func(o *ops) { o.Lookup = func(string) *odp.Pool { return nil } }, "12 13 14 15 16 17 18"},
		{"a user area is initialised twice", config(func(c *odp.PoolConfig) {
			if f := c.UserAreaInit; f != nil {
				c.UserAreaInit = func(area []byte, i int) {
					f(area, i)
					if i == 0 {
						f(area, i)
					}
				}
			}
		}), "07 08 09 11"},
		{"a free clears the user area", func(o *ops) {
			real := o.FreeEvents
			o.FreeEvents = func(w *odp.Worker, ev []*odp.Event) {
				for _, x := range ev {
					clear(x.UserArea())
				}
				real(w, ev)
			}
		}, "07 08 09 10 11"},
		{"user areas of the default size", config(func(c *odp.PoolConfig) { c.UserArea = max(c.UserArea, 8) }), "01 07 08 09 11"},
		{"failed allocations are not counted", func(o *ops) {
			real := o.Stats
			o.Stats = func(p *odp.Pool) buffer.PoolStats { s := real(p); s.AllocFails = 0; return s }
		}, "46 47 48 50"},
		{"cached events are not counted as available", func(o *ops) {
			real := o.Stats
			o.Stats = func(p *odp.Pool) buffer.PoolStats { s := real(p); s.CacheAvailable = 0; return s }
		}, "46 47 48 50"},
		{"the data range is too small", func(o *ops) {
			real := o.Info
			o.Info = func(p *odp.Pool) buffer.PoolInfo { i := real(p); i.MaxDataAddr -= 4096; return i }
		}, "36"},
		{"further lengths are forgotten", config(func(c *odp.PoolConfig) {
			for _, s := range c.Sub {
				c.MaxLen = max(c.MaxLen, s.Len)
			}
			c.Sub = nil
		}), "31"},
		{"segments are smaller than asked for", func(o *ops) {
			real := o.AllocPackets
			o.AllocPackets = func(p *odp.Pool, w *odp.Worker, pkts []*odp.Packet, n int) int {
				m := real(p, w, pkts, n)
				for _, k := range pkts[:m] {
					k.PullHead(k.SegLen() - 10)
				}
				return m
			}
		}, "28 29 30 31 42"},
		{"the last packet never comes out", func(o *ops) {
			real := o.AllocPackets
			o.AllocPackets = func(p *odp.Pool, w *odp.Worker, pkts []*odp.Packet, n int) int {
				if p.Available() <= 1 {
					return 0
				}
				return real(p, w, pkts, n)
			}
		}, "08 10 28 29 30 36 44 45 47"},
		{"large pools are a little smaller", config(func(c *odp.PoolConfig) {
			if c.Num >= 4096 {
				c.Num--
			}
		}), "37 38 39 40 41"},
		{"a pool without cache caches", config(func(c *odp.PoolConfig) {
			if c.Cache == -1 {
				c.Cache = 0
			}
		}), "20 33"},
		{"a closed pool gives no error the second time", func(o *ops) {
			real := o.Close
			o.Close = func(p *odp.Pool) error {
				if p.Closed() {
					return nil
				}
				return real(p)
			}
		}, "02 03 04 05"},
	})
}

func TestBufferSuiteBites(t *testing.T) {
	suiteBites(t, "BUF", "1[567]", []mutant{
		{"buffers are a little smaller", config(func(c *odp.PoolConfig) { c.Size = c.Size * 9 / 10 }), "01 02 03 04 05 06 07 08 09 10 11"},
		{"with the largest cache a pool has half of its events", config(func(c *odp.PoolConfig) {
			if c.Cache == buffer.MaxCache {
				c.Num = max(1, c.Num/2)
			}
		}), "04 08"},
		{"large buffers are cut", config(func(c *odp.PoolConfig) { c.Size = min(c.Size, 60000) }), "02 06"},
		{"a burst loses a buffer", func(o *ops) {
			real := o.AllocBuffers
			o.AllocBuffers = func(p *odp.Pool, w *odp.Worker, b []*odp.Buffer) int {
				n := real(p, w, b)
				if n == len(b) && n > 1 {
					n--
					buffer.FreeEvent(w, &b[n].Event)
					b[n] = b[0]
					n++
				}
				return n
			}
		}, "05 06 07 08"},
		{"a free call takes only events of one pool", func(o *ops) {
			real := o.FreeEvents
			o.FreeEvents = func(w *odp.Worker, ev []*odp.Event) {
				n := 1
				for n < len(ev) && ev[n].PoolOf() == ev[0].PoolOf() {
					n++
				}
				real(w, ev[:min(n, len(ev))])
			}
		}, "12 13 14 15 16 17"},
		{"an empty pool gives a buffer of the heap", func(o *ops) {
			real := o.AllocBuffers
			o.AllocBuffers = func(p *odp.Pool, w *odp.Worker, b []*odp.Buffer) int {
				n := real(p, w, b)
				if n == 0 && p.Num() == 1 {
					b[0] = new(odp.Buffer)
					return 1
				}
				return n
			}
		}, "09 10 11 12 13 14"},
		{"all buffers have the same user area", func(o *ops) {
			o.UserArea = func(x *odp.Event) []byte { return x.PoolOf().EventAt(0).UserArea() }
		}, "18"},
		{"an event does not know its pool", func(o *ops) { o.PoolOf = func(*odp.Event) *odp.Pool { return nil } },
			"01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17"},
	})
}
