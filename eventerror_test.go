// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Each failure names the peer, the cause, what has arrived, and what limits. Before, a read that
// its target had refused for want of memory ended as "pds-error code RC_NULL cause NACK resends
// exhausted after 0 of 16777216".
func TestEventsSayWhatToDo(t *testing.T) {
	pdsError := func(c pdc.Cause, n pds.NackCode) uetcc.Event {
		return uetcc.Event{Cause: c, Nack: n, Outcome: ses.Outcome{Status: ses.StatusPDS, Length: 4096}}
	}
	failed := func(c ses.ReturnCode) uetcc.Event {
		return uetcc.Event{Outcome: ses.Outcome{Status: ses.StatusFailed, Code: c}}
	}
	for _, c := range []struct {
		ev    uetcc.Event
		kind  error
		words []string
	}{
		{pdsError(pdc.CauseRTO, 0), uetcc.ErrNoAnswer, []string{"RTOInit", "timeouts exhausted", "4096 bytes"}},
		{pdsError(pdc.CauseMessageTimeout, 0), uetcc.ErrNoAnswer, []string{"MessageTimeout"}},
		{pdsError(pdc.CauseNoCredit, 0), uetcc.ErrNoAnswer, []string{"CC.Control"}},
		{pdsError(pdc.CauseNack, pds.NackNoSESMsgAvail), uetcc.ErrShortage, []string{"UET_NO_SES_MSG_AVAIL", "Answers"}},
		{pdsError(pdc.CauseNack, pds.NackNoGtdDelAvail), uetcc.ErrShortage, []string{"Memory.Responses"}},
		{pdsError(pdc.CauseNack, pds.NackNoPktBuffer), uetcc.ErrShortage, []string{"Memory.Buffers"}},
		{pdsError(pdc.CauseNack, pds.NackNoPDCAvail), uetcc.ErrShortage, []string{"PDCs.General"}},
		{pdsError(pdc.CauseNack, pds.NackNoCCCAvail), uetcc.ErrShortage, []string{"Contexts"}},
		{pdsError(pdc.CauseNack, pds.NackPSNOORWindow), uetcc.ErrShortage, []string{"DefaultMPR"}},
		{pdsError(pdc.CauseNack, pds.NackTrimmed), uetcc.ErrNetwork, []string{"UET_TRIMMED", "MaxNackRetx"}},
		{pdsError(pdc.CauseNack, pds.NackNewStartPSN), uetcc.ErrProtocol, []string{"NewPDCTime"}},
		{pdsError(pdc.Cause(pds.NackInvDPDCID), pds.NackInvDPDCID), uetcc.ErrPeerGone, []string{"UET_INV_DPDCID", "PDCs.General"}},
		{pdsError(pdc.Cause(pds.NackUnexpEvent), pds.NackUnexpEvent), uetcc.ErrProtocol, []string{"UET_UNEXP_EVENT"}},
		{pdsError(pdc.CausePending, 0), uetcc.ErrNoPDC, []string{"PendTimeout"}},
		{pdsError(pdc.CauseClosed, 0), uetcc.ErrPeerGone, []string{"sent again"}},
		{pdsError(pdc.CauseAborted, 0), uetcc.ErrAborted, nil},
		{failed(ses.RCNoMatch), uetcc.ErrRejected, []string{"RC_NO_MATCH", "Backoff"}},
		{failed(ses.RCOpViolation), uetcc.ErrRejected, []string{"RC_OP_VIOLATION", "MTU", "Idempotent"}},
		{failed(ses.RCBadMKey), uetcc.ErrRejected, []string{"RC_BAD_MKEY", "region"}},
		{failed(ses.RCCancelled), uetcc.ErrCancelled, nil},
		{uetcc.Event{Outcome: ses.Outcome{Status: ses.StatusTruncated}}, uetcc.ErrTruncated, nil},
	} {
		ev := c.ev
		ev.Peer = newNetwork(t, 1, netFaults{}, 1, nil).ends[0].addr
		err := ev.Err()
		require.ErrorIs(t, err, c.kind)
		require.Equal(t, ev.String(), err.Error())
		for _, w := range append(c.words, "10.0.0.1") {
			require.ErrorContains(t, err, w)
		}
	}
	ok := uetcc.Event{Outcome: ses.Outcome{Status: ses.StatusOK, Length: 7}}
	require.NoError(t, ok.Err())
	require.Contains(t, ok.String(), "7 bytes")
	require.Contains(t, uetcc.Event{Unpaused: true}.String(), "again")
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = ok.Err() }))
}

// A read whose target goes away in the middle tells who that was and how much has come, and the
// counters of this side print themselves.
func TestReadThatBreaksOff(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.MaxRTORetx = 3 })
	a, b := n.ends[0], n.ends[1]
	n.read(ses.ModeRUD, 200*netMTU)
	n.run(func() bool { return b.e.PDS().Stats().Sent >= 100 })
	n.cut[pdc.AddrFrom(a.addr)], n.cut[pdc.AddrFrom(b.addr)] = true, true
	n.run(func() bool { return len(a.events) == 1 })
	ev := a.events[0]
	require.Equal(t, b.addr, ev.Peer)
	require.ErrorIs(t, ev.Err(), uetcc.ErrNoAnswer)
	require.InDelta(t, 90*netMTU, ev.Outcome.Length, 60*netMTU)
	require.Contains(t, fmt.Sprint(a.e.PDS().Stats()), "RTOs ")
	require.Contains(t, fmt.Sprint(a.e.Stats()), "Shortages ")
	require.Equal(t, "all 0", fmt.Sprint(uetcc.Usage{}))
}

// The error of an event says what helps, and errors.Is which kind it is.
func ExampleEvent_Err() {
	ev := uetcc.Event{
		Cookie: 7, Cause: pdc.CauseNack, Nack: pds.NackNoSESMsgAvail,
		Outcome: ses.Outcome{Status: ses.StatusPDS, Length: 4096},
	}
	ev.Peer = pdc.AddrFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2})).Netip()
	if err := ev.Err(); errors.Is(err, uetcc.ErrShortage) {
		fmt.Println(err)
	}
	// Output:
	// uetcc: message to 10.0.0.2 (cookie 0x7): pds-error after 4096 bytes: the peer is short of memory (NACK resends exhausted, UET_NO_SES_MSG_AVAIL); see the peer's Answers, Target.Messages and completions not polled, and PDS.MaxNackRetx here
}
