// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// Data that waits in a queue is not lost because a probe has passed it in the class of control
// packets: one that is to tell of losses waits there too.
func TestEndpointProbeBehindData(t *testing.T) {
	for _, queue := range []int64{0, 100_000, 400_000} {
		n := newNetwork(t, 1, netFaults{queue: queue}, 2, func(c *uetcc.Config) {
			c.PDS = pdc.Config{InferLoss: true}
		})
		a := n.ends[0]
		for i := range 2 { // a probe cannot open a PDC
			n.write(ses.ModeRUD, 100*netMTU)
			n.run(func() bool { return len(a.events) == i+1 })
		}
		s := a.e.PDS().Stats()
		require.Zero(t, s.Inferred+s.Resent, "%+v", s)
	}
}
