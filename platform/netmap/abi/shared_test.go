// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// TestSharedLayout writes through the accessors and looks at the bytes.
func TestSharedLayout(t *testing.T) {
	mem, err := arena.New(arena.Config{Name: "test", Size: 8192})
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := arena.Bytes(mem.Off, 8192)
	u32 := func(off int) uint32 { return binary.NativeEndian.Uint32(b[off:]) }
	u64 := func(off int) uint64 { return binary.NativeEndian.Uint64(b[off:]) }
	u16 := func(off int) uint16 { return binary.NativeEndian.Uint16(b[off:]) }

	f := (*If)(arena.At(mem.Off))
	f.Init("averylongportname", IfPrivMem, 2, 3, 0, 4)
	f.SetBufsHead(77)
	f.SetRingOfs(f.RxEntry(1), -8)
	if string(b[:16]) != "averylongportna\x00" || u32(20) != 1 || u32(24) != 2 || u32(28) != 3 || u32(32) != 77 || u32(36) != 0 || u32(40) != 4 {
		t.Errorf("If: % x", b[:56])
	}
	if tx, rx := f.HostRings(); tx != 1 || rx != 4 || f.Entries() != 2+1+3+4 {
		t.Errorf("host entries %d %d of %d", tx, rx, f.Entries())
	}
	if e := 2 + 1 + 1; int64(u64(56+8*e)) != -8 || f.RingOfs(uint32(e)) != -8 {
		t.Errorf("ring table: % x", b[56:56+80])
	}

	const at = 1024
	r := (*Ring)(arena.At(mem.Off + at))
	r.Init(0x1234, 100, 2048, 5, 1, 99)
	r.SetHeadCur(3, 4)
	r.SetFlags(RingTimestamp)
	r.SetTime(11, 12)
	r.SetOffsetMask(0xff)
	if u64(at) != 0x1234 || u32(at+8) != 100 || u32(at+12) != 2048 || u16(at+16) != 5 || u16(at+18) != 1 || r.RingID() != 5 {
		t.Errorf("ring constants: % x", b[at:at+20])
	}
	if u32(at+20) != 3 || u32(at+24) != 4 || u32(at+28) != 99 || u32(at+32) != 2 || u64(at+40) != 11 || u64(at+48) != 12 || u64(at+56) != 0xff {
		t.Errorf("ring words: % x", b[at+20:at+72])
	}
	s := r.Slot(2)
	s.Store(0x01020304, 1514, SlotBufChanged|SlotMoreFrag)
	s.SetPtr(42)
	o := at + 256 + 2*16
	if u32(o) != 0x01020304 || u16(o+4) != 1514 || u16(o+6) != 0x21 || u64(o+8) != 42 {
		t.Errorf("slot: % x", b[o:o+16])
	}
	if idx, n, fl := s.Load(); idx != 0x01020304 || n != 1514 || fl != 0x21 || s.Ptr() != 42 {
		t.Errorf("slot reads %#x %d %#x", idx, n, fl)
	}
}

// TestRingArithmetic is the reference's worked examples, and all small rings
// against counting.
func TestRingArithmetic(t *testing.T) {
	for _, c := range [][4]uint32{{0, 7, 8, 7}, {3, 7, 8, 4}, {3, 2, 8, 7}, {6, 2, 8, 4}, {2, 2, 8, 0}, {1000, 24, 1024, 48}} {
		if got := Avail(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("head %d tail %d of %d: avail %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
	for n := uint32(3); n < 12; n++ {
		for head := uint32(0); head < n; head++ {
			i := head
			for k := uint32(0); k < n; k++ {
				if Avail(head, i, n) != k || Advance(head, k, n) != i {
					t.Fatalf("n %d head %d k %d", n, head, k)
				}
				i = Next(i, n)
			}
		}
	}
}

func TestCall(t *testing.T) {
	c, err := NewCall()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h, reg, err := c.Register("eth0")
	if err != nil {
		t.Fatal(err)
	}
	reg.Mode = ModeAllNIC
	o := (*OptionOffsets)(c.AddOption(OptOffsets, 0))
	o.MaxOffset = 128
	ev := (*Option)(c.AddOption(OptSyncKloopEventf, 16))
	if h.Version != 14 || h.ReqType != ReqRegister || h.PortName() != "eth0" {
		t.Errorf("header %+v", *h)
	}
	b, ok := UserPtr(h.Body, 56)
	if !ok || (*Register)(b).Mode != ModeAllNIC {
		t.Errorf("body address does not lead to the body")
	}
	p, ok := UserPtr(h.Options, 56)
	if !ok || p != unsafe.Pointer(o) {
		t.Errorf("first option")
	}
	p, ok = UserPtr(o.Next, 24)
	if !ok || p != unsafe.Pointer(ev) || ev.Size != 16 || ev.Next != 0 {
		t.Errorf("second option %+v", ev)
	}
	if _, ok := UserPtr(8, 8); ok {
		t.Errorf("an address outside the arena was resolved")
	}
	if _, ok := UserPtr(Addr(arena.At(arena.Size()-4)), 8); ok {
		t.Errorf("a range over the end of the arena was resolved")
	}
	long := make([]byte, 64)
	for i := range long {
		long[i] = 'a'
	}
	if _, _, err := c.Register(string(long)); err == nil {
		t.Errorf("a name of 64 bytes was taken")
	}
	if _, _, err := c.Begin(99, ""); err == nil {
		t.Errorf("request type 99 was taken")
	}
	if h, _, err := c.Begin(ReqPortInfoGet, ""); err != nil || h.Options != 0 {
		t.Errorf("a second request keeps options: %v", err)
	}
}

// TestNumbers derives the ioctl numbers from direction, size, group and number.
func TestNumbers(t *testing.T) {
	ctrl := uintptr(0xC0000000 | 88<<16 | 'i'<<8 | 151)
	if LinuxNumbers.Ctrl != ctrl || FreeBSDNumbers.Ctrl != ctrl {
		t.Errorf("Ctrl %#x %#x, want %#x", LinuxNumbers.Ctrl, FreeBSDNumbers.Ctrl, ctrl)
	}
	if LinuxNumbers.TxSync != 'i'<<8|148 || LinuxNumbers.RxSync != 'i'<<8|149 {
		t.Errorf("Linux %#x", LinuxNumbers)
	}
	if FreeBSDNumbers.TxSync != 0x20000000|'i'<<8|148 || FreeBSDNumbers.RxSync != 0x20000000|'i'<<8|149 {
		t.Errorf("FreeBSD %#x", FreeBSDNumbers)
	}
}
