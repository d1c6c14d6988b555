// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"bufio"
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func (m *Machine) read() {
	m.Kernel = uname()
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				m.CPU = strings.TrimSpace(v)
				break
			}
		}
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.Memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	for _, name := range []string{"buf_size", "buf_num", "ring_size"} {
		if b, err := os.ReadFile("/sys/module/netmap/parameters/" + name); err == nil {
			m.Module = strings.TrimSpace(m.Module + " " + name + "=" + strings.TrimSpace(string(b)))
		}
	}
}
