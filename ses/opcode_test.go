// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The numbers of the opcodes, of which other tests use the names (table 3-17).
func TestOpcodeValues(t *testing.T) {
	for i, o := range []Opcode{
		OpcodeNoOp, OpcodeWrite, OpcodeRead, OpcodeAtomic, OpcodeFetchingAtomic, OpcodeSend, OpcodeRendezvousSend,
		OpcodeDatagramSend, OpcodeDeferrableSend, OpcodeTaggedSend, OpcodeRendezvousTSend, OpcodeDeferrableTSend,
		OpcodeDeferrableRTR, OpcodeTSendAtomic, OpcodeTSendFetchingAtomic, OpcodeMsgError,
	} {
		require.EqualValues(t, i, o, "%v", o)
	}
}
