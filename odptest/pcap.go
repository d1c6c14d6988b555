// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("odptest.update", false, "write the golden pcap files anew instead of comparing")

// Golden compares frames with those of a pcap file, which any analyser reads:
// testdata/NAME.pcap beside the test. With -odptest.update the file is written anew.
func Golden(t testing.TB, name string, frames [][]byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".pcap")
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, EncodePcap(frames), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("odptest: golden file: %v; write it with: go test -run '^%s$' -odptest.update", err, t.Name())
	}
	want, err := DecodePcap(b)
	if err != nil {
		t.Fatalf("odptest: %s: %v", path, err)
	}
	Equal(t, frames, want)
}

// The pcap file format (classic, microseconds, little endian, Ethernet):
// a header of 24 bytes, then a record of 16 bytes before each frame.
const (
	pcapMagic  = 0xa1b2c3d4
	pcapHeader = 24
	pcapRecord = 16
	pcapSnap   = 262144
)

// EncodePcap writes frames as a pcap file; frame i has the time stamp of i microseconds.
func EncodePcap(frames [][]byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, pcapMagic)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, pcapSnap)
	b = le.AppendUint32(b, 1) // Ethernet
	for i, f := range frames {
		b = le.AppendUint32(b, uint32(i/1e6))
		b = le.AppendUint32(b, uint32(i%1e6))
		b = le.AppendUint32(b, uint32(len(f)))
		b = le.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// ErrPcap is wrapped by the errors of DecodePcap.
var ErrPcap = errors.New("pcap")

// DecodePcap reads the frames of a pcap file as EncodePcap writes it, of either
// byte order, with micro- or nanoseconds.
func DecodePcap(b []byte) (frames [][]byte, err error) {
	if len(b) < pcapHeader {
		return nil, fmt.Errorf("%w: %d bytes: a file header has %d", ErrPcap, len(b), pcapHeader)
	}
	var o binary.ByteOrder
	switch {
	case binary.LittleEndian.Uint32(b) == pcapMagic, binary.LittleEndian.Uint32(b) == 0xa1b23c4d:
		o = binary.LittleEndian
	case binary.BigEndian.Uint32(b) == pcapMagic, binary.BigEndian.Uint32(b) == 0xa1b23c4d:
		o = binary.BigEndian
	default:
		return nil, fmt.Errorf("%w: magic %x is not that of a classic pcap file", ErrPcap, b[:4])
	}
	if link := o.Uint32(b[20:]); link&0xffff != 1 {
		return nil, fmt.Errorf("%w: link type %d: only Ethernet (1) is read", ErrPcap, link)
	}
	for b = b[pcapHeader:]; len(b) > 0; {
		if len(b) < pcapRecord {
			return frames, fmt.Errorf("%w: record %d is cut: %d bytes of its header", ErrPcap, len(frames), len(b))
		}
		n := o.Uint32(b[8:])
		if orig := o.Uint32(b[12:]); orig != n {
			return frames, fmt.Errorf("%w: record %d has %d of the frame's %d bytes", ErrPcap, len(frames), n, orig)
		}
		b = b[pcapRecord:]
		if uint64(n) > uint64(len(b)) {
			return frames, fmt.Errorf("%w: record %d is cut: %d of %d bytes", ErrPcap, len(frames), len(b), n)
		}
		frames = append(frames, b[:n:n])
		b = b[n:]
	}
	return frames, nil
}
