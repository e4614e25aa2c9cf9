package cbfc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlowControlErrors(t *testing.T) {
	good := (&FlowControl{Op: OpNormal, VL: 14, FCTBS: 4095, FCCL: 1}).AppendTo(nil)
	require.Len(t, good, FlowControlLen)
	before := FlowControl{VL: 3}
	f := before
	for n := range good {
		require.ErrorIs(t, f.Decode(good[:n]), ErrTruncated)
	}
	for bit := range 8 * FlowControlLen {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		require.ErrorIs(t, f.Decode(bad), ErrCRC, "bit %d", bit)
	}
	require.ErrorIs(t, f.Decode((&FlowControl{Op: 7}).AppendTo(nil)), ErrOp)
	require.Equal(t, before, f, "an error leaves the value as it was")
	require.Equal(t, "normal", OpNormal.String())
	require.Equal(t, "init", OpInit.String())
	require.Equal(t, "Op(9)", Op(9).String())
}
