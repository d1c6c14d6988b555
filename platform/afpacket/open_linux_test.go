// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/pktio/driver"
)

// Each system call of Open fails once: the error names the device, or the port is as
// good without; nothing is left behind either way.
func TestEveryCallFails(t *testing.T) {
	a, _ := netlab.Pair(t)
	c := netlab.FailingCalls{Host: a, Prefix: "afpacket:", Name: "a0", Config: netlab.DriverConfig(t), MayFail: mayFail, Least: 30,
		Driver: func(gate func(string) error) driver.Driver { return drv{gate: gate} }}
	c.Config.RxQueues, c.Config.TxQueues, c.Config.RxSlots, c.Config.Promisc = 2, 2, 16, true
	if testing.Short() {
		c.Step = 5 // closing a packet socket takes the kernel a while
	}
	netlab.EachCallFails(t, c)
}

// mayFail are the calls that Open does without.
var mayFail = map[string]bool{
	"setsockopt(SO_RCVBUFFORCE)": true, "setsockopt(SO_SNDBUFFORCE)": true,
	"setsockopt(PACKET_IGNORE_OUTGOING)": true, // then they are told by their address
	"setsockopt(PACKET_VNET_HDR)":        true, // a note
	"setsockopt(PACKET_QDISC_BYPASS)":    true, // a note
	"sendto(rtnetlink)":                  true, // looking for offloads
}

func TestErrors(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := netlab.DriverConfig(t)
	b.Down("b0")
	for _, c := range []struct {
		h          *netlab.Host
		name, opts string
		want       []string
	}{
		{a, "nosuch", "", []string{`there is no interface "nosuch"`, "a0, lo"}},
		{a, "a name longer than interfaces have", "", []string{"there is no interface"}},
		{b, "b0", "", []string{"b0 is down", "ip link set dev b0 up"}},
		{a, "a0", "fanout=all", []string{"hash, lb, cpu, rnd, qm"}},
		{a, "a0", "speed=1", []string{"fanout=", "qdisc=0|1"}},
	} {
		k := cfg
		k.Options = map[string]string{}
		if n, v, ok := strings.Cut(c.opts, "="); ok {
			k.Options[n] = v
		}
		_, err := c.h.Open(drv{}, c.name, k)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) || !strings.Contains(err.Error(), "afpacket:"+c.name) {
				t.Errorf("%s?%s: %v, want %q", c.name, c.opts, err, w)
			}
		}
	}
	for _, k := range []driver.Config{{RxQueues: 65}, {TxQueues: 65}, {RxSlots: 1 << 17}, {RxSlots: 3}} {
		k.Set, k.Log = cfg.Set, cfg.Log
		if _, err := a.Open(drv{}, "a0", k); err == nil || !strings.Contains(err.Error(), "allowed are") {
			t.Errorf("%+v: %v", k, err)
		}
	}
	k := cfg
	k.Strict, k.TxSlots = true, 64
	if _, err := a.Open(drv{}, "a0", k); err == nil || !strings.Contains(err.Error(), "Strict") {
		t.Errorf("strict: %v", err)
	}
}

// An interface that others depend on is not taken without being told to.
func TestTakeOver(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(a *netlab.Host)
		want string
	}{
		{"bridge", func(a *netlab.Host) { a.Bridge("br0", "a0") }, "it is a member of br0"},
		{"default route", func(a *netlab.Host) { a.Addr("a0", "10.1.0.1/24"); a.DefaultRoute("a0") }, "it carries the default route"},
		{"default route of a bridge", func(a *netlab.Host) { a.Bridge("br0", "a0"); a.Up("br0"); a.DefaultRoute("br0") }, "it carries the default route (through br0)"},
		{"ssh", func(a *netlab.Host) { a.Addr("a0", "10.1.0.1/24") }, "the SSH connection in use ends at its address 10.1.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := netlab.Pair(t)
			t.Setenv("SSH_CONNECTION", "10.1.0.2 5555 10.1.0.1 22")
			c.do(a)
			cfg := netlab.DriverConfig(t)
			_, err := a.Open(drv{}, "a0", cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "takeover=1") {
				t.Errorf("%v, want %q", err, c.want)
			}
			var said strings.Builder
			cfg.TakeOver, cfg.Log = true, slog.New(slog.NewTextHandler(&said, nil))
			d, err := a.Open(drv{}, "a0", cfg)
			if err != nil {
				t.Fatal(err)
			}
			d.Close()
			if n := strings.Count(said.String(), "does not pass the host's firewall"); n != 1 {
				t.Errorf("it was said %d times: %s", n, said.String())
			}
		})
	}
}

// Promiscuous mode counts once, and is given back.
func TestPromisc(t *testing.T) {
	a, _ := netlab.Pair(t)
	d, err := a.Open(drv{}, "a0", netlab.DriverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, on := range []bool{true, true, false, false, true} {
		if err := d.SetPromisc(on); err != nil {
			t.Fatal(err)
		}
		got, err := d.Promisc()
		if n := a.Promisc("a0"); err != nil || got != on || (n == 1) != on {
			t.Errorf("set to %v: %v, %v, the interface counts %d", on, got, err, n)
		}
	}
	d.Close()
	if n := a.Promisc("a0"); n != 0 {
		t.Errorf("after Close the interface counts %d", n)
	}
}

// Flows are spread over the queues and stay together, in both directions; frames that
// nobody reads are counted as drops of the ring, and it works again afterwards.
func TestQueues(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := netlab.DriverConfig(t)
	cfg.RxQueues, cfg.RxSlots = 4, 32
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw := b.Raw("b0")
	flow := func(i int, back bool) []byte {
		src, dst := []byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}
		sp, dp := []byte{byte(i >> 8), byte(i)}, []byte{0, 80}
		if back {
			src, dst, sp, dp = dst, src, dp, sp
		}
		f := append([]byte{2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0}, src...)
		f = append(append(append(append(f, dst...), sp...), dp...), 0, 8, 0, 0)
		return append(f, fmt.Sprint(i, back)...)
	}
	send := func(n int) {
		for i := range n {
			for _, back := range []bool{false, true} {
				if err := raw.Send(flow(i+1, back)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	where := map[int]int{}
	used := map[int]int{}
	recv := func() (total int) {
		pkts := make([]*buffer.Packet, 8)
		for q := range 4 {
			for {
				n, err := d.Rx(q).Recv(nil, pkts)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
				total += n
				for _, k := range pkts[:n] {
					var i int
					var back bool
					fmt.Sscan(string(k.Data()[42:]), &i, &back)
					if w, ok := where[i]; ok && w != q {
						t.Errorf("flow %d came out of queues %d and %d", i, w, q)
					}
					where[i] = q
					used[q]++
				}
				buffer.FreePackets(nil, pkts[:n])
			}
		}
		return total
	}
	drops := func() (n uint64) {
		for q := range 4 {
			n += d.Rx(q).Drops()["ring_full"]
		}
		return n
	}
	send(16) // before Start: not taken in
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if n := recv(); n != 0 {
		t.Errorf("%d frames came before Start", n)
	}
	send(16)
	if n := recv(); n != 32 || len(used) < 2 {
		t.Errorf("%d frames of 32 in %v", n, used)
	}
	for range 3 { // around the rings
		send(400)
		got := recv()
		if n := drops(); got == 800 || got == 0 || n == 0 {
			t.Errorf("received %d of 800, dropped %d so far", got, n)
		}
		send(8)
		if n := recv(); n != 16 {
			t.Errorf("after an overload %d frames of 16", n)
		}
	}
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	send(4)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if n := recv(); n != 0 {
		t.Errorf("%d frames came while it was stopped", n)
	}
	if n := d.Pool().Out(); n != 0 {
		t.Errorf("%d packets are out", n)
	}
}

// What the kernel counts in 32 bits is added up, from wherever it stands.
func TestDropsAreAddedUp(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := netlab.DriverConfig(t)
	cfg.RxSlots = 32
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.Start()
	q := d.Rx(0).(*rxQueue)
	q.drops = 1<<32 - 20
	raw := b.Raw("b0")
	for range q.slots + 50 {
		raw.Send(make([]byte, 60))
	}
	if n := q.Drops()["ring_full"]; n != 1<<32+30 {
		t.Errorf("%d drops, want %d", n, 1<<32+30)
	}
	if n := q.Drops()["ring_full"]; n != 1<<32+30 {
		t.Errorf("asked again: %d drops", n)
	}
}

// Odd packets are counted by reason, and what is around them is sent.
func TestOddPackets(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := netlab.DriverConfig(t)
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.Start()
	raw := b.Raw("b0")
	p := d.Pool()
	var pkts []*buffer.Packet
	for _, n := range []int{60, 13, 1514, 1600, 0, 14, 61, 9000} {
		k := p.AllocPacket(nil, n)
		for s := k.FirstSeg(); s != nil; s = s.Next() {
			for i := range s.Data() {
				s.Data()[i] = byte(n)
			}
		}
		pkts = append(pkts, k)
	}
	segs := p.AllocPacket(nil, 20) // in three segments
	copy(segs.Data(), strings.Repeat("a", 20))
	for _, c := range []byte("bc") {
		e := p.AllocPacket(nil, 20)
		copy(e.Data(), strings.Repeat(string(c), 20))
		if err := segs.Concat(nil, e); err != nil {
			t.Fatal(err)
		}
	}
	pkts = append(pkts, segs)
	if n, err := d.Tx(0).Send(nil, pkts); n != len(pkts) || err != nil {
		t.Fatalf("sent %d of %d: %v", n, len(pkts), err)
	}
	for _, want := range []int{60, 1514, 14, 61, 60} {
		got := raw.Recv(5e9)
		if len(got) != want {
			t.Fatalf("a frame of %d bytes, want %d", len(got), want)
		}
		if want == 60 && got[0] == 'a' && string(got[20:60]) != strings.Repeat("b", 20)+strings.Repeat("c", 20) {
			t.Errorf("segments: %s", got)
		}
	}
	if m := d.Tx(0).Drops(); m["longer_than_mtu"] != 2 || m["too_short"] != 2 {
		t.Errorf("drops %v", m)
	}
	if n := p.Out(); n != 0 {
		t.Errorf("%d packets are out", n)
	}
}
