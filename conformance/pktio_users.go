// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
)

// Packet I/O: the failures that users of every comparable project have met. They are
// PKTIO-201 and on; ODP's list has none of them.

// CapJumbo is what a device lacks that sends a packet of several segments in one piece only.
const CapJumbo Capability = "frames of several buffers"

func init() {
	dev := []Capability{CapDevice}
	register("PKTIO",
		Case{"PKTIO-201", "A packet that nothing follows arrives, however it is sent and waited for: one packet per second is enough.", dev, ioLonely},
		Case{"PKTIO-202", "What several workers send at the same time on one queue leaves without another call, in the order of each of them.", dev, ioStaged},
		Case{"PKTIO-203", "After the link went down and up, at either end, traffic flows again; while it is down every call returns.", []Capability{CapDevice, CapSetLink}, ioLinkDown},
		Case{"PKTIO-204", "VLAN tags, two of them, and priority tags are in the frame as they were sent, no more and no fewer.", dev, ioTags},
		Case{"PKTIO-205", "Frames larger than one buffer arrive whole, between small ones, in order, however they are cut into segments.", dev, ioJumbo},
		Case{"PKTIO-206", "A frame that is longer than the device can send is dropped whole and counted; the next ones pass.", dev, ioTooLong},
		Case{"PKTIO-209", "What a full device does not take stays the sender's, untouched; all that it took arrives once or is counted.", dev, ioPartial},
		Case{"PKTIO-210", "Packets that lie in the caches of workers do not starve a port whose pool is as large as it should be.", dev, ioCaches},
		Case{"PKTIO-211", "With one slow worker on an ordered port the others go on, and all packets come out in order.", dev, ioSlowWorker},
	)
}

func ioLonely(e *Env) {
	gap, num := time.Second, 3
	if e.Short() {
		gap = 10 * time.Millisecond
	}
	for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
		for _, lock := range []odp.LockLevel{odp.LockQueue, odp.LockDevice, odp.LockPktio} {
			x := e.wire(odp.PortConfig{Mode: mode, Config: pktio.Config{LockLevel: lock}})
			wait := func(pkts []*odp.Packet) (int, error) {
				if mode == odp.ModeScheduled {
					n, _, err := x.in.Schedule(x.w, odp.EventsOf(pkts), e.patience())
					return n, err
				}
				return x.rx.In(0).RecvWait(x.w, pkts, e.patience())
			}
			x.pass(x.frames(10, odptest.Frame{}))
			for range num {
				time.Sleep(gap)
				f := x.frames(1, odptest.Frame{})
				x.send(f)
				x.expect(wait, 1, f)
			}
			x.close()
		}
	}
}

func ioStaged(e *Env) {
	const senders, num = 3, 40
	for _, lock := range []odp.LockLevel{odp.LockQueue, odp.LockDevice, odp.LockPktio} {
		x := e.wire(odp.PortConfig{Config: pktio.Config{LockLevel: lock}})
		for range e.rounds(30) {
			var frames [][]byte
			var lists [senders][]*odp.Packet
			for s := range senders {
				f := x.frames(num, odptest.Frame{Flow: s})
				frames = append(frames, f...)
				lists[s] = x.packets(f)
			}
			errs := make(chan error, senders)
			for s := range senders {
				go func() { errs <- x.sendBy(lists[s]) }()
			}
			for range senders {
				e.NoError(<-errs, "a sender")
			}
			// nobody sends any more: what is staged must leave by itself
			x.inOrder(x.expect(x.reader(), 32, frames))
		}
		x.close()
	}
}

// sendBy sends packets of a goroutine with a worker's identity of its own.
func (x *wire) sendBy(pkts []*odp.Packet) error {
	w, err := x.in.Control(odp.KindWorker)
	if err != nil {
		buffer.FreePackets(nil, pkts)
		return err
	}
	end := odp.Now() + int64(x.e.patience())
	for len(pkts) > 0 && err == nil {
		var n int
		n, err = x.tx.Out(0).Send(w, pkts[:min(3, len(pkts))])
		pkts = pkts[n:]
		if n == 0 {
			time.Sleep(20 * time.Microsecond)
		}
		if err == nil && odp.Now() > end {
			err = fmt.Errorf("%d packets were not taken within %v", len(pkts), x.e.patience())
		}
	}
	buffer.FreePackets(w, pkts)
	return errors.Join(err, x.in.Leave(w))
}

func ioLinkDown(e *Env) {
	rounds := 10
	if e.Short() {
		rounds = 2
	}
	for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
		x := e.wire(odp.PortConfig{Mode: mode})
		names := map[*odp.Port]string{x.tx: e.F.Pair[0], x.rx: e.F.Pair[1]}
		if x.tx == x.rx {
			names[x.rx] = e.F.Single
		}
		x.pass(x.frames(20, odptest.Frame{}))
		for i := range rounds {
			p := x.ports()[i%len(x.ports())]
			e.NoError(e.F.SetLink(names[p], false), "link of %s down", names[p])
			if p.Link().Known {
				e.Await("news that the link is down", func() bool { return !p.Link().Up })
			}
			x.calls(mode)
			e.NoError(e.F.SetLink(names[p], true), "link of %s up", names[p])
			x.up()
			x.again()
			x.pass(x.frames(60, odptest.Frame{}))
		}
		// closing while the link is down works as well, and so does the next open
		e.NoError(e.F.SetLink(names[x.rx], false), "link down")
		name := names[x.rx]
		x.calls(mode)
		x.close()
		e.NoError(e.F.SetLink(name, true), "link up")
		x.open(odp.PortConfig{Mode: mode})
		x.again()
		x.pass(x.frames(20, odptest.Frame{}))
		x.close()
	}
}

// calls makes every call of the dataplane while the link is down: each must return.
func (x *wire) calls(mode odp.Mode) {
	x.e.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		k := x.tx.Pool().AllocPacket(nil, least)
		if k != nil {
			if n, _ := x.tx.Out(0).Send(nil, []*odp.Packet{k}); n == 0 {
				buffer.FreePacket(nil, k)
			}
		}
		var pkts [8]*odp.Packet
		if mode != odp.ModeScheduled {
			n, _ := x.rx.In(0).Recv(nil, pkts[:])
			buffer.FreePackets(nil, pkts[:n])
			n, _ = x.rx.In(0).RecvWait(nil, pkts[:], 5*time.Millisecond)
			buffer.FreePackets(nil, pkts[:n])
		}
		x.rx.Stats()
		x.rx.Info()
	}()
	select {
	case <-done:
	case <-time.After(x.e.patience()):
		x.e.Fatalf("a call does not return within %v while the link is down", x.e.patience())
	}
	if mode == odp.ModeScheduled {
		var pkts [8]*odp.Packet
		n, err := x.schedule(pkts[:])
		x.e.NoError(err, "Schedule")
		buffer.FreePackets(x.w, pkts[:n])
	}
}

// again sends single frames until one arrives: those of the time of change may be lost.
func (x *wire) again() {
	x.e.Helper()
	read := x.reader()
	end := time.Now().Add(x.e.patience())
	for time.Now().Before(end) {
		f := x.frames(1, odptest.Frame{})
		k := x.packets(f)
		n, err := x.out(0)(k)
		buffer.FreePackets(x.w, k[max(n, 0):])
		x.e.NoError(err, "send after the link is up again")
		look := time.Now().Add(20 * time.Millisecond)
		if got := x.gather(read, 8, f, func(n int) bool { return n > 0 || time.Now().After(look) }); len(got) > 0 {
			x.flush()
			return
		}
	}
	x.e.Fatalf("no frame passes within %v after the link is up again", x.e.patience())
}

func ioTags(e *Env) {
	x := e.wire(odp.PortConfig{})
	x.wants(CapVLAN, func(c driver.Capability) bool { return c.VLANInFrame })
	var frames [][]byte
	for _, tags := range [][]uint16{{5}, {0xe005}, {0x6000}, {7, 8}, {0x2000, 9}, {0xfff, 0xffe}, nil} {
		for _, n := range []int{64, 300, 1514} {
			frames = append(frames, x.frames(2, odptest.Frame{VLAN: tags, Len: n})...)
		}
	}
	x.pass(frames)
	x.close()
	x.open(odp.PortConfig{Mode: odp.ModeScheduled, Config: pktio.Config{Pool: e.Pool(odp.PoolConfig{Num: 4096, Size: 128, MaxLen: 2048})}})
	frames = nil
	for _, tags := range [][]uint16{{5}, {7, 8}, {0x6000, 9}} {
		frames = append(frames, x.frames(3, odptest.Frame{VLAN: tags, Len: 200})...)
	}
	x.pass(frames)
}

// jumbo lengths are those around one, two and five buffers, and the usual large frame.
var jumbo = []int{2047, 2048, 2049, 2112, 2113, 4095, 4096, 4097, 8999, 9014}

func ioJumbo(e *Env) {
	big := e.Pool(odp.PoolConfig{Num: 512, Size: 9216})
	parts := e.Pool(odp.PoolConfig{Num: 4096, Size: 512, MaxLen: 9216})
	for _, pool := range []*odp.Pool{nil, big, parts} {
		x := e.wire(odp.PortConfig{Config: pktio.Config{Pool: pool, RxSlots: 0}})
		x.wants(CapJumbo, func(c driver.Capability) bool { return c.MultiSegment && c.MaxMTU >= 9014 })
		for _, p := range x.ports() {
			if c := p.Capability(); c.SetMTU && p.MTU() < 9014 {
				old := p.MTU()
				e.NoError(p.SetMTU(9014), "SetMTU")
				defer func() { _ = p.SetMTU(old) }()
			}
		}
		var frames [][]byte
		for i := range 40 {
			frames = append(frames, x.frames(1, odptest.Frame{Len: jumbo[i%len(jumbo)]})...)
			frames = append(frames, x.frames(i%3, odptest.Frame{Len: least + i})...)
		}
		for _, burst := range []int{1, 3, 32} {
			// from pools of other cuts than the receiver's too
			for _, from := range []*odp.Pool{x.tx.Pool(), big, parts} {
				for at := 0; at < len(frames); at += 20 {
					part := frames[at:min(at+20, len(frames))]
					var pkts []*odp.Packet
					for _, b := range part {
						pkts = append(pkts, x.packetOf(from, b))
					}
					x.sendAll(x.out(0), burst, pkts)
					x.inOrder(x.expect(x.reader(), burst, part))
				}
			}
			if e.Short() {
				break
			}
		}
		x.close()
	}
}

func ioTooLong(e *Env) {
	x := e.wire(odp.PortConfig{})
	limit := x.tx.Capability().MaxMTU
	long := e.Pool(odp.PoolConfig{Num: 128, Size: 4096, MaxLen: 80000})
	for _, n := range []int{limit + 1, limit + 500, limit + 3000} {
		drops := x.outDrops()
		before, after := x.frames(2, odptest.Frame{}), x.frames(2, odptest.Frame{})
		k := long.AllocPacket(x.w, n)
		e.Must(k != nil, "no packet of %d bytes", n)
		mark := count(3, 400)
		write(k, 0, append(append(append([]byte(nil), x.rx.MAC()...), x.tx.MAC()...), mark...))
		pkts := append(append(x.packets(before), k), x.packets(after)...)
		x.sendAll(x.out(0), 8, pkts)
		read := x.reader()
		all := append(before, after...)
		x.inOrder(x.expect(func(p []*odp.Packet) (int, error) {
			n, err := read(p)
			for _, k := range p[:n] {
				b := content(k)
				e.Check(len(b) < 412 || string(b[12:412]) != string(mark), "a piece of %d bytes of a frame that is too long arrived", len(b))
			}
			return n, err
		}, 8, all))
		e.Check(x.outDrops() == drops+1, "a frame of %d bytes, the limit is %d: %d drops are counted, 1 expected: %v", n, limit, x.outDrops()-drops, x.tx.Stats().Drops())
	}
}
