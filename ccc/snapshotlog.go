// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"log/slog"
	"time"
)

// LogValue is s for package log/slog: bytes and packets as integers, times as durations, and in the
// group held the time that data waited, by reason.
func (s Snapshot) LogValue() slog.Value {
	var held []any
	for r, ns := range s.Held {
		if ns > 0 {
			held = append(held, slog.Duration(Reason(r).String(), time.Duration(ns)))
		}
	}
	return slog.GroupValue(
		slog.String("state", s.State.String()), slog.String("reason", s.Reason.String()), slog.String("mode", s.Mode.String()),
		slog.Int64("cwnd", s.Cwnd), slog.Int64("inflight", s.Inflight), slog.Int64("waiting", s.Waiting), slog.Int64("credit", s.Credit),
		slog.Duration("base_rtt", time.Duration(s.BaseRTT)), slog.Duration("qdelay", time.Duration(s.QDelay)),
		slog.Int64("sent", s.Sent), slog.Int64("acks", s.Acks), slog.Int64("marked", s.Marked), slog.Int64("nacks", s.Nacks),
		slog.Int64("losses", s.Losses), slog.Group("held", held...),
	)
}
