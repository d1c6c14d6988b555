// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
)

// packetOps are the calls of the PKT suite.
type packetOps struct {
	PushHead    func(k *odp.Packet, n int) []byte
	PullHead    func(k *odp.Packet, n int) []byte
	PushTail    func(k *odp.Packet, n int) []byte
	PullTail    func(k *odp.Packet, n int) bool
	ExtendHead  func(k *odp.Packet, w *odp.Worker, n int) (*odp.Packet, error)
	ExtendTail  func(k *odp.Packet, w *odp.Worker, n int) error
	TruncHead   func(k *odp.Packet, w *odp.Worker, n int) (*odp.Packet, error)
	TruncTail   func(k *odp.Packet, w *odp.Worker, n int) error
	AddData     func(k *odp.Packet, w *odp.Worker, off, n int) (*odp.Packet, error)
	RemData     func(k *odp.Packet, w *odp.Worker, off, n int) (*odp.Packet, error)
	Align       func(k *odp.Packet, w *odp.Worker, off, n, align int) (*odp.Packet, error)
	Concat      func(k *odp.Packet, w *odp.Worker, src *odp.Packet) error
	Split       func(k *odp.Packet, w *odp.Worker, off int) (*odp.Packet, error)
	Copy        func(k *odp.Packet, w *odp.Worker, p *odp.Pool) (*odp.Packet, error)
	CopyPart    func(k *odp.Packet, w *odp.Worker, off, n int, p *odp.Pool) (*odp.Packet, error)
	CopyFromMem func(k *odp.Packet, off int, src []byte) error
	MoveData    func(k *odp.Packet, dst, src, n int) error
	Reset       func(k *odp.Packet, w *odp.Worker, length int) error
	ResetMeta   func(k *odp.Packet)
	Ref         func(k *odp.Packet, w *odp.Worker, off int) (*odp.Packet, error)
	RefPacket   func(k *odp.Packet, w *odp.Worker, off int, hdr *odp.Packet) (*odp.Packet, error)
	SetFlag     func(k *odp.Packet, f buffer.Flags, on bool)
	Parse       func(k *odp.Packet, off int, p header.ParseConfig) error
}

var realPacketOps = packetOps{
	PushHead:    (*odp.Packet).PushHead,
	PullHead:    (*odp.Packet).PullHead,
	PushTail:    (*odp.Packet).PushTail,
	PullTail:    (*odp.Packet).PullTail,
	ExtendHead:  (*odp.Packet).ExtendHead,
	ExtendTail:  (*odp.Packet).ExtendTail,
	TruncHead:   (*odp.Packet).TruncHead,
	TruncTail:   (*odp.Packet).TruncTail,
	AddData:     (*odp.Packet).AddData,
	RemData:     (*odp.Packet).RemData,
	Align:       (*odp.Packet).Align,
	Concat:      (*odp.Packet).Concat,
	Split:       (*odp.Packet).Split,
	Copy:        (*odp.Packet).Copy,
	CopyPart:    (*odp.Packet).CopyPart,
	CopyFromMem: (*odp.Packet).CopyFromMem,
	MoveData:    (*odp.Packet).MoveData,
	Reset:       (*odp.Packet).Reset,
	ResetMeta:   (*odp.Packet).ResetMeta,
	Ref:         (*odp.Packet).Ref,
	RefPacket:   (*odp.Packet).RefPacket,
	SetFlag:     (*odp.Packet).SetFlag,
	Parse:       header.ParsePacket,
}
