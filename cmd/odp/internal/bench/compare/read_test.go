// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// What the peers printed here is read as it stands in it.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		file    string
		read    func(string) (reading, error)
		value   float64
		workers int
	}{
		{"odp_sched_c2.txt", readODPTotal, 593.134e6, 2},
		{"odp_queue_c2.txt", readODPTotal, 323.878e6, 2},
		{"odp_pool_c1.txt", readODPTotal, 860.093e6, 1},
		{"odp_l2fwd_c2.txt", readL2fwd, 23573505, 2},
		{"testpmd_null.txt", readTestpmd, 47231854/2.0 + 47246432/2.0 + 47238499/2.0 + 47239428/2.0, 0},
		{"dpdk_lpm6.txt", readAfter("BULK LPM Lookup"), 35.6, 0},
		{"dpdk_lpm6.txt", readAfter("Average LPM Lookup"), 78.6, 0},
		{"odp_latency_c2.txt", readLatency, 826, 2},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.read(string(b))
		if err != nil || r.value != c.value || r.workers != c.workers {
			t.Errorf("%s: %+v, %v, want %v and %d workers", c.file, r, err, c.value, c.workers)
		}
	}
}

// An output without a result is an error, not a zero.
func TestReadNothing(t *testing.T) {
	for name, read := range map[string]func(string) (reading, error){
		"total": readODPTotal, "l2fwd": readL2fwd, "latency": readLatency, "testpmd": readTestpmd, "lpm6": readAfter("BULK LPM Lookup"),
	} {
		for _, out := range []string{"", "some text\n", "TOTAL events per sec:  nothing\n", "HIGH priority\nThread\nLOW priority\n"} {
			if r, err := read(out); err == nil {
				t.Errorf("%s: %+v from %q", name, r, out)
			}
		}
	}
}
