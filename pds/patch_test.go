// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func synPacket() []byte {
	r := Request{Type: TypeRUDCCReq, Next: NextRequestStd, Flags: FlagSYN | FlagAR, ClearOffset: -1, PSN: 336, SPDCID: 0x4001,
		Info: MakePDCInfo(true, 2), CCCID: 3, CreditTarget: 100}
	return r.AppendTo(nil)
}

func decodeRequest(t *testing.T, b []byte) Request {
	var r Request
	_, err := r.Decode(b)
	require.NoError(t, err)
	return r
}

func TestPatchEachField(t *testing.T) {
	b := synPacket()
	require.NoError(t, PatchRetx(b, true))
	require.NoError(t, PatchAR(b, false))
	require.NoError(t, PatchClearPSN(b, 300))
	require.NoError(t, PatchPeer(b, 0x4011))
	require.NoError(t, PatchCreditTarget(b, 1<<24+7))
	want := Request{Type: TypeRUDCCReq, Next: NextRequestStd, Flags: FlagRetx, ClearOffset: -36, PSN: 336, SPDCID: 0x4001,
		DPDCID: 0x4011, CCCID: 3, CreditTarget: 7}
	require.Equal(t, want, decodeRequest(t, b))

	require.NoError(t, PatchPSN(b, 340))
	want.PSN, want.ClearOffset = 340, -40
	require.Equal(t, want, decodeRequest(t, b))
	require.NoError(t, PatchRetx(b, false))
	require.Zero(t, decodeRequest(t, b).Flags)
}

func TestPatchClearPSNOutOfReach(t *testing.T) {
	b := synPacket()
	require.ErrorIs(t, PatchClearPSN(b, 337), ErrClearOffset)
	require.ErrorIs(t, PatchPSN(b, 334), ErrClearOffset, "CLEAR_PSN 335 would come after it")
	require.Equal(t, synPacket(), b)
}

func TestPatchOtherPackets(t *testing.T) {
	ack := (&Ack{}).AppendTo(nil)
	uud := (&UUD{}).AppendTo(nil)
	tss := (&TSS{}).AppendTo(nil)
	require.NoError(t, PatchRetx(ack, true))
	require.ErrorIs(t, PatchRetx(uud, true), ErrType)
	require.ErrorIs(t, PatchRetx(tss, true), ErrType)
	require.ErrorIs(t, PatchPSN(ack, 1), ErrType)
	require.ErrorIs(t, PatchPeer(nil, 1), ErrTruncated)
	require.ErrorIs(t, PatchRetx(ack[:1], true), ErrTruncated)

	cp := (&Control{Ctl: CtlNOOP, Flags: FlagSYN}).AppendTo(nil)
	require.NoError(t, PatchPSN(cp, 9))
	require.ErrorIs(t, PatchClearPSN(cp, 9), ErrType)
	require.ErrorIs(t, PatchCreditTarget(cp, 9), ErrType)
	require.ErrorIs(t, PatchCreditTarget(synPacket()[:12], 9), ErrTruncated)
}
