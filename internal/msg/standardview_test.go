// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The view says of any bytes what Decode does.
func TestStandardViewIsDecode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var b [ses.StandardLen]byte
	for range 10_000 {
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		v := (*StandardView)(b[:])
		var h ses.Standard
		_, err := h.Decode(b[:])
		require.NoError(t, err)
		require.Equal(t, h.Flags, v.flags())
		require.Equal(t, h.MessageID, v.messageID())
		require.Equal(t, h.BufferOffset, v.bufferOffset())
		require.Equal(t, h.Key, v.key())
		require.Equal(t, h.RequestLength, v.requestLength())
		if h.Flags&ses.FlagSOM == 0 {
			require.Equal(t, h.PayloadLength, v.PayloadLength())
			require.Equal(t, h.MessageOffset, v.MessageOffset())
		}
		r := ses.Request{Form: pds.NextRequestStd, Standard: h}
		require.Equal(t, atOf(&r), v.at())
		if h.Version == 0 && h.Flags&(flagsOnly|ses.FlagIE) == 0 {
			require.Equal(t, headOf(&r), v.head())
		} else {
			require.NotEqual(t, headOf(&r), v.head(), "of no packet in the middle of a message")
		}
	}
}
