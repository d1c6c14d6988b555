// SPDX-License-Identifier: Apache-2.0

package pcapfile

import (
	"encoding/binary"
	"io"
)

// Writer writes a capture file of Ethernet frames, with nanoseconds, little endian.
// It does not buffer: give it a bufio.Writer.
type Writer struct {
	w io.Writer
	n int64
	h [28]byte
	g bool // pcapng
	l int  // data bytes of the packet that is being written
}

// NewWriter writes the start of a file, pcapng if ng, else pcap.
func NewWriter(w io.Writer, ng bool) (*Writer, error) {
	f := &Writer{w: w, g: ng}
	le := binary.LittleEndian
	var b []byte
	if ng {
		b = le.AppendUint32(b, blockSection)
		b = le.AppendUint32(b, 28)
		b = le.AppendUint32(b, magicOrder)
		b = append(b, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		b = le.AppendUint32(b, 28)
		b = le.AppendUint32(b, blockIface)
		b = le.AppendUint32(b, 32)
		b = append(b, Ethernet, 0, 0, 0)
		b = le.AppendUint32(b, MaxLen)
		b = append(b, optResol, 0, 1, 0, 9, 0, 0, 0, optEnd, 0, 0, 0)
		b = le.AppendUint32(b, 32)
	} else {
		b = le.AppendUint32(b, magicNano)
		b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b = le.AppendUint32(b, MaxLen)
		b = le.AppendUint32(b, Ethernet)
	}
	return f, f.write(b)
}

func (f *Writer) write(b []byte) error {
	n, err := f.w.Write(b)
	f.n += int64(n)
	return err
}

// Begin starts a packet of n bytes; Data follows until they are there, then End.
func (f *Writer) Begin(ns int64, n int) error {
	le := binary.LittleEndian
	f.l = n
	if !f.g {
		h := f.h[:16]
		le.PutUint32(h, uint32(ns/1e9))
		le.PutUint32(h[4:], uint32(ns%1e9))
		le.PutUint32(h[8:], uint32(n))
		le.PutUint32(h[12:], uint32(n))
		return f.write(h)
	}
	h := f.h[:28]
	le.PutUint32(h, blockEnhanced)
	le.PutUint32(h[4:], f.blockLen())
	le.PutUint32(h[8:], 0)
	le.PutUint32(h[12:], uint32(uint64(ns)>>32))
	le.PutUint32(h[16:], uint32(ns))
	le.PutUint32(h[20:], uint32(n))
	le.PutUint32(h[24:], uint32(n))
	return f.write(h)
}

func (f *Writer) blockLen() uint32 { return uint32(32 + (f.l+3)&^3) }

// Data writes the next bytes of the packet.
func (f *Writer) Data(b []byte) error { return f.write(b) }

// End completes the packet.
func (f *Writer) End() error {
	if !f.g {
		return nil
	}
	pad := -f.l & 3
	h := f.h[:pad+4]
	clear(h)
	binary.LittleEndian.PutUint32(h[pad:], f.blockLen())
	return f.write(h)
}

// Len returns how long the file is so far.
func (f *Writer) Len() int64 { return f.n }
