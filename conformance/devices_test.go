// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
)

func TestDevices(t *testing.T) {
	f, err := Devices("loop:0?slots=64")
	if err != nil || f.Single != "loop:0?slots=64" || f.Pair[0] != "" || !f.Has(CapSingle) || f.Has(CapPair) || !f.Has(CapDevice) || f.Name != f.Single {
		t.Errorf("one device: %+v, %v", f, err)
	}
	f, err = Devices("loop:a", "loop:b")
	if err != nil || f.Pair != [2]string{"loop:a", "loop:b"} || f.Has(CapSingle) || !f.Has(CapPair) || !f.Has(CapDevice) || f.Skips != nil {
		t.Errorf("two devices: %+v, %v", f, err)
	}
	for _, c := range []struct{ names, say string }{
		{"", "0 devices"},
		{"loop:a loop:b loop:c", "3 devices"},
		{"loop:a loop:a", "twice"},
		{"none:a", "unknown kind"},
		{"loop:a loop:b?x", "key=value"},
	} {
		if _, err := Devices(strings.Fields(c.names)...); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%q: %v, want an error with %q", c.names, err, c.say)
		}
	}
}
