// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/odp-go/godp/buffer"

// The kinds of pool, short.
const (
	buffers  = buffer.TypeBuffer
	packets  = buffer.TypePacket
	vectors  = buffer.TypeVector
	timeouts = buffer.TypeTimeout
)
