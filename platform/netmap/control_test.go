// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// The limits that a port names before it is asked for more are those that an open gets.
func TestMaxQueues(t *testing.T) {
	for _, c := range []struct {
		name   string
		rx, tx int
	}{{"a", 3, 2}, {"a^", 1, 1}, {"a*", 4, 3}, {"a-1", 1, 1}, {"a/R", 3, 0}, {"a/T", 0, 2}, {"vale0:x", 4, 4}, {"p{1", 2, 2}, {"a?split=0", 1, 1}} {
		w := smallWorld(t, nmsim.Config{})
		if err := w.NIC("a", nmsim.NICConfig{RxRings: 3, TxRings: 2}); err != nil {
			t.Fatal(err)
		}
		set, _ := newSet(t)
		v := NewSim("sim", w)
		name, opt, _ := strings.Cut(c.name, "?")
		cfg := quiet(driver.Config{Set: set, Options: map[string]string{}})
		if k, val, ok := strings.Cut(opt, "="); ok {
			cfg.Options[k] = val
		}
		d, err := v.Open(context.Background(), name, cfg)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := d.Capability()
		if got.MaxRxQueues != c.rx || got.MaxTxQueues != c.tx {
			t.Errorf("%s: %d receive and %d send queues, want %d, %d", c.name, got.MaxRxQueues, got.MaxTxQueues, c.rx, c.tx)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if strings.ContainsAny(c.name, "?*/") {
			continue
		}
		names := []string{name}
		if name == "p{1" {
			names = append(names, "p}1") // both ends together
		}
		for _, n := range names {
			cfg.RxQueues, cfg.TxQueues, cfg.Strict = c.rx, c.tx, true
			d, err := v.Open(context.Background(), n, cfg)
			if err != nil {
				t.Fatalf("%s with all its queues: %v", n, err)
			}
			defer d.Close()
			if i := d.Info(); i.RxQueues != c.rx || i.TxQueues != c.tx {
				t.Errorf("%s: %d receive and %d send queues of %d and %d", n, i.RxQueues, i.TxQueues, c.rx, c.tx)
			}
		}
	}
}

func TestSetMAC(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
	a := net.HardwareAddr{2, 9, 8, 7, 6, 5}
	if !x.a.Capability().SetMAC {
		t.Error("a NIC's address can't be set")
	}
	if err := x.a.SetMAC(a); err != nil || !bytes.Equal(x.a.MAC(), a) {
		t.Errorf("%v, %v", err, x.a.MAC())
	}
	if i, err := x.a.c.sys.Interface("a"); err != nil || !bytes.Equal(i.MAC[:], a) {
		t.Errorf("the interface has %v, %v", i.MAC, err)
	}
	p := openPort(t, NewSim("sim", x.sim), "vale9:x", driver.Config{Set: x.set})
	if err := p.SetMAC(a); p.Capability().SetMAC || err == nil {
		t.Errorf("a switch port's address was set: %v", err)
	}
}

// A port whose interface has offloads on is opened with a note that names them and the
// command, in the words of the system; under Strict it is refused.
func TestOffloads(t *testing.T) {
	for _, c := range []struct {
		who  nmsim.Personality
		cure string
	}{{nmsim.Linux, "ethtool -K a tso off gro off"}, {nmsim.FreeBSD, "ifconfig a -tso -gro"}} {
		w := smallWorld(t, nmsim.Config{Personality: c.who})
		if err := w.NIC("a", nmsim.NICConfig{Offloads: []string{"tso"}}); err != nil {
			t.Fatal(err)
		}
		if err := w.SetOffloads("a", "tso", "gro"); err != nil {
			t.Fatal(err)
		}
		set, _ := newSet(t)
		v := NewSim("sim", w)
		d, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set}))
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(d.Info().Notes, "; "); !strings.Contains(notes, "tso gro") || !strings.Contains(notes, c.cure) {
			t.Errorf("notes %q", notes)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := v.Open(context.Background(), "a", quiet(driver.Config{Set: set, Strict: true})); err == nil || !strings.Contains(err.Error(), c.cure) {
			t.Errorf("Strict: %v", err)
		}
		if err := w.SetOffloads("a"); err != nil {
			t.Fatal(err)
		}
		d, err = v.Open(context.Background(), "a", quiet(driver.Config{Set: set, Strict: true}))
		if err != nil {
			t.Fatalf("without offloads: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a NIC tells of its link reaches the port.
func TestLinkInfo(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{Speed: 25000})
	want := driver.Virtual()
	want.Speed = 25000
	if l := x.a.Link(); l != want {
		t.Errorf("%v, want %v", l, want)
	}
}
