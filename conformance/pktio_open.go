// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
)

// Packet I/O: opening, finding and configuring ports.

func init() {
	register("PKTIO",
		Case{"PKTIO-01", "The zero configuration is the documented default: direct mode, one queue each way, a lock a ring, all layers parsed, everything else off.", []Capability{CapDevice}, ioDefaults},
		Case{"PKTIO-02", "A device is opened and closed three times, each time complete; a name of no device is an error that names it.", []Capability{CapDevice}, ioOpen},
		Case{"PKTIO-03", "An open device is found by its name and can't be opened a second time; a closed one is not found.", []Capability{CapDevice}, ioLookup},
		Case{"PKTIO-04", "The index of a port is in range, finds the port while it is open, and is the one that its packets carry.", []Capability{CapDevice}, ioIndex},
		Case{"PKTIO-05", "A port can be printed, running, stopped and closed, and the print names it and its state.", []Capability{CapDevice}, ioPrint},
		Case{"PKTIO-06", "Every depth of parsing and every hash that a port names among its capabilities is granted, and is what packets carry.", []Capability{CapDevice}, ioConfig},
		Case{"PKTIO-07", "Info names the device, its driver, its pool and what was granted.", []Capability{CapDevice}, ioInfo},
		Case{"PKTIO-08", "Each field of the link's state has one of its values, and the medium is named.", []Capability{CapDevice}, ioLinkInfo},
		Case{"PKTIO-09", "In direct mode a port has as many receive queues as were asked for, up to its limit; more are refused or noted, and never fewer under Strict.", []Capability{CapDevice}, func(e *Env) { ioInQueues(e, odp.ModeDirect) }},
		Case{"PKTIO-10", "In scheduled mode a port has a scheduled queue for each receive queue, and nobody else may poll it.", []Capability{CapDevice}, func(e *Env) { ioInQueues(e, odp.ModeScheduled) }},
		Case{"PKTIO-11", "Each receive queue can have a scheduling group of its own, and only that group's workers get its packets.", []Capability{CapDevice}, ioGroups},
		Case{"PKTIO-12", "In plain mode each receive queue is a source.", []Capability{CapDevice}, func(e *Env) { ioInQueues(e, odp.ModePlain) }},
		Case{"PKTIO-13", "A port has as many send queues as were asked for, up to its limit; more are refused or noted, and never fewer under Strict.", []Capability{CapDevice}, ioOutQueues},
	)
}

func ioDefaults(e *Env) {
	var first pktio.Info
	for i := range 2 {
		x := e.wire(odp.PortConfig{})
		p, n := x.rx, x.rx.Info()
		e.Check(p.Mode() == odp.ModeDirect && len(p.Queues()) == 0 && p.Source(0) != nil, "mode %v, %d scheduled queues", p.Mode(), len(p.Queues()))
		e.Check(p.NumIn() == 1 && p.NumOut() == 1, "%d receive and %d send queues, the default is 1", p.NumIn(), p.NumOut())
		e.Check(p.LockLevel() == odp.LockQueue && n.LockLevel == odp.LockQueue, "lock level %v", p.LockLevel())
		e.Check(n.Hash == pktio.HashNone && !n.Shared && !n.Spread && n.Started && n.Handles == 1, "%+v", n)
		frames := x.frames(1, odptest.Frame{})
		x.send(frames)
		a := x.expect(func(k []*odp.Packet) (int, error) {
			n, err := x.rx.In(0).Recv(x.w, k)
			if n > 0 && string(content(k[0])) == string(frames[0]) {
				_, hash := k[0].FlowHash()
				_, stamp := k[0].Time()
				e.Check(!hash && !stamp, "flow hash %v, time stamp %v; both are off by default", hash, stamp)
				e.Check(k[0].HasL4(), "the packet was not parsed")
			}
			return n, err
		}, 1, frames)
		e.Check(a[0].queue == 0, "receive queue %d", a[0].queue)
		x.close()
		n.Notes, first.Notes = nil, nil
		if i == 0 {
			first = n
		}
		e.Check(fmt.Sprint(n) == fmt.Sprint(first), "the second time the port is %+v, the first time it was %+v", n, first)
	}
}

func ioOpen(e *Env) {
	x := e.wire(odp.PortConfig{})
	for i := range 3 {
		x.pass(x.frames(3, odptest.Frame{}))
		x.close()
		if i < 2 {
			x.open(odp.PortConfig{})
		}
	}
	for _, name := range []string{"no-such-kind:device", "nocolon", "", "loop", ":x"} {
		p, err := x.in.OpenPort(e.Context(), name, odp.PortConfig{})
		e.Check(err != nil && p == nil && strings.Contains(err.Error(), fmt.Sprintf("%q", name)), "OpenPort %q: %v", name, err)
	}
	x.open(odp.PortConfig{})
	x.pass(x.frames(3, odptest.Frame{}))
}

func ioLookup(e *Env) {
	x := e.wire(odp.PortConfig{})
	name := x.rx.Name()
	for _, p := range x.ports() {
		e.Check(pktio.Lookup(p.Name()) == p.Port, "Lookup of %q does not find the port", p.Name())
		second, err := x.in.OpenPort(e.Context(), p.Name(), odp.PortConfig{})
		e.Check(second == nil && errors.Is(err, pktio.ErrBusy) && strings.Contains(err.Error(), p.Name()), "the second OpenPort of %q: %v", p.Name(), err)
		e.Check(pktio.Lookup(p.Name()) == p.Port, "after a refused OpenPort Lookup of %q does not find the port", p.Name())
	}
	x.pass(x.frames(3, odptest.Frame{}))
	x.close()
	e.Check(pktio.Lookup(name) == nil, "Lookup of %q finds a port that is closed", name)
	e.Check(pktio.Lookup("no-such-kind:device") == nil, "Lookup finds what was never opened")
}

func ioIndex(e *Env) {
	x := e.wire(odp.PortConfig{})
	seen := map[int]bool{}
	for _, p := range x.ports() {
		i := p.Index()
		e.Check(i >= 0 && i < pktio.MaxPorts && !seen[i], "index %d, allowed are 0 to %d, each once", i, pktio.MaxPorts-1)
		e.Check(pktio.ByIndex(i) == p.Port, "index %d does not find the port", i)
		seen[i] = true
	}
	x.pass(x.frames(3, odptest.Frame{})) // received says which port it came from
	i := x.rx.Index()
	x.close()
	e.Check(pktio.ByIndex(i) == nil, "index %d finds a closed port", i)
	e.Check(pktio.ByIndex(-1) == nil && pktio.ByIndex(pktio.MaxPorts) == nil, "an index out of range finds a port")
}

func ioPrint(e *Env) {
	x := e.wire(odp.PortConfig{})
	p := x.rx
	has := func(state string) {
		e.Helper()
		s := p.String()
		for _, want := range []string{fmt.Sprintf("%q", p.Name()), state, p.MAC().String(), p.Info().Driver} {
			e.Check(strings.Contains(s, want), "the print has no %q:\n%s", want, s)
		}
	}
	has("running")
	x.pass(x.frames(3, odptest.Frame{}))
	e.NoError(p.Stop(), "Stop")
	has("stopped")
	x.close()
	has("closed")
}

func ioConfig(e *Env) {
	x := e.wire(odp.PortConfig{})
	layers := x.rx.Capability().ParseLayers
	x.close()
	e.Must(len(layers) > 0, "the port parses no layer, not even none")
	flags := map[meta.Layer][3]bool{meta.LayerNone: {}, meta.LayerL2: {true}, meta.LayerL3: {true, true}, meta.LayerL4: {true, true, true}}
	for _, l := range layers {
		want, known := flags[l]
		if !known {
			continue
		}
		x.open(odp.PortConfig{Config: pktio.Config{Parse: pktio.Parse(l-meta.LayerNone) + pktio.ParseNone}})
		x.one(func(k *odp.Packet) {
			got := [3]bool{k.HasL2(), k.HasL3(), k.HasL4()}
			e.Check(got == want, "depth %v: layers %v, want %v", l, got, want)
		})
		x.close()
	}
	for _, h := range []pktio.Hash{pktio.HashToeplitz, pktio.HashSymmetric} {
		x.open(odp.PortConfig{Config: pktio.Config{Hash: h, Timestamps: true}})
		e.Check(x.rx.Info().Hash == h, "hash %v asked, %v granted", h, x.rx.Info().Hash)
		x.one(func(k *odp.Packet) {
			v, ok := k.FlowHash()
			e.Check(ok && v == pktio.FlowHash(k, h), "hash %v: the packet has %v %#x, its frame %#x", h, ok, v, pktio.FlowHash(k, h))
			_, stamp := k.Time()
			e.Check(stamp, "time stamps were asked for")
		})
		x.close()
	}
	for _, l := range []odp.LockLevel{odp.LockPktio, odp.LockDevice, odp.LockQueue, odp.LockNone} {
		x.open(odp.PortConfig{Config: pktio.Config{LockLevel: l}})
		e.Check(x.rx.LockLevel() == l, "lock level %v asked, %v granted", l, x.rx.LockLevel())
		x.pass(x.frames(5, odptest.Frame{}))
		x.close()
	}
}

// one sends a frame and calls f for the packet in which it comes.
func (x *wire) one(f func(k *odp.Packet)) {
	x.e.Helper()
	frames := x.frames(1, odptest.Frame{})
	x.send(frames)
	read := x.reader()
	pkts := make([]*odp.Packet, 1)
	x.e.Await("the frame", func() bool {
		n, err := read(pkts)
		x.e.NoError(err, "receive")
		if n == 0 {
			return false
		}
		ours := string(content(pkts[0])) == string(frames[0])
		if ours {
			f(pkts[0])
		}
		odp.FreePackets(x.w, pkts)
		return ours
	})
}

func ioInfo(e *Env) {
	own := e.Pool(odp.PoolConfig{Name: "info", Num: 512, Size: 2048})
	for _, pool := range []*odp.Pool{nil, own} {
		x := e.wire(odp.PortConfig{Config: pktio.Config{Pool: pool}})
		for _, p := range x.ports() {
			i := p.Info()
			e.Check(i.Name == p.Name() && i.Name != "" && i.Driver != "" && strings.HasPrefix(i.Name, i.Driver), "name %q, driver %q, the port is %q", i.Name, i.Driver, p.Name())
			e.Check(i.RxQueues == p.NumIn() && i.TxQueues == p.NumOut() && i.Started, "%+v", i)
			e.Check(i.ZeroCopy || i.Why != "", "packets are copied, and nobody says why")
			e.Check(p.Pool() != nil && (pool == nil || p.Pool() == pool), "pool %v", p.Pool())
			e.Check(p.Set() != nil && p.In(0).Port() == p.Port && p.Out(0).Port() == p.Port && p.In(0).Index() == 0, "queues of another port")
		}
		x.pass(x.frames(3, odptest.Frame{}))
		x.close()
	}
}

func ioLinkInfo(e *Env) {
	x := e.wire(odp.PortConfig{})
	for _, p := range x.ports() {
		l := p.Link()
		e.Check(l.Up || !l.Known, "the link is down, and frames are to pass")
		e.Check(l.Known || !p.Capability().Link, "the port says that it knows the state of the link, and does not tell it")
		e.Check(l.Speed >= 0 && l.Duplex <= driver.DuplexFull && l.Autoneg <= driver.SwitchOn && l.PauseRx <= driver.SwitchOn && l.PauseTx <= driver.SwitchOn, "%+v", l)
		e.Check(l.Media != "", "no medium")
	}
	x.pass(x.frames(3, odptest.Frame{}))
}

// tooMany asks for more queues than a port says there can be: an error that names the
// limit, all of them (the limit was a promise and no wall), or fewer and a note; and never
// fewer under Strict.
func (x *wire) tooMany(cfg odp.PortConfig, limit int) {
	x.e.Helper()
	name := x.e.F.Single
	if name == "" {
		name = x.e.F.Pair[1]
	}
	for _, strict := range []bool{false, true} {
		cfg.PoolPackets, cfg.Strict = wirePackets, strict
		p, err := x.in.OpenPort(x.e.Context(), name, cfg)
		if err != nil {
			x.e.Check(p == nil && (strict || strings.Contains(err.Error(), fmt.Sprint(limit))), "the error of one queue too many, %v, does not name the limit %d", err, limit)
			continue
		}
		notes := strings.Join(p.Info().Notes, "; ")
		short := p.NumIn() < cfg.RxQueues || p.NumOut() < cfg.TxQueues
		x.e.Check(!short || !strict && strings.Contains(notes, fmt.Sprint(limit)), "%d and %d queues asked, %d and %d there, Strict %v, notes %q; the limit is %d",
			cfg.RxQueues, cfg.TxQueues, p.NumIn(), p.NumOut(), strict, notes, limit)
		x.e.NoError(p.Close(x.e.Context()), "Close")
	}
}

func ioInQueues(e *Env, mode odp.Mode) {
	x, cfg := e.wireQueues(driverMax, odp.PortConfig{Mode: mode, Config: pktio.Config{Hash: pktio.HashToeplitz}})
	check := func(num int) {
		e.Helper()
		e.Check(x.rx.NumIn() == num, "%d receive queues, %d asked", x.rx.NumIn(), num)
		if mode == odp.ModeScheduled {
			e.Check(len(x.rx.Queues()) == num && x.rx.Source(0) == nil, "%d scheduled queues, source %v", len(x.rx.Queues()), x.rx.Source(0))
		} else {
			e.Check(len(x.rx.Queues()) == 0 && x.rx.Source(num-1) != nil, "%d scheduled queues", len(x.rx.Queues()))
		}
		var frames [][]byte
		for i := range 40 {
			frames = append(frames, x.frames(1, odptest.Frame{Flow: i})...)
		}
		x.pass(frames)
	}
	check(cfg.RxQueues)
	limit := x.rx.Capability().MaxRxQueues
	x.close()
	x.open(odp.PortConfig{Mode: mode, Config: pktio.Config{RxQueues: 1}})
	check(1)
	x.close()
	over := odp.PortConfig{Mode: mode}
	over.RxQueues = limit + 1
	x.tooMany(over, limit)
	if mode == odp.ModeScheduled {
		x.open(odp.PortConfig{Mode: mode, NumQueues: 4})
		e.Check(len(x.rx.Queues()) == 4, "%d scheduled queues, 4 asked", len(x.rx.Queues()))
		var frames [][]byte
		for i := range 40 {
			frames = append(frames, x.frames(1, odptest.Frame{Flow: i})...)
		}
		x.send(frames)
		x.expect(x.reader(), 32, frames)
	}
}

// driverMax is how many queues the suite opens at most, for time's sake.
const driverMax = 8

func ioOutQueues(e *Env) {
	x, cfg := e.wireQueues(driverMax, odp.PortConfig{})
	for i := range cfg.TxQueues {
		f := x.frames(5, odptest.Frame{})
		e.Check(x.tx.Out(i).Index() == i, "send queue %d says it is %d", i, x.tx.Out(i).Index())
		x.sendAll(x.out(i), 32, x.packets(f))
		x.inOrder(x.expect(x.reader(), 32, f))
	}
	limit := x.rx.Capability().MaxTxQueues
	x.close()
	x.open(odp.PortConfig{Config: pktio.Config{TxQueues: 1}})
	e.Check(x.tx.NumOut() == 1, "%d send queues, 1 asked", x.tx.NumOut())
	x.pass(x.frames(5, odptest.Frame{}))
	x.close()
	x.tooMany(odp.PortConfig{Config: pktio.Config{TxQueues: limit + 1}}, limit)
}

func ioGroups(e *Env) {
	x, cfg := e.wireQueues(4, odp.PortConfig{})
	x.close()
	in := x.in
	for range cfg.RxQueues {
		g, err := in.NewGroup("")
		e.NoError(err, "NewGroup")
		e.Cleanup(func() { e.NoError(g.Close(), "Close of a group") })
		cfg.Groups = append(cfg.Groups, g)
	}
	cfg.Mode = odp.ModeScheduled
	few := cfg
	few.Groups = append(few.Groups, nil)
	name := e.F.Single
	if name == "" {
		name = e.F.Pair[1]
	}
	_, err := in.OpenPort(e.Context(), name, few)
	e.Check(err != nil, "a group more than there are receive queues was accepted")
	e.Cleanup(x.close) // before the groups
	x.open(cfg)
	e.Must(x.rx.NumIn() == len(cfg.Groups) && len(x.rx.Queues()) == len(cfg.Groups), "%d receive queues, %d scheduled ones, %d groups", x.rx.NumIn(), len(x.rx.Queues()), len(cfg.Groups))
	for i, q := range x.rx.Queues() {
		e.Check(q.Group() == cfg.Groups[i], "the queue of receive queue %d is in group %q", i, q.Group().Name())
	}
	var frames [][]byte
	for i := range 40 {
		frames = append(frames, x.frames(1, odptest.Frame{Flow: i})...)
	}
	x.send(frames)
	x.silent(x.reader(), frames, "the worker is in none of the groups")
	mine, turns := 0, 0
	x.expect(func(pkts []*odp.Packet) (int, error) {
		e.NoError(cfg.Groups[mine].Join(x.w), "Join")
		n, err := x.schedule(pkts)
		for _, k := range pkts[:n] {
			_, q := k.Input()
			e.Check(q == mine, "a packet of receive queue %d came to a member of group %d", q, mine)
		}
		if n == 0 {
			in.Scheduler().Release(x.w)
			e.NoError(cfg.Groups[mine].Leave(x.w), "Leave")
			turns++
			mine = turns % len(cfg.Groups)
		}
		return n, err
	}, 32, frames)
}
