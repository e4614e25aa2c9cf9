// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModeCarries(t *testing.T) {
	for op := range Opcode(64) {
		require.Equal(t, op <= OpcodeMsgError && op != OpcodeDatagramSend, ModeRUD.carries(op), op)
		require.Equal(t, ModeRUD.carries(op), ModeROD.carries(op), op)
		require.Equal(t, op <= OpcodeRead, ModeRUDI.carries(op), op)
		require.Equal(t, op == OpcodeDatagramSend, ModeUUD.carries(op), op)
		require.False(t, Mode(4).carries(op))
	}
}
