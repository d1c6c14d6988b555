// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// VLAN views an 802.1Q tag behind its type field: Ethernet.Payload when the type
// is TypeVLAN, TypeQinQ or TypeQinQ91 (IEEE 802.1Q clause 9):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-----+-+-----------------------+-------------------------------+
//	| PCP |D|       VLAN id         |       type of the payload     |
//	+-----+-+-----------------------+-------------------------------+
type VLAN []byte

// VLANLen is what a tag adds to a frame.
const VLANLen = 4

// IsTag reports whether an EtherType is that of a VLAN tag.
func IsTag(typ uint16) bool { return isTag(typ) }

// IsValid reports whether the tag is whole.
func (b VLAN) IsValid() bool { return len(b) >= VLANLen }

// TCI returns the whole tag word.
func (b VLAN) TCI() uint16 { return binary.BigEndian.Uint16(b[0:2]) }

// SetTCI writes the whole tag word.
func (b VLAN) SetTCI(v uint16) { binary.BigEndian.PutUint16(b[0:2], v) }

// ID returns the VLAN id; 0 = a priority tag.
func (b VLAN) ID() uint16 { return b.TCI() & 0xfff }

// SetID writes the VLAN id and keeps the rest.
func (b VLAN) SetID(id uint16) { b.SetTCI(b.TCI()&^0xfff | id&0xfff) }

// Priority returns the priority code point, 0 to 7.
func (b VLAN) Priority() uint8 { return b[0] >> 5 }

// SetPriority writes the priority code point and keeps the rest.
func (b VLAN) SetPriority(p uint8) { b[0] = b[0]&0x1f | p<<5 }

// DropEligible returns the DEI bit.
func (b VLAN) DropEligible() bool { return b[0]&0x10 != 0 }

// Type returns the EtherType of the payload.
func (b VLAN) Type() uint16 { return binary.BigEndian.Uint16(b[2:4]) }

// SetType writes the EtherType of the payload.
func (b VLAN) SetType(t uint16) { binary.BigEndian.PutUint16(b[2:4], t) }

// Payload returns what follows the tag.
func (b VLAN) Payload() []byte { return b[VLANLen:] }
