// SPDX-License-Identifier: Apache-2.0

package abi

// The versions of the interface.
const (
	API    = 14 // what this package writes in every request
	APIMax = 15 // what kernels accept besides
	APIMin = 14

	DevicePath = "/dev/netmap"
	NameSize   = 64 // nr_name, with its terminating zero
	IfNameSize = 16 // ni_name and interface names, with the terminating zero
	MaxFrags   = 64 // slots of one frame
	RequestMax = 4096
)

// LinuxNumbers and FreeBSDNumbers are the ioctl numbers of the two
// personalities. The calls without argument differ: BSD sets a "void" bit.
var (
	LinuxNumbers   = Numbers{Ctrl: 0xC0586997, TxSync: 0x6994, RxSync: 0x6995}
	FreeBSDNumbers = Numbers{Ctrl: 0xC0586997, TxSync: 0x20006994, RxSync: 0x20006995}
)

// Request types (nr_reqtype).
const (
	ReqRegister           = 1
	ReqPortInfoGet        = 2
	ReqValeAttach         = 3
	ReqValeDetach         = 4
	ReqValeList           = 5
	ReqPortHdrSet         = 6
	ReqPortHdrGet         = 7
	ReqValeNewif          = 8
	ReqValeDelif          = 9
	ReqValePollingEnable  = 10
	ReqValePollingDisable = 11
	ReqPoolsInfoGet       = 12
	ReqSyncKloopStart     = 13
	ReqSyncKloopStop      = 14
	ReqCSBEnable          = 15
)

// Modes (nr_mode): which rings a descriptor binds.
const (
	ModeAllNIC = 1 // all NIC rings
	ModeSW     = 2 // all host rings
	ModeNICSW  = 3 // both
	ModeOneNIC = 4 // NIC ring nr_ringid
	ModeNull   = 7 // no port, only memory
	ModeOneSW  = 8 // host ring nr_ringid
)

// Flags of a registration (nr_flags).
const (
	FlagMonitorTX     = 0x100
	FlagMonitorRX     = 0x200
	FlagZcopyMon      = 0x400
	FlagExclusive     = 0x800
	FlagRxRingsOnly   = 0x2000
	FlagTxRingsOnly   = 0x4000
	FlagAcceptVnetHdr = 0x8000
	FlagDoRxPoll      = 0x10000 // accepted, no kernel reads it
	FlagNoTxPoll      = 0x20000 // the legacy 0x1000 means nothing here
)

// Flags of a slot.
const (
	SlotBufChanged = 0x01 // buf_idx was changed: the driver must load the new address
	SlotReport     = 0x02 // signal the completion of this very slot
	SlotForward    = 0x04 // pass through the host stack
	SlotNoLearn    = 0x08
	SlotIndirect   = 0x10
	SlotMoreFrag   = 0x20 // the frame goes on in the next slot
	SlotTxMon      = 0x40
	// SlotRFragsShift: on VALE receive the high byte is the number of fragments.
	SlotRFragsShift = 8
)

// Flags of a ring.
const (
	RingTimestamp = 0x2
	RingForward   = 0x4
)

// IfPrivMem is the bit of ni_flags that marks a private memory region.
const IfPrivMem = 1

// Options (nro_reqtype).
const (
	OptExtmem          = 1
	OptSyncKloopEventf = 2
	OptCSB             = 3
	OptSyncKloopMode   = 4
	OptOffsets         = 5
	OptMax             = 5
)

// FirstBuf is the lowest valid buffer index: 0 means none and 1 is the
// kernel's dummy.
const FirstBuf = 2

// Sizes of the default region (id 1) and of private ones; and the hard limits.
const (
	DefIfSize, DefIfNum     = 1024, 100
	DefRingSize, DefRingNum = 36864, 200
	DefBufSize, DefBufNum   = 2048, 163840

	PrivIfSize, PrivIfNum     = 1024, 2
	PrivRingSize, PrivRingNum = 20480, 4
	PrivBufSize, PrivBufNum   = 2048, 4098

	MaxIfSize              = 4096
	MaxRingSize            = 131072
	MinBufSize, MaxBufSize = 64, 65536

	DefSlots      = 1024 // VALE, generic
	MaxSoftSlots  = 4096 // VALE, pipes, monitors
	MaxValeRings  = 16
	MaxPipeRings  = 256
	MaxBridges    = 8
	MaxValePorts  = 254
	MaxRingNumber = 4094 // in a port name
)

// Poll events, equal on Linux and FreeBSD.
const (
	PollIn  = 1
	PollOut = 4
	PollErr = 8
)
