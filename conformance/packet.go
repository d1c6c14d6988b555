// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/odp"
)

// sane checks the layout of a packet: its segments add up, and none is empty.
func (e *Env) sane(k *odp.Packet) {
	e.Helper()
	n, sum := 0, 0
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if s.Len() == 0 || len(s.Data()) != s.Len() {
			e.Fatalf("segment %d has %d bytes, and %d bytes of data", n, s.Len(), len(s.Data()))
		}
		n++
		sum += s.Len()
	}
	if n != k.NumSegs() || sum != k.Len() || k.Segmented() != (n > 1) {
		e.Fatalf("%d segments with %d bytes; the packet says %d, %d, segmented %v", n, sum, k.NumSegs(), k.Len(), k.Segmented())
	}
}
