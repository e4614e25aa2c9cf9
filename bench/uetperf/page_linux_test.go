// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/internal/browser"
)

// The page of a run through the bottleneck shows its queue at its fullest, and who waited for how long.
func TestPageOfBottleneck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.html")
	o, err := parseOptions([]string{"-senders", "2", "-bytes", "2097152", "-html", file}, os.Stderr)
	require.NoError(t, err)
	r, seen, err := o.runSelf(&report{out: io.Discard}, func(int64) bool { return false })
	require.NoError(t, err)
	require.NoError(t, r.page(o, seen).WriteFile(file))
	figures := browser.Figures(t, browser.DOM(t, file, ""))
	queue := figures["Queue: lines"]
	require.InDelta(t, r.relay.queue.Counters().PeakLow, queue.Top(queue.Shape(t, "bottleneck")), queue.Pixel())
	held := figures["Why senders waited: bars"]
	for i, s := range r.senders {
		window := 0.0
		for _, bar := range held.Shapes {
			if bar.Series == "window" && bar.Row == s.Local().Addr().String() {
				window = bar.Wide * held.To / held.Width
			}
		}
		require.Positive(t, window, "sender %d", i)
		require.Less(t, window, float64(r.took)/1e6)
		require.NotEmpty(t, figures["Rates: lines"].Shape(t, s.Local().Addr().String()).Path)
	}
}

// Two ends leave a page with the rate over time and the times of messages.
func TestPageOfConnect(t *testing.T) {
	_, lines := startChild(t, "-listen 127.0.0.1:0 -i 0")
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "run.html")
	var out, errs bytes.Buffer
	at := strings.TrimPrefix(strings.TrimSpace(line), "listening at ")
	require.Zero(t, run(strings.Fields("-connect "+at+" -seconds 0.2 -i 20ms -P 2 -html "+file), &out, &errs), out.String()+errs.String())
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.Contains(string(b), `"title":"Rate"`))
	require.True(t, strings.Contains(string(b), `"title":"Times of messages"`))
	require.Equal(t, 2, strings.Count(string(b), `"x":[0,`), "two flows")
	require.Equal(t, 2, run([]string{"-html", t.TempDir()}, &out, &errs))
}
