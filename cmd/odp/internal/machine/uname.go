// SPDX-License-Identifier: Apache-2.0

//go:build linux || freebsd || darwin

package machine

import (
	"strings"

	"golang.org/x/sys/unix"
)

// uname is the kernel's name, release and version, without the name of the host.
func uname() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	text := func(b []byte) string { return unix.ByteSliceToString(b) }
	return strings.Join(strings.Fields(text(u.Sysname[:])+" "+text(u.Release[:])+" "+text(u.Version[:])), " ")
}
