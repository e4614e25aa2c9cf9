// SPDX-License-Identifier: Apache-2.0

package uetpcap

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// A packet that is no longer than what a switch leaves stays as it is.
func TestWriteTrimmedShort(t *testing.T) {
	ps := &frame.Parser{DSCPs: pds.DSCPs{Trimmed: 16}}
	for _, v6 := range []bool{false, true} {
		for _, native := range []bool{false, true} {
			for payload := range 60 {
				f := udpFrame(v6)
				f.Type, f.Form = pds.TypeACK, 0
				f.Ack.Ack = pds.Ack{CACK: 77, SPDCID: 1, DPDCID: 2}
				f.Trimmed, f.Native, f.TOS = pds.NackTrimmed, native, pds.TOS(16, pds.ECNECT0)
				var file, out bytes.Buffer
				w, err := NewWriter(&file)
				require.NoError(t, err)
				require.NoError(t, w.Write(0, f, payload))
				whole := len(f.AppendTo(nil, make([]byte, payload)))
				left := map[bool]int{false: pds.MinTrimmedUDP, true: pds.MinTrimmedNative}[native] + map[bool]int{false: 34, true: 54}[v6]
				require.Equal(t, min(whole, left), file.Len()-24-16)
				n, err := Print(&out, &file, ps)
				require.NoError(t, err)
				require.Equal(t, Counts{All: 1, UET: 1}, n, "%v %v %d: %s", v6, native, payload, out.String())
			}
		}
	}
}
