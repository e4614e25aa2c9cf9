// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

// What each profile refuses, the public lists of the specification by hand.
func TestProfiles(t *testing.T) {
	refused := map[ses.Profile][]ses.Opcode{
		ses.ProfileAll: nil,
		ses.ProfileAIBase: {ses.OpcodeRead, ses.OpcodeFetchingAtomic, ses.OpcodeRendezvousSend, ses.OpcodeTaggedSend, ses.OpcodeRendezvousTSend,
			ses.OpcodeDeferrableTSend, ses.OpcodeDeferrableRTR, ses.OpcodeTSendAtomic, ses.OpcodeTSendFetchingAtomic},
		ses.ProfileAIFull: {ses.OpcodeFetchingAtomic, ses.OpcodeRendezvousSend, ses.OpcodeRendezvousTSend, ses.OpcodeTSendAtomic,
			ses.OpcodeTSendFetchingAtomic},
		ses.ProfileHPC: nil,
	}
	for p, not := range refused {
		for o := range ses.OpcodeMsgError + 1 {
			require.Equal(t, slices.Contains(not, o), !Offers(p, o), "%v %v", p, o)
		}
		_, err := NewTarget(ses.TargetConfig{MTU: 4096, Profile: p})
		require.NoError(t, err)
	}
	_, err := NewTarget(ses.TargetConfig{MTU: 4096, Profile: ses.ProfileHPC + 1})
	require.ErrorIs(t, err, ses.ErrConfig)
	require.Equal(t, "AI Base", ses.ProfileAIBase.String())
	require.False(t, Offers(ses.ProfileHPC+1, ses.OpcodeSend))
}

// An operation outside of the profile is refused with UNSUPPORTED_OP before anything is looked up.
func TestProfileRefusesTheRest(t *testing.T) {
	for p, want := range map[ses.Profile]ses.Check{ses.ProfileAIBase: step.Opcode, ses.ProfileAIFull: step.None} {
		s := newQueueTarget(t)
		s.post(ses.Receive{Length: 16384, Match: 5})
		s.ops = profileOps[p] & opsTarget
		d := s.send(0, tagged(5))
		require.Equal(t, want, d.Check)
		require.Equal(t, want == step.Opcode, d.Response.ReturnCode == ses.RCUnsupportedOp)
	}
}

// Where AI Base treats a deferrable send as a send, one without a buffer is refused like any
// other, so that its initiator tries again.
func TestProfileTreatsDeferrableAsSend(t *testing.T) {
	for p, list := range map[ses.Profile]ses.List{ses.ProfileAIBase: ses.ListExpected, ses.ProfileAIFull: ses.ListOverflow} {
		s := newTwoSided(t, 2)
		s.defers = defers(p)
		ds, _ := s.send(s.start(matchedOp(ses.OpcodeDeferrableSend, 0, 100)))
		require.Equal(t, ses.RCNoMatch, ds[0].Response.ReturnCode)
		require.Equal(t, list, ds[0].Response.List, p)
	}
}
