// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

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
