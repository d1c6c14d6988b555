// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
)

func TestPacketSuiteBites(t *testing.T) {
	suiteBites(t, "PKT", "30|33|34|40", []mutant{
		{"Concat resets the metadata", func(o *ops) {
			real := o.Concat
			o.Concat = func(k *odp.Packet, w *odp.Worker, src *odp.Packet) error { k.ResetMeta(); return real(k, w, src) }
		}, "29 84"},
		{"Concat drops an empty tail byte", func(o *ops) {
			real := o.Concat
			o.Concat = func(k *odp.Packet, w *odp.Worker, src *odp.Packet) error {
				if src.Len() > 1 {
					src.PullTail(1)
				}
				return real(k, w, src)
			}
		}, "29 31 32 84"},
		{"Split leaves the metadata in the tail", func(o *ops) {
			real := o.Split
			o.Split = func(k *odp.Packet, w *odp.Worker, off int) (*odp.Packet, error) {
				t, err := real(k, w, off)
				if t != nil {
					t.SetFlag(buffer.FlagUDP, true)
				}
				return t, err
			}
		}, "29 85"},
		{"Copy forgets the user area", func(o *ops) {
			real := o.Copy
			o.Copy = func(k *odp.Packet, w *odp.Worker, p *odp.Pool) (*odp.Packet, error) {
				c, err := real(k, w, p)
				if c != nil {
					clear(c.UserArea())
				}
				return c, err
			}
		}, "26 27 82"},
		{"MoveData goes forward only", func(o *ops) {
			real := o.MoveData
			o.MoveData = func(k *odp.Packet, dst, src, n int) error {
				if dst <= src || src+n <= dst || dst+n > k.Len() || src < 0 {
					return real(k, dst, src, n)
				}
				for i := range n {
					k.Offset(dst + i)[0] = k.Offset(src + i)[0]
				}
				return nil
			}
		}, "27"},
		{"ResetMeta keeps the user word", func(o *ops) {
			real := o.ResetMeta
			o.ResetMeta = func(k *odp.Packet) { v := k.UserWord(); real(k); k.SetUserWord(v) }
		}, "13 81"},
		{"Reset accepts any length", func(o *ops) {
			real := o.Reset
			o.Reset = func(k *odp.Packet, w *odp.Worker, n int) error {
				return real(k, w, max(0, min(n, k.ResetMaxLen())))
			}
		}, "12"},
		{"Reset loses the headroom", func(o *ops) {
			real := o.Reset
			o.Reset = func(k *odp.Packet, w *odp.Worker, n int) error {
				err := real(k, w, n)
				if err == nil && k.Headroom() > 0 && n > 1 {
					k.PushHead(1)
					k.PullTail(1)
				}
				return err
			}
		}, "12"},
		{"VLAN and QinQ are two flags", func(o *ops) {
			real := o.SetFlag
			o.SetFlag = func(k *odp.Packet, f buffer.Flags, on bool) {
				if f == buffer.FlagQinQ && !on {
					k.SetParse(k.Flags()&^f|buffer.FlagVLAN, k.L3Offset(), k.L4Offset())
					return
				}
				real(k, f, on)
			}
		}, "22 23"},
		{"the parser forgets the offset of layer 4", func(o *ops) {
			real := o.Parse
			o.Parse = func(k *odp.Packet, off int, p header.ParseConfig) error {
				err := real(k, off, p)
				if k.L4Offset() != buffer.NoOffset {
					k.SetL4Offset(0)
				}
				return err
			}
		}, "48 49 50 51 52 53 54 55 56 58 59 60 61 62 63 64 65 66 67 68 70"},
		{"the parser looks at no tag", func(o *ops) {
			real := o.Parse
			o.Parse = func(k *odp.Packet, off int, p header.ParseConfig) error {
				err := real(k, off, p)
				if err == nil && k.HasVLAN() {
					k.SetParse(buffer.FlagL2, buffer.NoOffset, buffer.NoOffset)
				}
				return err
			}
		}, "54 55 56"},
		{"a reference has the whole packet", func(o *ops) {
			real := o.Ref
			o.Ref = func(k *odp.Packet, w *odp.Worker, off int) (*odp.Packet, error) {
				if off > 0 && off < k.Len() {
					off--
				}
				return real(k, w, off)
			}
		}, "36 39 72"},
		{"a reference is a copy", func(o *ops) {
			o.Ref = func(k *odp.Packet, w *odp.Worker, off int) (*odp.Packet, error) {
				return k.CopyPart(w, off, k.Len()-off, nil)
			}
		}, "36 39 72 84"},
		{"Align aligns to 8 at most", func(o *ops) {
			real := o.Align
			o.Align = func(k *odp.Packet, w *odp.Worker, off, n, align int) (*odp.Packet, error) {
				if align > 8 && align&(align-1) == 0 {
					align = 8
				}
				return real(k, w, off, n, align)
			}
		}, "37 88"},
		{"packets come with the mark of their last owner", func(o *ops) {
			real := o.AllocPackets
			o.AllocPackets = func(p *odp.Pool, w *odp.Worker, pkts []*odp.Packet, n int) int {
				m := real(p, w, pkts, n)
				for _, k := range pkts[:m] {
					k.SetMark(1)
				}
				return m
			}
		}, "01 04 08"},
		{"PushTail gives the new end", func(o *ops) {
			real := o.PushTail
			o.PushTail = func(k *odp.Packet, n int) []byte {
				if b := real(k, n); b != nil {
					return b[len(b):]
				}
				return nil
			}
		}, "16"},
		{"ExtendTail overwrites a byte", func(o *ops) {
			real := o.ExtendTail
			o.ExtendTail = func(k *odp.Packet, w *odp.Worker, n int) error {
				err := real(k, w, n)
				if err == nil && n > 1 && !k.HasRef() && !k.IsReferencing() {
					k.Offset(k.Len() - n - 1)[0] ^= 1
				}
				return err
			}
		}, "31 34 35 77"},
		{"ExtendHead moves the data", func(o *ops) {
			real := o.ExtendHead
			o.ExtendHead = func(k *odp.Packet, w *odp.Worker, n int) (*odp.Packet, error) {
				k, err := real(k, w, n)
				if err == nil && n > 0 && n < k.SegLen() {
					b := k.Data()[n:]
					copy(b, b[1:])
				}
				return k, err
			}
		}, "31 33 34 35 73"},
		{"a one byte packet is not appended", func(o *ops) {
			real := o.Concat
			o.Concat = func(k *odp.Packet, w *odp.Worker, src *odp.Packet) error {
				if k.Len() == 77 && src.Len() == 1 {
					buffer.FreePacket(w, src)
					return nil
				}
				return real(k, w, src)
			}
		}, "30"},
		{"TruncHead takes one byte less of several segments", func(o *ops) {
			real := o.TruncHead
			o.TruncHead = func(k *odp.Packet, w *odp.Worker, n int) (*odp.Packet, error) {
				if n > k.SegLen() && n < k.Len() {
					n--
				}
				return real(k, w, n)
			}
		}, "15 31 75"},
		{"a write into shared bytes is allowed", func(o *ops) {
			o.CopyFromMem = func(k *odp.Packet, off int, src []byte) error {
				if off < 0 || off+len(src) > k.Len() {
					return buffer.ErrRange
				}
				write(k, off, src)
				return nil
			}
		}, "39 72"},
	})
}
