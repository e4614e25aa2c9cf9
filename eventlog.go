// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"log/slog"

	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// LogValue is ev for package log/slog: a group of those attributes that say something. The text of
// [Event.Err] is err, so that a handler may file an event by its peer, status and cause.
func (ev Event) LogValue() slog.Value {
	if ev.Unpaused {
		return slog.GroupValue(slog.Bool("unpaused", true))
	}
	attrs := []slog.Attr{
		slog.String("peer", ev.Peer.String()), slog.Bool("received", ev.Received), slog.Uint64("cookie", ev.Cookie),
		slog.String("status", ev.Outcome.Status.String()), slog.Uint64("bytes", uint64(ev.Outcome.Length)),
	}
	if ev.Message != 0 {
		attrs = append(attrs, slog.Uint64("message", uint64(ev.Message)))
	}
	if ev.HasData {
		attrs = append(attrs, slog.Uint64("header_data", ev.HeaderData))
	}
	if ev.Outcome.Status == ses.StatusFailed {
		attrs = append(attrs, slog.String("code", ev.Outcome.Code.String()))
	}
	if ev.Cause != pdc.CauseNone {
		attrs = append(attrs, slog.String("cause", ev.Cause.String()))
	}
	if ev.Nack != 0 {
		attrs = append(attrs, slog.String("nack", ev.Nack.String()))
	}
	if err := ev.Err(); err != nil {
		attrs = append(attrs, slog.String("err", err.Error()))
	}
	return slog.GroupValue(attrs...)
}
