// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run writes what PutRequest does, also where its PSNs and offsets wrap around.
func TestRequestRun(t *testing.T) {
	for _, c := range []struct {
		clear int16
		psn   PSN
	}{{-1, 0}, {-1, 100}, {-1, ^PSN(0) - 3}, {0, 5}, {3, ^PSN(0)}, {-32768 + 4, 7}} {
		for k := range uint32(32) {
			typ := []Type{TypeRUDReq, TypeRODReq}[k%2]
			r := MakeRequestRun(typ, NextRequestStd, c.clear, c.psn, 0xfffe, 0x1234)
			asks := rand.Uint32()
			f := Flags(asks>>k&1) * FlagAR
			var want, got [RequestLen]byte
			PutRequest(&want, Prologue{Type: typ, Next: NextRequestStd, Flags: f}, c.clear-int16(k), c.psn+PSN(k), 0xfffe, 0x1234)
			r.Put(&got, k, asks)
			require.Equal(t, want, got)
		}
	}
}
