// SPDX-License-Identifier: Apache-2.0

package netlab

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
)

// Forwarder is a running transparent forwarder between two devices.
type Forwarder struct {
	t      testing.TB
	In     *odp.Instance
	Ports  [2]*odp.Port
	cancel context.CancelFunc
	done   chan error
	over   bool
}

// Forward starts a forwarder between two devices in the namespace of a host: what
// comes in on one goes out on the other, unchanged. Each worker has a pair of queues of
// each device in burst mode.
func Forward(h *Host, devices [2]string, workers int, mode odp.Mode) *Forwarder {
	h.t.Helper()
	return ForwardAt([2]*Host{h, h}, devices, workers, mode)
}

// ForwardAt is Forward between devices of two hosts.
func ForwardAt(hosts [2]*Host, devices [2]string, workers int, mode odp.Mode) *Forwarder {
	t := hosts[0].t
	t.Helper()
	f := &Forwarder{t: t, done: make(chan error, 1)}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	var err error
	if f.In, err = odp.Open(ctx, odp.Config{Workers: workers, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	for i, name := range devices {
		c := odp.PortConfig{Mode: mode, Sync: odp.Atomic}
		c.Log, c.Promisc = quiet, true
		if mode == odp.ModeDirect {
			c.RxQueues, c.TxQueues = workers, workers
		}
		hosts[i].Do(func() { f.Ports[i], err = f.In.OpenPort(ctx, name, c) })
		if err != nil {
			f.In.Close()
			cancel()
			t.Fatalf("open %s: %v", name, err)
		}
	}
	go func() { f.done <- f.In.Run(ctx, f.work(mode)) }()
	t.Cleanup(func() { f.Stop() })
	return f
}

func (f *Forwarder) work(mode odp.Mode) func(w *odp.Worker) error {
	if mode == odp.ModeScheduled {
		return func(w *odp.Worker) error {
			var ev [32]*odp.Event
			for w.Running() {
				n, q, err := f.In.Schedule(w, ev[:], 10*time.Millisecond)
				if err != nil || n == 0 {
					if err != nil {
						return nil
					}
					continue
				}
				out := f.Ports[1]
				if q != nil && q.Context() == f.Ports[1] {
					out = f.Ports[0]
				}
				pkts := odp.PacketsOf(ev[:n])
				sent, _ := out.Out(0).Send(w, pkts)
				odp.FreePackets(w, pkts[sent:])
			}
			return nil
		}
	}
	return func(w *odp.Worker) error {
		var pkts [32]*odp.Packet
		i := w.ID()
		for w.Running() {
			for side, p := range f.Ports {
				n, err := p.In(i%p.NumIn()).RecvWait(w, pkts[:], 50*time.Microsecond)
				if err != nil {
					return err
				}
				o := f.Ports[1-side]
				sent, err := o.Out(i%o.NumOut()).Send(w, pkts[:n])
				odp.FreePackets(w, pkts[sent:n])
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// Stop ends the forwarder and returns what Run returned. It may be called again.
func (f *Forwarder) Stop() error {
	f.t.Helper()
	if f.over {
		return nil
	}
	f.over = true
	f.cancel()
	var err error
	select {
	case err = <-f.done:
	case <-time.After(patience):
		f.t.Error("the forwarder does not end")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if e := f.In.Shutdown(ctx); e != nil {
		f.t.Errorf("shutdown: %v", e)
	}
	return err
}

// Wait waits until Run has returned, at most d; ok is false when it has not.
func (f *Forwarder) Wait(d time.Duration) (err error, ok bool) {
	select {
	case err = <-f.done:
		f.done <- err
		return err, true
	case <-time.After(d):
		return nil, false
	}
}
