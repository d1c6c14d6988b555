// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA4006 the README leaves most error checks out

package odp_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// The README's program, between two in-process netmap ports whose far ends count.
func ExampleInstance_Schedule() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends it when all frames have arrived
		for far().Delivered < 200 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	const far0, far1 = "nmsim:readme0?far=source&sink=1&count=100&window=50", "nmsim:readme1?far=source&sink=1&count=100&window=50"

	inst, err := odp.Open(ctx, odp.Config{Workers: 2})
	a, err := inst.OpenPort(ctx, far0, odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})
	b, err := inst.OpenPort(ctx, far1, odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})

	err = inst.Run(ctx, func(w *odp.Worker) error {
		var ev [32]*odp.Event
		for {
			n, q, err := inst.Schedule(w, ev[:], 100*time.Millisecond) // one queue's events, in order
			if err != nil {
				return nil // told to stop, nothing is left
			}
			out := b
			if q != nil && q.Context() == b {
				out = a
			}
			pkts := odp.PacketsOf(ev[:n])
			sent, _ := out.Out(0).Send(w, pkts)
			odp.FreePackets(w, pkts[sent:]) // what was not accepted is yours
		}
	})
	fmt.Println(err, inst.Close())
	r := far()
	fmt.Println(r.Delivered, "delivered,", r.Lost(0), "lost,", r.Reordered, "reordered")
	// Output:
	// <nil> <nil>
	// 200 delivered, 0 lost, 0 reordered
}

func far() nmsim.Report {
	return nmsim.Default().Report("readme0").Add(nmsim.Default().Report("readme1"))
}

// The program in the README is the one above, but for the names of the devices.
func TestReadmeIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "```go\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("no Go program in the README")
	}
	text = strings.NewReplacer(`"netmap:eth0"`, "far0", `"netmap:eth1"`, "far1").Replace(text)
	for _, line := range strings.Split(text, "\n") {
		if line != "" && !strings.Contains(string(source), "\n\t"+line+"\n") {
			t.Errorf("the README has a line that the example has not: %s", line)
		}
	}
}
