// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package netmap

import (
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// TestIndexRanges: a slot or buffer index that nobody checked is told when it is used.
func TestIndexRanges(t *testing.T) {
	set, _ := newSet(t)
	h := newHandPort(t, set, true, true, false)
	defer h.end(t)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"slot 16 is used, of 16", func() { h.tx.g.slot(handSlots) }},
		{"slot 4294967295 is used", func() { h.rx.rings[0].slot(1<<32 - 1) }},
		{"buffer index 130 is used, of 130", func() { h.bufs.at(h.bufs.total) }},
		{"buffer index 1 is used", func() { h.bufs.at(abi.FirstBuf - 1) }},
	} {
		func() {
			defer func() {
				if f, ok := recover().(invariants.Failure); !ok || !strings.Contains(f.Text, c.want) {
					t.Errorf("%v, wanted %q", f, c.want)
				}
			}()
			c.f()
		}()
	}
	h.tx.g.slot(handSlots - 1)
	h.bufs.at(abi.FirstBuf)
	h.bufs.at(h.bufs.total - 1)
}
