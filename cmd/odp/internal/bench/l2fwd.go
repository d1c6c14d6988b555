// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
)

// Receive modes, as odp_l2fwd numbers them.
const (
	modeDirect = iota
	modeParallel
	modeAtomic
	modeOrdered
)

// l2fwd is odp_l2fwd: packets go from an interface to another, with new MAC addresses.
type l2fwd struct {
	ifs, outs          string
	mode, burst        int
	dst, src, errCheck int
	copied             int
	parse, lock        string
	depth              pktio.Parse
	level              odp.LockLevel
	names              []string
	workers            int

	inst  *odp.Instance
	ports []*odp.Port
	pool  *odp.Pool
	route []int      // output of each input, by place in -i
	macs  [][12]byte // by output
	place []int      // place in -i, by port index
}

func newL2fwd(fs *flag.FlagSet) task {
	l := &l2fwd{}
	fs.StringVar(&l.ifs, "i", "loop:1?seed=512,loop:2?seed=512", "`interfaces`, separated by commas")
	addChoice(fs, &l.mode, "m", 0, 0, "`mode`", "burst", "parallel", "atomic", "ordered")
	fs.StringVar(&l.outs, "O", "", "output of each interface, as `numbers` of the list of -i: 0,1 sends each back to itself; default: pairs, or a circle of an odd number")
	fs.IntVar(&l.burst, "b", 32, "most `packets` in a receive call")
	fs.IntVar(&l.dst, "d", 1, "1 = rewrite the destination address")
	fs.IntVar(&l.src, "s", 1, "1 = rewrite the source address")
	fs.IntVar(&l.errCheck, "e", 0, "1 = drop packets with errors")
	fs.IntVar(&l.copied, "p", 0, "1 = send a copy and free the packet")
	fs.StringVar(&l.parse, "parse", "l4", "how `deep` received packets are parsed: none, l2, l3, l4")
	fs.StringVar(&l.lock, "lock", "", "lock `level` of the ports: none, queue, device, pktio; default: the port's")
	return l
}

func (l *l2fwd) setWorkers(n int) { l.workers = n }

func (l *l2fwd) check() error {
	l.names = strings.Split(l.ifs, ",")
	n := len(l.names)
	l.route = nil
	for i := range n {
		switch {
		case n%2 == 0:
			l.route = append(l.route, i^1)
		default:
			l.route = append(l.route, (i+1)%n)
		}
	}
	if l.outs != "" {
		f := strings.Split(l.outs, ",")
		if len(f) != n {
			return when(true, "-O %s: %d outputs for %d interfaces", l.outs, len(f), n)
		}
		for i, s := range f {
			v, err := strconv.Atoi(s)
			if err != nil || v < 0 || v >= n {
				return when(true, "-O %s: %q is not a number from 0 to %d", l.outs, s, n-1)
			}
			l.route[i] = v
		}
	}
	var bad1, bad2 error
	l.depth, bad1 = pktio.ParseDepth(l.parse)
	if l.lock != "" {
		l.level, bad2 = pktio.ParseLockLevel(l.lock)
	}
	return firstErr(when(bad1 != nil, "-parse: %v", bad1), when(bad2 != nil, "-lock: %v", bad2),
		within("b", l.burst, 1, maxBurst), within("d", l.dst, 0, 1),
		within("s", l.src, 0, 1), within("e", l.errCheck, 0, 1), within("p", l.copied, 0, 1),
		when(n > 8, "-i: %d interfaces, at most 8", n))
}

func (l *l2fwd) params() Params {
	return Params{{"interfaces", l.ifs}, {"mode", [...]string{"burst", "parallel", "atomic", "ordered"}[l.mode]}, {"output", l.route}, {"burst", l.burst},
		{"dst", l.dst}, {"src", l.src}, {"errors", l.errCheck}, {"copy", l.copied}, {"parse", l.parse}}
}

func (l *l2fwd) counted() bool { return false }

func (l *l2fwd) configure(cfg *odp.Config) { cfg.MaxWorkers = cfg.Workers + 2 }

// scheduled reports whether the scheduler hands the packets out.
func (l *l2fwd) scheduled() bool { return l.mode != modeDirect }

// open opens the interfaces. One receive queue each, as ODP's loop has; a send queue for
// each worker that may send there.
func (l *l2fwd) open(e *env) error {
	l.inst, l.ports, l.macs, l.place = e.inst, nil, nil, nil
	cfg := odp.PortConfig{}
	if l.scheduled() {
		cfg.Mode, cfg.Sync = odp.ModeScheduled, syncs[l.mode-modeParallel]
	}
	cfg.RxQueues, cfg.TxQueues = 1, l.workers
	cfg.Parse, cfg.LockLevel = l.depth, l.level
	var err error
	for i, name := range l.names {
		p, err := e.inst.OpenPort(e.ctx, name, cfg)
		if err != nil {
			return err
		}
		l.ports = append(l.ports, p)
		l.macs = append(l.macs, header.MACPattern([]byte{2, 0, 0, 0, 0, byte(i)}, p.MAC()))
		for len(l.place) <= p.Index() {
			l.place = append(l.place, 0)
		}
		l.place[p.Index()] = i
	}
	if l.copied == 1 {
		l.pool, err = e.inst.NewPool(odp.PoolConfig{Name: "copies", Num: 8192})
	}
	return err
}

func (l *l2fwd) work(w *odp.Worker, i int, m *Meter) error {
	if l.scheduled() {
		return l.queueMode(w, i, m)
	}
	return l.burstMode(w, i, m)
}

// burstMode is the loop of a worker that receives itself, from its interfaces in turn.
func (l *l2fwd) burstMode(w *odp.Worker, i int, m *Meter) error {
	var room [maxBurst]*odp.Packet
	var in []*pktio.In
	var out []*pktio.Out
	var macs []*[12]byte
	for k, p := range l.ports {
		// Each worker has an interface, or several; with more workers than interfaces they share.
		if k%l.workers == i || i >= len(l.ports) && i%len(l.ports) == k {
			o := l.route[k]
			in, out, macs = append(in, p.In(0)), append(out, l.ports[o].Out(i%l.ports[o].NumOut())), append(macs, &l.macs[o])
		}
	}
	pkts := room[:l.burst]
	rewrite, extra := l.dst+l.src == 2, l.dst+l.src == 1 || l.errCheck+l.copied > 0
	var c Counts
	k := 0
	m.Begin()
	for {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n, err := in[k].Recv(w, pkts)
		o, mac := out[k], macs[k]
		if k++; k == len(in) {
			k = 0
		}
		if n == 0 {
			if err != nil {
				return err
			}
			c.Empty++
			continue
		}
		got := pkts[:n]
		if extra {
			got = l.extra(w, got, mac)
		}
		if rewrite {
			for _, p := range got {
				header.SetMACs(p.DataPtr(), mac)
			}
		}
		sent, err := o.Send(w, got)
		if sent < len(got) {
			odp.FreePackets(w, got[sent:])
			c.Dropped += uint64(len(got) - sent)
		}
		if err != nil {
			return err
		}
		c.Events += uint64(n)
		c.Calls++
	}
	m.Finish(c)
	return nil
}

// queueMode is the loop of a worker that the scheduler gives bursts to.
func (l *l2fwd) queueMode(w *odp.Worker, i int, m *Meter) error {
	var room [maxBurst]*odp.Event
	ev := room[:l.burst]
	inst := l.inst
	out := make([]*pktio.Out, len(l.ports))
	for k, p := range l.ports {
		out[k] = p.Out(i % p.NumOut())
	}
	rewrite, extra := l.dst+l.src == 2, l.dst+l.src == 1 || l.errCheck+l.copied > 0
	var c Counts
	m.Begin()
	for {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n, q, err := inst.Schedule(w, ev, 0)
		if n == 0 {
			if err != nil {
				return err
			}
			c.Empty++
			continue
		}
		to := l.route[l.place[q.Context().(*odp.Port).Index()]]
		mac := &l.macs[to]
		got := odp.PacketsOf(ev[:n])
		if extra {
			got = l.extra(w, got, mac)
		}
		if rewrite {
			for _, p := range got {
				header.SetMACs(p.DataPtr(), mac)
			}
		}
		sent, err := out[to].Send(w, got)
		if sent < len(got) {
			odp.FreePackets(w, got[sent:])
			c.Dropped += uint64(len(got) - sent)
		}
		if err != nil {
			return err
		}
		c.Events += uint64(n)
		c.Calls++
	}
	m.Finish(c)
	return nil
}

// extra is what -e, -p and one of -d and -s without the other ask for.
func (l *l2fwd) extra(w *odp.Worker, pkts []*odp.Packet, mac *[12]byte) []*odp.Packet {
	if l.errCheck == 1 {
		good := pkts[:0]
		for _, p := range pkts {
			if p.HasError() {
				odp.FreePackets(w, []*odp.Packet{p})
				continue
			}
			good = append(good, p)
		}
		pkts = good
	}
	if l.copied == 1 {
		for i, p := range pkts {
			if k, err := p.Copy(w, l.pool); err == nil {
				pkts[i] = k
				odp.FreePackets(w, []*odp.Packet{p})
			}
		}
	}
	if l.dst+l.src == 1 {
		from := 6 * l.src // the address of destination or source
		for _, p := range pkts {
			copy(p.Data()[from:from+6], mac[from:from+6])
		}
	}
	return pkts
}

// closed refuses a run in which nothing went.
func (l *l2fwd) closed(r *Rep) error {
	var n uint64
	for _, m := range r.Workers {
		n += m.Count.Events
	}
	if n == 0 {
		return fmt.Errorf("nothing was forwarded: is there traffic on %s", l.ifs)
	}
	return nil
}
