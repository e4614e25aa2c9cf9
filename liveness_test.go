// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Each message ends within a bound that follows from the configuration, whatever the peer does.

const ms = 1_000_000

// patient is a configuration with the delivery defaults, whose messages may stand still for 1 s.
func patient(c *uetcc.Config) {
	c.PDS, c.MessageTimeout = pdc.Config{}, 1000*ms
}

// readInProgress has a read at a target that has answered none of it yet.
func readInProgress(t *testing.T) *network {
	n := newNetwork(t, 1, netFaults{}, 2, patient)
	n.read(ses.ModeRUD, 3*netMTU)
	n.run(func() bool { return n.ends[1].e.Usage().Answers == 3 })
	return n
}

// A target that begins again during a read is noticed in milliseconds: 60,000 ms before, when
// only a PDC that had been idle for IdleTime asked for a sign of life.
func TestTargetThatRestartsDuringARead(t *testing.T) {
	n := readInProgress(t)
	a, b, began := n.ends[0], n.ends[1], n.now
	b.e = newEnd(t, uetcc.Config{Address: b.addr, MTU: netMTU, Now: n.now})
	n.open(b)
	n.run(func() bool { return len(a.events) == 1 })
	require.Equal(t, ses.StatusPDS, a.events[0].Outcome.Status)
	require.Less(t, n.now-began, int64(10*ms), "ten time-outs")
	require.Less(t, a.e.PDS().Stats().RTOs, uint64(10))
}

// One that dies is noticed after as many time-outs as a packet has: 60,100 ms before.
func TestTargetThatDiesDuringARead(t *testing.T) {
	n := readInProgress(t)
	a, b, began := n.ends[0], n.ends[1], n.now
	b.e = newEnd(t, uetcc.Config{Address: b.addr})
	n.cut[pdc.AddrFrom(b.addr)] = true
	n.run(func() bool { return len(a.events) == 1 })
	require.Equal(t, pdc.CauseRTO, a.events[0].Cause)
	require.Less(t, n.now-began, int64(100*ms))
	require.LessOrEqual(t, a.e.PDS().Stats().RTOs, uint64(10))
}

// Ends with different congestion control do not wait for each other for ever: the source of
// which credit is asked in vain sent 155,989 packets in the first minute, and told nobody.
func TestUnlikeControl(t *testing.T) {
	for _, c := range [][2]ccc.Control{
		{ccc.ControlRCCC, ccc.ControlNSCC}, {ccc.ControlBoth, ccc.ControlNSCC}, {ccc.ControlRCCC, ccc.ControlNone},
		{ccc.ControlNSCC, ccc.ControlRCCC}, {ccc.ControlNSCC, ccc.ControlBoth}, {ccc.ControlNone, ccc.ControlBoth},
	} {
		for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
			i := 0
			n := newNetwork(t, 1, netFaults{}, 2, func(cfg *uetcc.Config) {
				patient(cfg)
				cfg.CC.Control, i = c[i], i+1
				cfg.CC.RCCC.InitialCredit = 2048
			})
			a := n.ends[0]
			n.write(mode, 200*netMTU)
			n.read(mode, 20*netMTU)
			n.run(func() bool { return len(a.events) == 2 })
			want := [2]pdc.Cause{pdc.CauseNone, pdc.CauseNoCredit} // the target has no credit for what is read
			if c[0] == ccc.ControlRCCC || c[0] == ccc.ControlBoth {
				want = [2]pdc.Cause{pdc.CauseNoCredit, pdc.CauseNoCredit}
			}
			require.Equal(t, want, [2]pdc.Cause{a.events[0].Cause, a.events[1].Cause}, "%v", c)
			require.Less(t, n.now, int64(1500*ms))
			for _, end := range n.ends {
				s := end.e.PDS().Stats()
				require.Less(t, s.Sent+s.Resent+s.Controls, uint64(1000))
			}
		}
	}
}

// A peer that dies under receiver credit does not answer, whenever that is and whatever decides: up to 783 of 1,104 messages
// ended with CauseNoCredit, whose text asks for like settings at both ends.
func TestPeerThatDiesUnderCredit(t *testing.T) {
	for _, control := range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
		for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
			for at := int64(5_000); at < 250_000; at += 12_222 {
				n := newNetwork(t, 1, netFaults{}, 2, func(cfg *uetcc.Config) {
					cfg.CC.Control, cfg.PDS.MaxRTORetx, cfg.MessageTimeout = control, 10, 20_000*ms
				})
				a := n.ends[0]
				for range 4 {
					n.write(mode, 200*netMTU)
					n.write(mode, 200*netMTU)
					n.read(mode, 200*netMTU)
				}
				n.wait(at)
				for _, end := range n.ends {
					n.cut[pdc.AddrFrom(end.addr)] = true
				}
				n.run(func() bool { return len(a.events) == 12 })
				for _, ev := range a.events {
					if ev.Err() != nil {
						require.NotEqual(t, pdc.CauseNoCredit, ev.Cause, "%v %v %d: %v", control, mode, at, ev)
						require.ErrorIs(t, ev.Err(), uetcc.ErrNoAnswer)
					}
				}
			}
		}
	}
}

// One senseless packet with the right ids takes the PSN of the data of a read. It is refused, so
// that what has that PSN comes again: taken in, it left the read waiting for ever (600 s and no
// completion), as 290 of 5,817 worlds did whose packets were changed behind the CRC.
func TestSenselessPacketDuringARead(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		n := newNetwork(t, 1, netFaults{}, 2, patient)
		a, b := n.ends[0], n.ends[1]
		copy(b.mem, fill(3*netMTU, 5))
		data := a.local[n.read(mode, 3*netMTU)]
		n.run(func() bool { return b.e.Usage().Answers == 3 })
		out := newDatagram()
		require.True(t, b.e.Transmit(n.now, &out))
		lie := onWire(&out)
		for i := pds.RequestLen; i < len(lie.data); i++ {
			lie.data[i] ^= byte(i) | 1
		}
		r, back := receive(n.now, a.e, lie)
		require.Equal(t, ses.ActionNone, r.Action)
		require.Len(t, back, 1, "a NACK")
		if mode == ses.ModeRUD {
			n.carry(b, &out) // the packet itself, as if it had been overtaken
		} else { // what came is the packet itself, changed on the way
			receive(n.now, b.e, back[0])
		}
		n.endWell(a, 1)
		require.Equal(t, b.mem[:3*netMTU], data)
		require.Less(t, n.now, int64(10*ms))
	}
}

// A target acknowledges what it is asked for and never sends it. The read that is not asked for as
// a whole, and the ordered write behind it, end all the same; an unordered one has a PDC beside: before, each answer to a NOOP, which moves
// the PSNs as packets do, stood for progress, and a message waited for 111 s.
func TestTargetThatSendsNoData(t *testing.T) {
	for mode, want := range map[ses.Mode]pdc.Cause{ses.ModeROD: pdc.CauseMessageTimeout, ses.ModeRUD: pdc.CauseNone} {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			patient(c)
			c.Answers = 1024 // so that none is refused
			c.PDS.KnownSources = true
			c.PDS.IdleTime = 300 * ms // the longest time between two NOOPs
		})
		n.ends[1].mute = true
		read := n.read(mode, 200*netMTU)
		n.write(mode, netMTU)
		a := n.ends[0]
		n.run(func() bool { return len(a.events) == 2 })
		for _, ev := range a.events {
			if ev.Cookie == read {
				require.Equal(t, pdc.CauseMessageTimeout, ev.Cause)
			} else {
				require.Equal(t, want, ev.Cause)
			}
		}
		require.Less(t, n.now, int64(2500*ms), "twice MessageTimeout, and half as much: NOOPs pass as long as they are frequent")
	}
}

// pinned occupies the only PDCID that end i of n may open PDCs with: its message to an address
// where nobody is goes on for ever.
func (n *network) pinned(i int) {
	e := n.ends[i].e
	_, err := e.Write(n.now, &uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.9.9.9"), Job: 1}, Key: 1})
	require.NoError(n.t, err)
}

// A target that finds no PDC to read the rest of a rendezvous send tells its initiator, which
// asks after silence: 60,000 ms before, by IdleTime.
func TestRendezvousThatItsTargetForgets(t *testing.T) {
	i := 0
	s := newTwoSided(t, 1, netFaults{}, func(c *uetcc.Config) {
		if patient(c); i == 1 {
			c.PDCs.General, c.PDS.MaxRTORetx = 2, 15
		}
		i++
	})
	s.pinned(1)
	s.postTag(s.b, 0, 1<<16, 1, 1)
	s.rendezvous(fill(20_000, 2), 0, 1000, 1)
	s.run(func() bool { return len(s.a.events) == 1 })
	require.Equal(t, ses.StatusPDS, s.a.events[0].Outcome.Status)
	require.Less(t, s.now, int64(300*ms), "Pend_Timeout is 100 ms")
}

// Deferrable sends of three ends with two PDCIDs each hold all of them, and ready to restart
// finds none. It gives up after a while, and so does the send; and meanwhile nobody is woken for
// nothing: 10,000 times a second before, for ever.
func TestDeferrableSendsThatTakeEveryPDC(t *testing.T) {
	for _, general := range []int{1, 2, 3} {
		n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) {
			patient(c)
			c.PDCs.General, c.PDCs.Quarantine = general, 3*ms
		})
		for i, from := range n.ends { // in a ring
			to := n.ends[(i+1)%3]
			m := n.matched(to, 1, 1, 3000)
			m.Deferrable = true
			from.local[1] = fill(3000, byte(i))
			_, err := from.e.Send(n.now, &m)
			require.NoError(t, err)
		}
		n.wait(20 * ms) // all are deferred
		for _, end := range n.ends {
			n.postTag(end, 4096, 3000, 1, 0)
		}
		steps := 0
		n.run(func() bool {
			steps++
			return len(n.ends[0].events) > 0 && len(n.ends[1].events) > 0 && len(n.ends[2].events) > 0
		})
		require.Less(t, n.now, int64(1500*ms))
		require.Less(t, steps, 2000, "%d PDCIDs, %d ms", general, n.now/ms)
	}
}

// A peer that has begun again knows nothing of the PDC that the first message to it takes. The
// message ends in microseconds and says why, or has arrived; the next one gets through.
func TestFirstMessageToAPeerThatHasBegunAgain(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		for _, read := range []bool{false, true} {
			n := newNetwork(t, 1, netFaults{}, 2, patient)
			a, b, begin := n.ends[0], n.ends[1], n.write
			begin(mode, netMTU)
			n.endWell(a, 1)
			b.e = newEnd(t, uetcc.Config{Address: b.addr, MTU: netMTU, Now: n.now})
			n.open(b)
			if read {
				begin = n.read
			}
			began := n.now
			begin(mode, 3*netMTU)
			n.run(func() bool { return len(a.events) == 2 })
			require.Less(t, n.now-began, int64(ms))
			if ev := a.events[1]; ev.Outcome.Status != ses.StatusOK {
				require.Equal(t, pdc.Cause(pds.NackInvDPDCID), ev.Cause)
				require.ErrorContains(t, ev.Err(), "begun again")
			}
			data := a.local[begin(mode, 3*netMTU)]
			n.run(func() bool { return len(a.events) == 3 })
			require.NoError(t, a.events[2].Err())
			require.Equal(t, b.mem[:3*netMTU], data)
		}
	}
}

// So where the peer asks on a PDC of its own, for reading a rendezvous send, and ends all PDCs: the send fails for want of like
// settings, and not because the peer has gone.
func TestUnlikeControlOfARendezvous(t *testing.T) {
	i := 0
	s := newTwoSided(t, 1, netFaults{}, func(cfg *uetcc.Config) {
		patient(cfg)
		cfg.CC.Control, i = []ccc.Control{ccc.ControlNSCC, ccc.ControlRCCC}[i], i+1
		cfg.CC.RCCC.InitialCredit = 512
	})
	const length = 40 * netMTU
	s.postTag(s.b, 0, length, 1, 9)
	s.rendezvous(fill(length, 5), length, netMTU, 1)
	s.run(func() bool { return len(s.a.events) == 1 })
	require.Equal(t, pdc.CauseNoCredit, s.a.events[0].Cause)
}
