// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
)

// The network of these tests; the taps belong to the forwarder, their hosts' ends are
// the interfaces:
//
//	host A                                    host B
//	10.9.0.1/24          forwarder            10.9.0.2/24
//	 [ta]────────tap:ta─┤         ├─tap:tb────────[tb]
func line(t *testing.T, opts string, workers int, mode odp.Mode) (a, b *netlab.Host, f *netlab.Forwarder) {
	testkit.Need(t, testkit.Tun)
	a, b = netlab.NewHost(t, "host A"), netlab.NewHost(t, "host B")
	f = netlab.ForwardAt([2]*netlab.Host{a, b}, [2]string{"tap:ta" + opts, "tap:tb" + opts}, workers, mode)
	a.Addr("ta", "10.9.0.1/24")
	a.Addr("ta", "fd09::1/64")
	b.Addr("tb", "10.9.0.2/24")
	b.Addr("tb", "fd09::2/64")
	return a, b, f
}

func TestPingAndTCP(t *testing.T) {
	for _, c := range []struct {
		opts    string
		workers int
		mode    odp.Mode
		merged  bool
	}{
		{"", 1, odp.ModeDirect, true}, {"", 4, odp.ModeDirect, true}, {"", 2, odp.ModeScheduled, true}, {"?vnet=0", 1, odp.ModeDirect, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a, b, f := line(t, c.opts, c.workers, c.mode)
			for _, size := range []int{0, 1000, 1472, 8000} {
				if _, ok := netlab.Ping(t, a, netlab.AddrB, size, 10*time.Second); !ok {
					t.Fatalf("no answer to a ping of %d bytes", size)
				}
			}
			netlab.TCP(t, a, b, netlab.AddrB, 2<<20)
			netlab.TCP(t, b, a, netlab.Addr6A, 1<<20)
			if d := f.Ports[0].Stats().Device; (d["rx_merged"] > 0) != c.merged {
				t.Errorf("merged frames: %v", d)
			}
			if err := f.Stop(); err != nil {
				t.Error(err)
			}
			a.Do(func() { // the interface goes with the port
				if h, err := nic.Open(nil, "ta"); err == nil {
					h.Close()
					t.Error("the interface is there after Close")
				}
			})
		})
	}
}

// Down and up again, MTU raised, removed: as the port should bear it.
func TestDownUpRemoved(t *testing.T) {
	a, b, f := line(t, "", 1, odp.ModeDirect)
	ping := func(when string, size int) {
		t.Helper()
		if _, ok := netlab.Ping(t, a, netlab.AddrB, size, 10*time.Second); !ok {
			t.Fatalf("no ping %s", when)
		}
	}
	ping("at first", 100)
	b.Down("tb")
	time.Sleep(50 * time.Millisecond)
	b.Up("tb")
	ping("after the interface was down", 100)
	a.SetMTU("ta", 9000)
	b.SetMTU("tb", 9000)
	ping("with large frames", 8500)
	if n := f.Ports[1].MTU(); n != 9014 {
		t.Errorf("MTU %d", n)
	}
	a.Delete("ta")
	err, ok := f.Wait(10 * time.Second)
	if !ok || !errors.Is(err, queue.ErrFaulted) || !strings.Contains(fmt.Sprint(err), "tap:ta: the interface was removed") {
		t.Errorf("ended: %v with %v", ok, err)
	}
}

// Tagged frames pass as they are.
func TestTags(t *testing.T) {
	a, b, _ := line(t, "", 1, odp.ModeDirect)
	from, to := a.Raw("ta"), b.Raw("tb")
	for _, tags := range [][]byte{{0x81, 0, 0xe0, 0}, {0x88, 0xa8, 0, 7, 0x81, 0, 0, 9}, {0x81, 0, 0, 7, 0x81, 0, 0, 9}} {
		frame := append(append(bytes.Repeat([]byte{2}, 12), tags...), bytes.Repeat([]byte{0x88, 0xb5}, 30)...)
		if err := from.Send(frame); err != nil {
			t.Fatal(err)
		}
		if !to.Expect(frame) {
			t.Errorf("tags % x: the frame did not arrive as it was sent", tags)
		}
	}
}

// Each system call of Open fails once, and nothing is left behind.
func TestEveryCallFails(t *testing.T) {
	c := netlab.FailingCalls{Host: netlab.NewHost(t, "host"), Prefix: "tap:", Name: "t0", Config: netlab.DriverConfig(t), Least: 12,
		Driver:  func(gate func(string) error) driver.Driver { return drv{gate: gate} },
		MayFail: map[string]bool{"ioctl(SIOCSIFFLAGS)": true, "ioctl(TUNSETOFFLOAD)": true, "sendto(rtnetlink)": true}}
	c.Config.RxQueues, c.Config.TxQueues = 2, 3
	netlab.EachCallFails(t, c)
}

func TestErrors(t *testing.T) {
	h := netlab.NewHost(t, "host")
	cfg := netlab.DriverConfig(t)
	open := func(name string, cfg driver.Config) (d driver.Device, err error) {
		h.Do(func() { d, err = drv{}.Open(context.Background(), name, cfg) })
		return d, err
	}
	d, err := open("t0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	strict := cfg
	strict.Strict, strict.RxSlots = true, 64
	opts := cfg
	opts.Options = map[string]string{"mac": "x"}
	for _, c := range []struct {
		name string
		cfg  driver.Config
		want string
	}{
		{"t0", cfg, "another program has it"},
		{"lo", cfg, "is no tap"},
		{"sixteencharacter", cfg, "allowed are up to 15"},
		{"t1", driver.Config{RxQueues: 65}, "allowed are 1 to 64"},
		{"t1", strict, "txqueuelen"},
		{"t1", opts, "vnet=0|1, up=0|1"},
	} {
		if _, err := open(c.name, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Several segments, and packets that can't be sent.
func TestOddPackets(t *testing.T) {
	h := netlab.NewHost(t, "host")
	cfg := netlab.DriverConfig(t)
	var d driver.Device
	var err error
	h.Do(func() { d, err = drv{}.Open(context.Background(), "t0", cfg) })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw := h.Raw("t0")
	d.Start()
	var pkts []*buffer.Packet
	for _, n := range []int{60, 13, 5000, 0, 14} {
		k := d.Pool().AllocPacket(nil, n)
		for s := k.FirstSeg(); s != nil; s = s.Next() {
			for i := range s.Data() {
				s.Data()[i] = 0x88
			}
		}
		pkts = append(pkts, k)
	}
	if n, err := d.Tx(0).Send(nil, pkts); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	for _, n := range []int{60, 5000, 14} {
		if !raw.Expect(bytes.Repeat([]byte{0x88}, n)) {
			t.Errorf("no frame of %d bytes", n)
		}
	}
	if m := d.Tx(0).Drops(); m["too_short"] != 2 {
		t.Errorf("drops %v", m)
	}
	if n := d.Pool().Out(); n != 0 {
		t.Errorf("%d packets are out", n)
	}
}
