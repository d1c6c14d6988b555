// SPDX-License-Identifier: Apache-2.0

// Package machine tells what a report needs to know of the machine: the system, the
// processor, the memory. Nothing in it names a user, a host or an address.
package machine

import (
	"os"
	"runtime"

	"github.com/odp-go/godp/internal/sys"
)

// Machine is the machine as a report tells it.
type Machine struct {
	System   string `json:"system"`           // GOOS/GOARCH
	Kernel   string `json:"kernel"`           // name, release and version
	CPU      string `json:"cpu,omitempty"`    // model
	CPUs     int    `json:"cpus"`             // of the machine
	Usable   string `json:"usable_cpus"`      // of them: what this process may use, and why
	Memory   uint64 `json:"memory,omitempty"` // bytes
	PageSize int    `json:"page_size"`
	Root     bool   `json:"root"`
	Netmap   bool   `json:"netmap"`           // there is a /dev/netmap
	Module   string `json:"module,omitempty"` // what the system says of its netmap module
}

// Read reads it.
func Read() Machine {
	m := Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Usable: sys.EffectiveCPUs(sys.Root()).String(), PageSize: os.Getpagesize(), Root: os.Geteuid() == 0,
	}
	_, err := os.Stat("/dev/netmap")
	m.Netmap = err == nil
	m.read()
	return m
}
