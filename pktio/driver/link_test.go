// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"strings"
	"testing"
)

func TestLinkWords(t *testing.T) {
	for _, c := range []struct {
		l    Link
		want string
	}{
		{Virtual(), "up, 0 Mbit/s, duplex full, autoneg off, pause rx off tx off, media virtual"},
		{Link{Known: true, Speed: 1000, Duplex: DuplexHalf, Autoneg: SwitchOn, PauseTx: SwitchOn, Media: "copper"}, "down, 1000 Mbit/s, duplex half, autoneg on, pause rx unknown tx on, media copper"},
		{Link{Up: true}, "unknown, 0 Mbit/s, duplex unknown"},
		{Link{Duplex: 9, Autoneg: 8}, "duplex Duplex(9), autoneg Switch(8)"},
	} {
		if s := c.l.String(); !strings.HasPrefix(s, c.want) && !strings.Contains(s, c.want) {
			t.Errorf("%q, want %q", s, c.want)
		}
	}
}
