// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"errors"
	"fmt"
)

// Errors of the calls that change a packet; each is wrapped with the values. After
// an error the packet is what it was.
var (
	// ErrEmpty: the pool has too few free segments now. Free packets, or make the
	// pool larger.
	ErrEmpty = errors.New("the pool has no free segment now")
	// ErrRange: an offset or length lies outside of the packet.
	ErrRange = errors.New("outside of the packet")
	// ErrTooLong: the packet would be longer than its pool's MaxLen, or have more
	// segments than a packet may have.
	ErrTooLong = errors.New("the packet would be too long")
	// ErrShared: bytes that another packet refers to would be written. Copy the
	// packet, or write before it is referred to.
	ErrShared = errors.New("the data is shared with another packet: copy it to write")
)

func (k *Packet) rangeErr(op string, off, n int) error {
	return fmt.Errorf("buffer: %s: bytes %d to %d of a packet of %d: %w", op, off, off+n, k.len, ErrRange)
}

func (p *Pool) emptyErr(op string, segs int) error {
	return fmt.Errorf("buffer: %s: pool %q, %d segments wanted: %w", op, p.cfg.Name, segs, ErrEmpty)
}

func (p *Pool) longErr(op string, length uint64) error {
	return fmt.Errorf("buffer: %s: %d bytes, pool %q allows %d: %w: raise MaxLen", op, length, p.cfg.Name, p.maxLen, ErrTooLong)
}
