// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// underCredit makes every end run receiver credit.
func underCredit(c ccc.Control, initial int64) func(*uetcc.Config) {
	return func(cfg *uetcc.Config) {
		cfg.CC.Control = c
		cfg.CC.RCCC.InitialCredit = initial
	}
}

// TestEndpointCredit: with receiver credit, alone or beside NSCC, everything
// arrives once whatever the network does, and no sender stays behind.
func TestEndpointCredit(t *testing.T) {
	for name, faults := range netSettings {
		for _, control := range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprint(name, "/", control, "/", seed), func(t *testing.T) {
					n := newNetwork(t, seed, faults, 2, underCredit(control, 4096))
					check := traffic(n, ses.ModeRUD)
					a := n.ends[0]
					n.endWell(a, len(a.local))
					check()
					require.Positive(t, n.ends[1].e.Credit().Senders().Count())
					n.settle()
					for _, end := range n.ends {
						require.Zero(t, end.e.Credit().Senders().Count(), "dropped with its last PDC")
					}
				})
			}
		}
	}
}

// TestEndpointCreditIncast: three ends write to one, which grants each a third, whatever its
// policy: without initial credit none can send before it is asked to.
func TestEndpointCreditIncast(t *testing.T) {
	slice, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: 1000, Carry: true})
	require.NoError(t, err)
	for name, policy := range map[string]rccc.GrantPolicy{"pull": nil, "slice": slice} {
		t.Run(name, func(t *testing.T) { creditIncast(t, policy) })
	}
}

func creditIncast(t *testing.T, policy rccc.GrantPolicy) {
	n := newNetwork(t, 1, netFaults{}, 4, func(cfg *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(cfg)
		if cfg.Address == netip.AddrFrom4([4]byte{10, 0, 0, 4}) {
			cfg.Receiver.Policy = policy
		}
	})
	const length = 200 * netMTU
	for i := range 3 {
		m := uetcc.Message{Key: 1, Offset: uint64(i) * length, Length: length, Cookie: 1}
		m.To.Address, m.To.TC, m.To.Job = n.ends[3].addr, tcLow, 1
		n.ends[i].local[1] = fill(length, byte(i))
		_, err := n.ends[i].e.Write(0, &m)
		require.NoError(t, err)
	}
	ended := map[int]int64{}
	n.run(func() bool {
		for i := range 3 {
			if len(n.ends[i].events) == 1 && ended[i] == 0 {
				ended[i] = n.now
			}
		}
		return len(ended) == 3
	})
	wire := 3 * length * 8 / 100 // ns at 100 Gb/s
	for i, at := range ended {
		require.Greater(t, at, int64(wire)*9/10, "end %d cannot have more than its share", i)
		require.Less(t, at, int64(wire)*11/10*11/10+30_000, "end %d must have its share: with headers, the 0.99 of the pacer, a round trip", i)
		require.Equal(t, fill(length, byte(i)), n.ends[3].mem[i*length:][:length])
	}
}

// TestEndpointCreditDemand: what sources may ask for is configured once, for both halves.
// A receiver that knew of less would put a context that starts again ahead of its source.
func TestEndpointCreditDemand(t *testing.T) {
	const demand = 1 << 22
	n := newNetwork(t, 1, netFaults{}, 1, func(cfg *uetcc.Config) {
		cfg.CC.Control = ccc.ControlRCCC
		cfg.CC.RCCC.MaxDemand = demand
	})
	require.EqualValues(t, -demand, n.ends[0].e.Credit().Resume(0))
}

// TestEndpointCreditOff: without receiver credit there is no scheduler.
func TestEndpointCreditOff(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 1, nil)
	require.Nil(t, n.ends[0].e.Credit())
}

// TestEndpointCreditTimeout: who holds credit may keep silent for 8 round trips, of which
// it needs one to use it, and never for less than 1 ms.
func TestEndpointCreditTimeout(t *testing.T) {
	for _, c := range []struct{ base, credit, want int64 }{
		{0, 0, 1_000_000}, {125_001, 0, 1_000_008}, {1_000_000, 0, 8_000_000}, {12_000, 2_000_000, 16_000_000},
	} {
		cfg := uetcc.Config{Address: netip.MustParseAddr("192.0.2.1"), Contexts: 8}
		cfg.CC.Control, cfg.CC.NSCC.BaseRTT, cfg.CC.RCCC.RTT = ccc.ControlRCCC, c.base, c.credit
		e, err := uetcc.NewEndpoint(cfg)
		require.NoError(t, err)
		r := e.Credit()
		h, err := r.Add(0, 0, 0)
		require.NoError(t, err)
		require.True(t, r.OnArrival(h, 0, rccc.ArrivalData, 512))
		_, ok := r.Poll(0)
		require.True(t, ok)
		_, ok = e.NextDeadline()
		require.True(t, ok, "nothing else waits")
		e.Tick(c.want)
		require.Equal(t, 1, r.Senders().Count(), "%+v", c)
		e.Tick(c.want + 1)
		require.Zero(t, r.Senders().Count(), "%+v", c)
	}
}

// A target that has nothing to do takes the place of a sender that holds credit and is silent
// when another one asks: or the newcomer would wait until the other's PDCs were idle for too
// long.
func TestEndpointCreditPlaceOfTheSilent(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, func(cfg *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(cfg)
		cfg.Receiver.Senders = 1
	})
	target := n.ends[2]
	for _, end := range n.ends[:2] {
		m := uetcc.Message{Key: 1, Length: 4 * netMTU, Cookie: 1}
		m.To.Address, m.To.Job = target.addr, 1
		_, err := end.e.Write(n.now, &m)
		require.NoError(t, err)
		for _, p := range sendAll(n.now, end.e) {
			receive(n.now, target.e, p)
		}
		credit := sendAll(n.now, target.e)
		require.NotEmpty(t, credit)
		require.Equal(t, pdc.AddrFrom(end.addr), credit[0].dst)
		for range 1000 { // all that it asks for, and spare credit
			n.now += 5000
			sendAll(n.now, target.e)
		}
	}
}

// TestEndpointCreditCountsInitial: where what sources may send unasked counts, the first
// grant is on top of it.
func TestEndpointCreditCountsInitial(t *testing.T) {
	for _, count := range []bool{false, true} {
		const initial = 1 << 18
		n := newNetwork(t, 1, netFaults{}, 2, func(cfg *uetcc.Config) {
			underCredit(ccc.ControlRCCC, initial)(cfg)
			cfg.CC.RCCC.CountInitial = count
		})
		a, b := n.ends[0], n.ends[1]
		n.write(ses.ModeRUD, 4*netMTU)
		receive(0, b.e, sendAll(0, a.e)[0])
		p := sendAll(0, b.e)
		if count { // the source has all that it asks for
			require.Empty(t, p)
			continue
		}
		var c pds.Control
		_, err := c.Decode(p[0].data)
		require.NoError(t, err)
		require.Equal(t, pds.CtlCredit, c.Ctl)
	}
}

// TestEndpointCreditTrimmed: a packet that a switch has cut still asks for credit, as its
// sender has something to send again. One that was received before asks for nothing.
func TestEndpointCreditTrimmed(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		knownSources(c)
		underCredit(ccc.ControlRCCC, 2048)(c)
	})
	a, b := n.ends[0], n.ends[1]
	grants := func() (p []wirePacket) {
		for at, ok := b.e.Credit().Deadline(); ok; at, ok = b.e.Credit().Deadline() {
			n.now = max(n.now, at)
			p = append(p, sendAll(n.now, b.e)...)
		}
		return p
	}
	n.write(ses.ModeRUD, 40*netMTU)
	_, back := receive(0, b.e, sendAll(0, a.e)[0])
	for _, p := range append(back, grants()...) {
		receive(n.now, a.e, p)
	}
	p := sendAll(n.now, a.e)[0]
	cut := uetcc.Datagram{Packet: p.data[:pds.RequestCCLen], Src: p.src, Dst: p.dst, Trimmed: pds.NackTrimmed}
	for _, received := range []bool{false, false, true} { // also where it asks for no more than before
		if received {
			receive(n.now, b.e, p)
			grants()
		}
		reply := newDatagram()
		var r uetcc.Received
		b.e.Receive(n.now, &cut, &reply, &r)
		require.ErrorIs(t, r.Err, pdc.ErrTrimmed)
		require.Equal(t, !received, len(grants()) > 0)
	}
}

// TestEndpointCreditOutlivesAPDC: the PDCs of a context are one sender, which stays, and is told
// what it has on each of them, until the last one ends.
func TestEndpointCreditOutlivesAPDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 4*netMTU)(c)
		c.CC.RCCC.CountInitial, c.PDS.AckPerPacket = true, true
	})
	a, b := n.ends[0], n.ends[1]
	total := int64(0)
	for i := range 2 {
		m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Context: uint16(i)}, Key: 1, Length: 12 * netMTU, Cookie: uint64(i + 1)}
		a.local[m.Cookie] = make([]byte, m.Length)
		_, err := a.e.Write(n.now, &m)
		require.NoError(t, err)
		_, back := receive(n.now, b.e, sendAll(n.now, a.e)[0])
		receive(n.now, a.e, back[0])
		var ack pds.AckCC
		_, err = ack.Decode(back[0].data)
		require.NoError(t, err)
		var credit pds.CreditState
		require.True(t, ack.Credit(&credit))
		require.GreaterOrEqual(t, int64(credit.Credit)*pds.ByteUnit, total, "PDC %d", i)
		for at, ok := b.e.Credit().Deadline(); ok; at, ok = b.e.Credit().Deadline() {
			n.now = max(n.now, at)
			for _, p := range sendAll(n.now, b.e) {
				receive(n.now, a.e, p)
			}
		}
		for h := range a.e.PDS().All() {
			info, _ := a.e.PDS().PDC(h)
			total = a.e.CC().Context(info.Context).CreditTotal()
		}
	}
	require.Greater(t, total, int64(12*netMTU))
	n.run(func() bool { return len(a.events) == 2 })
	for left := 2; left > 0; left-- {
		require.Equal(t, left, b.e.Usage().PDCs)
		require.Equal(t, 1, b.e.Credit().Senders().Count())
		for h := range a.e.PDS().All() {
			require.NoError(t, a.e.PDS().Close(n.now, h))
			break
		}
		n.run(func() bool { return b.e.Usage().PDCs < left })
	}
	require.Zero(t, b.e.Credit().Senders().Count())
}

// TestEndpointCreditFull: who finds the table of senders full asks again.
func TestEndpointCreditFull(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, func(cfg *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(cfg)
		cfg.Receiver.Senders = 1
	})
	for i, end := range n.ends[:2] {
		m := uetcc.Message{Key: 1, Length: 20 * netMTU, Cookie: 1}
		m.To.Address, m.To.Job = n.ends[2].addr, 1
		end.local[1] = fill(20*netMTU, byte(i))
		_, err := end.e.Write(n.now, &m)
		require.NoError(t, err)
	}
	n.run(func() bool { return len(n.ends[0].events) == 1 && len(n.ends[1].events) == 1 })
}

// TestEndpointCreditNewStart: a source without credit, whose first packet on a PDC was refused
// for its Start_PSN, sends it again at once. To wait for credit, for which it asks less and
// less often, may take longer than the target waits, which then demands yet another Start_PSN.
func TestEndpointCreditNewStart(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(cfg *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 1)(cfg)
		cfg.PDS.Start = pdc.StartRandom1RTT
	})
	a, b := n.ends[0], n.ends[1]
	for i := range 2 { // the first one spends the initial credit, and all that is granted is lost
		m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Context: uint16(i)}, Key: 1, Cookie: 1}
		m.Length = uint32(i) * 2 * netMTU // of the second one more waits
		_, err := a.e.Write(n.now, &m)
		require.NoError(t, err)
		p := sendAll(n.now, a.e)
		require.Len(t, p, 1-i)
		for len(p) == 0 || pds.Type(p[0].data[0]>>3) != pds.TypeRUDCCReq { // until it asks for credit
			n.now, _ = a.e.NextDeadline()
			a.e.Tick(n.now)
			p = sendAll(n.now, a.e)
		}
		_, back := receive(n.now, b.e, p[0])
		var nack pds.Nack
		_, err = nack.Decode(back[0].data)
		require.NoError(t, err)
		require.Equal(t, pds.NackNewStartPSN, nack.Code)
		n.now += 5000
		receive(n.now, a.e, back[0])
		p = sendAll(n.now, a.e)
		require.Len(t, p, 1)
		r, back := receive(n.now, b.e, p[0])
		require.Equal(t, ses.ActionPlace, r.Action)
		receive(n.now, a.e, back[0])
	}
}

// TestEndpointCreditInAcknowledgements: where receivers alone control congestion, every
// ACK_CC carries the credit so far (figure 8-4 of the UET congestion chapters), so that it
// makes good for CREDITs that were lost. With NSCC beside it, NSCC's state has that place.
func TestEndpointCreditInAcknowledgements(t *testing.T) {
	for _, control := range []ccc.Control{ccc.ControlRCCC, ccc.ControlBoth} {
		t.Run(control.String(), func(t *testing.T) {
			const initial = 12_500
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
				underCredit(control, initial)(c)
				c.CC.RCCC.CountInitial, c.PDS.AckPerPacket = true, true
			})
			a, b := n.ends[0].e, n.ends[1].e
			n.write(ses.ModeRUD, 100*netMTU)
			var told []int64
			for now := int64(0); now < 40_000; now += 1_000 {
				for i, p := range sendAll(now, b) { // CREDITs, of which only the first arrives
					if i == 0 {
						receive(now, a, p)
					}
				}
				for _, p := range sendAll(now, a) {
					_, back := receive(now, b, p)
					for _, q := range back {
						var ack pds.AckCC
						_, err := ack.Decode(q.data)
						require.NoError(t, err)
						var credit pds.CreditState
						require.Equal(t, control == ccc.ControlRCCC, ack.Credit(&credit), &ack)
						told = append(told, int64(credit.Credit)*pds.ByteUnit)
						receive(now, a, q)
						for h := range a.PDS().All() {
							info, _ := a.PDS().PDC(h)
							total := a.CC().Context(info.Context).CreditTotal()
							require.GreaterOrEqual(t, total, told[len(told)-1], "it is credit like any other")
						}
					}
				}
			}
			if control == ccc.ControlRCCC {
				require.EqualValues(t, initial/pds.ByteUnit*pds.ByteUnit, told[0], "what the source has already")
				require.IsNonDecreasing(t, told)
				require.Greater(t, told[len(told)-1], int64(4*initial))
			}
		})
	}
}

// A peer without receiver credit hears nothing of it from a target that has no other control, but
// what the host says, on its first packet and on later ones, and though it reads first, so that
// something is kept of its PDC.
func TestEndpointCreditToStrangers(t *testing.T) {
	control := ccc.ControlNSCC // of the source
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.CC.Control, c.PDS.AckPerPacket, c.PDS.KnownSources = control, true, true
		control = ccc.ControlRCCC
	})
	a, b := n.ends[0].e, n.ends[1].e
	acks := 0
	for _, start := range []func(){
		func() { n.write(ses.ModeRUD, 2*netMTU) }, func() { n.read(ses.ModeRUD, 2*netMTU) }, func() { n.write(ses.ModeRUD, 3*netMTU) },
	} {
		start()
		for _, p := range append(sendAll(n.now, a), sendAll(n.now, a)...) {
			in, reply := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst, State: pdc.AckState{Service: 7}}, newReply(b)
			var r uetcc.Received
			b.Receive(n.now, &in, &reply, &r)
			var ack pds.AckCC
			if _, err := ack.Decode(reply.Packet); err == nil {
				var s pds.NSCCState
				require.True(t, ack.NSCC(&s), &ack)
				require.EqualValues(t, 7, s.ServiceTime)
				acks++
			}
			receive(n.now, a, onWire(&reply))
		}
	}
	require.Greater(t, acks, 5)
}
