// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"time"
	"unsafe"

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
				f, l3, l4 = parseSegments(k, layer)
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

// headers views the start of a packet's data, n bytes at p: the first segment, or where
// that is too short for all headers, a copy in flat of the first segments. A frame may
// come in pieces of any size: the slots of a chain are as its sender made them.
func headers(k *buffer.Packet, flat *[header.MaxHeaders]byte) (p unsafe.Pointer, n uint32) {
	if k.SegLen() >= len(flat) || !k.Segmented() {
		return k.DataPtr(), uint32(k.SegLen())
	}
	b := flat[:min(len(flat), k.Len())]
	if k.CopyToMem(0, b) != nil { // no error is possible: the bytes are in the packet
		return k.DataPtr(), uint32(k.SegLen())
	}
	return unsafe.Pointer(flat), uint32(len(b))
}

func parseSegments(k *buffer.Packet, layer meta.Layer) (f meta.Flags, l3, l4 uint16) {
	var flat [header.MaxHeaders]byte
	p, n := headers(k, &flat)
	return header.ParseSegment(p, n, uint32(k.Len()), layer)
}

// burstHash is burst with a flow hash. The hash needs the ports whatever depth
// the program asked for.
func (g *ingress) burstHash(pkts []*buffer.Packet, queue int) (bytes uint64) {
	var flat [header.MaxHeaders]byte
	for _, k := range pkts {
		p, n := headers(k, &flat)
		bytes += uint64(k.Len())
		f, l3, l4 := header.ParseSegment(p, n, uint32(k.Len()), meta.LayerL4)
		h := flowHash(p, n, g.hash, f, l3, l4)
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

func flowHash(p unsafe.Pointer, n uint32, hash Hash, f meta.Flags, l3, l4 uint16) uint32 {
	if hash == HashToeplitz {
		return rss.Flow(p, n, f, l3, l4)
	}
	return header.FlowHash(p, n, f, l3, l4)
}

// FlowHash computes the hash of a frame that may not have been parsed.
func FlowHash(k *buffer.Packet, hash Hash) uint32 {
	var flat [header.MaxHeaders]byte
	p, n := headers(k, &flat)
	f, l3, l4 := header.ParseSegment(p, n, uint32(k.Len()), meta.LayerL4)
	return flowHash(p, n, hash, f, l3, l4)
}

// base is where the time stamps and the lock clock count from.
var base = time.Now()

func now() int64 { return int64(time.Since(base)) }

// Now returns the clock of the time stamps of received packets (Config.Timestamps):
// nanoseconds since the program started, the same for all ports. (ODP: odp_pktio_time.)
func Now() uint64 { return uint64(now()) }
