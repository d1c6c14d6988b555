// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	m := Read()
	if m.System == "" || m.Kernel == "" || m.CPUs < 1 || m.Usable == "" || m.Memory < 1<<20 || m.PageSize < 4096 {
		t.Errorf("%+v", m)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if host, _ := os.Hostname(); len(host) > 3 && strings.Contains(string(b), host) {
		t.Errorf("the name of the host, %q, is in %s", host, b)
	}
}
