// SPDX-License-Identifier: Apache-2.0

package fuzz

import "math/rand/v2"

// randomBytes returns n random bytes.
func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// oneOf returns any of x.
func oneOf[T any](r *rand.Rand, x ...T) T { return x[r.IntN(len(x))] }
