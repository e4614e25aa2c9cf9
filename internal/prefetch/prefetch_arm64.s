// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func Lines(a, b, c, d uintptr)
TEXT ·Lines(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD c+16(FP), R2
	MOVD d+24(FP), R3
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	PRFM (R2), PLDL1KEEP
	PRFM (R3), PLDL1KEEP
	RET

// func load(at unsafe.Pointer, n int)
TEXT ·load(SB), NOSPLIT, $0-16
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	ADD  R0, R1
	BIC  $63, R0
	B    more
line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
more:
	CMP  R1, R0
	BLO  line
	RET

// func own(at unsafe.Pointer, n int)
TEXT ·own(SB), NOSPLIT, $0-16
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	ADD  R0, R1
	BIC  $63, R0
	B    more
line:
	PRFM (R0), PSTL1KEEP
	ADD  $64, R0
more:
	CMP  R1, R0
	BLO  line
	RET
