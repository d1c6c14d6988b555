// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
)

// Packet I/O: what users have met with full devices, pools and slow workers.

// partialSlots is the ring size that ioPartial asks for.
const partialSlots = 64

func ioPartial(e *Env) {
	x := e.wire(odp.PortConfig{Config: pktio.Config{RxSlots: partialSlots, TxSlots: partialSlots, PoolPackets: 4096}})
	slots := max(x.rx.Info().RxSlots, x.tx.Info().TxSlots, partialSlots)
	num := min(6*slots+64, 3000)
	frames := x.frames(num, odptest.Frame{})
	var pkts []*odp.Packet
	for _, b := range frames {
		k := x.tx.Pool().AllocPacket(x.w, len(b))
		if k == nil {
			break
		}
		write(k, 0, b)
		pkts = append(pkts, k)
	}
	num = len(pkts)
	e.Must(num > slots/2, "the pool gave %d packets, the rings have %d slots", num, slots)
	frames = frames[:num]
	drops := x.outDrops()
	sent, refused := 0, 0
	for at := 0; at < num; {
		part := pkts[at:min(at+29, num)]
		n, err := x.out(0)(part)
		e.NoError(err, "Send to a device that fills up")
		e.Must(n >= 0 && n <= len(part), "Send of %d packets took %d", len(part), n)
		sent, at = sent+n, at+n
		if n == len(part) {
			continue
		}
		// the rest is still the sender's, whole
		for i, k := range part[n:] {
			e.Must(string(content(k)) == string(frames[at+i]), "packet %d, which was not taken, has other bytes now", at+i)
		}
		if refused++; refused > 3 {
			break
		}
	}
	blocking := x.tx.Capability().Blocking
	e.Check(!blocking || refused > 0, "a device that holds its sender back took %d packets, it has %d slots", sent, slots)
	looks := 0 // that found nothing: what a device has lost on the other side can't be awaited
	read := x.reader()
	got := x.gather(func(p []*odp.Packet) (int, error) {
		n, err := read(p)
		if looks++; n > 0 {
			looks = 0
		}
		return n, err
	}, 32, frames[:sent], func(n int) bool { return n+int(x.outDrops()-drops) >= sent || !blocking && looks > 2000 })
	x.inOrder(got)
	lost := sent - len(got)
	if blocking {
		e.Check(lost == int(x.outDrops()-drops), "%d of %d packets that were taken arrived, %d are counted as dropped", len(got), sent, x.outDrops()-drops)
	}
	e.Check(len(got) >= min(slots/2, sent), "%d of %d packets arrived, the ring has %d slots", len(got), sent, slots)
	// what was refused can be sent now
	rest := pkts[sent:]
	tail := frames[sent:]
	for len(rest) > 0 {
		n := min(len(rest), 16)
		x.sendAll(x.out(0), 16, rest[:n])
		x.inOrder(x.expect(x.reader(), 32, tail[:n]))
		rest, tail = rest[n:], tail[n:]
	}
	if refused == 0 {
		x.pass(x.frames(16, odptest.Frame{}))
	}
	x.flush()
	// neither a leak nor a packet freed twice: the pool has what it had
	e.Await("packets back in the pool", func() bool { return x.tx.Pool().Out() == 0 })
}

func ioCaches(e *Env) {
	const need, workers, cache = 128, 8, 16
	e.inst = e.Open(odp.Config{Workers: 1, MaxWorkers: workers})
	in := e.inst
	p := e.Pool(odp.PoolConfig{Num: need + workers*cache, Size: 2048, Need: need, Cache: cache})
	x := e.wire(odp.PortConfig{Config: pktio.Config{Pool: p}})
	// other workers fill their caches, and stay
	var held []*odp.Worker
	for range 3 {
		w, err := in.Control(odp.KindWorker)
		e.NoError(err, "Control")
		held = append(held, w)
		pkts := make([]*odp.Packet, 64)
		n := p.AllocPackets(w, pkts, least)
		buffer.FreePackets(w, pkts[:n])
	}
	for range e.rounds(50) {
		// half of the packets on their way, the other half to receive them
		frames := x.frames(need/2, odptest.Frame{})
		x.send(frames)
		x.expect(x.reader(), 32, frames)
		// and all of them in one hand
		fresh := make([]*odp.Packet, need)
		n := 0
		for n < need {
			m := p.AllocPackets(x.w, fresh[n:min(n+32, need)], least)
			if m == 0 {
				break
			}
			n += m
		}
		e.Check(n == need, "with all packets back, and some of them in the caches of 3 workers, %d of %d can be allocated", n, need)
		buffer.FreePackets(x.w, fresh[:n])
	}
	for _, w := range held {
		e.NoError(in.Leave(w), "Leave")
	}
}

// position is the number of a frame among those that were made together.
func (x *wire) position(k *odp.Packet) int {
	f, err := odptest.ParseFrame(content(k))
	if err != nil {
		x.e.Errorf("a packet is %v", err)
	}
	return int(f.Seq & 0xffff)
}

func ioSlowWorker(e *Env) {
	const num = 400
	e.inst = e.Open(odp.Config{Workers: 3})
	in := e.inst
	out := e.plain(in, odp.QueueConfig{Name: "slow", Size: 2 * num})
	x := e.wire(odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Ordered})
	frames := x.frames(num, odptest.Frame{})
	pkts := x.packets(frames)
	var begun, done atomic.Int64
	var slow atomic.Int64 // the place of the packet that the slow worker has, -1 = none yet
	slow.Store(-1)
	var release atomic.Bool
	x.leave()
	wait := e.Start(in, func(w *odp.Worker) error {
		ev := make([]*odp.Event, 4)
		for w.Running() && done.Load() < num {
			n, _, err := in.Schedule(w, ev, time.Millisecond)
			if err != nil {
				return nil
			}
			begun.Add(int64(n))
			if n > 0 && slow.CompareAndSwap(-1, int64(x.position(ev[0].Packet()))) {
				for end := odp.Now() + int64(e.patience()); !release.Load() && odp.Now() < end && w.Running(); {
					time.Sleep(time.Millisecond)
				}
			}
			if err := e.enqueueAll(out, w, ev[:n]...); err != nil {
				return err
			}
			done.Add(int64(n))
		}
		return nil
	})
	x.join()
	for at := 0; at < num; at += 20 {
		x.sendAll(x.out(0), 20, pkts[at:at+20])
		if at == 40 {
			e.Await("packets for a worker beside the slow one", func() bool { return slow.Load() >= 0 && begun.Load() > 4 })
			time.Sleep(quiet)
			e.Check(int64(out.Len()) <= slow.Load(), "%d packets are out, and the slow worker has number %d", out.Len(), slow.Load())
			release.Store(true)
		}
		e.Await("room", func() bool { return int(begun.Load()) >= at-200 })
	}
	e.Await("all packets", func() bool { return out.Len() == num })
	x.leave()
	in.Stop()
	wait()
	var ev [32]*odp.Event
	next := 0
	for next < num {
		n, err := out.Dequeue(nil, ev[:])
		e.NoError(err, "Dequeue")
		e.Must(n > 0, "%d packets came out, %d went in", next, num)
		for _, k := range ev[:n] {
			b := content(k.Packet())
			e.Check(string(b) == string(frames[next]), "packet %d is %s", next, odptest.Describe(b))
			next++
		}
		e.give(nil, ev[:n]...)
	}
}
