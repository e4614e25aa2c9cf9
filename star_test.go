// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
)

// A star is hosts around one switch of the simulated fabric, which marks and, without a Queue, never drops for want of
// room: for tests of how soon messages end. Endpoints are told the rate and the round trip of the path,
// and begin with full windows, like those of newEnd.
type star struct {
	*fabric.World
	t        testing.TB
	messages []*fabric.Message
}

func newStar(t testing.TB, hosts int, c fabric.Config, edit func(*uetcc.Config)) *star {
	leaf := fabric.Tier{DownRate: c.Rate, DownLatency: c.Hop, RadixDown: hosts, RadixUp: 1}
	top := fabric.Tier{DownRate: c.Rate, DownLatency: c.Hop, RadixDown: 1}
	c.Topology = &fabric.Topology{Nodes: hosts, PodSize: hosts, Tiers: []fabric.Tier{leaf, top}}
	c.Queue = cmp.Or(c.Queue, &fabric.Queue{Limit: fabric.Bytes(1 << 40), ECNMin: fabric.BDPs(.2), ECNMax: fabric.BDPs(.8)})
	c.Node, c.NoTrim = fabric.NodeEndpoint, true
	c.Endpoint = func(_ int, u *uetcc.Config) {
		told := nscc.Config{LinkRate: u.CC.NSCC.LinkRate, BaseRTT: u.CC.NSCC.BaseRTT, Trimming: true}
		*u = uetcc.Config{Address: u.Address, Seed: u.Seed, ControlTC: u.ControlTC, MTU: u.MTU, CC: ccc.Config{NSCC: told}}
		if edit != nil {
			edit(u)
		}
	}
	w, err := fabric.NewWorld(c)
	require.NoError(t, err)
	return &star{World: w, t: t}
}

func (s *star) post(m fabric.Message) {
	s.messages = append(s.messages, &m)
	s.Post(&m)
}

// end lets ten seconds pass and returns when the last message had ended: all of them well.
func (s *star) end() (last link.Ps) {
	s.Run(s.Now() + 10*link.Second)
	for _, m := range s.messages {
		require.True(s.t, m.OK(), "%v %+v", m.Err, m.Event)
		require.NoError(s.t, m.Check(s.World))
		last = max(last, m.Ended)
	}
	return last
}

func (s *star) stats(host int) pdc.Stats { return s.Host(host).Endpoint().PDS().Stats() }
