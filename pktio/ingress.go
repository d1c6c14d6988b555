// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/meta"
)

// ingress is what every received packet goes through: one value per handle,
// read only once the port is open.
type ingress struct {
	port  int
	layer meta.Layer
	hash  Hash
	stamp bool
}

// burst parses a received burst and returns the bytes in it. The packets'
// metadata is written here, all of it; what they had of a Value is gone.
func (g *ingress) burst(pkts []*buffer.Packet, queue int) (bytes uint64) {
	layer, port := g.layer, g.port
	switch {
	case g.hash != HashNone:
		bytes = g.burstHash(pkts, queue)
	case layer == meta.LayerNone:
		for _, k := range pkts {
			k.SetIngress(0, meta.NoOffset, meta.NoOffset, port, queue)
			bytes += uint64(k.Len())
		}
	default:
		for _, k := range pkts {
			n := uint32(k.Len())
			bytes += uint64(n)
			var f meta.Flags
			var l3, l4 uint16
			if k.Segmented() {
				f, l3, l4 = header.ParseSegment(k.DataPtr(), uint32(k.SegLen()), n, layer)
			} else {
				f, l3, l4 = header.Parse(k.DataPtr(), n, layer)
			}
			k.SetIngress(f, l3, l4, port, queue)
		}
	}
	if g.stamp {
		t := uint64(now())
		for _, k := range pkts {
			k.SetTime(t)
		}
	}
	return bytes
}

// burstHash is burst with a flow hash. The hash needs the ports whatever depth
// the program asked for.
func (g *ingress) burstHash(pkts []*buffer.Packet, queue int) (bytes uint64) {
	for _, k := range pkts {
		p, n := k.DataPtr(), uint32(k.SegLen())
		bytes += uint64(k.Len())
		f, l3, l4 := header.ParseSegment(p, n, uint32(k.Len()), meta.LayerL4)
		h := flowHash(k, g.hash, f, l3, l4)
		if g.layer != meta.LayerL4 {
			f, l3, l4 = header.ParseSegment(p, n, uint32(k.Len()), g.layer)
		}
		k.SetIngress(f, l3, l4, g.port, queue)
		k.SetFlowHash(h)
	}
	return bytes
}

// rss is the hash of HashToeplitz: that of a NIC with the usual key.
var rss = header.NewToeplitz(&header.MicrosoftKey)

func flowHash(k *buffer.Packet, hash Hash, f meta.Flags, l3, l4 uint16) uint32 {
	if hash == HashToeplitz {
		return rss.Flow(k.DataPtr(), uint32(k.SegLen()), f, l3, l4)
	}
	return header.FlowHash(k.DataPtr(), uint32(k.SegLen()), f, l3, l4)
}

// FlowHash computes the hash of a frame that may not have been parsed.
func FlowHash(k *buffer.Packet, hash Hash) uint32 {
	f, l3, l4 := header.ParseSegment(k.DataPtr(), uint32(k.SegLen()), uint32(k.Len()), meta.LayerL4)
	return flowHash(k, hash, f, l3, l4)
}

// base is where the time stamps and the lock clock count from.
var base = time.Now()

func now() int64 { return int64(time.Since(base)) }
