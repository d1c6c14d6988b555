// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine is what figures depend on besides the program.
type Machine struct {
	CPU    string  `json:"cpu"`
	CPUs   int     `json:"cpus"`
	TSCGHz float64 `json:"tsc_ghz"` // cycles per ns in all figures; 1 where there is no counter to read
	System string  `json:"system"`
	Kernel string  `json:"kernel,omitempty"`
	Go     string  `json:"go"`
}

// ThisMachine describes the machine.
func ThisMachine() Machine {
	m := Machine{CPU: runtime.GOARCH, CPUs: runtime.NumCPU(), TSCGHz: float64(int(cyclesPerNs()*1000+0.5)) / 1000,
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return m
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
			m.CPU = strings.TrimSpace(v)
			break
		}
	}
	return m
}

func (m Machine) String() string {
	s := fmt.Sprintf("%s, %d CPUs, TSC %.2f GHz, %s", m.CPU, m.CPUs, m.TSCGHz, m.System)
	if m.Kernel != "" {
		s += " " + m.Kernel
	}
	return s + ", " + m.Go
}
