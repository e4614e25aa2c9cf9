// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
)

// closedUntil lets nothing go before a time, as where others have the window.
type closedUntil int64

func (closedUntil) OnSend(int64, int64, bool)      {}
func (closedUntil) OnACK(int64, ccc.Ack)           {}
func (closedUntil) OnNACK(int64, ccc.Nack)         {}
func (closedUntil) OnInferredLoss(int64, ccc.Loss) {}

func (c closedUntil) Allow(now int64, _ ccc.Standing) (bytes, notBefore int64) {
	if now < int64(c) {
		return 0, int64(c)
	}
	return 1 << 40, 0
}

// A SYN packet of a PDC without an answer goes again after a wait for congestion control, but not after the
// peer may have closed and forgotten the PDC: there it was delivered a second time, in seeds 360017395 and
// 360018601 after 200 ms behind the packets of other PDCs.
func TestSYNPacketsEndWithTheQuarantine(t *testing.T) {
	for wait, late := range map[int64]bool{40 * ms: false, 70 * ms: true} {
		g := newPair(t, pairConfig{}) // 63 ms for all copies, and 1 ms of quarantine
		g.submit(1, 1)
		_, lost := g.give(g.send(g.a)[0])
		require.Len(t, lost, 1)
		g.a.m.cc.SetAlgorithm(g.info(g.a).Context, g.now, closedUntil(g.now+wait))
		if late {
			require.NoError(t, g.b.m.Abort(g.now, g.b.m.table.ByID(g.info(g.b).ID)))
		}
		for range 100 {
			g.wait(ms)
			g.settle()
		}
		require.Len(t, g.b.got, 1, "once")
		if late {
			require.Equal(t, []uint64{1}, g.a.take(EventError))
			require.Nil(t, g.a.m.get(g.h))
		} else {
			require.Equal(t, []uint64{1}, g.a.take(EventImplicit, EventResponse))
		}
	}
}

// A peer that says that it has no PDC has not opened one: the time begins anew. So it does at another
// Start_PSN, and it has no end where retransmissions have none.
func TestSYNPacketsGoOnToAPeerWithoutAPDC(t *testing.T) {
	for name, c := range map[string]Config{
		"refused": {MaxNackRetx: 31}, "told to start elsewhere": {MaxNackRetx: 31}, "for ever": {MaxRTORetx: 15},
	} {
		t.Run(name, func(t *testing.T) {
			g := newPair(t, pairConfig{Config: c})
			g.submit(1, 1)
			for end := g.now + 300*ms; g.now < end; {
				for _, w := range g.send(g.a) {
					q := request(t, w)
					switch name {
					case "refused":
						g.give(g.forged(pds.NackNoPDCAvail, q.PSN))
					case "told to start elsewhere":
						g.nack(pds.Nack{Code: pds.NackNewStartPSN, PSN: q.PSN, Payload: uint32(g.now)})
					}
				}
				g.wait(ms)
			}
			require.Equal(t, StateCreating, g.info(g.a).State)
			for end := g.now + 300*ms; g.now < end; {
				g.wait(ms)
				g.settle()
			}
			require.Equal(t, []uint64{1}, g.a.take(EventImplicit, EventResponse))
		})
	}
}
