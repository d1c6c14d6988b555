// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// run calls f in a goroutine per worker and waits for all.
func run(t testing.TB, set *worker.Set, n int, f func(i int, w *worker.Worker)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w, err := set.Join(worker.KindWorker)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Leave()
			f(i, w)
		}()
	}
	wg.Wait()
}

func stamp(k *buffer.Packet, who, seq int) {
	b := k.Data()
	binary.LittleEndian.PutUint32(b[14:], uint32(who))
	binary.LittleEndian.PutUint32(b[18:], uint32(seq))
}

func stampOf(k *buffer.Packet) (who, seq int) {
	b := k.Data()
	return int(binary.LittleEndian.Uint32(b[14:])), int(binary.LittleEndian.Uint32(b[18:]))
}

// sendAll sends count stamped packets in bursts of changing length.
func sendAll(t testing.TB, w *worker.Worker, out *pktio.Out, pool *buffer.Pool, who, count int) {
	var pkts [32]*buffer.Packet
	for seq := 0; seq < count; {
		n := pool.AllocPackets(w, pkts[:min(seq%32+1, count-seq)], 60)
		for i, k := range pkts[:n] {
			stamp(k, who, seq+i)
		}
		for done := 0; done < n; {
			m, err := out.Send(w, pkts[done:n])
			if err != nil {
				t.Errorf("sender %d: %v", who, err)
				buffer.FreePackets(w, pkts[done:n])
				return
			}
			if done += m; m == 0 {
				runtime.Gosched()
			}
		}
		seq += n
		if n == 0 {
			w.Running()
			runtime.Gosched()
		}
	}
}

// tally checks that each of count packets of each sender comes once.
type tally struct {
	seen [][]atomic.Uint32
	got  atomic.Int64
}

func newTally(senders, count int) *tally {
	y := &tally{seen: make([][]atomic.Uint32, senders)}
	for i := range y.seen {
		y.seen[i] = make([]atomic.Uint32, count)
	}
	return y
}

func (y *tally) take(t testing.TB, w *worker.Worker, pkts []*buffer.Packet) {
	for _, k := range pkts {
		who, seq := stampOf(k)
		if y.seen[who][seq].Add(1) != 1 {
			t.Errorf("packet %d of sender %d came twice", seq, who)
		}
	}
	buffer.FreePackets(w, pkts)
	y.got.Add(int64(len(pkts)))
}

// Every lock level, with one and several handles: nothing is lost or doubled,
// packets of a sender stay in order where one receiver looks, and callers never
// meet inside a queue.
func TestLockLevels(t *testing.T) {
	count := 3000
	if testing.Short() {
		count = 600
	}
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue} {
		for _, joint := range []bool{false, true} {
			for _, handles := range []int{1, 3} {
				for _, threads := range [][2]int{{1, 1}, {4, 1}, {3, 3}} {
					name := fmt.Sprintf("%s/joint=%v/handles=%d/%dx%d", level, joint, handles, threads[0], threads[1])
					t.Run(name, func(t *testing.T) { lockLevel(t, level, joint, handles, threads[0], threads[1], count) })
				}
			}
		}
	}
}

func lockLevel(t *testing.T, level pktio.LockLevel, joint bool, handles, senders, receivers, count int) {
	g := &guard{joint: joint, onSend: yielder(), onRecv: yielder()}
	name := newGuard(t.Name(), g)
	set := newSet(t, senders+receivers)
	var ports []*pktio.Port
	for range handles {
		p := open(t, set, name, pktio.Config{LockLevel: level, Shared: handles > 1, RxSlots: 256, StageSlots: 64, PoolPackets: 2048})
		start(t, p)
		ports = append(ports, p)
	}
	y := newTally(senders, count)
	last := make([]int, senders)
	for i := range last {
		last[i] = -1
	}
	run(t, set, senders+receivers, func(i int, w *worker.Worker) {
		p := ports[i%handles]
		if i < senders {
			sendAll(t, w, p.Out(0), p.Pool(), i, count)
			return
		}
		var pkts [32]*buffer.Packet
		for y.got.Load() < int64(senders*count) && !t.Failed() {
			n, err := p.In(0).Recv(w, pkts[:])
			if err != nil {
				t.Error(err)
				return
			}
			if receivers == 1 {
				for _, k := range pkts[:n] {
					who, seq := stampOf(k)
					if seq != last[who]+1 {
						t.Errorf("sender %d: packet %d after %d", who, seq, last[who])
					}
					last[who] = seq
				}
			}
			if y.take(t, w, pkts[:n]); n == 0 {
				w.Running()
				runtime.Gosched()
			}
		}
	})
	if n := g.met.Load(); n != 0 {
		t.Errorf("callers met inside a queue %d times", n)
	}
	var rx, tx, rxb, txb uint64
	for _, p := range ports {
		s := p.Stats()
		rx, tx = rx+s.In[0].Packets, tx+s.Out[0].Packets
		rxb, txb = rxb+s.In[0].Bytes, txb+s.Out[0].Bytes
		if s.Out[0].Waiting != 0 || len(s.Drops()) > 3 {
			t.Errorf("at rest: %+v", s.Out[0])
		}
		for why, n := range s.Drops() {
			if n != 0 {
				t.Errorf("%d drops: %s", n, why)
			}
		}
	}
	if want := uint64(senders * count); rx != want || tx != want || rxb != 60*want || txb != 60*want {
		t.Errorf("received %d packets %d bytes, sent %d packets %d bytes, want %d", rx, rxb, tx, txb, want)
	}
	if n := ports[0].Pool().Out(); n != 0 {
		t.Errorf("%d packets are out", n)
	}
}

// Close may come at any time from any goroutine, while workers receive, send and
// wait; afterwards every call says so, and nothing is left in the pool.
func TestCloseAgainstBusyUsers(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 120
	}
	levels := []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone}
	set := newSet(t, 4)
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "close", Num: 2048})
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		level := levels[round%len(levels)]
		g := &guard{joint: round&4 != 0}
		p := open(t, set, newGuard("close", g), pktio.Config{LockLevel: level, Pool: pool, RxSlots: 64, StageSlots: 64})
		start(t, p)
		var wg sync.WaitGroup
		var calls atomic.Int64
		wg.Add(1)
		go func() {
			defer wg.Done()
			for calls.Load() < int64(round%50) {
				runtime.Gosched()
			}
			var err error
			switch round % 3 {
			case 0:
				err = p.Stop()
			case 1:
				// nobody receives any more: staged packets of a full loop can't leave
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
				if err = p.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				cancel()
			}
			if err = errors.Join(err, p.Close()); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}()
		users := 3
		if level == pktio.LockNone {
			users = 2 // one receives, one sends
		}
		if g.joint && level == pktio.LockNone {
			users = 1
		}
		run(t, set, users, func(i int, w *worker.Worker) {
			var pkts [8]*buffer.Packet
			for {
				var n int
				var err error
				if calls.Add(1)%4 == 0 {
					runtime.Gosched()
				}
				if users == 1 || i == 0 {
					if n, err = p.In(0).Recv(w, pkts[:]); n == 0 && err == nil && round%5 == 0 {
						n, err = p.In(0).RecvWait(w, pkts[:], time.Millisecond)
					}
					buffer.FreePackets(w, pkts[:n])
				}
				if users == 1 && err == nil || i > 0 {
					m := pool.AllocPackets(w, pkts[:], 60)
					n, err = p.Out(0).Send(w, pkts[:m])
					buffer.FreePackets(w, pkts[n:m])
				}
				switch {
				case errors.Is(err, queue.ErrClosed):
					return
				case errors.Is(err, queue.ErrStopped):
					runtime.Gosched()
				case err != nil:
					t.Errorf("round %d: %v", round, err)
					return
				}
			}
		})
		wg.Wait()
		if g.met.Load() != 0 {
			t.Fatalf("round %d: callers met inside a queue", round)
		}
		if n := pool.Out(); n != 0 {
			t.Fatalf("round %d, level %s: %d packets are out", round, level, n)
		}
		if g.closes.Load() != 1 {
			t.Fatalf("round %d: the device was closed %d times", round, g.closes.Load())
		}
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}
