// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// badDriver opens devices whose send queues are broken.
type badDriver struct {
	driver.Driver
	fault string
	sends *atomic.Int64
}

func (d badDriver) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	dev, err := d.Driver.Open(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	return badDevice{dev, d}, nil
}

type badDevice struct {
	driver.Device
	d badDriver
}

func (d badDevice) Tx(i int) driver.TxQueue { return badTx{d.Device.Tx(i), d.d} }

type badTx struct {
	driver.TxQueue
	d badDriver
}

// Send breaks one burst in a few.
func (q badTx) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if len(pkts) == 0 || q.d.sends.Add(1)%7 != 0 {
		return q.TxQueue.Send(w, pkts)
	}
	switch q.d.fault {
	case "lose":
		buffer.FreePackets(w, pkts[:1])
		return 1, nil
	case "leak":
		return 1, nil
	case "swap":
		if len(pkts) > 1 {
			pkts[0], pkts[1] = pkts[1], pkts[0]
		}
	case "twice":
		if c, err := pkts[0].Copy(w, nil); err == nil {
			if n, _ := q.TxQueue.Send(w, []*buffer.Packet{c}); n == 0 {
				buffer.FreePacket(w, c)
			}
		}
	case "wrong error":
		return 0, context.Canceled
	}
	return q.TxQueue.Send(w, pkts)
}

// A run finds what is broken on purpose, and says what it is.
func TestBite(t *testing.T) {
	for _, c := range []struct {
		fault string
		says  string
	}{
		{"lose", "not accounted for"},
		{"leak", "not accounted for"},
		{"swap", "out of order"},
		{"twice", "came twice"},
		{"wrong error", "send: "},
	} {
		t.Run(c.fault, func(t *testing.T) {
			var said []string
			for first := 0; first < 40; first++ { // not every round can show every fault
				cfg := Config{Seed: 7, First: first, Rounds: 1, Patience: 2 * time.Second}
				cfg.wrap = func(d driver.Driver) driver.Driver { return badDriver{d, c.fault, new(atomic.Int64)} }
				r := newRound(&cfg, first)
				if r.plan.hostile {
					continue
				}
				r.run()
				for _, p := range r.Problems {
					if strings.Contains(p, c.says) {
						return
					}
				}
				said = append(said, r.Problems...)
			}
			t.Errorf("40 rounds did not find %q: %q", c.says, said)
		})
	}
}

// What a round leaves in the process is found.
func TestBiteLeft(t *testing.T) {
	stop := make(chan struct{})
	cfg := Config{Seed: 7, Rounds: 1}
	cfg.broken = func(*round) { go func() { <-stop }() }
	rep, err := Run(context.Background(), cfg)
	close(stop)
	if err != nil || len(rep.Failed) != 1 || !strings.Contains(strings.Join(rep.Failed[0].Problems, "\n"), "goroutines") {
		t.Errorf("%v, %v", err, &rep)
	}
}

// The plan and the script's numbers follow from the seed and the number alone.
func TestReplay(t *testing.T) {
	cfg := Config{Seed: 3}
	for n := range 50 {
		if a, b := newRound(&cfg, n), newRound(&cfg, n); a.Plan != b.Plan || a.rng.Uint64() != b.rng.Uint64() {
			t.Fatalf("round %d: %s\n%s", n, a.Plan, b.Plan)
		}
	}
}
