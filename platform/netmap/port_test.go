// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
	"github.com/odp-go/godp/worker"
)

// TestQueues deals rings to queues, with different numbers for each direction, and no
// frame comes out of a queue that does not serve its ring.
func TestQueues(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	const rings, per = 5, 500
	if err := sim.NIC("a", nmsim.NICConfig{RxRings: rings, TxRings: 2, RxSlots: 64, TxSlots: 64, Source: &nmsim.SourceConfig{Count: per, Window: 32}, Sink: &nmsim.SinkConfig{}}); err != nil {
		t.Fatal(err)
	}
	set, w := newSet(t)
	d := openPort(t, NewSim("sim", sim), "a", driver.Config{Set: set, RxQueues: 2, TxQueues: 4})
	i := d.Info()
	if i.RxQueues != 2 || i.TxQueues != 2 || len(i.Notes) == 0 || !strings.Contains(strings.Join(i.Notes, "\n"), "4 asked, the port has 2") {
		t.Errorf("%+v", i)
	}
	if len(d.rx[0].rings) != 3 || len(d.rx[1].rings) != 2 || d.rx[1].rings[0].id != 3 {
		t.Errorf("queue 0 has %d rings, queue 1 %d from %d", len(d.rx[0].rings), len(d.rx[1].rings), d.rx[1].rings[0].id)
	}
	got := [2]int{}
	pkts := make([]*buffer.Packet, 32)
	until(t, "all frames", func() bool {
		for q := range d.rx {
			n, err := d.Rx(q).Recv(w, pkts)
			if err != nil {
				t.Fatal(err)
			}
			got[q] += n
			for sent := 0; sent < n; {
				m, err := d.Tx(q).Send(w, pkts[sent:n])
				if err != nil {
					t.Fatal(err)
				}
				sent += m
			}
		}
		return got[0]+got[1] == rings*per
	})
	if got[0] != 3*per || got[1] != 2*per {
		t.Errorf("queues got %v frames", got)
	}
	if r := sim.Report("a"); r.RxMissed != 0 || r.Delivered != rings*per {
		t.Errorf("%+v", r)
	}
}

// TestNames opens ports in all forms of their names.
func TestNames(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	if err := sim.NIC("a", nmsim.NICConfig{RxRings: 3, TxRings: 2, RxSlots: 64, TxSlots: 64, HostRings: 2}); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", sim)
	for _, c := range []struct {
		name   string
		rx, tx int // queues
		ring   uint16
	}{
		{"a", 1, 1, 0}, {"a-1", 1, 1, 1}, {"a^", 1, 1, hostRing}, {"a^1", 1, 1, hostRing + 1}, {"a*", 2, 2, 0},
		{"a/R", 1, 0, 0}, {"a/T", 0, 1, 0}, {"a-2/R", 1, 0, 2}, {"vale0:q", 1, 1, 0}, {"p{1", 1, 1, 0}, {"vale0:b{x", 1, 1, 0},
	} {
		d, err := v.Open(context.Background(), c.name, quiet(driver.Config{Set: set}))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if i := d.Info(); i.RxQueues != c.rx || i.TxQueues != c.tx || i.Name != "sim:"+c.name || i.Driver != "sim" {
			t.Errorf("%s: %+v", c.name, i)
		}
		if x := d.(*device); c.rx > 0 && x.rx[0].rings[0].id != c.ring {
			t.Errorf("%s: first ring %d, want %d", c.name, x.rx[0].rings[0].id, c.ring)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"a-2": "the port has 2", // no send ring 2
		"a-9": "has no ring 9", "nosuch": "", "a^9": "host ring", "vale0:": "interface", "a@77": "region 77", "a/q": "flag",
		"a@conf:x": "no options behind @",
	} {
		d, err := v.Open(context.Background(), name, quiet(driver.Config{Set: set}))
		switch {
		case err == nil && want != "":
			d.Close()
			t.Errorf("%s was opened", name)
		case err == nil:
			d.Close()
		case !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name[:1]):
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []map[string]string{{"nosuch": "1"}, {"exclusive": "maybe"}, {"headroom": "-1"}, {"mode": "x"}} {
		if d, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set, Options: o})); err == nil {
			d.Close()
			t.Errorf("options %v were taken", o)
		}
	}
	if _, err := v.Open(context.Background(), "a", driver.Config{}); err == nil {
		t.Error("a port without a set was opened")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := v.Open(ctx, "a", quiet(driver.Config{Set: set})); err == nil {
		t.Error("opened with a context that has ended")
	}
}

// TestExclusive: a second Open of the same rings fails, unless both share.
func TestExclusive(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	if err := sim.NIC("a", nmsim.NICConfig{}); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", sim)
	a := openPort(t, v, "a", driver.Config{Set: set})
	_, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set}))
	if err == nil || !strings.Contains(err.Error(), "exclusive=0") {
		t.Fatalf("second open: %v", err)
	}
	a.Close()
	share := map[string]string{"exclusive": "0"}
	b := openPort(t, v, "a", driver.Config{Set: set, Options: share})
	c := openPort(t, v, "a", driver.Config{Set: set, Options: share})
	if b.Pool() != c.Pool() {
		t.Error("two ports of one region and set have different pools")
	}
}

// TestRegions: ports of one region and set share a pool, another set has its own,
// another region too; all of it goes back with the last port.
func TestRegions(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	for n, id := range map[string]uint16{"a": 1, "b": 1, "c": 2} {
		if err := sim.NIC(n, nmsim.NICConfig{MemID: id, RxSlots: 64, TxSlots: 64}); err != nil {
			t.Fatal(err)
		}
	}
	s1, _ := newSet(t)
	s2, _ := newSet(t)
	v := NewSim("sim", sim)
	a := openPort(t, v, "a", driver.Config{Set: s1})
	b := openPort(t, v, "b", driver.Config{Set: s1})
	c := openPort(t, v, "c", driver.Config{Set: s1})
	if a.Pool() != b.Pool() || a.Pool() == c.Pool() || a.Info().MemID != 1 || c.Info().MemID != 2 {
		t.Errorf("pools %p %p %p, regions %d %d", a.Pool(), b.Pool(), c.Pool(), a.Info().MemID, c.Info().MemID)
	}
	b.Close()
	b = openPort(t, v, "b", driver.Config{Set: s2})
	if a.Pool() == b.Pool() {
		t.Error("two sets share a pool")
	}
	given := openPort(t, v, "p{1", driver.Config{Set: s1, Pool: a.Pool()})
	if i := given.Info(); i.ZeroCopy || !strings.Contains(i.Why, "region") {
		t.Errorf("%+v", i)
	}
	if _, err := v.Open(context.Background(), "p}1", quiet(driver.Config{Set: s1, Pool: a.Pool(), Strict: true})); err == nil {
		t.Error("Strict accepted a copy")
	}
	b.Close()
	b = openPort(t, v, "b", driver.Config{Set: s1, Pool: a.Pool()})
	if i := b.Info(); !i.ZeroCopy {
		t.Errorf("the region's own pool, given: %+v", i)
	}
	g := v.c.regions[1]
	if n := a.Pool().Num() + len(g.spare); n != g.granted {
		t.Errorf("%d in headers, %d spare, %d granted", a.Pool().Num(), len(g.spare), g.granted)
	}
}

// TestSmallGrant: fewer buffers than asked are reported, or refused under Strict.
func TestSmallGrant(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{Mem: nmsim.Geometry{BufNum: 400}})
	if err := sim.NIC("a", nmsim.NICConfig{RxSlots: 64, TxSlots: 64}); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", sim)
	if _, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set, PoolPackets: 1000, Strict: true})); err == nil {
		t.Error("Strict accepted a smaller pool")
	}
	d := openPort(t, v, "a", driver.Config{Set: set, PoolPackets: 1000})
	if n := d.Pool().Num(); n != 400-2-128 || !strings.Contains(strings.Join(d.Info().Notes, " "), "1000 packets asked, 270") {
		t.Errorf("%d packets, notes %q", n, d.Info().Notes)
	}
	d.Close()
	if err := sim.NIC("b", nmsim.NICConfig{RxSlots: 199, TxSlots: 199}); err != nil {
		t.Fatal(err)
	}
	_, err := v.Open(context.Background(), "b", quiet(driver.Config{Set: set}))
	if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Cure, "mem=2") || kernelWords.MatchString(err.Error()) {
		t.Errorf("no buffers at all: %v", err)
	}
}

// TestPacketsOut: a port that closes while packets are out says so, and gives the rest
// back when they are.
func TestPacketsOut(t *testing.T) {
	sim := nmsim.NewWorld(nmsim.Config{Mem: nmsim.Geometry{BufNum: 1024}})
	t.Cleanup(sim.Close)
	if err := sim.NIC("a", nmsim.NICConfig{RxSlots: 64, TxSlots: 64}); err != nil {
		t.Fatal(err)
	}
	set, w := newSet(t)
	v := NewSim("sim", sim)
	d, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set}))
	if err != nil {
		t.Fatal(err)
	}
	pkts := make([]*buffer.Packet, 3)
	d.Pool().AllocPackets(w, pkts, 60)
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "3 of 512") {
		t.Errorf("close with packets out: %v", err)
	}
	if sim.Open() != 1 { // the region's: the rings are free
		t.Errorf("%d descriptors", sim.Open())
	}
	buffer.FreePackets(w, pkts)
	if err := d.Close(); err != nil {
		t.Errorf("close with the packets back: %v", err)
	}
	if l := sim.Leaks(); l != (nmsim.Leaks{}) || sim.Open() != 0 {
		t.Errorf("%+v, %d descriptors", l, sim.Open())
	}
}

// TestPadding: short frames are padded with zeroes on NIC ports only.
func TestPadding(t *testing.T) {
	for _, zero := range []bool{true, false} {
		for _, ends := range [][2]string{{"a", "b"}, {"vale0:p", "vale0:q"}} {
			sim := smallWorld(t, nmsim.Config{})
			for _, n := range []string{"a", "b"} {
				if err := sim.NIC(n, nmsim.NICConfig{}); err != nil {
					t.Fatal(err)
				}
			}
			sim.Cable("a", "b")
			set, w := newSet(t)
			cfg := driver.Config{Set: set}
			if !zero {
				p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 600})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Close() })
				cfg.Pool = p
			}
			v := NewSim("sim", sim)
			a, b := openPort(t, v, ends[0], cfg), openPort(t, v, ends[1], cfg)
			for _, n := range []int{14, 30, 59, 60, 61} {
				k := a.Pool().AllocPacket(w, 100)
				copy(k.Data(), bytes.Repeat([]byte{0xee}, 100))
				buffer.FreePacket(w, k)
				k = a.Pool().AllocPacket(w, n)
				f := testFrame(1, 100)[:n]
				copy(k.Data(), f)
				pkts := []*buffer.Packet{k}
				if m, err := a.Tx(0).Send(w, pkts); m != 1 || err != nil {
					t.Fatal(m, err)
				}
				if m, err := b.Rx(0).Recv(w, pkts); m != 1 || err != nil {
					t.Fatal(m, err)
				}
				want := f
				if ends[0] == "a" && n < 60 {
					want = append(bytes.Clone(f), make([]byte, 60-n)...)
				}
				if got := contents(pkts[0]); !bytes.Equal(got, want) {
					t.Errorf("%s zero copy %v, %d bytes: got % x", ends[0], zero, n, got)
				}
				buffer.FreePackets(w, pkts)
			}
		}
	}
}

// TestUnsendable: packets that can never be sent are freed, counted, and accepted.
func TestUnsendable(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	if err := sim.NIC("a", nmsim.NICConfig{Sink: &nmsim.SinkConfig{}}); err != nil {
		t.Fatal(err)
	}
	set, w := newSet(t)
	v := NewSim("sim", sim)
	a, p := openPort(t, v, "a", driver.Config{Set: set}), openPort(t, v, "vale0:p", driver.Config{Set: set, PoolPackets: 1024})
	send := func(d *device, pool *buffer.Pool, n int) {
		t.Helper()
		k := pool.AllocPacket(w, n)
		if k == nil {
			t.Fatalf("no packet of %d bytes", n)
		}
		if m, err := d.Tx(0).Send(w, []*buffer.Packet{k}); m != 1 || err != nil {
			t.Errorf("%d bytes: %d %v", n, m, err)
		}
	}
	send(a, a.Pool(), 0)
	send(a, a.Pool(), 2049)
	send(a, a.Pool(), 9000)
	if d := a.Tx(0).Drops(); d["no_data"] != 1 || d["longer_than_buffer"] != 2 {
		t.Errorf("drops %v", d)
	}
	small, err := buffer.NewPool(set, buffer.PoolConfig{Name: "tiny segments", Num: 1200, Size: 64, Headroom: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	send(p, small, 64*100)
	if d := p.Tx(0).Drops(); d["too_many_slots"] != 1 {
		t.Errorf("drops %v", d)
	}
	send(p, small, 64*20)
	atRest(t, set, w, a, p)
	if small.Available() != small.Num() {
		t.Errorf("%d of %d small packets are back", small.Available(), small.Num())
	}
}

// TestNoAllocs: nothing is allocated on the Go heap once a port runs.
func TestNoAllocs(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	for n, c := range map[string]nmsim.NICConfig{"a": {Source: &nmsim.SourceConfig{}}, "b": {Sink: &nmsim.SinkConfig{}}} {
		if err := sim.NIC(n, c); err != nil {
			t.Fatal(err)
		}
	}
	set, w := newSet(t)
	v := NewSim("sim", sim)
	own, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 1024})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Close() })
	for _, pool := range []*buffer.Pool{nil, own} {
		a, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set, Pool: pool}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := v.Open(context.Background(), "b", quiet(driver.Config{Set: set, Pool: pool}))
		if err != nil {
			t.Fatal(err)
		}
		a.Start()
		b.Start()
		pkts := make([]*buffer.Packet, 32)
		rx, tx := a.Rx(0), b.Tx(0)
		if n := testing.AllocsPerRun(2000, func() {
			n, _ := rx.Recv(w, pkts)
			m, _ := tx.Send(w, pkts[:n])
			buffer.FreePackets(w, pkts[m:n])
		}); n != 0 {
			t.Errorf("own pool %v: %v allocations a burst", pool == own, n)
		}
		a.Close()
		b.Close()
	}
}

// TestWaiter: sleep on an empty queue until a frame comes.
func TestWaiter(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
	wt := x.b.Rx(0).(driver.Waiter)
	woken := make(chan struct{}, 10)
	fd, due, ready := wt.Arm(func() { woken <- struct{}{} })
	if fd != -1 || due != 0 || ready {
		t.Fatalf("empty queue: %d %v %v", fd, due, ready)
	}
	x.send(0, 1)
	select {
	case <-woken:
	case <-time.After(30 * time.Second):
		t.Fatal("no wake")
	}
	wt.Disarm()
	if _, _, ready := wt.Arm(func() { t.Error("woken, though ready was said") }); !ready {
		t.Error("a frame waits, and Arm says sleep")
	}
	wt.Disarm()
	if seqs, err := x.recv(); len(seqs) != 1 || err != nil {
		t.Fatal(seqs, err)
	}
	wt.Arm(func() { woken <- struct{}{} })
	wt.Disarm()
	x.send(1, 1)
	time.Sleep(time.Millisecond)
	if len(woken) != 0 {
		t.Error("woken after Disarm")
	}
	x.b.Stop()
	if n, err := x.b.Rx(0).Recv(x.w, make([]*buffer.Packet, 4)); n != 0 || err != nil {
		t.Errorf("receive on a stopped port: %d %v", n, err)
	}
}

var heavy = flag.Bool("heavy", false, "ten times as many rounds")

// TestOpenClose opens and closes many times; nothing is left.
func TestOpenClose(t *testing.T) {
	rounds := 1000
	if *heavy {
		rounds = 10000
	}
	if testing.Short() || raceBuild {
		rounds = 100
	}
	for _, name := range []string{"a", "p{1"} {
		sim := smallWorld(t, nmsim.Config{KeepIdle: true, Mem: nmsim.Geometry{BufNum: 1024}})
		if err := sim.NIC("a", nmsim.NICConfig{RxSlots: 32, TxSlots: 32}); err != nil {
			t.Fatal(err)
		}
		set, err := worker.NewSet(1)
		if err != nil {
			t.Fatal(err)
		}
		v := NewSim("sim", sim)
		for i := range rounds {
			d, err := v.Open(context.Background(), name, quiet(driver.Config{Set: set, PoolPackets: 64, RxSlots: 32, TxSlots: 32}))
			if err != nil {
				t.Fatalf("%s, round %d: %v", name, i, err)
			}
			if err := d.Close(); err != nil {
				t.Fatalf("%s, round %d: %v", name, i, err)
			}
		}
		if len(v.c.regions)+len(v.c.bases) != 0 {
			t.Errorf("%s: %d regions, %d bases", name, len(v.c.regions), len(v.c.bases))
		}
		set.Close()
	}
}

// TestControl: MTU, promiscuous mode, addresses.
func TestControl(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
	if x.a.MTU() != 1514 || len(x.a.MAC()) != 6 {
		t.Errorf("MTU %d, MAC %v", x.a.MTU(), x.a.MAC())
	}
	if err := x.a.SetMTU(1018); err != nil || x.a.MTU() != 1018 {
		t.Errorf("MTU %d, %v", x.a.MTU(), err)
	}
	if err := x.a.SetMTU(4000); err == nil || !strings.Contains(err.Error(), "BufSize") {
		t.Errorf("MTU over the buffer size: %v", err)
	}
	if err := x.a.SetPromisc(true); err != nil {
		t.Error(err)
	}
	if on, err := x.a.Promisc(); !on || err != nil {
		t.Errorf("promiscuous: %v %v", on, err)
	}
	c := x.a.Capability()
	if !c.SetMTU || c.Blocking || c.MaxMTU != 2048 {
		t.Errorf("%+v", c)
	}
	p := openPort(t, NewSim("sim", x.sim), "vale3:x", driver.Config{Set: x.set})
	if p.SetMTU(1000) == nil || p.SetPromisc(false) == nil || p.SetPromisc(true) != nil || !p.Link().Up || p.MAC()[0] != 2 {
		t.Errorf("control of a switch port: %+v %v", p.Link(), p.MAC())
	}
}

// TestPersonality: the client takes FreeBSD's numbers from the kernel it talks to, also
// when they are chosen by the first name that is opened.
func TestPersonality(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	v := NewSim("sim", sim)
	set, w := newSet(t)
	a := openPort(t, v, "vale0:a", driver.Config{Set: set, Options: map[string]string{"personality": "freebsd"}})
	b := openPort(t, v, "vale0:b", driver.Config{Set: set})
	if a.num != abi.FreeBSDNumbers || b.num != abi.FreeBSDNumbers {
		t.Errorf("numbers %#x %#x", a.num, b.num)
	}
	if c, m := exchange(t, w, a, b, 200, func(int) int { return 100 }); c != 0 || m != 0 {
		t.Errorf("%d corrupt, %d missing", c, m)
	}
}

// TestMTUNote: an MTU that the kernel accepts and a buffer does not hold is reported.
func TestMTUNote(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{})
	if err := sim.NIC("a", nmsim.NICConfig{MTU: 2040}); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", sim)
	if _, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set, Strict: true})); err == nil || !strings.Contains(err.Error(), "BufSize") {
		t.Errorf("Strict: %v", err)
	}
	d := openPort(t, v, "a", driver.Config{Set: set})
	if s := strings.Join(d.Info().Notes, " "); !strings.Contains(s, "2058 bytes") || !strings.Contains(s, "2030") {
		t.Errorf("notes %q", s)
	}
	p := openPort(t, v, "p{1", driver.Config{Set: set, RxSlots: 5000})
	if s := strings.Join(p.Info().Notes, " "); !strings.Contains(s, "5000 slots asked, the ring has 4096") {
		t.Errorf("notes %q", s)
	}
}

// TestEveryBufferOnce: after traffic each buffer of the region is in one slot or in
// one header, and none is missing.
func TestEveryBufferOnce(t *testing.T) {
	sim := smallWorld(t, nmsim.Config{Mem: nmsim.Geometry{BufNum: 2048}})
	for n, c := range map[string]nmsim.NICConfig{
		"a": {RxSlots: 100, TxSlots: 60, MoreFrag: true, Source: &nmsim.SourceConfig{Count: 5000, Window: 40, Len: 300, Frags: 2}},
		"b": {RxSlots: 50, TxSlots: 70, MoreFrag: true, Sink: &nmsim.SinkConfig{}},
	} {
		if err := sim.NIC(n, c); err != nil {
			t.Fatal(err)
		}
	}
	set, w := newSet(t)
	v := NewSim("sim", sim)
	a, b := openPort(t, v, "a", driver.Config{Set: set}), openPort(t, v, "b", driver.Config{Set: set})
	forward(t, w, a.Rx(0), b.Tx(0), func() bool { return sim.Report("b").TxFrames >= 5000 })
	place := map[uint32]string{}
	put := func(idx uint32, where string) {
		if o := place[idx]; o != "" || !a.reg.bufs.ok(idx) {
			t.Errorf("buffer %d is in %s and in %s", idx, o, where)
		}
		place[idx] = where
	}
	slots := 0
	for _, d := range []*device{a, b} {
		for _, g := range []*ring{&d.rx[0].rings[0], &d.tx[0].g} {
			for i := uint32(0); i < g.n; i++ {
				idx, _, _ := g.r.Slot(i).Load()
				put(idx, d.name)
				slots++
			}
		}
	}
	for i := range a.Pool().Num() {
		_, _, ext := a.Pool().EventAt(i).Buf()
		put(ext, "a header")
	}
	for _, idx := range a.reg.spare {
		put(idx, "spare")
	}
	if len(place) != slots+a.reg.granted {
		t.Errorf("%d buffers found, %d in slots and %d granted", len(place), slots, a.reg.granted)
	}
}
