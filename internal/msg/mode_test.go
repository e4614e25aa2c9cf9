// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ses"
)

func TestModeCarries(t *testing.T) {
	for op := range ses.Opcode(64) {
		require.Equal(t, op <= ses.OpcodeMsgError && op != ses.OpcodeDatagramSend, carries(ses.ModeRUD, op), op)
		require.Equal(t, carries(ses.ModeRUD, op), carries(ses.ModeROD, op), op)
		require.Equal(t, op <= ses.OpcodeRead, carries(ses.ModeRUDI, op), op)
		require.Equal(t, op == ses.OpcodeDatagramSend, carries(ses.ModeUUD, op), op)
		require.False(t, carries(ses.Mode(4), op))
	}
}
