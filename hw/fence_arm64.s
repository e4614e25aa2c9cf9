// SPDX-License-Identifier: Apache-2.0

//go:build !purego

#include "textflag.h"

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	DSB $0xe // full system, stores
	RET
