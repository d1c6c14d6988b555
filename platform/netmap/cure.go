// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"fmt"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// What helps depends on whose netmap it is: the module's parameters on Linux, sysctl
// on FreeBSD, the options of the name for nmsim, which has no module and no tools.

func (c *conn) bsd() bool { return c.k.Numbers().TxSync == abi.FreeBSDNumbers.TxSync }

// pick returns the command of the system.
func (c *conn) pick(linux, bsd string) string {
	if c.bsd() {
		return bsd
	}
	return linux
}

// cure returns what helps against the kernel's netmap, or against nmsim.
func (c *conn) cure(kernel, sim string) string {
	if c.sim {
		return sim
	}
	return kernel
}

// knob returns the command that sets a limit of the module.
func (c *conn) knob(name string, value int) string {
	return c.pick(fmt.Sprintf("echo %d > /sys/module/netmap/parameters/%s", value, name), fmt.Sprintf("sysctl dev.netmap.%s=%d", name, value))
}

// larger says how a limit of the memory is raised; only while nothing is open.
func (c *conn) larger(name string, value int) string {
	return c.cure("with no netmap program running: "+c.knob(name, value), simLarger[name])
}

// simLarger is what nmsim offers in place of a larger limit.
var simLarger = map[string]string{
	"buf_num":     "a region of its own for the port (option mem=2), fewer rings (rings=1) or fewer slots (slots=256)",
	"buf_size":    "give a world of its own larger buffers (nmsim.Config.Mem.BufSize, in a program); option mtu= of the first open sets the MTU",
	"ring_size":   "fewer slots (option slots=1024)",
	"priv_if_num": "split=0 says so from the start; a program can give a world of its own more (nmsim.Config.Private.IfNum)",
}

func (c *conn) loadCommand() string { return c.pick("modprobe netmap", "kldload netmap") }
