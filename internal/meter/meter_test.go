// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
)

// What contexts have counted stays when they end, and another one begins at 0.
func TestCountersOutliveContexts(t *testing.T) {
	m := New(nil)
	first, then := ccc.Snapshot{Sent: 5, Acks: 4}, ccc.Snapshot{Sent: 9, Acks: 6}
	first.Held[ccc.ReasonWindow], then.Held[ccc.ReasonWindow] = 100, 300
	m.count(ccc.Snapshot{}, &first)
	m.count(first, &then)
	m.count(ccc.Snapshot{}, &first)
	require.Equal(t, [3]int64{14, 10, 400}, [3]int64{m.total.Sent, m.total.Acks, m.total.Held[ccc.ReasonWindow]})
}

func TestMetricNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Metrics() {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, m.Name)
		require.NotEmpty(t, m.Help)
		require.False(t, seen[m.Group+m.Name])
		seen[m.Group+m.Name] = true
	}
	for name, want := range map[string]string{"SentBytes": "sent_bytes", "NACKs": "nacks", "RTOs": "rtos", "BadACK": "bad_ack"} {
		require.Equal(t, want, snake(name))
	}
}
