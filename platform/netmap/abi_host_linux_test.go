// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"net"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/netmap/nmsim"
)

func (w *abiWorld) setUp(t *testing.T, name string, up bool) {
	t.Helper()
	if w.sim != nil {
		if err := w.sim.SetUp(name, up); err != nil {
			t.Fatal(err)
		}
		return
	}
	word := map[bool]string{true: "up", false: "down"}[up]
	if out, err := exec.Command("ip", "link", "set", name, word).CombinedOutput(); err != nil {
		t.Fatalf("ip link set %s %s: %v %s", name, word, err, out)
	}
}

// victim makes an interface that will be removed.
func (w *abiWorld) victim(t *testing.T) string {
	t.Helper()
	if w.sim != nil {
		if err := w.sim.NIC("gone0", nmsim.NICConfig{}); err != nil {
			t.Fatal(err)
		}
		return "gone0"
	}
	if out, err := exec.Command("ip", "link", "add", "gone0", "type", "dummy").CombinedOutput(); err != nil {
		t.Skipf("ip link add gone0 type dummy: %v %s", err, out)
	}
	w.setUp(t, "gone0", true)
	return "gone0"
}

func (w *abiWorld) remove(t *testing.T, name string) {
	t.Helper()
	if w.sim != nil {
		if err := w.sim.Remove(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	// the kernel waits until nobody has the interface in netmap mode any more
	cmd := exec.Command("ip", "link", "del", name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("ip link del %s: %v", name, err)
		}
	})
}

func (w *abiWorld) host(t *testing.T) hostSide {
	if w.sim != nil {
		return hostSide{
			send: func(b []byte) {
				if !w.sim.HostSend(w.a, b) {
					t.Fatal("the host ring took no frame")
				}
			},
			recv: func() []byte { return w.sim.HostRecv(w.a) },
		}
	}
	i, err := net.InterfaceByName(w.a)
	if err != nil {
		t.Fatal(err)
	}
	const all = 0x0300 // ETH_P_ALL in network order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	return hostSide{
		send: func(b []byte) {
			if _, err := unix.Write(fd, b); err != nil {
				t.Fatal(err)
			}
		},
		recv: func() []byte {
			b := make([]byte, 2048)
			n, err := unix.Read(fd, b)
			if err != nil {
				return nil
			}
			return b[:n]
		},
	}
}
