// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// What each end keeps until the other one has come back to it: too little of that must not
// have both wait for ever.

// each has every end begin a message to each other end, and waits until all have ended well.
func (n *network) each(begin func(from, to *netEnd, cookie uint64)) {
	for i, from := range n.ends {
		for k, to := range n.ends {
			if i != k {
				begin(from, to, uint64(16*i+k))
			}
		}
	}
	own := func(end *netEnd) (ended int) {
		for _, ev := range end.events {
			if !ev.Received {
				require.Equal(n.t, ses.StatusOK, ev.Outcome.Status, "%+v", ev)
				ended++
			}
		}
		return ended
	}
	n.run(func() bool {
		require.Less(n.t, n.now, int64(1e9), "they wait")
		for _, end := range n.ends {
			if own(end) < len(n.ends)-1 {
				return false
			}
		}
		return true
	})
}

// Every end reads from all others, with as many contexts of congestion control as there are
// others or fewer. Data is sent with one, too, while the reads keep theirs.
func TestReadsThatTakeEveryContext(t *testing.T) {
	for contexts := 1; contexts <= 2; contexts++ {
		for _, class := range []uint8{0, tcLow} {
			t.Run(fmt.Sprint(contexts, "/", class), func(t *testing.T) {
				n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) { c.Contexts, c.AnswerTC = contexts, class })
				n.each(func(from, to *netEnd, cookie uint64) {
					from.local[cookie] = make([]byte, 3000)
					_, err := from.e.Read(n.now, &uetcc.Message{To: uetcc.Destination{Address: to.addr, Job: 1}, Key: 1, Length: 3000, Cookie: cookie})
					require.NoError(t, err)
				})
			})
		}
	}
}

// Both ends have as many sends in progress as they may, and none is over before the peer
// has started a message of its own for it.
func TestSendsThatTakeEveryMessage(t *testing.T) {
	for _, rendezvous := range []bool{false, true} {
		t.Run(fmt.Sprint(rendezvous), func(t *testing.T) {
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.Messages = 1 })
			n.each(func(from, to *netEnd, cookie uint64) {
				m := n.matched(to, 1, cookie, 3000)
				m.Deferrable, m.Rendezvous, m.Source = !rendezvous, rendezvous, uetcc.Source{Process: 1 << 16}
				from.local[cookie] = make([]byte, 3000)
				_, err := from.e.Send(n.now, &m)
				require.NoError(t, err)
				_, err = from.e.Send(n.now, &m)
				require.ErrorIs(t, err, ses.ErrFull)
				if rendezvous {
					n.postTag(to, 4096, 3000, 1, 0)
				}
				n.transmit()
				if !rendezvous {
					n.wait(100_000)
					n.postTag(to, 4096, 3000, 1, 0)
				}
			})
		})
	}
}

// A buffer that a deferred send waits for has the endpoint send something, which nothing
// else may cause before long.
func TestNextDeadlineTellsOfErrands(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.deferrable(1, 1, fill(100, 1))
	s.run(func() bool { return s.b.e.Usage().Pending == 1 })
	s.wait(1_000_000)
	at, ok := s.b.e.NextDeadline()
	require.True(t, !ok || at > s.now)
	s.postTag(s.b, 0, 100, 1, 0)
	at, ok = s.b.e.NextDeadline()
	require.True(t, ok && at <= s.now)
	s.transmit()
	at, ok = s.b.e.NextDeadline()
	require.True(t, !ok || at > s.now)
}

// A target without a PDC for one more sender: the error of that one names the peer, the cause and the setting.
func TestTargetWithoutPDCsForAll(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 4, func(c *uetcc.Config) {
		c.PDCs.General, c.PDS.MaxNackRetx = 2, 3
		c.PDS.KnownSources = true
	})
	b := n.ends[3]
	failed := 0
	for _, from := range n.ends[:3] {
		from.local[1] = fill(2000*netMTU, 1)
		_, err := from.e.Write(n.now, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: 500 * netMTU, Cookie: 1})
		require.NoError(t, err)
	}
	n.cut[pdc.AddrFrom(n.ends[0].addr)], n.cut[pdc.AddrFrom(n.ends[1].addr)] = true, true // these two stay
	n.run(func() bool { return len(n.ends[2].events) == 1 })
	if err := n.ends[2].events[0].Err(); err != nil {
		failed++
		require.ErrorIs(t, err, uetcc.ErrShortage)
		for _, says := range []string{"10.0.0.4", "UET_NO_PDC_AVAIL", "the peer's PDCs.General", "PDS.MaxNackRetx here"} {
			require.ErrorContains(t, err, says)
		}
	}
	require.Equal(t, 1, failed)
}

// vanish takes the third end away in the middle of a message that has the second end's memory for one.
func (n *network) vanish(t *testing.T) {
	b, gone := n.ends[1], n.ends[2]
	gone.local[1] = fill(3*netMTU, 1)
	_, err := gone.e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: 3 * netMTU, Cookie: 1})
	require.NoError(t, err)
	n.ends = n.ends[:2]
	n.arrive(netPacket{wirePacket: sendAll(0, gone.e)[0]})
	require.Equal(t, 1, b.e.Usage().Arriving)
}

// A target that has no memory for a message refuses that one alone: others on its PDC go on,
// and in the end it fails, by name, with its target told. Before, the PDC failed after 5 ms, and
// with it all messages. The memory is that of a peer which has vanished in the middle of a message.
func TestShortageFailsOneMessage(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) {
			c.Target.Messages, c.PDS.MaxNackRetx = 1, 5
		})
		a := n.ends[0]
		n.vanish(t)
		long := n.write(mode, 3*netMTU)
		for range 4 {
			n.write(mode, netMTU)
		}
		n.run(func() bool { return len(a.events) == 5 })
		for _, ev := range a.events {
			if want := ses.StatusOK; ev.Cookie != long {
				require.Equal(t, want, ev.Outcome.Status, "%v %+v", mode, ev)
			} else {
				require.Equal(t, ses.StatusPDS, ev.Outcome.Status)
				require.Equal(t, pdc.CauseNack, ev.Cause)
			}
		}
		require.Zero(t, a.e.PDS().Stats().Failed)
		require.NotZero(t, a.e.Stats().Shortages)
		n.write(mode, netMTU)
		n.run(func() bool { return len(a.events) == 6 })
		require.Equal(t, ses.StatusOK, a.events[5].Outcome.Status)
	}
}

// Where a message that stands still ends the PDC, after some of its packets have been refused too often, others on the PDC
// do not fail for a refusal that they have not had: their error named NackCode(0).
func TestShortageThatEndsThePDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) {
		c.Target.Messages, c.PDS.MaxNackRetx, c.PDS.NackRetxTime, c.MessageTimeout, c.Memory.Chunks = 1, 1, 0, 10*ms, 0
	})
	a := n.ends[0]
	n.vanish(t)
	const messages = 4
	for range messages {
		n.write(ses.ModeROD, 100*netMTU)
	}
	n.run(func() bool { return len(a.events) == messages })
	for _, ev := range a.events {
		require.Equal(t, ses.StatusPDS, ev.Outcome.Status)
		require.Equal(t, ev.Cause == pdc.CauseNack, ev.Nack != 0, ev)
	}
}

// Pools that hold one of each are enough for messages of all kinds.
func TestPoolsOfOne(t *testing.T) {
	for name, edit := range map[string]func(*uetcc.Config){
		"chunk":        func(c *uetcc.Config) { c.Memory.Chunks = 1 },
		"response":     func(c *uetcc.Config) { c.Memory.Responses = 1 },
		"answer":       func(c *uetcc.Config) { c.Answers = 1 },
		"pending send": func(c *uetcc.Config) { c.Target.Pending = 1 },
		"record":       func(c *uetcc.Config) { c.Target.Messages = 1 },
	} {
		s := newTwoSided(t, 1, netFaults{}, func(c *uetcc.Config) {
			c.PDS = pdc.Config{}
			edit(c)
		})
		copy(s.b.mem, fill(20*netMTU, 7))
		read := s.a.local[s.read(ses.ModeRUD, 20*netMTU)]
		m := uetcc.Message{To: uetcc.Destination{Address: s.b.addr, Job: 1}, Key: 1, Offset: 1 << 16, Length: 20 * netMTU, Cookie: 50}
		s.a.local[50] = fill(20*netMTU, 8)
		_, err := s.a.e.Write(s.now, &m)
		require.NoError(t, err)
		for k := range uint64(2) {
			s.deferrable(10+k, 100+k, fill(3000, byte(k)))
		}
		s.sent = 200
		s.rendezvous(fill(20_000, 2), 0, 1000, 1)
		s.wait(ms)
		s.postTag(s.b, 1<<17, 1<<16, 1, 1)
		for k := range uint64(2) {
			s.postTag(s.b, 1<<18+k<<12, 3000, 10+k, 2+k)
		}
		s.endWell(s.a, 5)
		require.Less(t, s.now, int64(100*ms), "one %s", name)
		require.Equal(t, s.b.mem[:20*netMTU], read, "one %s", name)
		require.Equal(t, s.a.local[50], s.b.mem[1<<16:][:20*netMTU], "one %s", name)
		require.Equal(t, fill(20_000, 2), s.b.mem[1<<17:][:20_000], "one %s", name)
	}
}

// A packet of a message for which there is no record is refused, too, and leaves nothing to do.
func TestMessageWithoutRecordIsRefused(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.Target.Messages = 1 })
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 1)
	n.run(func() bool { return len(a.events) == 1 })
	refused := 0
	for range 2 {
		n.write(ses.ModeRUD, 2*netMTU)
	}
	ps := sendAll(n.now, a.e)
	require.Len(t, ps, 4)
	for _, p := range []wirePacket{ps[0], ps[2]} { // a part of each
		_, reply, r := take(n.now, b.e, p)
		var nack pds.Nack
		if _, err := nack.Decode(reply.Packet); err == nil {
			require.Equal(t, pds.NackNoSESMsgAvail, nack.Code)
			require.Equal(t, ses.ActionNone, r.Action)
			require.Equal(t, pds.NextNone, r.Form)
			require.Zero(t, r.Header)
			refused++
		}
	}
	require.Equal(t, 1, refused)
}

// A read that finds no answer free is refused with NO_SES_MSG_AVAIL, leaves nothing to do, and is
// sent again when its time has come.
func TestReadWithoutAnswerIsRefused(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.Answers = 1 })
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 1)
	n.run(func() bool { return len(a.events) == 1 })
	ps := n.reads(3 * netMTU)
	require.NotEmpty(t, ps)
	refused := 0
	for _, p := range ps {
		_, reply, r := take(n.now, b.e, p)
		var nack pds.Nack
		if _, err := nack.Decode(reply.Packet); err == nil {
			require.Equal(t, pds.NackNoSESMsgAvail, nack.Code)
			require.Equal(t, uetcc.Received{PDC: r.PDC}, r)
			refused++
		}
	}
	require.Equal(t, 2, refused)
}

// So is a RUDI read of more than a source not proven to receive may have: it is not said to be complete.
func TestRUDIReadOfAStrangerIsRefused(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	n.read(ses.ModeRUDI, netMTU)
	_, reply, r := take(n.now, n.ends[1].e, sendAll(n.now, n.ends[0].e)[0])
	var nack pds.Nack
	_, err := nack.Decode(reply.Packet)
	require.NoError(t, err)
	require.Equal(t, pds.NackNoPDCAvail, nack.Code)
	require.Equal(t, uetcc.Received{}, r)
}

// Sends that the peer refuses, and that have all memory for packets, keep back neither the data that the peer reads nor
// reads. Before, the data of the reads that the peer had to end first found no memory: reads took a minute, and sends failed.
func TestRefusedSendsLeaveMemoryToReads(t *testing.T) {
	const sends, length = 64, 40 * netMTU
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDS, c.Memory.Chunks, c.Messages = pdc.Config{}, 8, 256
		c.Target.Pending, c.Target.Receives, c.Target.Regions = 4, 256, 256
	})
	a, b := n.ends[0], n.ends[1]
	for i := range uint64(sends) {
		for _, end := range []*netEnd{a, b} {
			to := n.ends[0]
			if end == to {
				to = b
			}
			end.local[i] = make([]byte, length)
			m := n.matched(to, i, i, length)
			m.Rendezvous, m.Eager, m.Source = true, 8*netMTU, uetcc.Source{Process: 1 << 16}
			_, err := end.e.Send(n.now, &m)
			require.NoError(t, err)
			n.postTag(to, 0, length, i, 0)
		}
	}
	n.wait(300_000)
	began, reads := n.now, 0
	for i := range uint64(8) {
		a.local[1000+i] = make([]byte, 4*netMTU)
		_, err := a.e.Read(n.now, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: 4 * netMTU, Cookie: 1000 + i})
		require.NoError(t, err)
	}
	n.run(func() bool {
		reads = 0
		for _, ev := range a.events {
			if ev.Cookie >= 1000 {
				reads++
			}
		}
		return reads == 8
	})
	require.Less(t, n.now-began, int64(10*ms))
	n.run(func() bool { return a.e.Usage().Messages+b.e.Usage().Messages == 0 })
	for _, ev := range append(a.events, b.events...) {
		require.NoError(t, ev.Err())
	}
}
