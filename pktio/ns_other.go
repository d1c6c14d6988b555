// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package pktio

// netNS returns 0: the system has no network namespaces.
func netNS() uint64 { return 0 }
