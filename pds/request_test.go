// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// DecodeRest and DecodeRestCC leave nothing of what an earlier packet left, in none of the types.
func TestRequestDecodeRestIsDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, typ := range []Type{TypeRUDReq, TypeRODReq, TypeRUDCCReq, TypeRODCCReq} {
		for range 1000 {
			var b [RequestCCLen]byte
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			b[0], b[1] = byte(typ)<<3|b[0]&7, b[1]&^byte(FlagSYN)
			left := Request{Type: TypeRODCCReq, Next: 9, Flags: FlagSYN, CCCID: 2, ClearOffset: 5, SPDCID: 3, DPDCID: 7, Info: 1, PSN: 8, CreditTarget: 3}
			decoded, known := left, left
			_, err := decoded.Decode(b[:])
			require.NoError(t, err)
			known.Type, known.Next = decoded.Type, decoded.Next
			if decoded.HasCC() {
				known.DecodeRestCC(&b)
			} else {
				known.DecodeRest((*[RequestLen]byte)(b[:]))
			}
			require.Equal(t, decoded, known)
			require.Zero(t, known.Info)
			if !decoded.HasCC() {
				require.Zero(t, known.CCCID)
				require.Zero(t, known.CreditTarget)
			}
			b[1] |= byte(FlagSYN)
			_, err = decoded.Decode(b[:])
			require.NoError(t, err)
			require.Equal(t, PDCInfo(known.DPDCID)&pdcInfoMask, decoded.Info)
			require.Zero(t, decoded.DPDCID, "the field is not the destination's then")
		}
	}
}
