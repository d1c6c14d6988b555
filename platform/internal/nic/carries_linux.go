// SPDX-License-Identifier: Apache-2.0

package nic

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/pktio/driver"
)

// Carries says what would suffer if a program took the interface: membership in a
// bridge or bond, the default route, the SSH connection of this session, each also
// through an interface that lies above it (a VLAN, a bridge). Empty: nothing.
func (h *Handle) Carries() (why []string, err error) {
	all, err := h.Links()
	if err != nil {
		return nil, err
	}
	name := map[int]string{}
	for _, l := range all {
		name[l.Index] = l.Name
	}
	above := map[int]bool{h.Index: true}
	for again := true; again; {
		again = false
		for _, l := range all {
			up := 0
			if above[l.Index] && l.Master != 0 {
				up = l.Master
			}
			if above[l.Lower] && !l.OtherNetNS && l.Kind != "veth" {
				up = l.Index
			}
			if up != 0 && !above[up] {
				above[up], again = true, true
			}
		}
	}
	for _, l := range all {
		if l.Index == h.Index && l.Master != 0 {
			why = append(why, "it is a member of "+name[l.Master])
		}
	}
	via := func(i int) string {
		if i == h.Index {
			return ""
		}
		return " (through " + name[i] + ")"
	}
	def := map[int]bool{}
	err = h.ask(unix.RTM_GETROUTE, unix.NLM_F_DUMP, func(m syscall.NetlinkMessage) { defaultRoute(m, def) }, make([]byte, unix.SizeofRtMsg))
	if err != nil {
		return nil, err
	}
	for i := range def {
		if above[i] {
			why = append(why, "it carries the default route"+via(i))
		}
	}
	if ip := sshServer(os.Getenv("SSH_CONNECTION")); ip != nil {
		err = h.ask(unix.RTM_GETADDR, unix.NLM_F_DUMP, func(m syscall.NetlinkMessage) {
			if i, a := address(m); a.Equal(ip) && above[i] {
				why = append(why, fmt.Sprintf("the SSH connection in use ends at its address %v%s", ip, via(i)))
			}
		}, make([]byte, unix.SizeofIfAddrmsg))
	}
	return why, err
}

// defaultRoute notes the interfaces of a route to everywhere.
func defaultRoute(m syscall.NetlinkMessage, out map[int]bool) {
	if m.Header.Type != unix.RTM_NEWROUTE || len(m.Data) < unix.SizeofRtMsg || m.Data[1] != 0 || m.Data[7] != unix.RTN_UNICAST {
		return
	}
	attributes(m.Data[unix.SizeofRtMsg:], func(kind uint16, v []byte) {
		switch kind {
		case unix.RTA_OIF:
			out[number(v)] = true
		case unix.RTA_MULTIPATH:
			for len(v) >= unix.SizeofRtNexthop {
				n := int(binary.NativeEndian.Uint16(v))
				out[number(v[4:])] = true
				if n < unix.SizeofRtNexthop || n > len(v) {
					return
				}
				v = v[n:]
			}
		}
	})
}

// sshServer reads the server's address out of SSH_CONNECTION, nil = there is none.
func sshServer(env string) net.IP {
	w := strings.Fields(env)
	if len(w) < 3 {
		return nil
	}
	host, _, _ := strings.Cut(w[2], "%")
	return net.ParseIP(host)
}

func address(m syscall.NetlinkMessage) (index int, ip net.IP) {
	if m.Header.Type != unix.RTM_NEWADDR || len(m.Data) < unix.SizeofIfAddrmsg {
		return 0, nil
	}
	attributes(m.Data[unix.SizeofIfAddrmsg:], func(kind uint16, v []byte) {
		if kind == unix.IFA_LOCAL || kind == unix.IFA_ADDRESS && ip == nil {
			ip = net.IP(append([]byte(nil), v...))
		}
	})
	return int(binary.NativeEndian.Uint32(m.Data[4:])), ip
}

// Guard refuses an interface that others depend on, unless takeOver; then it says once
// in the log what that means.
func (h *Handle) Guard(device, name string, takeOver bool, log driver.Logger) error {
	why, err := h.Carries()
	if err != nil {
		return &Error{Op: "look at what depends on the interface", Device: device, Err: err}
	}
	if len(why) == 0 {
		return nil
	}
	if !takeOver {
		return &Error{Op: "open", Device: device, Why: strings.Join(why, "; "),
			Cure: "choose another interface, or take it over (option takeover=1, Config.TakeOver, odp_l2fwd -take-over)"}
	}
	if log != nil {
		log.Warn("taken over: traffic of "+name+" that the program handles does not pass the host's firewall", "device", device, "was", strings.Join(why, "; "))
	}
	return nil
}
