// SPDX-License-Identifier: Apache-2.0

package pcapfile

import (
	"encoding/binary"
	"io"
)

// AppendHeader appends the start of a file of Ethernet frames, pcapng if ng, else pcap;
// both with nanoseconds, little endian.
func AppendHeader(b []byte, ng bool) []byte {
	le := binary.LittleEndian
	if !ng {
		b = le.AppendUint32(b, magicNano)
		b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b = le.AppendUint32(b, MaxLen)
		return le.AppendUint32(b, Ethernet)
	}
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
	return le.AppendUint32(b, 32)
}

// AppendBegin appends what stands before a packet of n bytes.
func AppendBegin(b []byte, ng bool, ns int64, n int) []byte {
	le := binary.LittleEndian
	if ng {
		b = le.AppendUint32(b, blockEnhanced)
		b = le.AppendUint32(b, blockLen(n))
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, uint32(uint64(ns)>>32))
		b = le.AppendUint32(b, uint32(ns))
	} else {
		b = le.AppendUint32(b, uint32(ns/1e9))
		b = le.AppendUint32(b, uint32(ns%1e9))
	}
	b = le.AppendUint32(b, uint32(n))
	return le.AppendUint32(b, uint32(n))
}

// AppendEnd appends what stands behind a packet of n bytes.
func AppendEnd(b []byte, ng bool, n int) []byte {
	if !ng {
		return b
	}
	for range -n & 3 {
		b = append(b, 0)
	}
	return binary.LittleEndian.AppendUint32(b, blockLen(n))
}

func blockLen(n int) uint32 { return uint32(32 + (n+3)&^3) }

// Writer writes a capture file. It does not buffer: give it a bufio.Writer.
type Writer struct {
	w io.Writer
	n int64
	h [32]byte
	g bool // pcapng
	l int  // data bytes of the packet that is being written
}

// NewWriter writes the start of a file, pcapng if ng, else pcap.
func NewWriter(w io.Writer, ng bool) (*Writer, error) {
	f := &Writer{w: w, g: ng}
	return f, f.Data(AppendHeader(nil, ng))
}

// Begin starts a packet of n bytes; Data follows until they are there, then End.
func (f *Writer) Begin(ns int64, n int) error {
	f.l = n
	return f.Data(AppendBegin(f.h[:0], f.g, ns, n))
}

// Data writes the next bytes of the packet.
func (f *Writer) Data(b []byte) error {
	n, err := f.w.Write(b)
	f.n += int64(n)
	return err
}

// End completes the packet.
func (f *Writer) End() error { return f.Data(AppendEnd(f.h[:0], f.g, f.l)) }

// Len returns how long the file is so far.
func (f *Writer) Len() int64 { return f.n }
