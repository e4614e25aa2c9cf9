// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

// Where more PDCs are open than Close_Thresh both ends close some all the time. That ends no
// message in error, though a tenth of all packets is lost: of the request to close, of
// short reads and what answers them, and of what is sent again meanwhile.
func TestEndpointClosesNothingThatIsUnderWay(t *testing.T) {
	const messages = 12
	for seed := range uint64(100) {
		n := newNetwork(t, seed, netFaults{loss: 0.1}, 2, func(c *uetcc.Config) {
			c.PDS = pdc.Config{CloseThresh: 1}
			c.PDCs = pdc.TableConfig{General: 32, Quarantine: 100_000_000}
		})
		a := n.ends[0]
		for i := range messages {
			m := uetcc.Message{Key: 1, Length: []uint32{8, 3000, 100}[i%3], Cookie: uint64(i + 1)}
			m.To = uetcc.Destination{Address: n.ends[1].addr, Job: 1, Context: uint16(i % 4)}
			a.local[m.Cookie] = make([]byte, m.Length)
			start := a.e.Write
			if i%2 == 0 {
				start = a.e.Read
			}
			_, err := start(n.now, &m)
			require.NoError(t, err)
			for range i {
				n.step()
			}
		}
		n.endWell(a, messages)
		require.NotZero(t, n.ends[1].e.PDS().Stats().Closed)
	}
}

// A target closes none of the PDCs that its peers wait on for it to come back: with a
// buffer, as long as that takes.
func TestEndpointClosesNothingThatWaits(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDS = pdc.Config{IdleTime: 1_000_000_000}
		c.PDCs = pdc.TableConfig{General: 32, Quarantine: 100_000_000}
		if c.Address.As4()[3] == 2 {
			c.PDS.CloseThresh = 2
		}
	})
	a, b := n.ends[0], n.ends[1]
	m := n.matched(b, 7, 99, 3000)
	m.Deferrable, m.To.Context = true, 9
	a.local[99] = fill(3000, 1)
	_, err := a.e.Send(n.now, &m)
	require.NoError(t, err)
	n.run(func() bool { return b.e.Usage().Pending == 1 && n.now > 1_500_000 }) // its answer is cleared
	for i := range 6 {
		n.to(uetcc.Destination{Context: uint16(i)}, ses.ModeRUD)
		n.run(func() bool { return len(a.events) == i+1 })
	}
	n.run(func() bool { return n.now > 500_000_000 })
	require.Equal(t, 1, b.e.Usage().Pending)
	require.Less(t, a.e.Usage().PDCs, 5, "others have been closed")
	n.postTag(b, 0, 3000, 7, 5)
	n.run(func() bool { return len(a.events) == 7 })
	require.Equal(t, ses.StatusOK, a.events[6].Outcome.Status, "%+v", a.events[6])
}
