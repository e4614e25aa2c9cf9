// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func Lines(a, b, c, d uintptr)
TEXT ·Lines(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), AX
	MOVQ b+8(FP), BX
	MOVQ c+16(FP), CX
	MOVQ d+24(FP), DX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	RET

// func load(at unsafe.Pointer, n int)
TEXT ·load(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), AX
	MOVQ n+8(FP), CX
	ADDQ AX, CX
	ANDQ $~63, AX
	JMP  more
line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
more:
	CMPQ AX, CX
	JCS  line
	RET

// func own(at unsafe.Pointer, n int)
//
// The assembler has no PREFETCHW. A processor of 64 bits without it does nothing.
TEXT ·own(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), AX
	MOVQ n+8(FP), CX
	ADDQ AX, CX
	ANDQ $~63, AX
	JMP  more
line:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	ADDQ $64, AX
more:
	CMPQ AX, CX
	JCS  line
	RET
