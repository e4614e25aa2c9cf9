//go:build !purego

#include "textflag.h"

// func Lines(at *Addresses)
TEXT ·Lines(SB), NOSPLIT, $0-8
	MOVQ at+0(FP), AX
	MOVQ 0(AX), BX
	MOVQ 8(AX), CX
	MOVQ 16(AX), DX
	MOVQ 24(AX), SI
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	PREFETCHT0 (SI)
	MOVQ 32(AX), BX
	MOVQ 40(AX), CX
	MOVQ 48(AX), DX
	MOVQ 56(AX), SI
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	PREFETCHT0 (SI)
	MOVQ 64(AX), BX
	MOVQ 72(AX), CX
	MOVQ 80(AX), DX
	MOVQ 88(AX), SI
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	PREFETCHT0 (SI)
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
