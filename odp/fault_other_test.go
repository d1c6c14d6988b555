// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package odp

import (
	"testing"
	"unsafe"
)

func unmappedAddress(t *testing.T) unsafe.Pointer {
	t.Skip("only tested on linux")
	return nil
}
