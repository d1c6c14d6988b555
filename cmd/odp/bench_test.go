// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// Every benchmark runs once, with the defaults of its options, so that it always works.
// The figures of such a run mean nothing and are not looked at.
func TestBenchShort(t *testing.T) {
	for _, name := range []string{"sched", "queue", "pool", "packet", "l2fwd", "sched-pktio", "latency", "lookup", "memory"} {
		if testkit.Race && name == "lookup" {
			continue // filling the 2^24 entries takes a minute then
		}
		status, out, errs := odp(t, "bench", name, "-short", "-json")
		if status != 0 {
			t.Errorf("odp bench %s: status %d: %s", name, status, errs)
			continue
		}
		var res map[string]any
		if err := json.Unmarshal([]byte(out), &res); err != nil {
			t.Errorf("odp bench %s: %v in %s", name, err, out)
		}
		for _, field := range strings.Fields("bench params events_per_sec cycles_per_event ns_per_event min max repetitions machine version") {
			if _, ok := res[field]; !ok {
				t.Errorf("odp bench %s: no %q in %s", name, field, out)
			}
		}
		if res["bench"] != name {
			t.Errorf("odp bench %s: %q", name, res["bench"])
		}
	}
}

func TestBenchCommandLine(t *testing.T) {
	for args, want := range map[string]string{
		"bench":                      "no benchmark given",
		"bench frob":                 "sched, queue, pool",
		"bench sched -t fifo":        "one of parallel, atomic, ordered",
		"bench sched -q 0":           "no queues",
		"bench sched -P 3":           "no prefetch call",
		"bench sched -c 65":          "-c 65: 1 to 64",
		"bench queue -m pair -c 1":   "must be pairs",
		"bench queue -s -c 2":        "would share a queue",
		"bench l2fwd -O 0,7":         "is not a number from 0 to 1",
		"bench l2fwd -O 1":           "1 outputs for 2",
		"bench l2fwd -parse l9":      "-parse",
		"bench sched-pktio -i a,b,c": "an even number",
		"bench packet -i [":          "missing closing",
		"bench packet -i nothing":    "matches no function",
		"bench packet -l 9":          "-l 9",
		"bench lookup -table even6":  "nearly no IPv6 address",
		"bench memory -q 0":          "-q 0",
		"bench latency -l 0 -t 0":    "no queues",
		"bench compare -pairs 0":     "-pairs 1",
		"bench pool -e 10 -b 32":     "fewer than the 32",
		"bench sched -reps 0":        "-reps 0",
		"bench sched -time 1us":      "1ms to 1h",
		"bench sched -q 2 more":      `unexpected argument "more"`,
		"bench sched -f 3 -q 4":      "can't be divided",
		"bench sched -p vector -n 1": "no data",
	} {
		status, out, errs := odp(t, strings.Fields(args)...)
		if status != 2 || !strings.Contains(errs, want) || out != "" {
			t.Errorf("odp %s: status %d, want 2 and %q\nout: %s\nerr: %s", args, status, want, out, errs)
		}
	}
	for args, want := range map[string]string{"bench -h": "odp_pool_perf", "bench sched -h": "-t kind", "help bench": "odp_queue_perf"} {
		if status, out, errs := odp(t, strings.Fields(args)...); status != 0 || !strings.Contains(out, want) {
			t.Errorf("odp %s: status %d\nout: %s\nerr: %s", args, status, out, errs)
		}
	}
}
