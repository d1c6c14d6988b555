// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/worker"
)

// eventually waits for a condition; 5 s is a limit of liveness.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not within 5 s: %s", what)
		}
		runtime.Gosched()
	}
}

// staged opens a device whose first Send stops inside the device until release
// is called: a descheduled lock holder.
func staged(t *testing.T, level pktio.LockLevel, cfg pktio.Config) (p *pktio.Port, g *guard, inside chan struct{}, release chan struct{}) {
	inside, release = make(chan struct{}), make(chan struct{})
	first := true
	g = &guard{onSend: func(int) {
		if first {
			first = false
			close(inside)
			<-release
		}
	}}
	cfg.LockLevel = level
	cfg.PoolPackets = 512
	p = open(t, newSet(t, 4), newGuard(t.Name(), g), cfg)
	start(t, p)
	return p, g, inside, release
}

func packet(t testing.TB, p *pktio.Port, who, seq int) []*buffer.Packet {
	k := make([]*buffer.Packet, 1)
	if p.Pool().AllocPackets(nil, k, 60) != 1 {
		t.Fatal("pool empty")
	}
	stamp(k[0], who, seq)
	return k
}

// A sender that meets a descheduled one inside the device is not delayed: its
// burst is accepted at once, receiving goes on, and the holder sends all in order.
func TestHolderDelaysNobody(t *testing.T) {
	for _, level := range []pktio.LockLevel{pktio.LockQueue, pktio.LockDevice} {
		t.Run(level.String(), func(t *testing.T) {
			p, _, inside, release := staged(t, level, pktio.Config{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				run(t, p.Set(), 1, func(_ int, w *worker.Worker) { p.Out(0).Send(w, packet(t, p, 0, 0)) })
			}()
			<-inside
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				for seq := range 10 {
					if n, err := p.Out(0).Send(w, packet(t, p, 1, seq)); n != 1 || err != nil {
						t.Errorf("Send beside a holder: %d, %v", n, err)
					}
				}
				var b [4]*buffer.Packet
				if n, err := p.In(0).Recv(w, b[:]); n != 0 || err != nil {
					t.Errorf("Recv beside a sender: %d, %v", n, err)
				}
			})
			if s := p.Out(0).Stats(); s.Staged != 10 || s.Waiting != 10 {
				t.Errorf("staged %d, waiting %d, want 10", s.Staged, s.Waiting)
			}
			close(release)
			<-done // the holder's Send has returned: everything is in the device
			var b [32]*buffer.Packet
			n, err := p.In(0).Recv(nil, b[:])
			if n != 11 || err != nil {
				t.Fatalf("received %d, %v, want 11", n, err)
			}
			for i, k := range b[1:n] {
				if who, seq := stampOf(k); who != 1 || seq != i {
					t.Errorf("packet %d is %d of sender %d", i, seq, who)
				}
			}
			buffer.FreePackets(nil, b[:n])
		})
	}
}

// The staging ring is bounded: what does not fit stays with the caller.
func TestStagingIsBounded(t *testing.T) {
	p, _, inside, release := staged(t, pktio.LockQueue, pktio.Config{StageSlots: 64})
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) { p.Out(0).Send(w, packet(t, p, 0, 0)) })
	}()
	<-inside
	run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
		var b [100]*buffer.Packet
		n := p.Pool().AllocPackets(w, b[:], 60)
		m, err := p.Out(0).Send(w, b[:n])
		if m != 64 || err != nil {
			t.Errorf("Send of %d: %d, %v, want 64", n, m, err)
		}
		if m2, err := p.Out(0).Send(w, b[m:n]); m2 != 0 || err != nil {
			t.Errorf("Send into a full staging ring: %d, %v", m2, err)
		}
		buffer.FreePackets(w, b[m:n])
	})
	close(release)
	<-done
	var b [100]*buffer.Packet
	n, _ := p.In(0).Recv(nil, b[:])
	if n != 65 {
		t.Errorf("received %d, want 65", n)
	}
	buffer.FreePackets(nil, b[:n])
}

// Packets that a full device left staged leave as soon as it has room, in order,
// though nobody sends any more; until then nobody passes them.
func TestStagedLeaveAFullDevice(t *testing.T) {
	p, g, inside, release := staged(t, pktio.LockQueue, pktio.Config{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) { p.Out(0).Send(w, packet(t, p, 0, 0)) })
	}()
	<-inside
	g.room.Store(1)
	run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
		for seq := range 5 {
			p.Out(0).Send(w, packet(t, p, 1, seq))
		}
	})
	close(release)
	<-done
	// the device is full: later packets queue behind the staged ones
	if n, err := p.Out(0).Send(nil, packet(t, p, 1, 5)); n != 1 || err != nil {
		t.Errorf("Send: %d, %v", n, err)
	}
	if s := p.Out(0).Stats(); s.Waiting != 6 {
		t.Errorf("waiting %d, want 6", s.Waiting)
	}
	g.room.Store(1000)
	eventually(t, "the staged packets leave", func() bool { return p.Out(0).Stats().Waiting == 0 })
	var b [32]*buffer.Packet
	n, _ := p.In(0).Recv(nil, b[:])
	if n != 7 {
		t.Fatalf("received %d, want 7", n)
	}
	for i, k := range b[1:n] {
		if _, seq := stampOf(k); seq != i {
			t.Errorf("place %d has packet %d", i, seq)
		}
	}
	buffer.FreePackets(nil, b[:n])
}

// Packets staged for a device that fails are freed and counted.
func TestStagedAreCountedWhenTheDeviceFails(t *testing.T) {
	p, g, inside, release := staged(t, pktio.LockQueue, pktio.Config{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) { p.Out(0).Send(w, packet(t, p, 0, 0)) })
	}()
	<-inside
	run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
		for seq := range 3 {
			p.Out(0).Send(w, packet(t, p, 1, seq))
		}
	})
	sends := 0
	g.fail = func(call string) error {
		if call == "Send" {
			if sends++; sends > 1 {
				return errInjected
			}
		}
		return nil
	}
	close(release)
	<-done
	if n := p.Stats().Drops()["tx_staged_lost"]; n != 3 {
		t.Errorf("counted %d, want 3", n)
	}
	g.fail = nil
	var b [4]*buffer.Packet
	n, _ := p.In(0).Recv(nil, b[:])
	buffer.FreePackets(nil, b[:n])
	if out := p.Pool().Out(); n != 1 || out != 0 {
		t.Errorf("received %d, %d packets out", n, out)
	}
}

// Four senders on one ring with a device that is often full: each packet leaves
// once, in order per sender, and nothing stays behind when the senders are done.
func TestStagingStress(t *testing.T) {
	count := 20000
	if testing.Short() {
		count = 3000
	}
	const senders = 4
	g := &guard{onSend: yielder()}
	p := open(t, newSet(t, senders+1), newGuard("stage-stress", g), pktio.Config{StageSlots: 64, TxSlots: 16, PoolPackets: 1024})
	start(t, p)
	y := newTally(senders, count)
	var last [senders]int
	run(t, p.Set(), senders+1, func(i int, w *worker.Worker) {
		if i < senders {
			sendAll(t, w, p.Out(0), p.Pool(), i, count)
			return
		}
		var pkts [7]*buffer.Packet
		idle := time.Now()
		for y.got.Load() < int64(senders*count) && !t.Failed() {
			n, _ := p.In(0).Recv(w, pkts[:])
			for _, k := range pkts[:n] {
				who, seq := stampOf(k)
				if seq != last[who] {
					t.Errorf("sender %d: packet %d, want %d", who, seq, last[who])
				}
				last[who] = seq + 1
			}
			y.take(t, w, pkts[:n])
			if n > 0 {
				idle = time.Now()
			} else if w.Running(); time.Since(idle) > 5*time.Second {
				t.Errorf("nothing comes any more after %d packets: %+v", y.got.Load(), p.Out(0).Stats())
			} else {
				runtime.Gosched()
			}
		}
	})
	if s := p.Out(0).Stats(); s.Waiting != 0 || s.Staged == 0 {
		t.Errorf("at the end %d wait; %d were ever staged", s.Waiting, s.Staged)
	}
}

// contextFor returns a context that ends soon.
func contextFor(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 20*time.Millisecond)
}
