// SPDX-License-Identifier: Apache-2.0

// Package pcapfile reads and writes capture files: pcap with micro- and nanoseconds,
// pcapng, both byte orders, and gzip around any of them. Nothing in a file is trusted:
// lengths are checked before memory is taken, and a file that is cut short or wrong gives
// the packets before the fault and then an error with its place.
//
//	pcap      magic, version, …, link type │ time, fraction, captured, length, data │ …
//	pcapng    type, length, body, length   │ …    section (byte order), interface (link
//	                                              type, resolution of time), packets
package pcapfile

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxLen is the longest packet that is read, whatever the file says.
const MaxLen = 256 << 10

// Ethernet is the link type that the devices take.
const Ethernet = 1

// Record is a packet of a file. Data is valid until the next call of Next.
type Record struct {
	Time int64 // nanoseconds since 1970
	Data []byte
	Orig int // length on the wire
	Link int // link type
}

// FormatError says what is wrong with a file, and where. A file that is cut short
// is io.ErrUnexpectedEOF to errors.Is.
type FormatError struct {
	Offset int64 // bytes from the start, unpacked
	Why    string
	Err    error
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("at byte %d: %s", e.Offset, e.Why)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives io.ErrUnexpectedEOF, or what reading ended with.
func (e *FormatError) Unwrap() error { return e.Err }

// Reader reads a capture file.
type Reader struct {
	r    *bufio.Reader
	at   int64 // bytes consumed
	bo   binary.ByteOrder
	ng   bool
	mul  int64 // nanoseconds of a fraction's unit (pcap)
	link int   // pcap
	fcs  int   // pcap: bytes at the end of each packet
	ifs  []iface
	buf  []byte
	head [28]byte
	err  error
}

// iface is an interface of a pcapng section.
type iface struct {
	link, fcs int
	snap      uint32
	resol     uint8 // as in if_tsresol
	offset    int64 // seconds
}

// NewReader reads the start of a file. The error says when it is none of the formats.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if m, err := b.Peek(2); err == nil && m[0] == 0x1f && m[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, &FormatError{0, "the gzip header", err}
		}
		b = bufio.NewReaderSize(z, 64<<10)
	}
	f := &Reader{r: b}
	if err := f.start(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Reader) start() error {
	m, err := f.r.Peek(4)
	if err != nil {
		return f.bad("no magic number", unexpected(err))
	}
	le, be := binary.LittleEndian.Uint32(m), binary.BigEndian.Uint32(m)
	if le == blockSection {
		f.ng = true
		return nil
	}
	switch {
	case le == magicMicro || le == magicNano:
		f.bo = binary.LittleEndian
	case be == magicMicro || be == magicNano:
		f.bo = binary.BigEndian
	default:
		return f.bad(fmt.Sprintf("magic number %#08x: neither pcap nor pcapng", be), nil)
	}
	f.mul = 1000
	if le == magicNano || be == magicNano {
		f.mul = 1
	}
	h := f.head[:24]
	if err := f.full(h, "the file header"); err != nil {
		return err
	}
	if v := f.bo.Uint16(h[4:]); v != 2 {
		return f.bad(fmt.Sprintf("version %d of pcap: allowed is 2", v), nil)
	}
	l := f.bo.Uint32(h[20:])
	f.link = int(l & 0xffff)
	if l&(1<<26) != 0 {
		f.fcs = int(l>>28) * 2
	}
	return nil
}

// Link returns the link type of a pcap file, -1 for pcapng, where each packet has its own.
func (f *Reader) Link() int {
	if f.ng {
		return -1
	}
	return f.link
}

func (f *Reader) bad(why string, err error) error { return &FormatError{f.at, why, err} }

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// full fills b; what is missing is unexpected.
func (f *Reader) full(b []byte, what string) error {
	n, err := io.ReadFull(f.r, b)
	if err != nil {
		return f.bad("the file ends in "+what, unexpected(err))
	}
	f.at += int64(n)
	return nil
}

// Next returns the next packet. io.EOF: the file ended where it may. Any other error
// stays.
func (f *Reader) Next() (Record, error) {
	if f.err != nil {
		return Record{}, f.err
	}
	var r Record
	if f.ng {
		r, f.err = f.nextNG()
	} else {
		r, f.err = f.nextClassic()
	}
	return r, f.err
}

// first reads the start of a record or block; io.EOF when there is nothing more.
func (f *Reader) first(b []byte, what string) error {
	n, err := io.ReadFull(f.r, b)
	switch {
	case err == nil:
		f.at += int64(n)
		return nil
	case errors.Is(err, io.EOF) && n == 0 && err == io.EOF:
		return io.EOF
	}
	return f.bad("the file ends in "+what, unexpected(err))
}

func (f *Reader) nextClassic() (r Record, err error) {
	h := f.head[:16]
	if err := f.first(h, "a packet's header"); err != nil {
		return r, err
	}
	n := f.bo.Uint32(h[8:])
	if n > MaxLen {
		return r, f.bad(fmt.Sprintf("a packet of %d bytes: allowed are %d", n, MaxLen), nil)
	}
	r.Time = int64(f.bo.Uint32(h))*1e9 + int64(f.bo.Uint32(h[4:]))*f.mul
	r.Orig, r.Link = int(f.bo.Uint32(h[12:])), f.link
	if r.Data, err = f.data(int(n), "a packet"); err != nil {
		return Record{}, err
	}
	r.trim(f.fcs)
	return r, nil
}

// data reads n bytes, n <= MaxLen, into the reader's buffer.
func (f *Reader) data(n int, what string) ([]byte, error) {
	if n > cap(f.buf) {
		f.buf = make([]byte, max(n, 2048))
	}
	b := f.buf[:n]
	return b, f.full(b, what)
}

// trim takes the frame check sequence off.
func (r *Record) trim(fcs int) {
	if missing := r.Orig - len(r.Data); fcs > missing {
		r.Data = r.Data[:max(0, len(r.Data)-(fcs-max(missing, 0)))]
	}
	r.Orig = max(r.Orig-fcs, 0)
}
