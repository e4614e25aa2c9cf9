// SPDX-License-Identifier: Apache-2.0

// Package random gives unpredictable seeds.
package random

import (
	"crypto/rand"
	"encoding/binary"
)

// Seed returns seed, or, in place of 0, a seed other than 0 from crypto/rand.
func Seed(seed uint64) uint64 {
	var b [8]byte
	for seed == 0 {
		_, _ = rand.Read(b[:]) // it does not fail
		seed = binary.LittleEndian.Uint64(b[:])
	}
	return seed
}
