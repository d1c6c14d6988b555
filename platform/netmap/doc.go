// SPDX-License-Identifier: Apache-2.0

// Package netmap is the netmap platform: a client of the kernel's /dev/netmap on
// Linux and FreeBSD, and of nmsim, the same kernel side in process. A blank import
// registers the drivers "netmap" and "nmsim":
//
//	import _ "github.com/odp-go/godp/platform/netmap"
//
//	netmap:eth0      all NIC rings of eth0       netmap:eth0-2   its ring 2
//	netmap:eth0^     its host rings              netmap:eth0*    NIC and host rings
//	netmap:x{1       a pipe's master end         netmap:x}1      its slave end
//	vale0:a          a port of a VALE switch (also netmap:vale0:a)
//	nmsim:a          the same names in process
//	netmap:br-lan?mode=nic   a name that the grammar can't express
//
// # Memory
//
// Each memory region of the kernel is mapped once, through a descriptor of its own.
// The extra buffers that the kernel grants become the region's pool: packets of it
// enter and leave the rings without a copy, by an exchange of buffers, between all
// ports of the region. Open a port without a pool of your own to get this; Info says
// what was got, and why not.
//
//	granted extra buffers = in free and used packets + in slots (swapped) - taken from slots
//
// # Rings
//
// One descriptor is bound per ring and direction, so receive and send need no common
// lock. Bursts serve what is visible first, and enter the kernel when that is not
// enough; each burst that queued frames is followed by one TXSYNC.
//
// The mapped memory is shared with the kernel and maybe with other programs: each
// word is read once and checked, and a slot that can't be right is dropped and
// counted. A ring that the kernel has stopped or reset makes its queue faulted, with
// the reason in the error; the port must be closed and opened again.
package netmap
