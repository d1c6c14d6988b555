// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"github.com/odp-go/godp/internal/meta"
)

// Flags are what a parser found in a frame, one bit per property.
type Flags = meta.Flags

// NoOffset is the layer offset that is not set.
const NoOffset = meta.NoOffset

// keepFlags are the bits that no parser owns.
const keepFlags = uint32(meta.HasHash|meta.HasTime|meta.UserFlag) | flagCold | flagValue

// SetParse records what a parser found: flags and the offsets of layers 3 and 4
// from the data (NoOffset = none); layer 2 is at 0. Flow hash, time stamp and user
// flag stay. For parsers; the owner only.
func (k *Packet) SetParse(flags Flags, l3, l4 uint16) {
	k.flags = k.flags&keepFlags | uint32(flags)
	k.l2, k.l3, k.l4 = 0, l3, l4
}

// Flags returns all that the parser found, and HasHash, HasTime and UserFlag.
func (k *Packet) Flags() Flags { return Flags(k.flags &^ (flagCold | flagValue)) }

// Has reports whether all bits of f are set.
func (k *Packet) Has(f Flags) bool { return Flags(k.flags)&f == f }

// SetFlag sets or clears the bits of f. VLAN and QinQ exclude each other, and
// clearing QinQ leaves no tag: a frame has one tag, two, or none.
func (k *Packet) SetFlag(f Flags, on bool) {
	f &^= flagCold | flagValue
	tags := f & (meta.VLAN | meta.QinQ)
	if tags != 0 {
		k.flags &^= uint32(meta.VLAN | meta.QinQ)
	}
	if !on {
		k.flags &^= uint32(f)
		return
	}
	if tags&meta.QinQ != 0 {
		f &^= meta.VLAN
	}
	k.flags |= uint32(f)
}

// The parser's findings one by one.
func (k *Packet) HasL2() bool       { return Flags(k.flags)&meta.L2 != 0 }
func (k *Packet) HasL3() bool       { return Flags(k.flags)&meta.L3 != 0 }
func (k *Packet) HasL4() bool       { return Flags(k.flags)&meta.L4 != 0 }
func (k *Packet) HasEthBcast() bool { return Flags(k.flags)&meta.EthBcast != 0 }
func (k *Packet) HasEthMcast() bool { return Flags(k.flags)&(meta.EthMcast|meta.EthBcast) != 0 }
func (k *Packet) HasJumbo() bool    { return Flags(k.flags)&meta.Jumbo != 0 }
func (k *Packet) HasVLAN() bool     { return Flags(k.flags)&(meta.VLAN|meta.QinQ) != 0 }
func (k *Packet) HasQinQ() bool     { return Flags(k.flags)&meta.QinQ != 0 }
func (k *Packet) HasARP() bool      { return Flags(k.flags)&meta.ARP != 0 }
func (k *Packet) HasIPv4() bool     { return Flags(k.flags)&meta.IPv4 != 0 }
func (k *Packet) HasIPv6() bool     { return Flags(k.flags)&meta.IPv6 != 0 }
func (k *Packet) HasIPBcast() bool  { return Flags(k.flags)&meta.IPBcast != 0 }
func (k *Packet) HasIPMcast() bool  { return Flags(k.flags)&meta.IPMcast != 0 }
func (k *Packet) HasIPFrag() bool   { return Flags(k.flags)&meta.IPFrag != 0 }
func (k *Packet) HasIPOpt() bool    { return Flags(k.flags)&meta.IPOpt != 0 }
func (k *Packet) HasIPsec() bool    { return Flags(k.flags)&meta.IPsec != 0 }
func (k *Packet) HasUDP() bool      { return Flags(k.flags)&meta.UDP != 0 }
func (k *Packet) HasTCP() bool      { return Flags(k.flags)&meta.TCP != 0 }
func (k *Packet) HasSCTP() bool     { return Flags(k.flags)&meta.SCTP != 0 }
func (k *Packet) HasICMP() bool     { return Flags(k.flags)&meta.ICMP != 0 }

// HasError reports whether any layer is wrong; the others say which.
func (k *Packet) HasError() bool   { return Flags(k.flags)&meta.Err != 0 }
func (k *Packet) HasL2Error() bool { return Flags(k.flags)&meta.ErrL2 != 0 }
func (k *Packet) HasL3Error() bool { return Flags(k.flags)&meta.ErrL3 != 0 }
func (k *Packet) HasL4Error() bool { return Flags(k.flags)&meta.ErrL4 != 0 }

// ChecksumStatus is what is known of a checksum.
type ChecksumStatus uint8

// The states of a checksum.
const (
	ChecksumUnknown ChecksumStatus = iota // it was not looked at
	ChecksumBad
	ChecksumOK
)

func (k *Packet) checksum(checked, ok Flags) ChecksumStatus {
	switch f := Flags(k.flags); {
	case f&checked == 0:
		return ChecksumUnknown
	case f&ok == 0:
		return ChecksumBad
	}
	return ChecksumOK
}

// L3Checksum returns what the parser found of the layer 3 checksum.
func (k *Packet) L3Checksum() ChecksumStatus { return k.checksum(meta.L3Checked, meta.L3OK) }

// L4Checksum returns what the parser found of the layer 4 checksum.
func (k *Packet) L4Checksum() ChecksumStatus { return k.checksum(meta.L4Checked, meta.L4OK) }

// L2Offset, L3Offset and L4Offset return where a layer starts, in bytes from the
// data, NoOffset when it is not known. Push and pull do not adjust them.
func (k *Packet) L2Offset() uint16 { return k.l2 }
func (k *Packet) L3Offset() uint16 { return k.l3 }
func (k *Packet) L4Offset() uint16 { return k.l4 }

// SetL2Offset, SetL3Offset and SetL4Offset set where a layer starts; NoOffset
// unsets it. An offset that is not below Len is refused (false).
func (k *Packet) SetL2Offset(off int) bool { return k.setOffset(&k.l2, off) }
func (k *Packet) SetL3Offset(off int) bool { return k.setOffset(&k.l3, off) }
func (k *Packet) SetL4Offset(off int) bool { return k.setOffset(&k.l4, off) }

func (k *Packet) setOffset(at *uint16, off int) bool {
	if off != NoOffset && (uint(off) >= uint(k.len) || off > NoOffset) {
		return false
	}
	*at = uint16(off)
	return true
}

// L2, L3 and L4 view the packet from the start of a layer to the end of the
// segment that holds it; nil when the offset is not known.
func (k *Packet) L2() []byte { return k.layer(k.l2) }
func (k *Packet) L3() []byte { return k.layer(k.l3) }
func (k *Packet) L4() []byte { return k.layer(k.l4) }

func (k *Packet) layer(off uint16) []byte {
	if off == NoOffset {
		return nil
	}
	return k.Offset(int(off))
}

// L3Type returns the EtherType of layer 3, 0xffff when there is none.
func (k *Packet) L3Type() uint16 {
	switch f := Flags(k.flags); {
	case f&meta.IPv4 != 0:
		return 0x0800
	case f&meta.IPv6 != 0:
		return 0x86dd
	case f&meta.ARP != 0:
		return 0x0806
	}
	return 0xffff
}

// FlowHash returns the flow hash, and whether there is one.
func (k *Packet) FlowHash() (uint32, bool) { return k.hash, Flags(k.flags)&meta.HasHash != 0 }

// SetFlowHash sets the flow hash.
func (k *Packet) SetFlowHash(h uint32) { k.hash, k.flags = h, k.flags|uint32(meta.HasHash) }

// ClearFlowHash unsets it.
func (k *Packet) ClearFlowHash() { k.hash, k.flags = 0, k.flags&^uint32(meta.HasHash) }

// Input returns the index of the port and of its queue where the packet came in;
// port is -1 when it did not come from a port.
func (k *Packet) Input() (port, queue int) { return int(k.input) - 1, int(k.queue) }

// UserFlag returns the user's flag, which allocation clears.
func (e *Event) UserFlag() bool { return Flags(e.flags)&meta.UserFlag != 0 }

// SetUserFlag sets the user's flag. Buffers and time-outs have none: it is ignored.
func (e *Event) SetUserFlag(on bool) {
	if e.typ != TypePacket && e.typ != TypeVector {
		return
	}
	e.flags &^= uint32(meta.UserFlag)
	if on {
		e.flags |= uint32(meta.UserFlag)
	}
}

// UserArea views the user area of the event, nil when its pool has none. Its
// contents outlive free and allocation.
func (e *Event) UserArea() []byte {
	p := e.PoolOf()
	if p == nil || p.areaStep == 0 {
		return nil
	}
	return p.area(e.index)
}

// ResetMeta gives the metadata the values of a new packet. Data, layout, user area
// and references stay.
func (k *Packet) ResetMeta() {
	if k.flags&flagValue != 0 {
		k.SetValue(nil)
	}
	k.flags, k.hash, k.input, k.queue = 0, 0, 0, 0
	k.l2, k.l3, k.l4 = NoOffset, NoOffset, NoOffset
}
