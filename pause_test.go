// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A message that was refused because too many others wait for a PDC may be tried again when
// Poll says so: once, after the completions, and not to those who were not refused.
func TestEndpointPauseEnds(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDCs = pdc.TableConfig{General: 2, Initiators: 1, Quarantine: 1_000_000}
		c.Waiting = 1
	})
	a := n.ends[0]
	write := func(cookie uint64) error {
		a.local[cookie] = fill(10, byte(cookie))
		to := uetcc.Destination{Address: n.ends[1].addr, Job: 1, Context: uint16(cookie)}
		_, err := a.e.Write(n.now, &uetcc.Message{To: to, Mode: ses.ModeRUD, Key: 1, Length: 10, Cookie: cookie})
		return err
	}
	require.NoError(t, write(1))
	require.NoError(t, write(2), "waits for a PDC")
	require.ErrorIs(t, write(3), pdc.ErrPaused)
	unpaused := 0
	for range 10_000 {
		n.step()
		for i := 0; i < len(a.events); i++ {
			if a.events[i].Unpaused {
				unpaused++
				require.Equal(t, uetcc.Event{Unpaused: true}, a.events[i])
				a.events = append(a.events[:i], a.events[i+1:]...)
				require.NoError(t, write(3))
			}
		}
		if len(a.events) == 3 {
			break
		}
	}
	require.Len(t, a.events, 3)
	require.Equal(t, 1, unpaused)
	for _, ev := range a.events {
		require.Equal(t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
	}
}
