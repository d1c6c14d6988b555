// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"

	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// farSide are the in-process netmap's ports among the interfaces: their far ends
// know what was sent and what arrived.
type farSide struct {
	names []string // by interface; "" = not an in-process netmap port
	all   bool     // every interface is one, with source and sink

	before nmsim.Report // the account when the run began
}

func farEnds(ifs []string) farSide {
	f := farSide{all: true}
	w := nmsim.Default()
	for _, name := range ifs {
		dev, ok := strings.CutPrefix(name, "nmsim:")
		dev, _, _ = strings.Cut(dev, "?")
		if i := strings.IndexAny(dev, "-^*/@"); i >= 0 {
			dev = dev[:i]
		}
		info, known := w.Info(dev)
		if !ok || !known {
			dev = ""
		}
		f.names = append(f.names, dev)
		f.all = f.all && dev != "" && info.Source && info.Sink
	}
	return f
}

// expect tells the sinks which addresses a forwarded frame must have.
func (f farSide) expect(r *run) {
	for i, name := range f.names {
		if name == "" {
			continue
		}
		var dst, src net.HardwareAddr
		if rw := &r.rw[i]; rw.dst {
			dst = rw.macs[:6]
		}
		if rw := &r.rw[i]; rw.src {
			src = r.rw[i].macs[6:]
		}
		nmsim.Default().Expect(name, dst, src)
	}
}

// stop ends the sources, so that what is on its way can arrive.
func (f farSide) stop() {
	for _, name := range f.names {
		if name != "" {
			nmsim.Default().StopSource(name, true)
		}
	}
}

// report is the account of all far ends together.
func (f farSide) report() (sum nmsim.Report) {
	for _, name := range f.names {
		if name != "" {
			sum = sum.Add(nmsim.Default().Report(name))
		}
	}
	return sum
}

// begin starts the account of a run.
func (f *farSide) begin() { f.before = f.report() }

// arrived reports whether all that the far ends sent has arrived or was dropped,
// dropped being what this program dropped; true where nobody can tell.
func (f farSide) arrived(dropped uint64) bool {
	return !f.all || f.report().Sub(f.before).Lost(dropped) <= 0
}

// account completes a result with what only the far ends know. Everything must have
// come to rest, and the ports be closed.
func (f farSide) account(res *result) {
	if !f.all {
		return
	}
	r := f.report().Sub(f.before)
	var ours uint64
	for _, v := range res.DropsByReason {
		ours += v
	}
	for k, v := range r.Drops() {
		res.DropsByReason["wire_"+k] += v
	}
	lost, corrupt := uint64(max(0, r.Lost(ours))), r.Corrupt+r.WrongMAC+r.Duplicate
	reordered := r.Reordered
	res.Lost, res.Reordered, res.Corrupt = &lost, &reordered, &corrupt
	res.far = &r
}
