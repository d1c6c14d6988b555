// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"net"
	"slices"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
)

// Packet I/O: waiting, frame lengths, addresses, counters, time stamps.

// What a device may lack.
const (
	CapSetMaxLen  Capability = "a largest frame length that can be set"
	CapSetPromisc Capability = "a promiscuous mode that can be set"
	CapSetMAC     Capability = "an address that can be set"
)

func init() {
	dev := []Capability{CapDevice}
	register("PKTIO",
		Case{"PKTIO-24", "A wait for packets lasts its time when none comes, returns at once what is there, as many as asked, and ends as soon as one comes.", dev, func(e *Env) { ioWait(e, false) }},
		Case{"PKTIO-25", "A wait on several receive queues does the same, and says which queue the packets came from.", dev, func(e *Env) { ioWait(e, true) }},
		Case{"PKTIO-26", "A frame of the largest length that the port names passes.", dev, ioLargest},
		Case{"PKTIO-27", "The largest frame length is positive and inside the limits that the port names.", dev, ioMaxLen},
		Case{"PKTIO-28", "The largest frame length can be set to its limits, is read back, and is refused outside.", dev, ioSetMaxLen},
		Case{"PKTIO-29", "Frames of the least and of the largest length that were set are received.", dev, ioSetMaxLenFrames},
		Case{"PKTIO-30", "Promiscuous mode is off at first, and is read back as it was set.", dev, ioPromisc},
		Case{"PKTIO-31", "The address has six bytes; a wrong one is refused; one that is set is read back, and frames to it arrive.", dev, ioMAC},
		Case{"PKTIO-36", "Counted from a reading on, packets and bytes of both directions are exactly those that were sent, and nothing is dropped.", dev, func(e *Env) { ioCounters(e, odp.ModeDirect, 1) }},
		Case{"PKTIO-38", "Each queue counts its own packets and bytes.", dev, func(e *Env) { ioCounters(e, odp.ModeDirect, driverMax) }},
		Case{"PKTIO-39", "Each queue counts its own packets and bytes in scheduled mode too.", dev, func(e *Env) { ioCounters(e, odp.ModeScheduled, driverMax) }},
		Case{"PKTIO-40", "The device's own counters have names that stay, and never fall.", dev, ioExtra},
		Case{"PKTIO-42", "With time stamps packets that are sent apart have rising times on the clock of the port, not later than their receiver's.", dev, ioTimestamps},
	)
}

func ioWait(e *Env, many bool) {
	var x *wire
	if many {
		x, _ = e.wireQueues(4, odp.PortConfig{})
	} else {
		x = e.wire(odp.PortConfig{})
	}
	var ins []*odp.In
	for i := range x.rx.NumIn() {
		ins = append(ins, x.rx.In(i))
	}
	wait := func(w *odp.Worker, pkts []*odp.Packet, d time.Duration) (int, error) {
		if !many {
			return ins[0].RecvWait(w, pkts, d)
		}
		from, n, err := pktio.RecvAny(w, ins, pkts, d)
		e.Check(from >= 0 && from < len(ins), "packets came from input %d of %d", from, len(ins))
		for _, k := range pkts[:n] {
			_, q := k.Input()
			e.Check(q == ins[from].Index(), "a packet of receive queue %d is said to come from %d", q, ins[from].Index())
		}
		return n, err
	}
	var frames [][]byte
	read := func(w *odp.Worker, d time.Duration) reader {
		return func(pkts []*odp.Packet) (int, error) { return wait(w, pkts, d) }
	}
	for _, w := range []*odp.Worker{x.w, nil} {
		for _, d := range []time.Duration{0, 100 * time.Microsecond, 5 * time.Millisecond} {
			t := time.Now()
			n, err := wait(w, make([]*odp.Packet, 4), d)
			e.Check(err == nil, "wait of %v: %v", d, err)
			e.Check(n != 0 || time.Since(t) >= d, "a wait of %v was over after %v", d, time.Since(t))
		}
		// one by one, then what is there of more
		frames = x.frames(6, odptest.Frame{})
		x.send(frames)
		got := x.gather(read(w, e.patience()), 1, frames, func(n int) bool { return n == 3 })
		got = append(got, x.gather(read(w, e.patience()), 6, frames, func(n int) bool { return n == 3 })...)
		slices.SortFunc(got, func(a, b arrival) int { return a.frame - b.frame })
		e.Must(len(got) == 6, "%d of 6 frames came", len(got))
		for i, a := range got {
			e.Check(a.frame == i, "frame %d came in place %d", a.frame, i)
		}
	}
	// a sleeper is woken by a frame that is sent later
	for i := range e.rounds(20) {
		frames = x.frames(1, odptest.Frame{Flow: i})
		k := x.packets(frames)
		sent := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(i%4) * time.Millisecond)
			n, err := x.tx.Out(0).Send(nil, k)
			if n == 0 && err == nil {
				odp.FreePackets(nil, k)
			}
			sent <- err
		}()
		x.expect(read(x.w, e.patience()), 4, frames)
		e.NoError(<-sent, "Send")
	}
}

// least is the shortest frame without FCS that Ethernet has.
const least = 60

func ioLargest(e *Env) {
	x := e.wire(odp.PortConfig{})
	n := min(x.tx.MTU(), x.rx.MTU())
	for _, n := range []int{n - 1, n} {
		x.pass(x.lengths(3, n, least))
	}
}

func ioMaxLen(e *Env) {
	x := e.wire(odp.PortConfig{})
	for _, p := range x.ports() {
		c, n := p.Capability(), p.MTU()
		e.Check(n > 0 && c.MinMTU > 0 && c.MinMTU <= n && n <= c.MaxMTU, "largest frame %d, limits %d and %d", n, c.MinMTU, c.MaxMTU)
	}
	x.pass(x.frames(3, odptest.Frame{}))
}

func canSetMTU(c driver.Capability) bool { return c.SetMTU }

// setMaxLen sets the largest frame of both ends, and sets it back at the end.
func (x *wire) setMaxLen(n int) {
	x.e.Helper()
	for _, p := range x.ports() {
		x.e.NoError(p.SetMTU(n), "SetMTU(%d) of %s", n, p.Name())
		x.e.Check(p.MTU() == n, "the largest frame of %s was set to %d, and is %d", p.Name(), n, p.MTU())
	}
}

func ioSetMaxLen(e *Env) {
	x := e.wire(odp.PortConfig{Stopped: true})
	x.wants(CapSetMaxLen, canSetMTU)
	old := x.rx.MTU()
	defer x.setMaxLen(old)
	lo, hi := 0, 1<<20
	for _, p := range x.ports() {
		lo, hi = max(lo, p.Capability().MinMTU), min(hi, p.Capability().MaxMTU)
	}
	for _, n := range []int{lo, hi, (lo + hi) / 2} {
		x.setMaxLen(n)
	}
	for _, p := range x.ports() {
		was := p.MTU()
		for _, n := range []int{p.Capability().MinMTU - 1, p.Capability().MaxMTU + 1, 0, -1} {
			e.Check(p.SetMTU(n) != nil && p.MTU() == was, "a largest frame of %d was accepted, allowed are %d to %d", n, p.Capability().MinMTU, p.Capability().MaxMTU)
		}
	}
}

func ioSetMaxLenFrames(e *Env) {
	x := e.wire(odp.PortConfig{Stopped: true})
	x.wants(CapSetMaxLen, canSetMTU)
	old := x.rx.MTU()
	x.start()
	defer func() {
		if x.rx != nil {
			x.setMaxLen(old)
		}
	}()
	lo, hi := 0, 9014
	for _, p := range x.ports() {
		lo, hi = max(lo, p.Capability().MinMTU), min(hi, p.Capability().MaxMTU)
	}
	for _, n := range []int{lo, 1514, hi} {
		x.setMaxLen(n)
		x.pass(x.lengths(5, n, least, min(n, 200)))
	}
}

func ioPromisc(e *Env) {
	x := e.wire(odp.PortConfig{})
	x.wants(CapSetPromisc, func(c driver.Capability) bool { return c.SetPromisc })
	is := func(want bool, when string) {
		e.Helper()
		on, err := x.rx.Promisc()
		e.Check(err == nil && on == want, "%s promiscuous mode is %v, %v", when, on, err)
	}
	is(false, "at first")
	for _, on := range []bool{true, false, true, false} {
		e.NoError(x.rx.SetPromisc(on), "SetPromisc(%v)", on)
		is(on, "after it was set")
		x.pass(x.frames(3, odptest.Frame{}))
	}
	x.close()
	x.open(odp.PortConfig{Config: pktio.Config{Promisc: true}})
	is(true, "opened with Promisc")
	e.NoError(x.rx.SetPromisc(false), "SetPromisc(false)")
}

func ioMAC(e *Env) {
	x := e.wire(odp.PortConfig{})
	for _, p := range x.ports() {
		e.Check(len(p.MAC()) == 6 && p.MAC()[0]&1 == 0, "address %v", p.MAC())
		p.MAC()[5] ^= 1
	}
	e.Check(bytes.Equal(x.rx.MAC(), x.rx.MAC()), "what a caller wrote into the address changed it")
	x.pass(x.frames(3, odptest.Frame{}))
	old := x.rx.MAC()
	for _, bad := range []net.HardwareAddr{nil, old[:5], append(slices.Clone(old), 1), {1, 2, 3, 4, 5, 6}, make([]byte, 6)} {
		e.Check(x.rx.SetMAC(bad) != nil && bytes.Equal(x.rx.MAC(), old), "address %v was accepted", bad)
	}
	x.wants(CapSetMAC, func(c driver.Capability) bool { return c.SetMAC })
	now := slices.Clone(old)
	now[0], now[5] = now[0]|2, now[5]^0x55
	e.NoError(x.rx.SetMAC(now), "SetMAC(%v)", now)
	e.Check(bytes.Equal(x.rx.MAC(), now), "address %v was set, it is %v", now, x.rx.MAC())
	x.pass(x.frames(3, odptest.Frame{}))
	e.NoError(x.rx.SetMAC(old), "SetMAC(%v)", old)
	x.pass(x.frames(3, odptest.Frame{}))
}

func ioCounters(e *Env, mode odp.Mode, queues int) {
	x, _ := e.wireQueues(queues, odp.PortConfig{Mode: mode})
	x.pass(x.frames(9, odptest.Frame{}))
	x.flush()
	rx0, tx0 := x.rx.Stats(), x.tx.Stats()
	wantTx, lenTx := make([]uint64, x.tx.NumOut()), make([]uint64, x.tx.NumOut())
	wantRx := make([]uint64, x.rx.NumIn())
	lenRx := make([]uint64, x.rx.NumIn())
	for i := range e.rounds(200) {
		o := i % x.tx.NumOut()
		f := x.frames(5, odptest.Frame{Flow: i, Len: least + i%100})
		x.sendAll(x.out(o), 5, x.packets(f))
		for _, a := range x.expect(x.reader(), 32, f) {
			wantRx[a.queue]++
			lenRx[a.queue] += uint64(len(f[a.frame]))
		}
		wantTx[o] += 5
		lenTx[o] += uint64(5 * len(f[0]))
	}
	strangers := uint64(len(x.odd)) // others may talk on the wire too
	rx, tx := x.rx.Stats().Since(rx0), x.tx.Stats().Since(tx0)
	for i, s := range tx.Out {
		e.Check(s.Packets == wantTx[i] && s.Bytes == lenTx[i] && s.Calls > 0 && s.Waiting == 0, "send queue %d: %d packets, %d bytes, %d calls, %d waiting; sent were %d and %d", i, s.Packets, s.Bytes, s.Calls, s.Waiting, wantTx[i], lenTx[i])
		e.Check(counts(s.Drops) == 0, "send queue %d: drops %v", i, s.Drops)
	}
	for i, s := range rx.In {
		e.Check(s.Packets >= wantRx[i] && s.Bytes >= lenRx[i] && (strangers > 0 || s.Packets == wantRx[i] && s.Bytes == lenRx[i]), "receive queue %d: %d packets, %d bytes; received were %d and %d", i, s.Packets, s.Bytes, wantRx[i], lenRx[i])
		e.Check(s.Polls >= s.Empty && counts(s.Drops) == 0, "receive queue %d: %d polls, %d empty, drops %v", i, s.Polls, s.Empty, s.Drops)
	}
	before := rx0.RxPackets()
	e.Check(x.rx.Stats().RxPackets() == before+rx.RxPackets(), "a reading since an older one changed the counters")
}

func ioExtra(e *Env) {
	x := e.wire(odp.PortConfig{})
	names := func(m map[string]uint64) (s []string) {
		for k := range m {
			s = append(s, k)
		}
		slices.Sort(s)
		return s
	}
	for _, p := range x.ports() {
		first := p.Stats().Device
		for range 3 {
			x.pass(x.frames(5, odptest.Frame{}))
			now := p.Stats().Device
			e.Check(slices.Equal(names(first), names(now)), "counters %v, before they were %v", names(now), names(first))
			for k, v := range now {
				e.Check(v >= first[k], "counter %s fell from %d to %d", k, first[k], v)
			}
			first = now
		}
		if len(first) > 0 {
			first[names(first)[0]] += 1 << 40
			e.Check(p.Stats().Device[names(first)[0]] < 1<<40, "what a caller wrote into the counters changed them")
		}
	}
}

func ioTimestamps(e *Env) {
	x := e.wire(odp.PortConfig{Config: pktio.Config{Timestamps: true}})
	last := uint64(0)
	for i := range 5 {
		f := x.frames(1, odptest.Frame{})
		before := pktio.Now()
		x.send(f)
		a := x.expect(x.reader(), 4, f)
		after := pktio.Now()
		ns := a[0].ns
		e.Check(ns > last, "packet %d has time %d, the one before, 2 ms older, %d", i, ns, last)
		e.Check(ns >= before && ns <= after, "packet %d was sent at %d, seen at %d, and its time is %d", i, before, after, ns)
		e.Check(last == 0 || ns-last >= 1_000_000, "packets 2 ms apart have times %d ns apart", ns-last)
		last = ns
		time.Sleep(2 * time.Millisecond)
	}
}
