// SPDX-License-Identifier: Apache-2.0

package abi

import "unsafe"

// The layout is checked when the package is compiled: a difference is an index
// out of range, also on a system with 4 byte pointers, where netmap is not supported.
var (
	_ = [1]int{}[unsafe.Sizeof(uintptr(0))-8]

	_ = [1]int{}[unsafe.Sizeof(Header{})-88]
	_ = [1]int{}[unsafe.Sizeof(Register{})-56]
	_ = [1]int{}[unsafe.Sizeof(PortInfo{})-32]
	_ = [1]int{}[unsafe.Sizeof(ValeAttach{})-64]
	_ = [1]int{}[unsafe.Sizeof(ValeDetach{})-8]
	_ = [1]int{}[unsafe.Sizeof(ValeList{})-8]
	_ = [1]int{}[unsafe.Sizeof(PortHdr{})-8]
	_ = [1]int{}[unsafe.Sizeof(ValeNewif{})-16]
	_ = [1]int{}[unsafe.Sizeof(ValePolling{})-16]
	_ = [1]int{}[unsafe.Sizeof(PoolsInfo{})-64]
	_ = [1]int{}[unsafe.Sizeof(KloopStart{})-8]
	_ = [1]int{}[unsafe.Sizeof(Option{})-24]
	_ = [1]int{}[unsafe.Sizeof(OptionOffsets{})-56]
	_ = [1]int{}[unsafe.Sizeof(OptionExtmem{})-96]
	_ = [1]int{}[unsafe.Sizeof(OptionCSB{})-40]
	_ = [1]int{}[unsafe.Sizeof(If{})-IfSize]
	_ = [1]int{}[unsafe.Sizeof(Ring{})-RingSize]
	_ = [1]int{}[unsafe.Sizeof(Slot{})-SlotSize]

	_ = [1]int{}[unsafe.Offsetof(Header{}.Name)-8]
	_ = [1]int{}[unsafe.Offsetof(Header{}.Options)-72]
	_ = [1]int{}[unsafe.Offsetof(Header{}.Body)-80]
	_ = [1]int{}[unsafe.Offsetof(Register{}.TxRings)-24]
	_ = [1]int{}[unsafe.Offsetof(Register{}.MemID)-32]
	_ = [1]int{}[unsafe.Offsetof(Register{}.Mode)-36]
	_ = [1]int{}[unsafe.Offsetof(Register{}.ExtraBufs)-40]
	_ = [1]int{}[unsafe.Offsetof(Register{}.Flags)-48]
	_ = [1]int{}[unsafe.Offsetof(PortInfo{}.MemID)-24]
	_ = [1]int{}[unsafe.Offsetof(PoolsInfo{}.IfOffset)-16]
	_ = [1]int{}[unsafe.Offsetof(PoolsInfo{}.RingOffset)-32]
	_ = [1]int{}[unsafe.Offsetof(PoolsInfo{}.BufOffset)-48]
	_ = [1]int{}[unsafe.Offsetof(PoolsInfo{}.BufObjSize)-60]
	_ = [1]int{}[unsafe.Offsetof(OptionOffsets{}.MinGap)-48]
	_ = [1]int{}[unsafe.Offsetof(OptionExtmem{}.Pools)-32]

	_ = [1]int{}[unsafe.Offsetof(If{}.txRings)-24]
	_ = [1]int{}[unsafe.Offsetof(If{}.bufsHead)-32]
	_ = [1]int{}[unsafe.Offsetof(If{}.hostTx)-36]
	_ = [1]int{}[unsafe.Offsetof(If{}.hostRx)-40]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.numSlots)-8]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.head)-20]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.cur)-24]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.tail)-28]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.flags)-32]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.sec)-40]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.offsetMask)-56]
	_ = [1]int{}[unsafe.Offsetof(Ring{}.sem)-128]
	_ = [1]int{}[unsafe.Offsetof(Slot{}.ptr)-8]
)
