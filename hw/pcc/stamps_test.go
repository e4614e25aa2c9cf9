// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStampsCancelTheReceiversClock: the four timestamps of the RTT measurement flow, with a receiver
// clock of any offset, and across the wrap of both clocks.
func TestStampsCancelTheReceiversClock(t *testing.T) {
	for _, offset := range []uint32{0, 1 << 31, math.MaxUint32 - 3500} {
		for _, t1 := range []uint32{0, math.MaxUint32 - 2000} {
			s := Stamps{ReqSend: t1, ReqRecv: t1 + 3000 + offset, RespSend: t1 + 3600 + offset}
			t4 := t1 + 8100
			require.EqualValues(t, 7500, s.Network(t4))
		}
	}
	require.Zero(t, Stamps{RespSend: 9000}.Network(8100), "a coarse receiver clock makes no negative delay")
}
