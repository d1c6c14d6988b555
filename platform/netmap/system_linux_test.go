// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race && !portable

package netmap

import (
	"encoding/binary"
	"testing"

	"github.com/odp-go/godp/platform/netmap/abi"
)

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		speed          uint32
		duplex, port   byte
		autoneg        byte
		wantSpeed      int
		wantDup, wantA uint8
		media          string
	}{
		{10000, 1, 3, 1, 10000, 2, 2, "fibre"},
		{400000, 1, 5, 0, 400000, 2, 1, "copper"},
		{0xffffffff, 0xff, 0xff, 0xff, 0, 0, 0, ""},
		{0xffff, 0, 0, 0, 0, 1, 1, "copper"},
	} {
		b := make([]byte, 256)
		binary.NativeEndian.PutUint16(b[12:], uint16(c.speed))
		binary.NativeEndian.PutUint16(b[28:], uint16(c.speed>>16))
		b[14], b[15], b[18] = c.duplex, c.port, c.autoneg
		var i abi.IfInfo
		settings(b, &i)
		if i.Speed != c.wantSpeed || i.Duplex != c.wantDup || i.Autoneg != c.wantA || i.Media != c.media {
			t.Errorf("%+v: %+v", c, i)
		}
	}
}
