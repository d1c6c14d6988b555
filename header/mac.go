// SPDX-License-Identifier: Apache-2.0

package header

import "unsafe"

// SetMACs writes destination and source (in this order in pattern) over the
// first 12 bytes at p with two stores. The caller has checked that 12 bytes are there.
func SetMACs(p unsafe.Pointer, pattern *[12]byte) {
	*(*[8]byte)(p) = *(*[8]byte)(unsafe.Pointer(pattern))
	*(*[4]byte)(unsafe.Add(p, 8)) = *(*[4]byte)(unsafe.Add(unsafe.Pointer(pattern), 8))
}

// SwapMACs exchanges destination and source of the frame at p: what a reflector
// does. The caller has checked that 12 bytes are there.
func SwapMACs(p unsafe.Pointer) {
	dst, src := *(*[6]byte)(p), *(*[6]byte)(unsafe.Add(p, 6))
	*(*[6]byte)(p) = src
	*(*[6]byte)(unsafe.Add(p, 6)) = dst
}

// MACPattern joins a destination and a source for SetMACs. Shorter addresses
// are filled up with zeroes, longer ones cut.
func MACPattern(dst, src []byte) (pattern [12]byte) {
	copy(pattern[:6], dst)
	copy(pattern[6:], src)
	return
}
