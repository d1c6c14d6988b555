// SPDX-License-Identifier: Apache-2.0

//go:build freebsd || darwin

package machine

import (
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

func (m *Machine) read() {
	m.Kernel = uname()
	model, memory := "hw.model", "hw.physmem"
	if runtime.GOOS == "darwin" {
		model, memory = "machdep.cpu.brand_string", "hw.memsize"
	}
	m.CPU, _ = unix.Sysctl(model)
	m.Memory, _ = unix.SysctlUint64(memory)
	for _, name := range []string{"buf_size", "buf_num", "ring_size"} {
		if v, err := unix.SysctlUint32("dev.netmap." + name); err == nil {
			m.Module = strings.TrimSpace(fmt.Sprintf("%s %s=%d", m.Module, name, v))
		}
	}
}
