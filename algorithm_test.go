// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc/tfc"
	"github.com/uetcc/uetcc/ses"
)

// A closed algorithm lets nothing go.
type closed struct{}

func (closed) OnSend(int64, int64, bool)                {}
func (closed) OnACK(int64, ccc.Ack)                     {}
func (closed) OnNACK(int64, ccc.Nack)                   {}
func (closed) OnInferredLoss(int64, ccc.Loss)           {}
func (closed) Allow(int64, ccc.Standing) (int64, int64) { return 0, 0 }

// What an algorithm of the user's holds back goes as soon as it is taken out, or the
// context does not enforce any more.
func TestEndpointAlgorithmTakenOut(t *testing.T) {
	for name, open := range map[string]func(m *ccc.Manager, h ccc.Handle){
		"algorithm": func(m *ccc.Manager, h ccc.Handle) { m.SetAlgorithm(h, 0, nil) },
		"observe":   func(m *ccc.Manager, h ccc.Handle) { m.SetMode(h, 0, ccc.ModeObserve) },
		"off":       func(m *ccc.Manager, h ccc.Handle) { m.SetMode(h, 0, ccc.ModeOff) },
	} {
		t.Run(name, func(t *testing.T) {
			e, err := uetcc.NewEndpoint(uetcc.Config{Address: netip.MustParseAddr("10.0.0.1")})
			require.NoError(t, err)
			var contexts []ccc.Handle
			for _, peer := range []string{"10.0.0.2", "10.0.0.3"} {
				m := uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr(peer)}, Length: 2 * 4096}
				h, err := e.Connect(0, &m)
				require.NoError(t, err)
				info, _ := e.PDS().PDC(h)
				contexts = append(contexts, info.Context)
				e.CC().SetAlgorithm(info.Context, 0, closed{})
				_, err = e.Write(0, &m)
				require.NoError(t, err)
			}
			out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
			require.False(t, e.Transmit(0, &out))
			require.Equal(t, ccc.ReasonAlgorithm, e.CC().Context(contexts[0]).Reason())

			for _, h := range contexts {
				open(e.CC(), h)
				require.True(t, e.Transmit(0, &out))
				require.True(t, e.Transmit(0, &out))
				require.False(t, e.Transmit(0, &out))
			}
		})
	}
}

// A meter allows so many bytes in flight, and remembers how many there were.
type meter struct{ window, most int64 }

func (*meter) OnSend(int64, int64, bool)      {}
func (*meter) OnACK(int64, ccc.Ack)           {}
func (*meter) OnNACK(int64, ccc.Nack)         {}
func (*meter) OnInferredLoss(int64, ccc.Loss) {}
func (m *meter) Allow(_ int64, s ccc.Standing) (int64, int64) {
	m.most = max(m.most, s.Inflight)
	return m.window - s.Inflight, 0
}

// Every context has the algorithm of its peer from its first packet on, also the one
// that a read of the peer opens, and the next one to the same peer.
func TestEndpointAlgorithmOfEveryContext(t *testing.T) {
	for name, faults := range netSettings {
		t.Run(name, func(t *testing.T) {
			meters := map[ccc.Key][]*meter{}
			n := newNetwork(t, 5, faults, 2, func(c *uetcc.Config) {
				c.CC.Control, c.AnswerTC = ccc.ControlNone, tcLow
				c.Algorithm = func(k ccc.Key) ccc.Algorithm {
					m := &meter{window: 5000}
					meters[k] = append(meters[k], m)
					return m
				}
			})
			a, b := n.ends[0], n.ends[1]
			for round := range 2 {
				n.f, a.events, a.local = faults, nil, map[uint64][]byte{}
				clear(b.mem)
				check := traffic(n, ses.ModeRUD)
				n.run(func() bool { return len(a.events) == len(a.local) })
				check()
				n.settle()
				for _, k := range []ccc.Key{
					{Source: a.addr, Destination: b.addr, TC: tcLow}, {Source: b.addr, Destination: a.addr, TC: tcLow},
				} {
					require.Len(t, meters[k], round+1, "%v of %v", k, meters)
					most := meters[k][round].most
					require.True(t, 0 < most && most <= 5000, "%v: %d bytes in flight", k, most)
				}
			}
		})
	}
}

// A window of two packets, which is less than a target collects before it answers, does
// not wait for a timeout: the packet that fills it asks for an answer.
func TestEndpointAlgorithmOfTwoPackets(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.CC.Control = ccc.ControlNone
		c.Algorithm = func(ccc.Key) ccc.Algorithm { return &meter{window: 2500} }
	})
	a, b := n.ends[0], n.ends[1]
	a.local[1] = fill(50*netMTU, 1)
	_, err := a.e.Write(0, &uetcc.Message{
		To: uetcc.Destination{Address: b.addr, TC: tcLow, Job: 1}, Key: 1, Length: 50 * netMTU, Cookie: 1})
	require.NoError(t, err)
	n.run(func() bool { return len(a.events) == 1 })
	require.Less(t, n.now, int64(27*10_000), "25 round trips of 10 us")
	require.Zero(t, a.e.PDS().Stats().RTOs)
	require.Equal(t, a.local[1], b.mem[:50*netMTU])
}

// A pacer's packets leave when it says so, also where the timers of delivery tick more
// coarsely than packets follow each other: at 100 Gb/s a packet of 4 KiB lasts a third of a
// microsecond. Two PDCs of one context take turns.
func TestEndpointPacerKeepsItsTimes(t *testing.T) {
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address:   netip.MustParseAddr("10.0.0.1"),
		CC:        ccc.Config{NSCC: nscc.Config{Trimming: true}}, // windows start full
		Algorithm: func(ccc.Key) ccc.Algorithm { return ccc.NewPacer(0) },
	})
	require.NoError(t, err)
	for job := range ses.JobID(2) {
		to := uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: job}
		_, err = e.Write(0, &uetcc.Message{To: to, Length: 1 << 20})
		require.NoError(t, err)
	}
	const size, window, rtt, gain = 4200, 225_000, 12_000, 125 // of the default fabric; percent
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	turns := ""
	for now, k := int64(0), int64(0); k < 20; {
		for e.Transmit(now, &out) {
			if out.Payload.Length == 0 {
				continue // a control packet waits for nobody
			}
			require.Equal(t, k*size*100*rtt/(gain*window), now, "packet %d", k)
			turns += string('a' + rune(out.Payload.Message&1))
			k++
		}
		at, ok := e.NextDeadline()
		require.True(t, ok)
		now = max(now, at)
		e.Tick(now)
	}
	require.Equal(t, 10, strings.Count(turns, "a"), turns)
}

// A clock that goes back after a pacer's packet was let go does not hold that packet for ever:
// no timer would tell of it.
func TestEndpointPacerClockGoesBack(t *testing.T) {
	e, err := uetcc.NewEndpoint(uetcc.Config{
		Address:   netip.MustParseAddr("10.0.0.1"),
		CC:        ccc.Config{NSCC: nscc.Config{Trimming: true}}, // windows start full
		Algorithm: func(ccc.Key) ccc.Algorithm { return ccc.NewPacer(0) },
	})
	require.NoError(t, err)
	to := uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2")}
	_, err = e.Write(0, &uetcc.Message{To: to, Length: 1 << 20})
	require.NoError(t, err)
	out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
	require.True(t, e.Transmit(0, &out))
	require.False(t, e.Transmit(0, &out))
	e.Tick(1_000)
	require.True(t, e.Transmit(100, &out))
	require.EqualValues(t, 4096, out.Payload.Offset)
}

// A cellGate is transport flow control as an algorithm: a packet goes when the peer's buffer
// has cells for all of it.
type cellGate struct {
	p      *tfc.Params
	src    tfc.Source
	packet int64 // nominal size of every packet, bytes
	marked int64 // bytes to send again, whose cells are charged already
}

func (g *cellGate) OnSend(_, size int64, rtx bool) {
	if rtx {
		g.marked -= size
	} else {
		g.src.OnSend(g.p, size)
	}
}

func (g *cellGate) OnACK(_ int64, a ccc.Ack)           { g.marked -= a.RtxBytes }
func (g *cellGate) OnNACK(_ int64, n ccc.Nack)         { g.marked += n.Size }
func (g *cellGate) OnInferredLoss(_ int64, l ccc.Loss) { g.marked += l.Size }

func (g *cellGate) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	g.src.OnCreditUpdate(g.p, s.CreditTotal/pds.ByteUnit)
	if g.marked > 0 || g.src.CanSend(g.p, g.packet) {
		return g.packet, 0
	}
	return 0, 0
}

// A receiver with a buffer of 40 cells: an algorithm of the user's hears the credit that its
// acknowledgements and CREDITs bring, so that the buffer is filled and never overrun.
func TestEndpointAlgorithmHearsCredit(t *testing.T) {
	const size, packets = netMTU + ses.StandardLen + pds.RequestLen + 8 + 40, 100 // nominal
	cells, err := tfc.NewParams(tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 40, MTU: size, RTT: 20_000})
	require.NoError(t, err)
	gate := &cellGate{p: &cells, packet: size}
	gate.src.Init(&cells)
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.Algorithm = func(ccc.Key) ccc.Algorithm { return gate }
	})
	a, b := n.ends[0].e, n.ends[1].e
	n.write(ses.ModeRUD, packets*netMTU)
	var buffer tfc.Destination
	buffer.Init(&cells, 0)
	credit := func(now int64) uint32 { return uint32(tfc.CellsOf(buffer.Credit(&cells, now))) }
	reply, r := newReply(b), uetcc.Received{}
	arrived, waiting, most := 0, 0, int64(0)
	for now := int64(1000); arrived < packets; now += 1000 {
		require.Less(t, now, int64(1_000_000))
		for _, p := range sendAll(now, a) {
			in := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst, State: pdc.AckState{Type: pds.CCCredit, Credit: credit(now)}}
			b.Receive(now, &in, &reply, &r)
			if r.Action == ses.ActionPlace {
				require.True(t, buffer.Accept(&cells, now, size), "no buffer for packet %d", arrived)
				arrived, waiting, most = arrived+1, waiting+1, max(most, buffer.Occupancy())
			}
			if len(reply.Packet) > 0 {
				receive(now, a, onWire(&reply))
			}
		}
		if waiting > 0 { // the memory takes one packet a microsecond
			buffer.Release(&cells, now, size)
			waiting--
		}
		for h := range b.PDS().All() {
			put, err := (*pdc.Manager)(b.PDS()).PutCredit(h, credit(now), reply.Packet[:cap(reply.Packet)])
			require.NoError(t, err)
			info, _ := b.PDS().PDC(h)
			reply.Packet, reply.Src, reply.Dst = reply.Packet[:put], info.Local, info.Peer
			receive(now, a, onWire(&reply))
		}
	}
	require.EqualValues(t, 40, most)
}
