// SPDX-License-Identifier: Apache-2.0

//go:build !race

#include "textflag.h"

// tags of the four slots of a vector: 0, 1, 2, 3 in the upper halves
DATA ramp<>+0(SB)/8, $0
DATA ramp<>+8(SB)/8, $0x100000000
DATA ramp<>+16(SB)/8, $0x200000000
DATA ramp<>+24(SB)/8, $0x300000000
GLOBL ramp<>(SB), RODATA|NOPTR, $32

DATA four<>+0(SB)/8, $0x400000000
GLOBL four<>(SB), RODATA|NOPTR, $8

DATA upper<>+0(SB)/8, $0xffffffff00000000
GLOBL upper<>(SB), RODATA|NOPTR, $8

// func PutTagged(slots, ev unsafe.Pointer, n int, base uintptr, tag uint64)
TEXT ·PutTagged(SB), NOSPLIT, $0-40
	MOVQ slots+0(FP), DI
	MOVQ ev+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ base+24(FP), R8
	MOVQ tag+32(FP), R9
	VPBROADCASTQ base+24(FP), Y0
	VPBROADCASTQ tag+32(FP), Y1
	VPADDQ ramp<>(SB), Y1, Y1
	VPBROADCASTQ four<>(SB), Y2
	VPADDQ Y2, Y1, Y3 // tags of the second vector
	VPADDQ Y2, Y2, Y2 // eight
	MOVQ CX, DX
	SHRQ $3, DX
	JZ   pttail

ptloop:
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	VPSUBQ  Y0, Y4, Y4
	VPSUBQ  Y0, Y5, Y5
	VPSRLQ  $6, Y4, Y4
	VPSRLQ  $6, Y5, Y5
	VPOR    Y1, Y4, Y4
	VPOR    Y3, Y5, Y5
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	VPADDQ  Y2, Y1, Y1
	VPADDQ  Y2, Y3, Y3
	ADDQ    $64, SI
	ADDQ    $64, DI
	DECQ    DX
	JNZ     ptloop
	VMOVQ   X1, R9

pttail:
	VZEROUPPER
	MOVQ $0x100000000, R10
	ANDQ $7, CX
	JZ   ptend

ptone:
	MOVQ (SI), AX
	SUBQ R8, AX
	SHRQ $6, AX
	ORQ  R9, AX
	MOVQ AX, (DI)
	ADDQ R10, R9
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  ptone

ptend:
	RET

// func TakeTagged(ev, slots unsafe.Pointer, n int, base uintptr, tag uint64) int
TEXT ·TakeTagged(SB), NOSPLIT, $0-48
	MOVQ ev+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ base+24(FP), R8
	MOVQ tag+32(FP), R9
	MOVQ CX, BX // left
	VPBROADCASTQ base+24(FP), Y0
	VPBROADCASTQ tag+32(FP), Y1
	VPADDQ ramp<>(SB), Y1, Y1
	VPBROADCASTQ four<>(SB), Y2
	VPADDQ Y2, Y1, Y3
	VPADDQ Y2, Y2, Y2
	VPBROADCASTQ upper<>(SB), Y6
	MOVQ BX, DX
	SHRQ $3, DX
	JZ   tttail

ttloop:
	VPXOR   (SI), Y1, Y4
	VPXOR   32(SI), Y3, Y5
	VPOR    Y4, Y5, Y7
	VPTEST  Y6, Y7
	JNZ     ttout // one of the eight is not there: look at each
	VPSLLQ  $6, Y4, Y4
	VPSLLQ  $6, Y5, Y5
	VPADDQ  Y0, Y4, Y4
	VPADDQ  Y0, Y5, Y5
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	VPADDQ  Y2, Y1, Y1
	VPADDQ  Y2, Y3, Y3
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, BX
	DECQ    DX
	JNZ     ttloop

ttout:
	VMOVQ X1, R9

tttail:
	VZEROUPPER
	MOVQ  $0x100000000, R10
	TESTQ BX, BX
	JZ    ttend

ttone:
	MOVQ (SI), AX
	XORQ R9, AX
	CMPQ AX, R10
	JCC  ttend
	SHLQ $6, AX
	ADDQ R8, AX
	MOVQ AX, (DI)
	ADDQ R10, R9
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ BX
	JNZ  ttone

ttend:
	SUBQ BX, CX
	MOVQ CX, ret+40(FP)
	RET

// func TakeTaggedIDs(ids, slots unsafe.Pointer, n int, tag uint64) int
TEXT ·TakeTaggedIDs(SB), NOSPLIT, $0-40
	MOVQ ids+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ tag+24(FP), R9
	MOVQ CX, BX
	VPBROADCASTQ tag+24(FP), Y1
	VPADDQ ramp<>(SB), Y1, Y1
	VPBROADCASTQ four<>(SB), Y2
	VPADDQ Y2, Y1, Y3
	VPADDQ Y2, Y2, Y2
	VPBROADCASTQ upper<>(SB), Y6
	MOVQ BX, DX
	SHRQ $3, DX
	JZ   titail

tiloop:
	VPXOR   (SI), Y1, Y4
	VPXOR   32(SI), Y3, Y5
	VPOR    Y4, Y5, Y7
	VPTEST  Y6, Y7
	JNZ     tiout
	VSHUFPS $0x88, Y5, Y4, Y4
	VPERMQ  $0xd8, Y4, Y4
	VMOVDQU Y4, (DI)
	VPADDQ  Y2, Y1, Y1
	VPADDQ  Y2, Y3, Y3
	ADDQ    $64, SI
	ADDQ    $32, DI
	SUBQ    $8, BX
	DECQ    DX
	JNZ     tiloop

tiout:
	VMOVQ X1, R9

titail:
	VZEROUPPER
	MOVQ  $0x100000000, R10
	TESTQ BX, BX
	JZ    tiend

tione:
	MOVQ (SI), AX
	XORQ R9, AX
	CMPQ AX, R10
	JCC  tiend
	MOVL AX, (DI)
	ADDQ R10, R9
	ADDQ $8, SI
	ADDQ $4, DI
	DECQ BX
	JNZ  tione

tiend:
	SUBQ BX, CX
	MOVQ CX, ret+32(FP)
	RET

// func PutIDs(slots, ev unsafe.Pointer, n int, base uintptr)
TEXT ·PutIDs(SB), NOSPLIT, $0-32
	MOVQ slots+0(FP), DI
	MOVQ ev+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ base+24(FP), R8
	VPBROADCASTQ base+24(FP), Y0
	MOVQ CX, DX
	SHRQ $3, DX
	JZ   pitail

piloop:
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	VPSUBQ  Y0, Y4, Y4
	VPSUBQ  Y0, Y5, Y5
	VPSRLQ  $6, Y4, Y4
	VPSRLQ  $6, Y5, Y5
	VSHUFPS $0x88, Y5, Y4, Y4
	VPERMQ  $0xd8, Y4, Y4
	VMOVDQU Y4, (DI)
	ADDQ    $64, SI
	ADDQ    $32, DI
	DECQ    DX
	JNZ     piloop

pitail:
	VZEROUPPER
	ANDQ $7, CX
	JZ   piend

pione:
	MOVQ (SI), AX
	SUBQ R8, AX
	SHRQ $6, AX
	MOVL AX, (DI)
	ADDQ $8, SI
	ADDQ $4, DI
	DECQ CX
	JNZ  pione

piend:
	RET

// func TakeIDs(ev, slots unsafe.Pointer, n int, base uintptr)
TEXT ·TakeIDs(SB), NOSPLIT, $0-32
	MOVQ ev+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ base+24(FP), R8
	VPBROADCASTQ base+24(FP), Y0
	MOVQ CX, DX
	SHRQ $3, DX
	JZ   tatail

taloop:
	VPMOVZXDQ (SI), Y4
	VPMOVZXDQ 16(SI), Y5
	VPSLLQ    $6, Y4, Y4
	VPSLLQ    $6, Y5, Y5
	VPADDQ    Y0, Y4, Y4
	VPADDQ    Y0, Y5, Y5
	VMOVDQU   Y4, (DI)
	VMOVDQU   Y5, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	DECQ      DX
	JNZ       taloop

tatail:
	VZEROUPPER
	ANDQ $7, CX
	JZ   taend

taone:
	MOVL (SI), AX
	SHLQ $6, AX
	ADDQ R8, AX
	MOVQ AX, (DI)
	ADDQ $4, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  taone

taend:
	RET
