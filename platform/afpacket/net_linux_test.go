// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"bytes"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/odp"
)

// The network of these tests:
//
//	 host A            forwarder             host B
//	 10.9.0.1/24       afpacket:f0           10.9.0.2/24
//	  [a0]────veth────[f0]      [f1]────veth────[b0]
//
// The offloads of the veths are on, as the kernel makes them: hosts send frames with
// unfinished checksums, and of up to 64 KiB.

var pair = [2]string{"afpacket:f0", "afpacket:f1"}

func TestPingAndTCP(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices [2]string
		workers int
		mode    odp.Mode
		mtu     int
	}{
		{"burst, 1 worker", pair, 1, odp.ModeDirect, 1500},
		{"burst, 4 workers", pair, 4, odp.ModeDirect, 1500},
		{"queue, 4 workers", pair, 4, odp.ModeScheduled, 1500},
		{"queueing discipline, smallest ring", [2]string{"afpacket:f0?qdisc=1&slots=16", "afpacket:f1?qdisc=1&slots=16"}, 1, odp.ModeDirect, 1500},
		{"jumbo frames", pair, 1, odp.ModeDirect, 9000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.workers == 4 && c.mode == odp.ModeDirect {
				t.Skip("not in short mode")
			}
			l := netlab.Line(t, netlab.Config{MTU: c.mtu})
			f := netlab.Forward(l.F, c.devices, c.workers, c.mode)
			for _, size := range []int{0, 18, 1000, 1472, 4000, 8000} {
				if _, ok := netlab.Ping(t, l.A, netlab.AddrB, size, 10*time.Second); !ok {
					t.Fatalf("no answer to a ping of %d bytes", size)
				}
			}
			n := 4 << 20
			if !testing.Short() {
				n = 32 << 20
			}
			netlab.TCP(t, l.A, l.B, netlab.AddrB, n)
			netlab.TCP(t, l.B, l.A, netlab.Addr6A, n/4)
			d := f.Ports[0].Stats().Device
			if d["rx_merged"] == 0 || d["rx_segments"] < d["rx_merged"] {
				t.Errorf("the hosts sent no merged frames: %v", d)
			}
			if err := f.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// One packet a second, or any low rate, is not held back until the next one.
func TestLonePackets(t *testing.T) {
	l := netlab.Line(t, netlab.Config{})
	netlab.Forward(l.F, pair, 1, odp.ModeScheduled)
	netlab.Ping(t, l.A, netlab.AddrB, 56, 10*time.Second)
	for range 3 {
		time.Sleep(100 * time.Millisecond) // the workers sleep by now
		if rtt, ok := netlab.Ping(t, l.A, netlab.AddrB, 56, 10*time.Second); !ok || rtt > 400*time.Millisecond {
			t.Errorf("a lone ping took %v, answered: %v", rtt, ok)
		}
	}
}

// Tags arrive as they were sent, whatever the kernel does with them on the way.
func TestTags(t *testing.T) {
	l := netlab.Line(t, netlab.Config{})
	a, b := l.A.Raw("a0"), l.B.Raw("b0")
	f := netlab.Forward(l.F, pair, 1, odp.ModeDirect)
	body := bytes.Repeat([]byte{0xa5, 0x5a, 3}, 30)
	macs := []byte{2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4}
	for _, tags := range [][]byte{
		nil,
		{0x81, 0, 0, 5},
		{0x81, 0, 0xe0, 0}, // priority tag: vid 0
		{0x81, 0, 0, 0},
		{0x88, 0xa8, 0x0f, 0xff},
		{0x88, 0xa8, 0x20, 7, 0x81, 0, 0, 9},
		{0x81, 0, 0, 7, 0x81, 0, 0, 9},
		{0x81, 0, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3},
	} {
		frame := append(append(bytes.Clone(macs), tags...), 0x88, 0xb5)
		frame = append(frame, body...)
		if err := a.Send(frame); err != nil {
			t.Fatal(err)
		}
		if !b.Expect(frame) {
			t.Errorf("tags % x: the frame did not arrive as it was sent", tags)
		}
	}
	if n := f.Ports[0].Stats().Device["rx_tags_restored"]; n < 7 {
		t.Errorf("%d tags were restored", n)
	}
}

// A frame does not go round: what the forwarder sends it does not receive.
func TestNoEcho(t *testing.T) {
	for _, qdisc := range []string{"0", "1"} {
		if testing.Short() && qdisc == "0" {
			continue // not seen by packet sockets anyway
		}
		l := netlab.Line(t, netlab.Config{})
		a, b := l.A.Raw("a0"), l.B.Raw("b0")
		netlab.Forward(l.F, [2]string{"afpacket:f0?qdisc=" + qdisc, "afpacket:f1?qdisc=" + qdisc}, 1, odp.ModeDirect)
		frame := append(bytes.Repeat([]byte{0xff}, 6), 2, 0, 0, 0, 0, 9, 0x88, 0xb5)
		frame = append(frame, bytes.Repeat([]byte{1}, 60)...)
		for i := range 20 {
			frame[20] = byte(i)
			if err := a.Send(frame); err != nil {
				t.Fatal(err)
			}
		}
		if !b.Expect(frame) {
			t.Fatal("the frames did not arrive")
		}
		for got := a.Recv(50 * time.Millisecond); got != nil; got = a.Recv(50 * time.Millisecond) {
			if bytes.Equal(got[6:12], frame[6:12]) {
				t.Fatal("a frame came back to its sender")
			}
		}
		for got := b.Recv(50 * time.Millisecond); got != nil; got = b.Recv(50 * time.Millisecond) {
			if bytes.Equal(got[6:12], frame[6:12]) {
				t.Fatal("a frame arrived twice")
			}
		}
	}
}

// After the link was down on either side forwarding goes on.
func TestLinkFlap(t *testing.T) {
	l := netlab.Line(t, netlab.Config{})
	f := netlab.Forward(l.F, pair, 1, odp.ModeScheduled)
	ping := func(when string) {
		t.Helper()
		if _, ok := netlab.Ping(t, l.A, netlab.AddrB, 100, 20*time.Second); !ok {
			t.Fatalf("no ping %s", when)
		}
	}
	ping("at first")
	l.F.Down("f0")
	for end := time.Now().Add(10 * time.Second); f.Ports[0].Stats().Device["link_downs"] == 0; {
		if time.Now().After(end) {
			t.Fatal("the port does not notice that the interface is down")
		}
		time.Sleep(time.Millisecond)
	}
	l.F.Up("f0")
	ping("after the forwarder's interface was down")
	l.B.Down("b0")
	l.B.Up("b0")
	l.B.Addr("b0", "10.9.0.99/24") // anything that makes the host announce itself
	ping("after the host's interface was down")
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
}

// When the interface is removed the workers get an error that says so.
func TestRemovedUnderLoad(t *testing.T) {
	for mode, device := range map[odp.Mode]string{odp.ModeDirect: "afpacket:f0", odp.ModeScheduled: ""} {
		l := netlab.Line(t, netlab.Config{})
		l.Remove(t, netlab.Forward(l.F, pair, 1, mode), device)
	}
}

// Frames longer than a slot, after the MTU was raised under the running program, arrive whole.
func TestMTURaised(t *testing.T) {
	l := netlab.Line(t, netlab.Config{})
	a, b := l.A.Raw("a0"), l.B.Raw("b0")
	f := netlab.Forward(l.F, pair, 1, odp.ModeDirect)
	for _, h := range []struct {
		h *netlab.Host
		n string
	}{{l.A, "a0"}, {l.F, "f0"}, {l.F, "f1"}, {l.B, "b0"}} {
		h.h.SetMTU(h.n, 9000)
	}
	for _, n := range []int{1600, 1900, 1972, 1973, 2048, 4096, 9014} {
		frame := append(bytes.Repeat([]byte{6}, 12), 0x88, 0xb5)
		for len(frame) < n {
			frame = append(frame, byte(len(frame)*7))
		}
		if err := a.Send(frame); err != nil {
			t.Fatal(err)
		}
		if !b.Expect(frame) {
			t.Fatalf("a frame of %d bytes did not arrive whole: %v %v", n, f.Ports[0].Stats().Drops(), f.Ports[0].Stats().Device)
		}
	}
	if f.Ports[0].Stats().Device["rx_long"] == 0 {
		t.Error("no frame was longer than a slot")
	}
	if got := f.Ports[0].MTU(); got != 9014 {
		t.Errorf("MTU %d", got)
	}
}

// After more than can be forwarded came from both sides, the next lone packets pass, and
// at the end no packet is missing.
func TestOverload(t *testing.T) {
	l := netlab.Line(t, netlab.Config{})
	f := netlab.Forward(l.F, pair, 1, odp.ModeDirect)
	l.Overload(t, f)
}
