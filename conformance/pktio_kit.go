// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
)

// What the cases of the PKTIO suite share: two ends of a wire, frames that are known
// again, and what a received packet looks like.

// wire is the platform's devices, open: what tx sends, rx receives. Both are the same
// port where one device loops back.
type wire struct {
	e      *Env
	in     *odp.Instance
	w      *odp.Worker // the goroutine of the case
	tx, rx *odp.Port
	odd    []string // frames that came and are none of the case's
	turn   int      // the input to begin with
}

// wirePackets is how many packets the devices' own pools are asked for.
const wirePackets = 1024

// wire opens the devices for a case, which closes them at its end. A pair's sender is
// always in direct mode.
func (e *Env) wire(cfg odp.PortConfig) *wire {
	e.Helper()
	x := &wire{e: e, in: e.Instance()}
	e.Cleanup(func() { x.close() })
	x.open(cfg)
	return x
}

// join gives the goroutine of the case the identity of a worker, leave takes it back:
// ports are closed without, since Close waits for all workers to look up.
func (x *wire) join() {
	x.e.Helper()
	w, err := x.in.Control(odp.KindWorker)
	x.e.NoError(err, "no control thread")
	x.w = w
}

func (x *wire) leave() {
	x.e.Helper()
	if x.w != nil {
		if err := x.in.Leave(x.w); err != nil && !x.e.Failed() {
			x.e.Errorf("Leave: %v", err)
		}
		x.w = nil
	}
}

// open opens the ports again, after close.
func (x *wire) open(cfg odp.PortConfig) {
	x.e.Helper()
	x.join()
	f := x.e.F
	if cfg.Pool == nil && cfg.PoolPackets == 0 {
		cfg.PoolPackets = wirePackets
	}
	if f.Has(CapPair) {
		tx := cfg
		tx.Mode, tx.Group, tx.Groups, tx.NumQueues, tx.Locks, tx.QueueSize, tx.NoOutput, tx.NoInput = odp.ModeDirect, nil, nil, 0, 0, 0, false, false
		x.tx = x.port(f.Pair[0], tx)
		x.rx = x.port(f.Pair[1], cfg)
	} else {
		x.rx = x.port(f.Single, cfg)
		x.tx = x.rx
	}
	if !cfg.Stopped {
		x.up()
	}
}

// flush reads until nothing comes.
func (x *wire) flush() {
	if x.rx.NumIn() == 0 {
		return
	}
	read, empty := x.reader(), 0
	pkts := make([]*odp.Packet, 32)
	for empty < 2 {
		n, err := read(pkts)
		if err != nil {
			return
		}
		buffer.FreePackets(x.w, pkts[:n])
		if empty++; n > 0 {
			empty = 0
		}
	}
}

func (x *wire) port(name string, cfg odp.PortConfig) *odp.Port {
	x.e.Helper()
	p, err := x.in.OpenPort(x.e.Context(), name, cfg)
	x.e.NoError(err, "OpenPort %q", name)
	return p
}

// ports are the open ports, each once.
func (x *wire) ports() []*odp.Port {
	if x.tx == x.rx {
		return []*odp.Port{x.rx}
	}
	return []*odp.Port{x.tx, x.rx}
}

// up waits for the link of both ends, where they know it.
func (x *wire) up() {
	x.e.Helper()
	for _, p := range x.ports() {
		x.e.Await("link of "+p.Name(), func() bool { l := p.Link(); return l.Up || !l.Known })
	}
}

// start starts both ends.
func (x *wire) start() {
	x.e.Helper()
	for _, p := range x.ports() {
		x.e.NoError(p.Start(), "Start of %s", p.Name())
	}
	x.up()
}

// close takes what waits, and closes the ports, the receiver first: the sender of a
// pipe waits for what the other side has not taken.
func (x *wire) close() {
	x.e.Helper()
	if x.rx != nil && x.w != nil && !x.e.Failed() {
		x.flush()
		if x.tx != nil && x.tx != x.rx {
			(&wire{e: x.e, in: x.in, w: x.w, tx: x.rx, rx: x.tx}).flush()
		}
	}
	x.leave()
	ctx, cancel := context.WithTimeout(context.Background(), x.e.patience())
	defer cancel()
	for _, p := range []*odp.Port{x.rx, x.tx} {
		if p == nil {
			continue
		}
		if err := p.Close(ctx); err != nil && !x.e.Failed() {
			x.e.Errorf("Close of %s: %v", p.Name(), err)
		}
	}
	x.tx, x.rx = nil, nil
}

// runs makes the frames of every case, and of every round of a case, different from
// all others: one that a device kept from before is no frame of this round.
var runs atomic.Uint32

// frames builds n frames like f from tx to rx.
func (x *wire) frames(n int, f odptest.Frame) [][]byte {
	f.Dst, f.Src, f.Seq = x.rx.MAC(), x.tx.MAC(), runs.Add(1)<<16
	return odptest.Frames(n, f)
}

// lengths are frames of several lengths, in turn.
func (x *wire) lengths(n int, lens ...int) (all [][]byte) {
	for i := range n {
		all = append(all, x.frames(1, odptest.Frame{Len: lens[i%len(lens)]})...)
	}
	return all
}

// packets makes packets of the sender's pool that hold the frames.
func (x *wire) packets(frames [][]byte) []*odp.Packet {
	x.e.Helper()
	var all []*odp.Packet
	for _, b := range frames {
		all = append(all, x.packet(b))
	}
	return all
}

func (x *wire) packet(b []byte) *odp.Packet {
	x.e.Helper()
	return x.packetOf(x.tx.Pool(), b)
}

// packetOf makes a packet of a pool. Packets on their way through the device may be
// those that the pool lacks, so it is asked again for a while.
func (x *wire) packetOf(p *odp.Pool, b []byte) (k *odp.Packet) {
	x.e.Helper()
	x.e.Await(fmt.Sprintf("packet of %d bytes from pool %q", len(b), p.Name()), func() bool {
		k = p.AllocPacket(x.w, len(b))
		return k != nil
	})
	write(k, 0, b)
	return k
}

// sender is a way to send: Out.Send, or Out.Enqueue.
type sender func(pkts []*odp.Packet) (int, error)

// sendAll sends all packets in bursts. A full device is waited for, for a while.
func (x *wire) sendAll(send sender, burst int, pkts []*odp.Packet) {
	x.e.Helper()
	end := time.Now().Add(x.e.patience())
	for len(pkts) > 0 {
		n, err := send(pkts[:min(burst, len(pkts))])
		if err == nil && n > 0 {
			pkts = pkts[n:]
			continue
		}
		if err != nil || n < 0 || time.Now().After(end) {
			buffer.FreePackets(x.w, pkts)
			x.e.Fatalf("send of %s took %d of %d packets: %v", x.tx.Name(), n, len(pkts), err)
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// send sends frames on output 0.
func (x *wire) send(frames [][]byte) {
	x.e.Helper()
	x.sendAll(x.out(0), 32, x.packets(frames))
}

func (x *wire) out(i int) sender {
	o := x.tx.Out(i)
	return func(pkts []*odp.Packet) (int, error) { return o.Send(x.w, pkts) }
}

// reader is a way to receive: one look, which waits for a little while at most.
type reader func(pkts []*odp.Packet) (int, error)

// reader reads all inputs of rx in the way of its mode.
func (x *wire) reader() reader {
	if x.rx.Mode() == odp.ModeScheduled {
		return func(pkts []*odp.Packet) (int, error) { return x.schedule(pkts) }
	}
	return func(pkts []*odp.Packet) (n int, err error) {
		for range x.rx.NumIn() {
			x.turn = (x.turn + 1) % x.rx.NumIn()
			if x.rx.Mode() == odp.ModePlain {
				n, err = x.rx.Source(x.turn).Dequeue(x.w, odp.EventsOf(pkts))
			} else {
				n, err = x.rx.In(x.turn).Recv(x.w, pkts)
			}
			if n > 0 || err != nil {
				return n, err
			}
		}
		return 0, nil
	}
}

// schedule is Schedule for the packets of rx.
func (x *wire) schedule(pkts []*odp.Packet) (int, error) {
	x.e.Helper()
	n, q, err := x.in.Schedule(x.w, odp.EventsOf(pkts), time.Millisecond)
	if n > 0 {
		x.e.Check(slices.Contains(x.rx.Queues(), q) && q.Context() == any(x.rx), "packets came from queue %q, which is none of the port's", q.Name())
	}
	return n, err
}

// arrival is a frame that came.
type arrival struct {
	frame int // which of those that were expected
	flow  int // of the frame
	queue int // receive queue
	ns    uint64
}

// expect reads until all frames have come, each once, as they were sent, in packets
// as they should be. What is none of them is ignored: an interface may be talked to by
// others.
func (x *wire) expect(read reader, burst int, frames [][]byte) []arrival {
	x.e.Helper()
	got := x.gather(read, burst, frames, func(n int) bool { return n == len(frames) })
	if len(got) != len(frames) {
		x.e.Fatalf("%d of %d frames arrived within %v, %s", len(got), len(frames), x.e.patience(), x.missing(frames, got))
	}
	return got
}

// gather reads until enough says that so many of the frames have come, or patience ends.
func (x *wire) gather(read reader, burst int, frames [][]byte, enough func(n int) bool) (got []arrival) {
	x.e.Helper()
	want := make(map[string]int, len(frames))
	for i, b := range frames {
		want[string(b)] = i
	}
	seen := make([]bool, len(frames))
	pkts := make([]*odp.Packet, burst)
	for end := time.Now().Add(x.e.patience()); !enough(len(got)) && time.Now().Before(end); {
		n, err := read(pkts)
		x.e.NoError(err, "receive on %s", x.rx.Name())
		x.e.Must(n >= 0 && n <= burst, "receive on %s into %d packets says %d", x.rx.Name(), burst, n)
		for _, k := range pkts[:n] {
			b := content(k)
			i, ours := want[string(b)]
			switch {
			case !ours:
				x.stranger(b)
			case seen[i]:
				x.e.Errorf("frame %d came twice", i)
			default:
				seen[i] = true
				_, q := k.Input()
				ns, _ := k.Time()
				f, _ := odptest.ParseFrame(b)
				got = append(got, arrival{i, f.Flow, q, ns})
				x.received(k)
			}
		}
		buffer.FreePackets(x.w, pkts[:n])
		if n == 0 {
			time.Sleep(10 * time.Microsecond)
		}
	}
	return got
}

func (x *wire) stranger(b []byte) {
	if len(x.odd) < 4 {
		x.odd = append(x.odd, odptest.Describe(b))
	}
}

// missing says which frames did not come, and what came instead.
func (x *wire) missing(frames [][]byte, got []arrival) string {
	came := make([]bool, len(frames))
	for _, a := range got {
		came[a.frame] = true
	}
	s := ""
	if i := slices.Index(came, false); i >= 0 {
		s = fmt.Sprintf("the first that is missing is number %d, %s", i, odptest.Describe(frames[i]))
	}
	return fmt.Sprintf("%s; strangers: %q; receive drops %v, send drops %v, device %v", s, x.odd, x.rx.Stats().Drops(), x.tx.Stats().Drops(), x.rx.Stats().Device)
}

// inOrder is a failure unless the frames of each flow came on one receive queue, in the
// order in which they were sent.
func (x *wire) inOrder(got []arrival) {
	x.e.Helper()
	last := map[int]arrival{}
	for _, a := range got {
		if prev, ok := last[a.flow]; ok && (prev.frame > a.frame || prev.queue != a.queue) {
			x.e.Errorf("of flow %d frame %d came on queue %d after frame %d on queue %d", a.flow, a.frame, a.queue, prev.frame, prev.queue)
			return
		}
		last[a.flow] = a
	}
}

// silent is a failure if one of the frames comes, now or within a few looks.
func (x *wire) silent(read reader, frames [][]byte, format string, args ...any) {
	x.e.Helper()
	end := time.Now().Add(quiet)
	got := x.gather(read, 8, frames, func(n int) bool { return n > 0 || time.Now().After(end) })
	x.e.Check(len(got) == 0, "%d frames came: "+format, append([]any{len(got)}, args...)...)
}

// received checks what every received packet of a wire must be.
func (x *wire) received(k *odp.Packet) {
	e := x.e
	e.Helper()
	e.sane(k)
	port, q := k.Input()
	e.Check(port == x.rx.Index() && q >= 0 && q < max(x.rx.NumIn(), 1), "a packet says it came from port %d, queue %d; the port is %d", port, q, x.rx.Index())
	e.Check(x.rx.Pool() != nil && k.InPool(x.rx.Pool()), "a packet is not of the port's pool")
	e.Check(k.Type() == packets && !k.UserFlag() && k.UserWord() == 0 && k.Value() == nil && k.Mark() == 0, "a packet comes with user flag %v, word %d, value %v, mark %d", k.UserFlag(), k.UserWord(), k.Value(), k.Mark())
	e.Check(!k.HasRef() && !k.IsReferencing(), "a packet comes with references")
	e.Check(!k.HasError(), "a packet comes with error flags %#x", k.Flags())
	if f, err := odptest.ParseFrame(content(k)); err == nil && f.DstIP.Is4() && k.Flags() != 0 {
		l3 := 14 + 4*len(f.VLAN)
		e.Check(k.HasL2() && k.HasL3() && k.HasL4() && k.HasIPv4() && k.HasUDP(), "flags %#x of an UDP frame", k.Flags())
		e.Check(k.L2Offset() == 0 && k.L3Offset() == uint16(l3) && k.L4Offset() == uint16(l3+20), "offsets %d, %d, %d of an UDP frame", k.L2Offset(), k.L3Offset(), k.L4Offset())
	}
}

// pass sends frames on output 0 and expects them, in order.
func (x *wire) pass(frames [][]byte) {
	x.e.Helper()
	x.send(frames)
	x.inOrder(x.expect(x.reader(), 32, frames))
}

// counts sums the drops of a direction of a port.
func counts(drops map[string]uint64) (n uint64) {
	for _, v := range drops {
		n += v
	}
	return n
}

// outDrops are what the sender has accepted and not sent.
func (x *wire) outDrops() (n uint64) {
	for _, o := range x.tx.Stats().Out {
		n += counts(o.Drops)
	}
	return n
}

// wants skips the case unless both ends have a capability.
func (x *wire) wants(lack Capability, has func(c driver.Capability) bool) {
	for _, p := range x.ports() {
		if !has(p.Capability()) {
			x.e.Skip(lack)
		}
	}
}

var (
	noIn  = pktio.Config{NoInput: true}
	noOut = pktio.Config{NoOutput: true}
)
