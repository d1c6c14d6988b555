// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Section 10.2.
func TestPollSendsWhatIsQueued(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      Personality
		flags  uint64
		events int16
		sent   bool
		want   int16
	}{
		{"POLLIN flushes", Linux, 0, abi.PollIn, true, 0},
		{"nothing flushes", Linux, 0, 0, true, 0},
		{"NO_TX_POLL, POLLIN does not", Linux, abi.FlagNoTxPoll, abi.PollIn, false, 0},
		{"NO_TX_POLL, POLLOUT does", Linux, abi.FlagNoTxPoll, abi.PollOut, true, abi.PollOut},
		{"FreeBSD, POLLOUT with space, default", FreeBSD, 0, abi.PollOut, true, abi.PollOut},
		{"FreeBSD, POLLOUT with space, NO_TX_POLL", FreeBSD, abi.FlagNoTxPoll, abi.PollOut, false, abi.PollOut},
		{"the legacy bit is nothing", Linux, 0x1000, abi.PollIn, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testWorld(t, Config{Mem: tiny, Personality: c.p})
			must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
			k := open(t, w, "eth0", flags(c.flags))
			k.send(k.txr(0), frame(1, 60))
			if p := k.poll(c.events, 0); p != c.want {
				t.Errorf("revents %#x, want %#x", p, c.want)
			}
			if sent := w.Report("eth0").Nowhere == 1; sent != c.sent {
				t.Errorf("sent %v, want %v", sent, c.sent)
			}
		})
	}
}

// FreeBSD answers POLLIN without a sync when all rings show unseen frames.
func TestPollInShortcut(t *testing.T) {
	for _, p := range []Personality{Linux, FreeBSD} {
		w := testWorld(t, Config{Mem: tiny, Personality: p})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		k := open(t, w, "eth0")
		w.Inject("eth0", frame(1, 60))
		k.poll(abi.PollIn, 0)
		w.Inject("eth0", frame(2, 60))
		if r := k.poll(abi.PollIn, 0); r != abi.PollIn {
			t.Errorf("revents %#x", r)
		}
		want := uint32(2)
		if p == FreeBSD {
			want = 1
		}
		if got := k.rxr(0).Tail(); got != want {
			t.Errorf("personality %d: tail %d, want %d", p, got, want)
		}
	}
}

func TestNumbersOfPersonalities(t *testing.T) {
	for _, p := range []Personality{Linux, FreeBSD} {
		w := testWorld(t, Config{Mem: tiny, Personality: p})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		want, unknown := abi.LinuxNumbers, syscall.EOPNOTSUPP
		if p == FreeBSD {
			want, unknown = abi.FreeBSDNumbers, syscall.ENXIO
		}
		k := open(t, w, "eth0")
		if k.num != want {
			t.Errorf("numbers %x", k.num)
		}
		if e := k.k.Ioctl(k.fd, 0x6900, nil); e != unknown {
			t.Errorf("unknown: %v", e)
		}
		// only Linux looks at the length of a mapping
		m, e := k.k.Map(k.fd, k.reg.MemSize+4096)
		if (e == syscall.EINVAL) != (p == Linux) {
			t.Errorf("long mapping: %v", e)
		}
		if m != nil {
			m.Unmap()
		}
	}
}

// A close leaves a mapped descriptor bound; the port is free after the unmap.
func TestMappingKeepsBinding(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	a := open(t, w, "eth0", flags(abi.FlagExclusive))
	if e := a.k.Close(a.fd); e != 0 {
		t.Fatal(e)
	}
	b := newConn(t, w)
	if e := b.register("eth0"); e != syscall.EBUSY {
		t.Errorf("still mapped: %v", e)
	}
	if data(a.txr(0), 0)[0] != 0 {
		t.Error("memory is gone")
	}
	a.m.Unmap()
	a.m.Unmap() // nothing
	if e := b.register("eth0"); e != 0 {
		t.Errorf("unmapped: %v", e)
	}
	b.close()
	noLeak(t, w)
}

func TestPollWakes(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{}))
	must(t, w.Cable("eth0", "eth1"))
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	wait := func(c *conn, ev int16, d time.Duration) chan int16 {
		ch := make(chan int16, 1)
		go func() { r, _ := c.k.Poll(c.fd, ev, d); ch <- r }()
		return ch
	}
	expect := func(what string, ch chan int16, want int16) {
		t.Helper()
		select {
		case r := <-ch:
			if r != want {
				t.Errorf("%s: %#x, want %#x", what, r, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: does not wake", what)
		}
	}
	ch := wait(b, abi.PollIn, -1)
	time.Sleep(5 * time.Millisecond)
	a.send(a.txr(0), frame(1, 60))
	a.txsync()
	expect("a frame", ch, abi.PollIn)
	b.recv(b.rxr(0))
	expect("time over", wait(b, abi.PollIn, time.Millisecond), 0)
	ch = wait(b, abi.PollIn, -1)
	time.Sleep(5 * time.Millisecond)
	must(t, w.Remove("eth1"))
	expect("removed", ch, abi.PollErr)
	ch = wait(a, abi.PollIn, time.Hour)
	time.Sleep(5 * time.Millisecond)
	a.k.Close(a.fd)
	expect("closed", ch, abi.PollErr)
	if _, e := a.k.Poll(a.fd, abi.PollIn, 0); e != syscall.EBADF {
		t.Errorf("poll of a closed descriptor: %v", e)
	}
	a.m.Unmap()
	a.m = nil
}

// POLLOUT of a full ring whose frames leave later.
func TestPollOutWaitsForCompletion(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 4, RxSlots: 4, TxDelay: 5 * time.Millisecond}))
	k := open(t, w, "eth0")
	f := frame(1, 60)
	k.send(k.txr(0), f, f, f)
	if r := k.poll(abi.PollOut, 0); r != 0 {
		t.Errorf("full: %#x", r)
	}
	if r := k.poll(abi.PollOut, 30*time.Second); r != abi.PollOut {
		t.Errorf("complete: %#x", r)
	}
	must(t, w.SetStuck("eth0", true))
	k.send(k.txr(0), f, f, f)
	if r := k.poll(abi.PollOut, 20*time.Millisecond); r != 0 {
		t.Errorf("stuck: %#x", r)
	}
}

func TestOnReady(t *testing.T) {
	c := &clock{}
	w := testWorld(t, Config{Now: c.now})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{}))
	must(t, w.Cable("eth0", "eth1"))
	must(t, w.NIC("sat", NICConfig{TxSlots: 64, RxSlots: 64, Source: &SourceConfig{}}))
	must(t, w.NIC("paced", NICConfig{TxSlots: 64, RxSlots: 64, Source: &SourceConfig{PPS: 1000}}))
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	if fd := b.k.Descriptor(b.fd); fd != -1 {
		t.Errorf("descriptor %d", fd)
	}
	woken := 0
	wake := func() { woken++ }
	if due, ready := b.k.OnReady(b.fd, wake); due != 0 || ready {
		t.Errorf("due %v ready %v with nothing there", due, ready)
	}
	for i := 0; i < 3; i++ {
		a.send(a.txr(0), frame(1, 60))
		a.txsync()
	}
	if woken != 1 {
		t.Errorf("woken %d times, want once", woken)
	}
	if _, ready := b.k.OnReady(b.fd, wake); !ready {
		t.Error("not ready with frames waiting")
	}
	b.rxsync()
	b.recv(b.rxr(0))
	b.rxsync()
	b.k.OnReady(b.fd, wake)
	b.k.OnReady(b.fd, nil)
	a.send(a.txr(0), frame(1, 60))
	a.txsync()
	if woken != 1 {
		t.Errorf("woken %d times after a cancel", woken)
	}
	s := open(t, w, "sat")
	if _, ready := s.k.OnReady(s.fd, wake); !ready {
		t.Error("a saturating source is not ready")
	}
	p := open(t, w, "paced")
	p.rxsync() // the clock starts
	due, ready := p.k.OnReady(p.fd, wake)
	if ready || due <= 0 || due > time.Millisecond+1 {
		t.Errorf("paced: due %v ready %v", due, ready)
	}
	c.d += due
	if _, ready := p.k.OnReady(p.fd, wake); !ready {
		t.Error("paced: not ready when due")
	}
	if p.rxsync(); p.rxr(0).Tail() != 1 {
		t.Errorf("paced: tail %d", p.rxr(0).Tail())
	}
}

func TestTimestamps(t *testing.T) {
	for _, c := range []struct {
		off  bool
		flag uint32
		want bool
	}{{false, 0, true}, {true, 0, false}, {true, abi.RingTimestamp, true}} {
		w := testWorld(t, Config{Mem: tiny, NoTimestamp: c.off})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		k := open(t, w, "eth0")
		k.rxr(0).SetFlags(c.flag)
		before := time.Now().Unix()
		k.rxsync()
		sec, usec := k.rxr(0).Time()
		if got := sec >= before-1 && usec >= 0 && usec < 1e6; got != c.want {
			t.Errorf("%+v: %d.%06d", c, sec, usec)
		}
	}
}

func TestWatch(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{MTU: 1400}))
	sys := w.Kernel().(abi.System)
	got := make(chan abi.IfState, 16)
	stop, err := sys.Watch("eth0", func(s abi.IfState) { got <- s })
	must(t, err)
	must(t, w.SetLink("eth0", false))
	must(t, w.SetUp("eth0", false))
	must(t, w.SetUp("eth0", true))
	must(t, w.Remove("eth0"))
	for i, want := range []abi.IfState{{Up: true, Running: true}, {Up: true}, {}, {Up: true}, {Gone: true}} {
		select {
		case s := <-got:
			if s != want {
				t.Errorf("state %d: %+v, want %+v", i, s, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("state %d does not come", i)
		}
	}
	stop()
	stop()
	if _, err := sys.Interface("eth0"); err == nil {
		t.Error("removed, and still described")
	}
	if _, err := sys.Watch("eth0", nil); err == nil {
		t.Error("removed, and watched")
	}
	must(t, w.NIC("eth1", NICConfig{MTU: 1400}))
	must(t, sys.SetPromisc("eth1", true))
	must(t, sys.SetMTU("eth1", 9000))
	i, err := sys.Interface("eth1")
	if err != nil || !i.Promisc || i.MTU != 9000 || i.MAC == [6]byte{} || !i.Up {
		t.Errorf("%+v %v", i, err)
	}
	if sys.SetMTU("eth1", 1) == nil {
		t.Error("MTU 1 taken")
	}
}
