// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/odp"
)

// The network of these tests:
//
//	host A            forwarder             host B
//	10.9.0.1/24       afxdp:f0              10.9.0.2/24
//	 [a0]────veth────[f0]      [f1]────veth────[b0]
//
// The hosts finish their checksums themselves, since XDP sees frames before hardware
// would.
func line(t *testing.T, cfg netlab.Config) *netlab.Lab {
	l := netlab.Line(t, cfg)
	l.A.FinishChecksums("a0")
	l.B.FinishChecksums("b0")
	return l
}

func devices(opts string) [2]string { return [2]string{"afxdp:f0" + opts, "afxdp:f1" + opts} }

func TestPingAndTCP(t *testing.T) {
	for _, c := range []struct {
		name    string
		opts    string
		workers int
		mode    odp.Mode
		lab     netlab.Config
		how     string
	}{
		{"native, burst", "", 1, odp.ModeDirect, netlab.Config{}, "native"},
		{"native, burst, 4 workers on 4 queues", "", 4, odp.ModeDirect, netlab.Config{Queues: 4}, "native"},
		{"native, one queue of ours for 4 of the interface", "", 1, odp.ModeDirect, netlab.Config{Queues: 4}, "native"},
		{"native, queue mode", "", 4, odp.ModeScheduled, netlab.Config{}, "native"},
		{"generic, burst", "?mode=generic", 1, odp.ModeDirect, netlab.Config{}, "generic"},
		{"native, large frames, small rings", "?slots=64", 1, odp.ModeDirect, netlab.Config{MTU: 3000}, "native"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.lab.Queues > 1 && c.workers == 4 {
				t.Skip("not in short mode")
			}
			l := line(t, c.lab)
			f := netlab.Forward(l.F, devices(c.opts), c.workers, c.mode)
			i := f.Ports[0].Info()
			if !strings.Contains(fmt.Sprint(i.Notes), c.how) || !i.ZeroCopy {
				t.Errorf("info %+v", i)
			}
			for _, size := range []int{0, 18, 1000, 1472, 8000} {
				if _, ok := netlab.Ping(t, l.A, netlab.AddrB, size, 10*time.Second); !ok {
					t.Fatalf("no answer to a ping of %d bytes: %v %v", size, f.Ports[0].Stats().Drops(), f.Ports[0].Stats().Device)
				}
			}
			n := 2 << 20
			if !testing.Short() {
				n = 32 << 20
			}
			netlab.TCP(t, l.A, l.B, netlab.AddrB, n)
			netlab.TCP(t, l.B, l.A, netlab.Addr6A, n/4)
			for _, p := range f.Ports {
				if d := p.Stats().Device; d["tx_copied"] != 0 || d["rx_copied"] != 0 || d["tx_moved"] == 0 {
					t.Errorf("packets were copied between ports of one UMEM: %v", d)
				}
			}
			if err := f.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// One packet at a low rate is not held back until the next one.
func TestLonePackets(t *testing.T) {
	for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
		l := line(t, netlab.Config{})
		netlab.Forward(l.F, devices(""), 1, mode)
		netlab.Ping(t, l.A, netlab.AddrB, 56, 10*time.Second)
		for range 3 {
			time.Sleep(100 * time.Millisecond)
			if rtt, ok := netlab.Ping(t, l.A, netlab.AddrB, 56, 10*time.Second); !ok || rtt > 400*time.Millisecond {
				t.Errorf("a lone ping took %v, answered: %v", rtt, ok)
			}
		}
	}
}

// More frames than the kernel sends in one call all leave.
func TestBurstsLeave(t *testing.T) {
	l := line(t, netlab.Config{})
	a, b := l.A.Raw("a0"), l.B.Raw("b0")
	netlab.Forward(l.F, devices(""), 1, odp.ModeDirect)
	frame := append(bytes.Repeat([]byte{2}, 12), bytes.Repeat([]byte{0x88, 0xb5}, 40)...)
	const n = 3000
	got := 0
	for i := range n {
		frame[20], frame[21] = byte(i>>8), byte(i)
		if err := a.Send(frame); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			for got <= i {
				f := b.Recv(10 * time.Second)
				if f == nil {
					t.Fatalf("%d frames of %d arrived", got, i+1)
				}
				if bytes.Equal(f[:12], frame[:12]) {
					if k := int(f[20])<<8 | int(f[21]); k != got {
						t.Fatalf("frame %d came after %d", k, got-1)
					}
					got++
				}
			}
		}
	}
}

func TestTags(t *testing.T) {
	for _, opts := range []string{"", "?mode=generic"} {
		l := line(t, netlab.Config{})
		a, b := l.A.Raw("a0"), l.B.Raw("b0")
		netlab.Forward(l.F, devices(opts), 1, odp.ModeDirect)
		for _, tags := range [][]byte{nil, {0x81, 0, 0xe0, 0}, {0x88, 0xa8, 0x20, 7, 0x81, 0, 0, 9}, {0x81, 0, 0, 7, 0x81, 0, 0, 9}} {
			frame := append(append(bytes.Repeat([]byte{2}, 12), tags...), bytes.Repeat([]byte{0x88, 0xb5}, 30)...)
			if err := a.Send(frame); err != nil {
				t.Fatal(err)
			}
			if !b.Expect(frame) {
				t.Errorf("%s tags % x: the frame did not arrive as it was sent", opts, tags)
			}
		}
	}
}

func TestLinkFlap(t *testing.T) {
	l := line(t, netlab.Config{})
	f := netlab.Forward(l.F, devices(""), 1, odp.ModeScheduled)
	ping := func(when string) {
		t.Helper()
		if _, ok := netlab.Ping(t, l.A, netlab.AddrB, 100, 20*time.Second); !ok {
			t.Fatalf("no ping %s", when)
		}
	}
	ping("at first")
	l.F.Down("f0")
	for end := time.Now().Add(10 * time.Second); f.Ports[0].Stats().Device["link_downs"] == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the port does not notice that the interface is down")
		}
	}
	l.F.Up("f0")
	ping("after the forwarder's interface was down")
	l.B.Down("b0")
	l.B.Up("b0")
	ping("after the host's interface was down")
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
}

func TestRemovedUnderLoad(t *testing.T) {
	l := line(t, netlab.Config{})
	l.Remove(t, netlab.Forward(l.F, devices(""), 1, odp.ModeDirect), "afxdp:f0")
}

// After more than can be forwarded came from both sides, the next lone packets pass, and
// at the end no packet is missing.
func TestOverload(t *testing.T) {
	l := line(t, netlab.Config{})
	f := netlab.Forward(l.F, devices(""), 1, odp.ModeDirect)
	l.Overload(t, f)
}
