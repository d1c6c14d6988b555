// SPDX-License-Identifier: Apache-2.0

// Package pktio is packet I/O: ports on devices, their receive queues (In) and
// their send queues (Out).
package pktio
