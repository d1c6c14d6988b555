// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
)

// config has short rings.
func config(t *testing.T) driver.Config {
	cfg := netlab.DriverConfig(t)
	cfg.RxSlots, cfg.TxSlots = 64, 64
	return cfg
}

// Each system call of Open fails once: a clear error, or it is as good without; nothing
// is left behind either way, and the interface has no program.
func TestEveryCallFails(t *testing.T) {
	a, _ := netlab.Pair(t)
	c := netlab.FailingCalls{Host: a, Prefix: "afxdp:", Name: "a0", Config: config(t), Least: 25,
		Driver:  func(gate func(string) error) driver.Driver { return drv{gate: gate} },
		MayFail: map[string]bool{"sendto(rtnetlink)": true, "bpf(BPF_LINK_CREATE)": true /* then generic */},
		Held: func() int {
			umemMu.Lock()
			defer umemMu.Unlock()
			return len(umems)
		}}
	if testing.Short() {
		c.Step = 3
	}
	d, err := a.Open(drv{}, "a0", c.Config) // what is found out once is known then
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	netlab.EachCallFails(t, c)
	a.Do(func() {
		if id := netlab.Program("a0"); id != 0 {
			t.Errorf("the interface has program %d", id)
		}
	})
}

func TestErrors(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := config(t)
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	strict, large, opt := cfg, cfg, cfg
	strict.Strict, strict.RxQueues = true, 2
	large.RxSlots = 1 << 15
	opt.Options = map[string]string{"mode": "fast"}
	b.Down("b0")
	for _, c := range []struct {
		h    *netlab.Host
		name string
		cfg  driver.Config
		want string
	}{
		{a, "nosuch", cfg, `there is no interface "nosuch"`},
		{b, "b0", cfg, "ip link set dev b0 up"},
		{a, "a0", cfg, "has an XDP program already"},
		{a, "a0", cfg, "godp_redirect"},
		{a, "a0", cfg, "ip link set dev a0 xdp off"},
		{a, "a0", large, "allowed are up to 16384"},
		{a, "a0", opt, "auto, native, generic"},
		{a, "a0", strict, "ethtool -L a0 combined 2"},
		{a, "a0", driver.Config{RxQueues: 65}, "allowed are 1 to 64"},
	} {
		if _, err := c.h.Open(drv{}, c.name, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "afxdp:"+c.name) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	d.Close()
	a.SetMTU("a0", 9000)
	if _, err := a.Open(drv{}, "a0", cfg); err == nil || !strings.Contains(err.Error(), "ip link set dev a0 mtu 3818") {
		t.Errorf("MTU 9000: %v", err)
	}
	a.SetMTU("a0", 1500)
	a.Bridge("br0", "a0")
	if _, err := a.Open(drv{}, "a0", cfg); err == nil || !strings.Contains(err.Error(), "member of br0") {
		t.Errorf("member of a bridge: %v", err)
	}
}

// Without CAP_IPC_LOCK memory counts against RLIMIT_MEMLOCK: the error says how much
// is needed and allowed, and what to do. In a process of its own, since a capability
// once dropped is gone.
func TestMemlock(t *testing.T) {
	const child = "GODP_TEST_MEMLOCK"
	if os.Getenv(child) == "" {
		a, _ := netlab.Pair(t)
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestMemlock$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		var out []byte
		var err error
		a.Do(func() { out, err = cmd.CombinedOutput() })
		if err != nil || !strings.Contains(string(out), "PASS: TestMemlock") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	cfg := config(t)
	cfg.PoolPackets = 8192
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the capability is dropped on this thread
		done <- withoutIPCLock(func() error {
			_, err := drv{}.Open(context.Background(), "a0", cfg)
			return err
		})
	}()
	err := <-done
	for _, w := range []string{"bytes are to be locked, RLIMIT_MEMLOCK allows 65536", "LimitMEMLOCK=", "CAP_IPC_LOCK", "packets="} {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want %q", err, w)
		}
	}
	if !errors.Is(err, unix.ENOBUFS) {
		t.Errorf("%v is not ENOBUFS", err)
	}
}

// Packets that are out keep the UMEM; when they are back Close gives it back. What the
// sockets held is spare again.
func TestPacketsOut(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := config(t)
	da, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	db, err := b.Open(drv{}, "b0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if da.Pool() != db.Pool() || da.Info().MemID != db.Info().MemID {
		t.Error("two devices of a set do not share a UMEM")
	}
	u := da.(*device).u
	da.Start()
	db.Start()
	var pkts [40]*buffer.Packet
	for round := range 20 {
		n := da.Pool().AllocPackets(nil, pkts[:], 100)
		if n != 40 {
			t.Fatalf("round %d: %d packets", round, n)
		}
		if m, err := da.Tx(0).Send(nil, pkts[:n]); m != n || err != nil {
			t.Fatal(round, m, err)
		}
		got := 0
		for got < n {
			m, err := db.Rx(0).Recv(nil, pkts[:])
			if err != nil {
				t.Fatal(err)
			}
			buffer.FreePackets(nil, pkts[:m])
			got += m
		}
	}
	keep := u.pool.AllocPacket(nil, 60)
	if err := da.Close(); err != nil {
		t.Error(err)
	}
	if err := db.Close(); !errors.Is(err, driver.ErrPacketsOut) {
		t.Errorf("closed with a packet out: %v", err)
	}
	if n := len(u.spare) + u.pool.Attached(); n != int(u.total) {
		t.Errorf("%d frames of %d are accounted for", n, u.total)
	}
	buffer.FreePacket(nil, keep)
	if err := db.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// A descriptor that can't be right is dropped and counted, never followed.
func TestHostileDescriptors(t *testing.T) {
	a, _ := netlab.Pair(t)
	cfg := config(t)
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dev := d.(*device)
	dev.State.StoreSeq(nic.StateRunning) // no frame comes: the program is not told of the socket
	s := dev.socks[0]
	real := s.rx
	s.rx = *fakeRing(64, ^uint32(0)-3)
	own := uint64(0) // a frame that the socket has
	for i, h := range s.u.holder {
		if h == s.id {
			own = uint64(i)
			break
		}
	}
	spare := uint64(s.u.spare[0])
	for _, x := range []unix.XDPDesc{
		{Addr: 1 << 60, Len: 60}, {Addr: uint64(s.u.total) << s.u.shift, Len: 60}, {Addr: spare << s.u.shift, Len: 60}, {Addr: own << s.u.shift, Len: 2049},
		{Addr: own<<s.u.shift + 2000, Len: 60}, {Addr: own<<s.u.shift + 256, Len: 60},
	} {
		*s.rx.descr(s.rx.producer.LoadAcq()) = x
		s.rx.producer.StoreSeq(s.rx.producer.LoadAcq() + 1)
	}
	var pkts [8]*buffer.Packet
	n, err := d.Rx(0).Recv(nil, pkts[:])
	if n != 1 || err != nil || pkts[0].Len() != 60 || pkts[0].Headroom() != 256 {
		t.Errorf("%d packets, %v", n, err)
	}
	buffer.FreePackets(nil, pkts[:n])
	if m := d.Rx(0).Drops(); m["bad_descriptor"] != 5 {
		t.Errorf("drops %v", m)
	}
	s.rx = real
}

// Several segments, packets of another pool, and packets that can't be sent.
func TestOddPackets(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := config(t)
	other, err := buffer.NewPool(cfg.Set, buffer.PoolConfig{Num: 64, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	raw := b.Raw("b0")
	d.Start()
	var pkts []*buffer.Packet
	for _, n := range []int{60, 13, 1514, 0, 1800, 14} {
		for _, p := range []*buffer.Pool{d.Pool(), other} {
			k := p.AllocPacket(nil, n)
			for s := k.FirstSeg(); s != nil; s = s.Next() {
				for i := range s.Data() {
					s.Data()[i] = 0x88
				}
			}
			pkts = append(pkts, k)
		}
	}
	if n, err := d.Tx(0).Send(nil, pkts); n != len(pkts) || err != nil {
		t.Fatal(n, err)
	}
	for _, n := range []int{60, 60, 1514, 1514, 14, 14} {
		if got := raw.Recv(5e9); len(got) != n {
			t.Errorf("a frame of %d bytes, want %d", len(got), n)
		}
	}
	if m := d.Tx(0).Drops(); m["too_short"] != 4 || m["longer_than_mtu"] != 2 {
		t.Errorf("drops %v", m)
	}
	if d.Pool().Out() != 0 || other.Out() != 0 {
		t.Errorf("%d and %d packets are out", d.Pool().Out(), other.Out())
	}
	if err := errors.Join(d.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

// A receive pool of the program's own: frames are copied, and Info says why.
func TestOwnPool(t *testing.T) {
	a, b := netlab.Pair(t)
	cfg := config(t)
	pool, err := buffer.NewPool(cfg.Set, buffer.PoolConfig{Num: 64, Size: 500})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Pool = pool
	d, err := a.Open(drv{}, "a0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if i := d.Info(); i.ZeroCopy || !strings.Contains(i.Why, "not the pool of the UMEM") {
		t.Errorf("info %+v", i)
	}
	d.Start()
	raw := b.Raw("b0")
	for _, n := range []int{60, 1500} {
		f := make([]byte, n)
		for i := range f {
			f[i] = byte(i * 3)
		}
		f[0] = 2
		raw.Send(f)
		var pkts [4]*buffer.Packet
		m := 0
		for m == 0 {
			m, _ = d.Rx(0).Recv(nil, pkts[:])
			for _, k := range pkts[:m] {
				got := make([]byte, k.Len())
				k.CopyToMem(0, got)
				if k.Len() == n && string(got) != string(f) {
					t.Errorf("a frame of %d bytes differs", n)
				}
			}
			buffer.FreePackets(nil, pkts[:m])
		}
	}
	if err := errors.Join(d.Close(), pool.Close()); err != nil {
		t.Error(err)
	}
}

// The program gives a frame to the socket of its queue, and passes it on when there is
// none.
func TestProgram(t *testing.T) {
	a, _ := netlab.Pair(t)
	d, err := a.Open(drv{}, "a0", config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := d.(*device).prog
	run := func() uint32 {
		ret, err := p.prog.Run(&ebpf.RunOptions{Data: make([]byte, 64)})
		if err != nil {
			t.Fatal(err)
		}
		return ret
	}
	const pass, redirect = 2, 4
	if r := run(); r != pass {
		t.Errorf("before Start: %d", r)
	}
	d.Start()
	if r := run(); r != redirect {
		t.Errorf("after Start: %d", r)
	}
	d.Stop()
	if r := run(); r != pass {
		t.Errorf("after Stop: %d", r)
	}
}

// withoutIPCLock runs f on a thread that has no CAP_IPC_LOCK and may lock 64 KiB.
func withoutIPCLock(f func() error) error {
	lim := unix.Rlimit{Cur: 65536, Max: 65536}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &lim); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return err
	}
	for _, set := range []*uint32{&data[0].Effective, &data[0].Permitted} {
		*set &^= 1 << unix.CAP_IPC_LOCK
	}
	if err := unix.Capset(&hdr, &data[0]); err != nil {
		return err
	}
	return f()
}
