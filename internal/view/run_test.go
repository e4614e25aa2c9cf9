// SPDX-License-Identifier: Apache-2.0

package view

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

// A run writes what AppendTo of a Request does, also where its PSNs and offsets wrap around.
func TestRequestRun(t *testing.T) {
	for _, c := range []struct {
		clear int16
		psn   pds.PSN
	}{{-1, 0}, {-1, 100}, {-1, ^pds.PSN(0) - 3}, {0, 5}, {3, ^pds.PSN(0)}, {-32768 + 4, 7}} {
		for k := range uint32(32) {
			typ := []pds.Type{pds.TypeRUDReq, pds.TypeRODReq}[k%2]
			r := MakeRun(typ, pds.NextRequestStd, c.clear, c.psn, 0xfffe, 0x1234)
			asks := rand.Uint32()
			f := pds.Flags(asks>>k&1) * pds.FlagAR
			q := pds.Request{
				Type: typ, Next: pds.NextRequestStd, Flags: f, PSN: c.psn + pds.PSN(k), ClearOffset: c.clear - int16(k), SPDCID: 0xfffe, DPDCID: 0x1234,
			}
			got := [pds.RequestLen]byte{0xa5, 11: 0xa5} // buffers arrive dirty
			r.Put(&got, k, asks)
			require.Equal(t, q.AppendTo(nil), got[:])

			q.Type, q.CCCID, q.CreditTarget = typ+pds.TypeRUDCCReq-pds.TypeRUDReq, 0xa5, rand.Uint32()&maxUint24
			aims := [pds.RequestCCLen]byte(append(got[:], 1, 2, 3, 4))
			r.PutTarget(&aims, q.CCCID, q.CreditTarget)
			require.Equal(t, q.AppendTo(nil), aims[:])
		}
	}
}
