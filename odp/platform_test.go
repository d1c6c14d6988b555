// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
)

// Real devices of this process under load; a worker panics with packets, a context
// and its turn in hand, or Shutdown comes: nothing hangs, nothing but what the worker
// had in hand is lost, and all memory comes back (TestMain looks).
func TestPlatformsUnderLoad(t *testing.T) {
	for _, devs := range [][2]string{
		{"loop:u0?seed=64", "loop:u1?seed=64"},
		{"nmsim:u0?far=source&sink=1", "nmsim:u1?far=source&sink=1"},
	} {
		kind, _, _ := strings.Cut(devs[0], ":")
		for _, lock := range []odp.LockLevel{odp.LockPktio, odp.LockDevice, odp.LockQueue} {
			for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
				for _, bad := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%v/%v/panic=%v", kind, lock, mode, bad), func(t *testing.T) {
						underLoad(t, devs, lock, mode, bad)
					})
				}
			}
		}
	}
}

func underLoad(t *testing.T, devs [2]string, lock odp.LockLevel, mode odp.Mode, bad bool) {
	in, err := odp.Open(t.Context(), odp.Config{Workers: 4, Log: quiet, Scheduler: odp.SchedulerConfig{Idle: odp.IdleBusy}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var ports [2]*odp.Port
	for i, d := range devs {
		cfg := odp.PortConfig{Mode: mode, Sync: odp.Ordered}
		cfg.LockLevel = lock
		ports[i] = openPort(t, in, d, cfg)
	}
	other := map[*odp.Port]*odp.Port{ports[0]: ports[1], ports[1]: ports[0]}
	var rounds, inHand atomic.Int64
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *odp.Worker) error {
			var ev [32]*odp.Event
			for i := w.ID(); w.Running(); i++ {
				from := ports[i%2]
				var n int
				var err error
				if mode == odp.ModeDirect {
					n, err = from.In(0).Recv(w, odp.PacketsOf(ev[:]))
				} else {
					var q *odp.SchedQueue
					n, q, err = in.Schedule(w, ev[:], time.Millisecond)
					if n > 0 {
						from = q.Context().(*odp.Port)
					}
				}
				if errors.Is(err, odp.ErrStopped) {
					continue // the input ended, Running says whether the rest does
				}
				if err != nil {
					return err
				}
				if n > 0 && rounds.Add(1) == 100 && bad {
					inHand.Store(int64(n))
					panic("with packets in hand")
				}
				send(w, other[from].Out(0), odp.PacketsOf(ev[:n]))
			}
			return nil
		})
	}()
	if bad {
		var pe *odp.PanicError
		select {
		case err := <-done:
			if !errors.As(err, &pe) {
				t.Fatalf("Run: %v", err)
			}
		case <-time.After(odptest.Patience):
			t.Fatal("the other workers did not stop")
		}
		err := in.Close()
		if !errors.Is(err, odp.ErrLeak) || !strings.Contains(err.Error(), "has panicked") {
			t.Errorf("Close: %v", err)
		}
		if s := in.Snapshot(); s.LeakedByPanic != uint64(inHand.Load()) {
			t.Errorf("%d leaked, %d were in hand", s.LeakedByPanic, inHand.Load())
		}
		return
	}
	odptest.Await(t, "traffic", func() bool { return rounds.Load() > 300 })
	ctx, cancel := context.WithTimeout(t.Context(), odptest.Patience)
	defer cancel()
	if err := in.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if s := in.Snapshot(); s.FreedAtEnd != 0 || s.Balance.Lost != 0 {
		t.Errorf("%d events freed at the end, %d lost", s.FreedAtEnd, s.Balance.Lost)
	}
}

// Workers that sleep without a limit are woken by every kind of end.
func TestEndWakesSleepers(t *testing.T) {
	for name, end := range map[string]func(*odp.Instance, context.CancelFunc){
		"context":  func(_ *odp.Instance, cancel context.CancelFunc) { cancel() },
		"stop":     func(in *odp.Instance, _ context.CancelFunc) { in.Stop() },
		"close":    func(in *odp.Instance, _ context.CancelFunc) { in.Close() },
		"shutdown": func(in *odp.Instance, _ context.CancelFunc) { in.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			in := odptest.New(t, odp.Config{Workers: 3})
			direct := openPort(t, in, odptest.NewDevice(t, odptest.DeviceConfig{}).Name(), odp.PortConfig{})
			openPort(t, in, odptest.NewDevice(t, odptest.DeviceConfig{}).Name(), odp.PortConfig{Mode: odp.ModeScheduled})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b := odp.NewBarrier(4)
			var up atomic.Int32
			done := make(chan error, 1)
			go func() {
				done <- in.Run(ctx, func(w *odp.Worker) error {
					up.Add(1)
					switch w.ID() {
					case 0:
						var ev [4]*odp.Event
						_, _, err := in.Schedule(w, ev[:], -1)
						return err
					case 1:
						var pk [4]*odp.Packet
						_, err := direct.In(0).RecvWait(w, pk[:], -1)
						return err
					default:
						return b.Wait(w)
					}
				})
			}()
			odptest.Await(t, "start", func() bool { return up.Load() == 3 })
			time.Sleep(2 * time.Millisecond) // most of them sleep by now
			end(in, cancel)
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(odptest.Patience):
				t.Fatal("a worker sleeps on")
			}
		})
	}
}

// Lock level none with workers that would share a ring is refused with a cure.
func TestNoneIsRefusedForSharers(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 2})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	cfg := odp.PortConfig{}
	cfg.LockLevel = pktio.LockNone
	p := openPort(t, in, dev.Name(), cfg)
	b := odp.NewBarrier(2)
	err := in.Run(t.Context(), func(w *odp.Worker) error {
		var pk [1]*odp.Packet
		_, err := p.In(0).Recv(w, pk[:])
		if e := b.Wait(w); err == nil {
			err = e
		}
		return err
	})
	if !errors.Is(err, odp.ErrFaulted) || !strings.Contains(err.Error(), "lock level none") {
		t.Errorf("Run: %v", err)
	}
}
