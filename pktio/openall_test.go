// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

func openAll(t testing.TB, set *worker.Set, name string, cfg pktio.Config, workers int) (*pktio.Port, []pktio.Pair) {
	t.Helper()
	cfg.Log = quiet
	p, pairs, err := pktio.OpenAll(context.Background(), set, name, cfg, workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	start(t, p)
	return p, pairs
}

// frame makes a packet into a UDP datagram of a flow.
func frame(k *buffer.Packet, flow, seq int) {
	b := k.Data()
	clear(b)
	b[12], b[13] = 8, 0
	b[14] = 0x45
	binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
	b[22], b[23] = 64, 17
	binary.BigEndian.PutUint32(b[26:], 0x0a000001)
	binary.BigEndian.PutUint32(b[30:], 0x0a000002)
	binary.BigEndian.PutUint16(b[34:], uint16(flow))
	binary.BigEndian.PutUint16(b[36:], 9)
	binary.BigEndian.PutUint16(b[38:], uint16(len(b)-34))
	binary.LittleEndian.PutUint32(b[42:], uint32(flow))
	binary.LittleEndian.PutUint32(b[46:], uint32(seq))
}

func frameOf(k *buffer.Packet) (flow, seq int) {
	b := k.Data()
	return int(binary.LittleEndian.Uint32(b[42:])), int(binary.LittleEndian.Uint32(b[46:]))
}

// Workers that outnumber the device's rings get the flows spread: each packet
// comes once, each flow to one worker only, in order.
func TestOpenAllSpreads(t *testing.T) {
	count := 400
	if testing.Short() {
		count = 100
	}
	for _, joint := range []bool{false, true} {
		for _, rings := range []int{1, 2, 4} {
			for _, hash := range []pktio.Hash{pktio.HashNone, pktio.HashToeplitz} {
				t.Run(fmt.Sprintf("joint=%v/rings=%d/hash=%s", joint, rings, hash), func(t *testing.T) {
					openAllSpreads(t, joint, rings, hash, count)
				})
			}
		}
	}
}

func openAllSpreads(t *testing.T, joint bool, rings int, hash pktio.Hash, count int) {
	const workers, flows = 4, 64
	g := &guard{joint: joint, maxRx: rings, maxTx: rings, onRecv: yielder()}
	set := newSet(t, workers+1)
	p, pairs := openAll(t, set, newGuard(t.Name(), g), pktio.Config{Hash: hash, PoolPackets: 4096, SpreadBlock: true}, workers)
	if len(pairs) != workers || p.NumIn() != workers {
		t.Fatalf("%d pairs, %d inputs", len(pairs), p.NumIn())
	}
	var got atomic.Int64
	var owner [flows]atomic.Int32
	var last [flows]int
	run(t, set, workers, func(i int, w *worker.Worker) {
		in, out := pairs[i].In, pairs[i].Out
		var rx, tx [16]*buffer.Packet
		sent := 0
		for (got.Load() < flows*int64(count) || sent < count) && !t.Failed() {
			// worker i sends the flows i, i+4, …: round by round, so each flow's order is known
			if sent < count {
				n := p.Pool().AllocPackets(w, tx[:flows/workers], 60)
				if n < flows/workers {
					buffer.FreePackets(w, tx[:n])
				} else {
					for j, k := range tx[:n] {
						frame(k, j*workers+i, sent)
					}
					for done := 0; done < n; {
						m, err := out.Send(w, tx[done:n])
						if err != nil {
							t.Error(err)
							return
						}
						if done += m; m == 0 {
							m, _ := in.Recv(w, rx[:]) // the loop is full
							take(t, i, rx[:m], owner[:], last[:])
							buffer.FreePackets(w, rx[:m])
							got.Add(int64(m))
						}
					}
					sent++
				}
			}
			n, err := in.RecvWait(w, rx[:], 100*time.Microsecond)
			if err != nil {
				t.Error(err)
				return
			}
			take(t, i, rx[:n], owner[:], last[:])
			buffer.FreePackets(w, rx[:n])
			got.Add(int64(n))
			w.Running()
			runtime.Gosched()
		}
	})
	if n := g.met.Load(); n != 0 {
		t.Errorf("callers met inside a queue %d times", n)
	}
	s := p.Stats()
	if s.RxPackets() != flows*uint64(count) {
		t.Errorf("received %d packets, want %d; drops %v", s.RxPackets(), flows*count, s.Drops())
	}
	for i := range s.In {
		if s.In[i].Packets == 0 {
			t.Errorf("worker %d got nothing of %d flows", i, flows)
		}
	}
	if n := p.Pool().Out(); n != 0 {
		t.Errorf("%d packets are out", n)
	}
}

func take(t *testing.T, me int, pkts []*buffer.Packet, owner []atomic.Int32, last []int) {
	for _, k := range pkts {
		flow, seq := frameOf(k)
		if o := owner[flow].Swap(int32(me) + 1); o != 0 && o != int32(me)+1 {
			t.Errorf("flow %d came to workers %d and %d", flow, o-1, me)
		}
		if seq != last[flow] {
			t.Errorf("flow %d: packet %d, want %d", flow, seq, last[flow])
		}
		last[flow] = seq + 1
	}
}

// A worker that does not take its packets loses them, counted, and nobody else's.
func TestSpreadDropsAreCounted(t *testing.T) {
	set := newSet(t, 3)
	p, pairs := openAll(t, set, newGuard("spread-drop", &guard{maxRx: 1}), pktio.Config{SpreadSlots: 64, PoolPackets: 4096}, 2)
	const sent = 2000
	run(t, set, 1, func(_ int, w *worker.Worker) {
		var b, rx [16]*buffer.Packet
		for seq := 0; seq < sent; seq += len(b) {
			p.Pool().AllocPackets(w, b[:], 60)
			for i, k := range b {
				frame(k, i, seq)
			}
			if n, err := pairs[0].Out.Send(w, b[:]); n != len(b) || err != nil {
				t.Fatal(n, err)
			}
			n, _ := pairs[0].In.Recv(w, rx[:])
			buffer.FreePackets(w, rx[:n])
		}
	})
	s := p.Stats()
	if s.In[1].Drops["spread_full"] == 0 || s.In[0].Drops["spread_full"] != 0 || s.In[1].Waiting != 64 {
		t.Errorf("drops %v and %v, waiting %d", s.In[0].Drops, s.In[1].Drops, s.In[1].Waiting)
	}
	if n := s.In[0].Packets + s.In[1].Drops["spread_full"] + s.In[1].Waiting; n != sent {
		t.Errorf("%d packets are accounted for, want %d", n, sent)
	}
	// what was received before the stop is still given, what remains is counted
	p.StopInput()
	run(t, set, 1, func(_ int, w *worker.Worker) {
		var b [50]*buffer.Packet
		n, err := pairs[1].In.Recv(w, b[:])
		if n != 50 || err != nil {
			t.Errorf("after StopInput: %d, %v", n, err)
		}
		buffer.FreePackets(w, b[:n])
		if n, err := pairs[0].In.Recv(w, b[:]); n != 0 || !errors.Is(err, queue.ErrStopped) {
			t.Errorf("after StopInput, nothing waits: %d, %v", n, err)
		}
	})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n, err := pairs[1].In.Recv(nil, make([]*buffer.Packet, 1)); n != 0 || !errors.Is(err, queue.ErrClosed) {
		t.Errorf("after Close: %d, %v", n, err)
	}
	if s := pairs[1].In.Stats(); s.Packets != 50 || s.Drops["spread_closed"] != 14 || s.Waiting != 0 {
		t.Errorf("after Close: %+v", s)
	}
}

func TestOpenAllRefusals(t *testing.T) {
	set := newSet(t, 2)
	newGuard("few", &guard{maxRx: 1, maxTx: 1})
	for _, c := range []struct {
		name    string
		cfg     pktio.Config
		workers int
		err     string
	}{
		{"loop:x", pktio.Config{}, 0, "1 to 64"},
		{"loop:x", pktio.Config{}, 65, "1 to 64"},
		{"loop:x", pktio.Config{Shared: true}, 2, "Shared"},
		{"loop:x", pktio.Config{NoInput: true}, 2, "use Open"},
		{"loop:x", pktio.Config{LockLevel: pktio.LockPktio}, 2, "lock level pktio"},
		{"loop:x?lock=device", pktio.Config{}, 2, "lock level device"},
		{"guard:few?lock=none", pktio.Config{}, 2, "1 send queues for 2 workers"},
		{"loop:x?rx", pktio.Config{}, 2, "key=value"},
	} {
		c.cfg.Log = quiet
		p, _, err := pktio.OpenAll(context.Background(), set, c.name, c.cfg, c.workers)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %+v for %d: %v, want an error with %q", c.name, c.cfg, c.workers, err, c.err)
		}
		if pktio.Lookup("guard:few") != nil {
			t.Error("a refused OpenAll left the port open")
		}
	}
}

// Where there is a ring for each worker the pairs are single-owner, without locks.
func TestOpenAllOwnRings(t *testing.T) {
	p, pairs := openAll(t, newSet(t, 4), "loop:all?lock=none", pktio.Config{}, 3)
	if p.LockLevel() != pktio.LockNone || p.Info().Spread || p.NumIn() != 3 || p.NumOut() != 3 {
		t.Errorf("level %s, %+v", p.LockLevel(), p.Info())
	}
	run(t, p.Set(), 1, func(_ int, first *worker.Worker) {
		var b [1]*buffer.Packet
		if _, err := pairs[0].In.Recv(first, b[:]); err != nil {
			t.Error(err)
		}
		run(t, p.Set(), 1, func(_ int, second *worker.Worker) {
			if _, err := pairs[0].In.Recv(second, b[:]); !errors.Is(err, queue.ErrFaulted) {
				t.Errorf("a second user of a pair: %v", err)
			}
			if _, err := pairs[1].In.Recv(second, b[:]); err != nil {
				t.Error(err)
			}
		})
		pairs[0].In.Handover()
		run(t, p.Set(), 1, func(_ int, second *worker.Worker) {
			if _, err := pairs[0].In.Recv(second, b[:]); err != nil {
				t.Errorf("after Handover: %v", err)
			}
		})
	})
}

// Closing against workers on a spread ring leaves nothing behind.
func TestCloseAgainstSpread(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	set := newSet(t, 4)
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "spread", Num: 2048})
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		g := &guard{maxRx: 1, maxTx: 1, joint: round%2 == 1}
		p, pairs := openAll(t, set, newGuard("close-spread", g), pktio.Config{Pool: pool, SpreadSlots: 64}, 3)
		var calls atomic.Int64
		done := make(chan error)
		go func() {
			for calls.Load() < int64(round) {
				runtime.Gosched()
			}
			done <- p.Close()
		}()
		run(t, set, 3, func(i int, w *worker.Worker) {
			var b [8]*buffer.Packet
			for seq := 0; ; seq++ {
				calls.Add(1)
				n := pool.AllocPackets(w, b[:], 60)
				for j, k := range b[:n] {
					frame(k, j*7+i, seq)
				}
				m, err := pairs[i].Out.Send(w, b[:n])
				buffer.FreePackets(w, b[m:n])
				if err == nil {
					n, err = pairs[i].In.RecvWait(w, b[:], 50*time.Microsecond)
					buffer.FreePackets(w, b[:n])
				}
				if errors.Is(err, queue.ErrClosed) {
					return
				}
				runtime.Gosched()
			}
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := pool.Out(); n != 0 || g.met.Load() != 0 {
			t.Fatalf("round %d: %d packets are out, callers met %d times", round, n, g.met.Load())
		}
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}
