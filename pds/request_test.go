package pds

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// DecodeRest and DecodeCC leave nothing of what an earlier packet left, in none of the types.
func TestRequestDecodeRestIsDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, typ := range []Type{TypeRUDReq, TypeRODReq, TypeRUDCCReq, TypeRODCCReq} {
		for range 1000 {
			var b [RequestCCLen]byte
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			b[0] = byte(typ)<<3 | b[0]&7
			left := Request{Type: TypeRODCCReq, Next: 9, Flags: FlagSYN, CCCID: 2, ClearOffset: 5, SPDCID: 3, DPDCID: 7, Info: 1, PSN: 8, CreditTarget: 3}
			decoded, known := left, left
			_, err := decoded.Decode(b[:])
			require.NoError(t, err)
			known.Type, known.Next = decoded.Type, decoded.Next
			known.DecodeRest((*[RequestLen]byte)(b[:]))
			known.CCCID, known.CreditTarget = decoded.CCCID, decoded.CreditTarget
			if decoded.HasCC() {
				known.CCCID, known.CreditTarget = left.CCCID, left.CreditTarget
				known.DecodeCC((*[RequestCCLen - RequestLen]byte)(b[RequestLen:]))
			}
			require.Equal(t, decoded, known)
		}
	}
}
