// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
)

// Packet I/O: the ways to receive and to send.

func init() {
	for i, m := range []struct {
		what string
		mode odp.Mode
	}{{"plain queue", odp.ModePlain}, {"scheduled queues", odp.ModeScheduled}, {"direct mode", odp.ModeDirect}} {
		for k, how := range []struct {
			what   string
			burst  int
			events bool
		}{{"one at a time", 1, false}, {"in bursts", 32, false}, {"as events, sent by Enqueue", 32, true}} {
			register("PKTIO", Case{fmt.Sprintf("PKTIO-%d", 14+3*i+k),
				fmt.Sprintf("Packets arrive through %s %s, whole, in order, with their metadata, in pools of any segment size, and as references.", m.what, how.what),
				[]Capability{CapDevice}, func(e *Env) { traffic(e, m.mode, how.burst, how.events) }})
		}
	}
	register("PKTIO",
		Case{"PKTIO-23", "With all queues open, what the last send queue sends arrives, over all receive queues together, in order on each.", []Capability{CapDevice}, ioAllQueues},
		Case{"PKTIO-32", "Stop and Start work once each; a stopped port delivers nothing; what is sent after Start arrives; after Stop and Close the scheduler gives nothing.", []Capability{CapDevice}, ioStartStop},
		Case{"PKTIO-33", "A port without input has no receive queue, and sends.", []Capability{CapDevice}, ioNoInput},
		Case{"PKTIO-34", "A port without output has no send queue, and receives.", []Capability{CapDevice}, ioNoOutput},
		Case{"PKTIO-35", "Events that the program enqueues to a port's scheduled queue come along with its packets, and none is lost.", []Capability{CapDevice}, ioOwnEvents},
	)
}

// trafficPools are where frames are received: the device's own pool, one whose packets
// have one segment, one whose packets have many.
var trafficPools = []struct {
	what string
	cfg  odp.PoolConfig
}{
	{what: "the device's own pool"},
	{"a pool of whole packets", odp.PoolConfig{Num: 600, Size: 1792, Headroom: 64}},
	{"a pool of segments of 128 bytes", odp.PoolConfig{Num: 8192, Size: 128, MaxLen: 2048}},
}

func traffic(e *Env, mode odp.Mode, burst int, events bool) {
	for _, p := range trafficPools {
		cfg := odp.PortConfig{Mode: mode}
		if p.cfg.Num != 0 {
			cfg.Pool = e.Pool(p.cfg)
		}
		x := e.wire(cfg)
		e.Check(p.cfg.Num == 0 || x.rx.Pool() == cfg.Pool, "%s: the port has another", p.what)
		send := x.out(0)
		if events {
			send = func(pkts []*odp.Packet) (int, error) { return x.tx.Out(0).Enqueue(x.w, odp.EventsOf(pkts)) }
		}
		read := x.reader()
		if events && mode == odp.ModeDirect {
			read = func(pkts []*odp.Packet) (int, error) { return x.rx.In(0).Dequeue(x.w, odp.EventsOf(pkts)) }
		}
		n := e.rounds(200)
		for done := 0; done < n; done += 100 {
			frames := x.lengths(min(n-done, 100), 60, 300, 61, 1400, 127, 1514)
			x.sendAll(send, burst, x.packets(frames))
			x.inOrder(x.expect(read, burst, frames))
		}
		for _, ref := range references {
			frames := x.lengths(8, 60, 700)
			keep, pkts := ref.make(x, frames)
			x.sendAll(send, burst, pkts)
			x.inOrder(x.expect(read, burst, frames))
			e.Check(len(x.odd) == 0 || e.F.Pair[0] != "", "%s: strangers %q", ref.what, x.odd)
			for _, k := range keep {
				f, err := odptest.ParseFrame(content(k))
				e.Check(err == nil, "%s: what the sender kept is %s after the packet was sent: %v", ref.what, f, err)
			}
			buffer.FreePackets(x.w, keep)
		}
		x.silent(read, x.frames(1, odptest.Frame{}), "never sent")
		x.close()
		if cfg.Pool != nil {
			e.NoError(cfg.Pool.Close(), "close of %s after its port: packets are missing", p.what)
		}
	}
}

// references are packets that share their bytes with others. make returns the packets
// to send, and those that the sender keeps.
var references = []struct {
	what string
	make func(x *wire, frames [][]byte) (keep, pkts []*odp.Packet)
}{
	{"a static reference", func(x *wire, frames [][]byte) (keep, pkts []*odp.Packet) {
		for _, k := range x.packets(frames) {
			keep, pkts = append(keep, k.RefStatic()), append(pkts, k)
		}
		return keep, pkts
	}},
	{"a packet that refers to another", func(x *wire, frames [][]byte) (keep, pkts []*odp.Packet) {
		for _, k := range x.packets(frames) {
			r, err := k.Ref(x.w, 0)
			x.e.NoError(err, "Ref")
			keep, pkts = append(keep, k), append(pkts, r)
		}
		return keep, pkts
	}},
	{"a header before shared bytes", func(x *wire, frames [][]byte) (keep, pkts []*odp.Packet) {
		for _, b := range frames {
			k, h := x.packet(b), x.packet(b[:14])
			r, err := k.RefPacket(x.w, 14, h)
			x.e.NoError(err, "RefPacket")
			keep, pkts = append(keep, k), append(pkts, r)
		}
		return keep, pkts
	}},
	{"a packet that another refers to", func(x *wire, frames [][]byte) (keep, pkts []*odp.Packet) {
		for _, k := range x.packets(frames) {
			r, err := k.Ref(x.w, 0)
			x.e.NoError(err, "Ref")
			keep, pkts = append(keep, r), append(pkts, k)
		}
		return keep, pkts
	}},
}

// mostQueues is how many queues both ends can have in each direction, at most limit.
func (x *wire) mostQueues(limit int) (rx, tx int) {
	c := x.rx.Capability()
	rx, tx = min(c.MaxRxQueues, limit), min(x.tx.Capability().MaxTxQueues, limit)
	x.e.Must(rx > 0 && tx > 0, "%s: the limits are %d receive and %d send queues", x.rx.Name(), rx, tx)
	return rx, tx
}

// wireQueues opens the devices with as many queues as they can have, up to limit.
// The second value is the configuration that was used.
func (e *Env) wireQueues(limit int, cfg odp.PortConfig) (*wire, odp.PortConfig) {
	e.Helper()
	x := e.wire(odp.PortConfig{})
	rx, tx := x.mostQueues(limit)
	x.close()
	cfg.RxQueues, cfg.TxQueues = rx, tx
	x.open(cfg)
	e.Must(x.rx.NumIn() == rx && x.tx.NumOut() == tx, "%d receive and %d send queues asked, %d and %d there", rx, tx, x.rx.NumIn(), x.tx.NumOut())
	return x, cfg
}

func ioAllQueues(e *Env) {
	x, _ := e.wireQueues(8, odp.PortConfig{})
	var frames [][]byte
	for i := range e.rounds(400) {
		frames = append(frames, x.frames(1, odptest.Frame{Flow: i % 50})...)
	}
	for len(frames) > 0 {
		n := min(len(frames), 100)
		x.sendAll(x.out(x.tx.NumOut()-1), 32, x.packets(frames[:n]))
		x.inOrder(x.expect(x.reader(), 32, frames[:n]))
		frames = frames[n:]
	}
	for i := range x.tx.NumOut() {
		f := x.frames(20, odptest.Frame{Flow: i})
		x.sendAll(x.out(i), 7, x.packets(f))
		x.inOrder(x.expect(x.reader(), 32, f))
	}
}

func ioStartStop(e *Env) {
	for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
		x := e.wire(odp.PortConfig{Mode: mode, Stopped: true})
		read := x.reader()
		if mode == odp.ModeDirect {
			_, err := read(make([]*odp.Packet, 1))
			e.Check(err != nil, "receive on a port that was never started: no error")
		}
		e.Check(x.rx.Stop() != nil, "Stop of a stopped port: no error")
		x.start()
		e.Check(x.rx.Start() != nil, "Start of a started port: no error")
		x.pass(x.frames(20, odptest.Frame{}))

		e.NoError(x.rx.Stop(), "Stop")
		e.Check(x.rx.Stop() != nil, "the second Stop: no error")
		lost := x.packets(x.frames(8, odptest.Frame{}))
		n, err := x.out(0)(lost)
		e.Check(x.tx != x.rx || n == 0 && err != nil, "a stopped port took %d packets, error %v", n, err)
		buffer.FreePackets(x.w, lost[max(n, 0):])
		var pkts [8]*odp.Packet
		for range 20 {
			if mode == odp.ModeScheduled {
				n, err = x.schedule(pkts[:])
				e.Check(n == 0 && err == nil, "the scheduler gave %d packets of a stopped port, error %v", n, err)
			} else {
				n, err = read(pkts[:])
				e.Check(n == 0 && err != nil, "a stopped port gave %d packets, error %v", n, err)
			}
			buffer.FreePackets(x.w, pkts[:max(n, 0)])
		}
		e.NoError(x.rx.Start(), "Start after Stop")
		x.up()
		x.pass(x.frames(40, odptest.Frame{}))

		// packets that nobody received are given back by the close
		x.send(x.frames(20, odptest.Frame{}))
		x.close()
		x.join()
		for range 3 {
			n, _, err := x.in.Schedule(x.w, odp.EventsOf(pkts[:]), 0)
			e.Check(n == 0 && err == nil, "the scheduler gave %d packets of a closed port, error %v", n, err)
			buffer.FreePackets(x.w, pkts[:n])
		}
		x.leave()
	}
}

func ioNoInput(e *Env) {
	x := e.wire(odp.PortConfig{Config: noIn})
	e.Check(x.rx.NumIn() == 0 && x.rx.NumOut() > 0, "%d receive and %d send queues", x.rx.NumIn(), x.rx.NumOut())
	back := &wire{e: e, in: x.in, w: x.w, tx: x.rx, rx: x.tx}
	frames := back.frames(5, odptest.Frame{})
	if x.tx == x.rx {
		back.send(frames)
	} else {
		back.pass(frames)
	}
	e.Check(x.rx.Stats().TxPackets() == 5, "%d packets are counted as sent, 5 were", x.rx.Stats().TxPackets())
	x.close()
	x.open(odp.PortConfig{Config: noIn, Mode: odp.ModeScheduled})
	e.Check(x.rx.NumIn() == 0 && len(x.rx.Queues()) == 0, "%d receive queues, %d scheduled ones", x.rx.NumIn(), len(x.rx.Queues()))
}

func ioNoOutput(e *Env) {
	x := e.wire(odp.PortConfig{Config: noOut})
	e.Check(x.rx.NumOut() == 0 && x.rx.NumIn() > 0, "%d receive and %d send queues", x.rx.NumIn(), x.rx.NumOut())
	if x.tx != x.rx {
		x.pass(x.frames(20, odptest.Frame{}))
	}
}

func ioOwnEvents(e *Env) {
	const num = 64
	x := e.wire(odp.PortConfig{Mode: odp.ModeScheduled})
	p := e.numbers(x.in, num)
	qs := x.rx.Queues()
	e.Must(len(qs) > 0, "the port has no scheduled queue")
	frames := x.frames(num, odptest.Frame{})
	pkts := x.packets(frames)
	own := e.take(p, x.w, 0, num)
	for i := 0; i < num; i += 8 {
		x.sendAll(x.out(0), 8, pkts[i:i+8])
		e.put(qs[i/8%len(qs)], x.w, own[i:i+8]...)
	}
	var numbers []uint64
	read := func(pkts []*odp.Packet) (int, error) {
		var ev [32]*odp.Event
		n, _, err := x.in.Schedule(x.w, ev[:len(pkts)], quiet)
		m := 0
		for _, k := range ev[:n] {
			if k.Type() == packets {
				pkts[m] = k.Packet()
				m++
				continue
			}
			numbers = append(numbers, number(k))
			e.give(x.w, k)
		}
		return m, err
	}
	x.inOrder(x.expect(read, 32, frames))
	e.Await("own events", func() bool {
		if len(numbers) < num {
			_, err := read(make([]*odp.Packet, 32))
			e.NoError(err, "Schedule")
		}
		return len(numbers) == num
	})
	e.isSet(numbers, num, "events of the program")
}
