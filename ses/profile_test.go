// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What each profile refuses, the public lists of the specification by hand.
func TestProfiles(t *testing.T) {
	refused := map[Profile][]Opcode{
		ProfileAll: nil,
		ProfileAIBase: {OpcodeRead, OpcodeFetchingAtomic, OpcodeRendezvousSend, OpcodeTaggedSend, OpcodeRendezvousTSend,
			OpcodeDeferrableTSend, OpcodeDeferrableRTR, OpcodeTSendAtomic, OpcodeTSendFetchingAtomic},
		ProfileAIFull: {OpcodeFetchingAtomic, OpcodeRendezvousSend, OpcodeRendezvousTSend, OpcodeTSendAtomic,
			OpcodeTSendFetchingAtomic},
		ProfileHPC: nil,
	}
	for p, not := range refused {
		for o := range OpcodeMsgError + 1 {
			require.Equal(t, slices.Contains(not, o), !p.Offers(o), "%v %v", p, o)
		}
		_, err := NewTarget(TargetConfig{MTU: 4096, Profile: p})
		require.NoError(t, err)
	}
	_, err := NewTarget(TargetConfig{MTU: 4096, Profile: ProfileHPC + 1})
	require.ErrorIs(t, err, ErrConfig)
	require.Equal(t, "AI Base", ProfileAIBase.String())
	require.False(t, (ProfileHPC + 1).Offers(OpcodeSend))
}

// An operation outside of the profile is refused with UNSUPPORTED_OP before anything is looked up.
func TestProfileRefusesTheRest(t *testing.T) {
	for p, want := range map[Profile]Check{ProfileAIBase: checkOpcode, ProfileAIFull: CheckNone} {
		s := newQueueTarget(t)
		s.post(Receive{Length: 16384, Match: 5})
		s.ops = profileOps[p] & opsTarget
		d := s.send(0, tagged(5))
		require.Equal(t, want, d.Check)
		require.Equal(t, want == checkOpcode, d.Response.ReturnCode == RCUnsupportedOp)
	}
}

// Where AI Base treats a deferrable send as a send, one without a buffer is refused like any
// other, so that its initiator tries again.
func TestProfileTreatsDeferrableAsSend(t *testing.T) {
	for p, list := range map[Profile]List{ProfileAIBase: listExpected, ProfileAIFull: listOverflow} {
		s := newTwoSided(t, 2)
		s.defers = p.defers()
		ds, _ := s.send(s.start(matchedOp(OpcodeDeferrableSend, 0, 100)))
		require.Equal(t, RCNoMatch, ds[0].Response.ReturnCode)
		require.Equal(t, list, ds[0].Response.List, p)
	}
}
