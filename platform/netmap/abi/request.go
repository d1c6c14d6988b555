// SPDX-License-Identifier: Apache-2.0

package abi

import "unsafe"

// The control requests (argument of NIOCCTRL). "in" is written by the client,
// "out" by the kernel, and only when the call succeeds.
//
//	Header (88)                        Register (56)
//	  0 u16 version      in              0 u64 offset        out  this descriptor's If, from the region base
//	  2 u16 reqtype      in              8 u64 memsize       out  bytes to map
//	  4 u32 reserved     in, 0          16 u32 txSlots       in/out  wishes count on software ports only
//	  8 [64] name        in             20 u32 rxSlots       in/out
//	 72 u64 options      in, address    24 u16 txRings       in/out
//	 80 u64 body         in, address    26 u16 rxRings       in/out
//	                                    28 u16 hostTxRings   in/out
//	Option (24)                         30 u16 hostRxRings   in/out
//	  0 u64 next         in, address    32 u16 memID         in/out  0 = default
//	  8 u32 reqtype      in             34 u16 ringID        in
//	 12 u32 status       out, errno     36 u32 mode          in
//	 16 u64 size         in             40 u32 extraBufs     in/out  granted, maybe fewer
//	 24 payload                         44 u32 pad
//	                                    48 u64 flags         in

// Header is the argument of NIOCCTRL.
type Header struct {
	Version  uint16
	ReqType  uint16
	Reserved uint32
	Name     [NameSize]byte
	Options  uint64 // address of the first option, 0 = none
	Body     uint64 // address of the body
}

// Register binds a descriptor to a port.
type Register struct {
	Offset, MemSize          uint64
	TxSlots, RxSlots         uint32
	TxRings, RxRings         uint16
	HostTxRings, HostRxRings uint16
	MemID, RingID            uint16
	Mode                     uint32
	ExtraBufs                uint32
	_                        uint32
	Flags                    uint64
}

// PortInfo is the body of PORT_INFO_GET. All fields are out, but MemID in/out.
type PortInfo struct {
	MemSize                  uint64
	TxSlots, RxSlots         uint32
	TxRings, RxRings         uint16
	HostTxRings, HostRxRings uint16
	MemID                    uint16
	_                        [3]uint16
}

// ValeAttach is the body of VALE_ATTACH.
type ValeAttach struct {
	Register  Register
	PortIndex uint32
	_         uint32
}

// ValeDetach is the body of VALE_DETACH.
type ValeDetach struct{ PortIndex, _ uint32 }

// ValeList is the body of VALE_LIST.
type ValeList struct {
	BridgeIdx uint16
	_         uint16
	PortIdx   uint32
}

// PortHdr is the body of PORT_HDR_SET and PORT_HDR_GET: length of the
// virtio-net header, 0, 10 or 12.
type PortHdr struct{ HdrLen, _ uint32 }

// ValeNewif is the body of VALE_NEWIF.
type ValeNewif struct {
	TxSlots, RxSlots uint32
	TxRings, RxRings uint16
	MemID            uint16
	_                uint16
}

// ValePolling is the body of VALE_POLLING_ENABLE and _DISABLE.
type ValePolling struct{ Mode, FirstCPU, NumCPUs, _ uint32 }

// PoolsInfo is the body of POOLS_INFO_GET: where the three pools of a region are.
type PoolsInfo struct {
	MemSize                   uint64
	MemID                     uint16
	_                         [3]uint16
	IfOffset                  uint64
	IfObjTotal, IfObjSize     uint32
	RingOffset                uint64
	RingObjTotal, RingObjSize uint32
	BufOffset                 uint64
	BufObjTotal, BufObjSize   uint32
}

// KloopStart is the body of SYNC_KLOOP_START.
type KloopStart struct{ SleepUS, _ uint32 }

// Option is the head of every option.
type Option struct {
	Next    uint64 // address of the next option
	ReqType uint32
	Status  uint32 // errno value; EOPNOTSUPP when nothing consumed it
	Size    uint64 // payload bytes of options of variable size, else 0
}

// OptionOffsets asks that part of a slot's ptr be the byte offset of the data.
type OptionOffsets struct {
	Option
	MaxOffset     uint64
	InitialOffset uint64
	OffsetBits    uint32
	TxAlign       uint32
	MinGap        uint64
}

// OptionExtmem places a region in memory of the client.
type OptionExtmem struct {
	Option
	UserPtr uint64
	Pools   PoolsInfo
}

// OptionCSB moves head, cur and tail to arrays of the client.
type OptionCSB struct {
	Option
	AppToKernel, KernelToApp uint64
}

// SetName writes the port's name; false when it doesn't fit.
func (h *Header) SetName(s string) bool {
	h.Name = [NameSize]byte{}
	return copy(h.Name[:NameSize-1], s) == len(s)
}

// PortName reads the name up to its terminating zero.
func (h *Header) PortName() string { return cstring(h.Name[:]) }

func cstring(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// BodySize returns the size of a request's body, and whether the type is known.
func BodySize(reqType uint16) (size int, known bool) {
	switch reqType {
	case ReqRegister:
		return int(unsafe.Sizeof(Register{})), true
	case ReqPortInfoGet:
		return int(unsafe.Sizeof(PortInfo{})), true
	case ReqValeAttach:
		return int(unsafe.Sizeof(ValeAttach{})), true
	case ReqValeDetach, ReqValeList, ReqPortHdrSet, ReqPortHdrGet, ReqSyncKloopStart:
		return 8, true
	case ReqValeNewif, ReqValePollingEnable, ReqValePollingDisable:
		return 16, true
	case ReqPoolsInfoGet:
		return int(unsafe.Sizeof(PoolsInfo{})), true
	case ReqValeDelif, ReqSyncKloopStop, ReqCSBEnable:
		return 0, true
	}
	return 0, false
}

// OptionSize returns the size of an option's structure without variable
// payload, 0 when the type is unknown.
func OptionSize(optType uint32) int {
	switch optType {
	case OptExtmem:
		return int(unsafe.Sizeof(OptionExtmem{}))
	case OptSyncKloopEventf:
		return int(unsafe.Sizeof(Option{}))
	case OptCSB:
		return int(unsafe.Sizeof(OptionCSB{}))
	case OptSyncKloopMode:
		return 32
	case OptOffsets:
		return int(unsafe.Sizeof(OptionOffsets{}))
	}
	return 0
}
