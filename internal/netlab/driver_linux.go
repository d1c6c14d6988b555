// SPDX-License-Identifier: Apache-2.0

package netlab

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/odp-go/godp/internal/sys"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// Pair makes one host with a cable to another:
//
//	host A            host B
//	 [a0]────veth────[b0]
func Pair(t testing.TB) (a, b *Host) {
	a, b = NewHost(t, "host A"), NewHost(t, "host B")
	Cable(a, "a0", b, "b0", 1500, 1)
	return a, b
}

// DriverConfig is a small configuration with a worker set of its own, and without a log.
func DriverConfig(t testing.TB) driver.Config {
	t.Helper()
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return driver.Config{Set: set, PoolPackets: 256, Log: slog.New(slog.DiscardHandler)}
}

// Open opens a device in the namespace of the host.
func (h *Host) Open(v driver.Driver, name string, cfg driver.Config) (d driver.Device, err error) {
	h.Do(func() { d, err = v.Open(context.Background(), name, cfg) })
	return d, err
}

// Held counts the descriptors of the process and its mappings of sockets' rings.
func Held(t testing.TB) int {
	t.Helper()
	ds, err := sys.Descriptors(sys.Root())
	if err != nil {
		t.Fatal(err)
	}
	ms, err := sys.Mappings(sys.Root())
	if err != nil {
		t.Fatal(err)
	}
	n := len(ds)
	for _, m := range ms {
		if strings.HasPrefix(m.Name, "socket:") {
			n++
		}
	}
	return n
}

// FailingCalls is what EachCallFails needs to know of a platform.
type FailingCalls struct {
	Host    *Host
	Prefix  string // of the device's name, with the colon
	Name    string // behind it
	Config  driver.Config
	Driver  func(gate func(call string) error) driver.Driver // asks gate before each system call
	MayFail map[string]bool                                  // calls that Open does without
	Least   int                                              // calls that there must be
	Step    int                                              // every so many calls; 0 = each
	Held    func() int                                       // what else must be given back; nil = nothing
}

// EachCallFails opens and starts a device again and again, and each time another system
// call fails: the error names the device, or the port is as good without the call;
// nothing is left behind either way.
func EachCallFails(t *testing.T, c FailingCalls) {
	t.Helper()
	held := func() int {
		n := Held(t)
		if c.Held != nil {
			n += c.Held()
		}
		return n
	}
	before := held()
	for n := 0; ; n += max(c.Step, 1) {
		calls, failed := 0, ""
		d, err := c.Host.Open(c.Driver(func(call string) error {
			if calls++; calls-1 == n {
				failed = call
				return syscall.EIO
			}
			return nil
		}), c.Name, c.Config)
		if err == nil {
			err = errors.Join(d.SetPromisc(true), d.Start())
		}
		switch {
		case err != nil && (!errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), c.Prefix+c.Name+": ")):
			t.Errorf("call %d (%s) failed: %v", n, failed, err)
		case err == nil && failed != "" && !c.MayFail[failed]:
			t.Errorf("call %d (%s) failed and nobody says so", n, failed)
		}
		if d != nil {
			if err := d.Close(); err != nil {
				t.Errorf("call %d (%s): close: %v", n, failed, err)
			}
		}
		if now := held(); now != before {
			t.Fatalf("call %d (%s): %d descriptors, mappings and the like are held, before %d", n, failed, now, before)
		}
		if failed == "" {
			if calls < c.Least {
				t.Errorf("only %d calls were seen", calls)
			}
			return
		}
	}
}
