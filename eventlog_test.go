// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// logTo prints attributes alone, without the time.
func logTo(w *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}

func TestEventLogValue(t *testing.T) {
	for want, ev := range map[string]uetcc.Event{
		"ev.unpaused=true": {Unpaused: true},
		"ev.received=true ev.cookie=1 ev.status=ok ev.bytes=7 ev.header_data=9": {
			Received: true, Cookie: 1, HasData: true, HeaderData: 9, Outcome: ses.Outcome{Status: ses.StatusOK, Length: 7}},
		"ev.code=RC_NO_MATCH":                       {Outcome: ses.Outcome{Status: ses.StatusFailed, Code: ses.RCNoMatch}},
		`"NACK resends exhausted" ev.nack=UET_TRIM`: {Cause: pdc.CauseNack, Nack: pds.NackTrimmed, Outcome: ses.Outcome{Status: ses.StatusPDS}},
		"ev.message=5":                              {Message: 5, Outcome: ses.Outcome{Status: ses.StatusOK}},
		"ev.err=":                                   {Cause: pdc.CauseRTO, Outcome: ses.Outcome{Status: ses.StatusPDS}},
	} {
		var w bytes.Buffer
		logTo(&w).Info("", "ev", ev)
		require.Contains(t, w.String(), want)
	}
}

func TestSnapshotLogValue(t *testing.T) {
	var w bytes.Buffer
	s := ccc.Snapshot{State: ccc.StateActive, Cwnd: 10, BaseRTT: 2000}
	s.Held[ccc.ReasonWindow] = 3_000_000
	logTo(&w).Info("", "cc", s)
	for _, want := range []string{"cc.state=ACTIVE", "cc.cwnd=10", "cc.base_rtt=2µs", "cc.held.window=3ms"} {
		require.Contains(t, w.String(), want)
	}
	require.NotContains(t, w.String(), "held.credit")
}

// The end of a message as a line of log/slog, for people and for programs.
func ExampleEvent_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	log.Info("ended", "event", uetcc.Event{
		Message: 1, Cookie: 7, Peer: netip.MustParseAddr("10.0.0.2"), Outcome: ses.Outcome{Status: ses.StatusOK, Length: 4096},
	})
	// Output:
	// level=INFO msg=ended event.peer=10.0.0.2 event.received=false event.cookie=7 event.status=ok event.bytes=4096 event.message=1
}
