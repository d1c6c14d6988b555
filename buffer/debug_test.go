// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"strings"
	"testing"
)

func TestDescriptions(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Name: "descr", Num: 10, Size: 64, Headroom: -1})
	k := filled(t, p, 100)
	if s := p.String(); !strings.Contains(s, `"descr"`) || !strings.Contains(s, "10 events of type packet") || !strings.Contains(s, "2 out") || !strings.Contains(s, "cache") {
		t.Error(s)
	}
	s := k.Dump(70)
	for _, w := range []string{`pool "descr"`, "100 bytes in 2 segments", "input -1", "00000000  00 07 0e", "l3 65535"} {
		if !strings.Contains(s, w) {
			t.Errorf("%s: wanted %q", s, w)
		}
	}
	if n := strings.Count(s, "\n"); n != 2+4+1 {
		t.Errorf("%d lines: %s", n, s)
	}
	e := k.FirstSeg().Next()
	if !k.Valid() || !e.Valid() || k.Index() == e.Index() {
		t.Error("two segments")
	}
	FreePacket(nil, k)
	if checked && k.Valid() {
		t.Error("a free packet is valid")
	}
	for typ, want := range map[Type]string{TypeBuffer: "buffer", TypeVector: "vector", TypeTimeout: "time-out", 9: "type 9"} {
		if typ.String() != want {
			t.Errorf("%d: %s", typ, typ)
		}
	}
	if c := Capabilities(); c.MaxPools != 255 || c.MaxNum < 1<<20 {
		t.Errorf("%+v", c)
	}
}
