// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

func TestRecvWaitIsNeverEarly(t *testing.T) {
	for _, g := range []*guard{{}, {noWaiter: true}} {
		p := open(t, newSet(t, 2), newGuard("early", g), pktio.Config{})
		start(t, p)
		recv := func(w *worker.Worker) {
			var b [4]*buffer.Packet
			for _, d := range []time.Duration{0, 5 * time.Microsecond, time.Millisecond, 3 * time.Millisecond} {
				t0 := time.Now()
				n, err := p.In(0).RecvWait(w, b[:], d)
				if spent := time.Since(t0); n != 0 || err != nil || spent < d {
					t.Errorf("RecvWait(%v): %d, %v after %v", d, n, err, spent)
				}
			}
		}
		recv(nil)
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) { recv(w) })
		p.Close()
	}
}

// An endless wait ends with the packet, at every level, whoever sends it.
func TestRecvWaitWakes(t *testing.T) {
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone} {
		for _, g := range []*guard{{}, {noWaiter: true}, {joint: true}} {
			if g.joint && level == pktio.LockNone {
				continue // sender and receiver would be two users of one ring
			}
			p := open(t, newSet(t, 2), newGuard("wakes", g), pktio.Config{LockLevel: level})
			start(t, p)
			var got atomic.Int64
			run(t, p.Set(), 2, func(i int, w *worker.Worker) {
				const rounds = 20
				var b [4]*buffer.Packet
				for round := range rounds {
					if i == 0 {
						n, err := p.In(0).RecvWait(w, b[:], -1)
						if n != 1 || err != nil {
							t.Errorf("RecvWait: %d, %v", n, err)
							return
						}
						buffer.FreePackets(w, b[:n])
						got.Add(1)
						continue
					}
					if round%2 == 0 {
						time.Sleep(300 * time.Microsecond) // let the receiver fall asleep
					}
					if n, err := p.Out(0).Send(w, packet(t, p, 0, round)); n != 1 || err != nil {
						t.Errorf("Send beside a waiting receiver: %d, %v", n, err)
						return
					}
					if s := p.Out(0).Stats(); s.Staged != 0 && !g.joint {
						t.Errorf("a waiting receiver holds the sender's lock: %d packets were staged", s.Staged)
					}
					eventually(t, "the receiver wakes", func() bool { return got.Load() == int64(round+1) || t.Failed() })
				}
			})
			if g.met.Load() != 0 {
				t.Errorf("callers met inside a queue")
			}
			p.Close()
		}
	}
}

// Stop, Close and the stop of the worker end a wait.
func TestRecvWaitEnds(t *testing.T) {
	for what, want := range map[string]error{"stop": queue.ErrStopped, "close": queue.ErrClosed, "worker": nil} {
		for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockQueue, pktio.LockNone} {
			g := &guard{}
			p := open(t, newSet(t, 2), newGuard("ends", g), pktio.Config{LockLevel: level})
			start(t, p)
			go func() {
				time.Sleep(time.Millisecond)
				switch what {
				case "stop":
					p.Stop()
				case "close":
					p.Close()
				case "worker":
					p.Set().Stop()
				}
			}()
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				var b [4]*buffer.Packet
				if n, err := p.In(0).RecvWait(w, b[:], -1); n != 0 || !errors.Is(err, want) {
					t.Errorf("%s, level %s: RecvWait: %d, %v", what, level, n, err)
				}
			})
			p.Close()
		}
	}
}

// Several workers wait on one ring: each packet wakes somebody.
func TestRecvWaitTogether(t *testing.T) {
	const waiters, count = 3, 200
	p := open(t, newSet(t, waiters+1), newGuard("together", &guard{}), pktio.Config{})
	start(t, p)
	var got atomic.Int64
	run(t, p.Set(), waiters+1, func(i int, w *worker.Worker) {
		var b [1]*buffer.Packet
		if i < waiters {
			for got.Load() < count {
				n, err := p.In(0).RecvWait(w, b[:], 50*time.Millisecond)
				if err != nil {
					t.Error(err)
					return
				}
				buffer.FreePackets(w, b[:n])
				got.Add(int64(n))
			}
			return
		}
		for seq := range count {
			if n, err := p.Out(0).Send(w, packet(t, p, 0, seq)); n != 1 || err != nil {
				t.Error(n, err)
				return
			}
			eventually(t, "somebody takes the packet", func() bool { return got.Load() > int64(seq) })
		}
	})
}

// Arm and Disarm are what a scheduler's watcher uses.
func TestArm(t *testing.T) {
	p := open(t, newSet(t, 2), newGuard("arm", &guard{}), pktio.Config{})
	start(t, p)
	woken := make(chan struct{}, 1)
	fd, due, ready := p.In(0).Arm(func() { woken <- struct{}{} })
	if fd != -1 || due != 0 || ready {
		t.Fatalf("Arm of an empty loop: %d, %v, %v", fd, due, ready)
	}
	p.Out(0).Send(nil, packet(t, p, 0, 0))
	select {
	case <-woken:
	case <-time.After(30 * time.Second):
		t.Fatal("the watcher was not woken")
	}
	p.In(0).Disarm()
	if _, _, ready := p.In(0).Arm(func() {}); !ready {
		t.Error("Arm does not see the packet that is there")
	}
	p.In(0).Disarm()
}

// While somebody sleeps on a ring's descriptor nobody else touches the ring; the
// descriptor wakes him.
func TestSleepOnDescriptor(t *testing.T) {
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer wr.Close()
	fd := int(r.Fd())
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue} {
		armed := make(chan struct{}, 1)
		g := &guard{fd: func() int {
			select {
			case armed <- struct{}{}:
			default:
			}
			return fd
		}}
		p := open(t, newSet(t, 3), newGuard("descriptor", g), pktio.Config{LockLevel: level})
		start(t, p)
		run(t, p.Set(), 2, func(i int, w *worker.Worker) {
			var b [4]*buffer.Packet
			if i == 0 {
				n, err := p.In(0).RecvWait(w, b[:], -1)
				if n != 1 || err != nil {
					t.Errorf("RecvWait: %d, %v", n, err)
				}
				buffer.FreePackets(w, b[:n])
				return
			}
			<-armed
			// the sleeper marks the ring just after Arm
			eventually(t, "the ring is marked", func() bool {
				n, err := p.In(0).Recv(w, b[:])
				if n != 0 || err != nil {
					t.Errorf("Recv: %d, %v", n, err)
				}
				return p.In(0).Watched()
			})
			p.Out(0).Send(w, packet(t, p, 0, 0))
			for range 100 {
				if n, err := p.In(0).Recv(w, b[:]); n != 0 || err != nil {
					t.Errorf("Recv of a ring that another watches: %d, %v", n, err)
				}
			}
			wr.Write([]byte{1})
		})
		r.Read(make([]byte, 1))
		if g.met.Load() != 0 {
			t.Error("callers met inside a queue")
		}
		p.Close()
	}
}

// RecvAny takes from whichever input has packets, and waits for at least its time.
func TestRecvAny(t *testing.T) {
	set := newSet(t, 2)
	var ports []*pktio.Port
	var ins []*pktio.In
	for _, name := range []string{"any-a", "any-b", "any-c"} {
		p := open(t, set, newGuard(name, &guard{noWaiter: name == "any-b"}), pktio.Config{})
		start(t, p)
		ports, ins = append(ports, p), append(ins, p.In(0))
	}
	var b [4]*buffer.Packet
	for _, d := range []time.Duration{0, time.Millisecond} {
		t0 := time.Now()
		if _, n, err := pktio.RecvAny(nil, ins, b[:], d); n != 0 || err != nil || time.Since(t0) < d {
			t.Errorf("RecvAny(%v): %d, %v after %v", d, n, err, time.Since(t0))
		}
	}
	if _, _, err := pktio.RecvAny(nil, make([]*pktio.In, pktio.MaxWaitAny+1), b[:], 0); err == nil {
		t.Error("too many inputs are accepted")
	}
	var got atomic.Int64
	run(t, set, 2, func(i int, w *worker.Worker) {
		const rounds = 30
		var b [4]*buffer.Packet
		for round := range rounds {
			if i == 0 {
				from, n, err := pktio.RecvAny(w, ins, b[:], -1)
				if from != round%3 || n != 1 || err != nil {
					t.Errorf("round %d: from %d, %d, %v", round, from, n, err)
					return
				}
				buffer.FreePackets(w, b[:n])
				got.Add(1)
				continue
			}
			if round%4 == 0 {
				time.Sleep(200 * time.Microsecond)
			}
			p := ports[round%3]
			if n, err := p.Out(0).Send(w, packet(t, p, 0, round)); n != 1 || err != nil {
				t.Errorf("Send: %d, %v", n, err)
				return
			}
			eventually(t, "the receiver wakes", func() bool { return got.Load() == int64(round+1) || t.Failed() })
		}
	})
	ports[1].Close()
	if from, _, err := pktio.RecvAny(nil, ins, b[:], -1); from != 1 || !errors.Is(err, queue.ErrClosed) {
		t.Errorf("one input is closed: from %d, %v", from, err)
	}
}
