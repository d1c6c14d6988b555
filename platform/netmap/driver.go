// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

func init() {
	driver.Register("netmap", NewDriver("netmap", osKernel()))
	driver.Register("nmsim", NewSim("nmsim", nmsim.Default()))
}

// Driver opens netmap ports through one kernel.
type Driver struct {
	c         *conn
	configure func(port string, opts map[string]string) error // nil: the kernel's ports are made elsewhere
	fixed     func(port string) bool                          // its rings can't change
}

// NewDriver makes a driver over a kernel. prefix is what stands before the colon
// in the names of its ports.
func NewDriver(prefix string, k abi.Kernel) *Driver { return &Driver{c: newConn(k, prefix)} }

// NewSim makes a driver over a world of nmsim. NIC ports that do not exist yet are
// made when they are opened, from the options of the name (nmsim.World.Configure). The
// world of the process has the prefix "nmsim"; a program that wants its own registers
// the driver under a prefix of its own.
func NewSim(prefix string, w *nmsim.World) *Driver {
	d := NewDriver(prefix, w.Kernel())
	d.configure, d.fixed, d.c.sim = w.Configure, w.Fixed, true
	return d
}

// Open implements driver.Driver. The name is in the grammar of abi.ParseName. Options:
//
//	mode=, ring=, mem=, flags=   the structured form of a name (abi.FromOptions)
//	exclusive=0                  rings may be bound by other programs too
//	headroom=N                   ask for N bytes before each received frame (OFFSETS)
//	split=0                      one descriptor for both directions
//
// and for nmsim those of the simulated port.
func (v *Driver) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	if v.configure != nil {
		own, sim := map[string]string{}, map[string]string{}
		_, structured := cfg.Options["mode"]
		for k, o := range cfg.Options {
			if slices.Contains(ownOptions, k) && (k != "mem" || structured) {
				own[k] = o
			} else {
				sim[k] = o
			}
		}
		spec, err := abi.FromOptions(name, own)
		if err != nil {
			return nil, err
		}
		if spec.Kind() == abi.KindNIC {
			fixed := v.fixed(spec.Port) // as on a real card: what it has is compared with the wish
			if cfg.RxSlots > 0 && !fixed {
				sim["rx-slots"] = strconv.Itoa(cfg.RxSlots)
			}
			if cfg.TxSlots > 0 && !fixed {
				sim["tx-slots"] = strconv.Itoa(cfg.TxSlots)
			}
		}
		if err := v.configure(spec.Port, sim); err != nil {
			return nil, fmt.Errorf("device %q: %w", v.c.prefix+":"+name, err)
		}
		cfg.Options = own
	}
	return v.c.open(ctx, name, cfg)
}
