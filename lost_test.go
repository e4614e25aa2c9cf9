// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

// What must come to an end although something was lost for good. Each of these was
// found by the fault simulation.

// A message behind one that fails is sent all the same.
func TestEndpointRUDIBehindAFailure(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.MaxRTORetx, c.RUDI = 1, 2 })
	n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
	n.write(ses.ModeRUDI, 20*netMTU)
	n.write(ses.ModeRUDI, 100)
	n.run(func() bool { return len(n.ends[0].events) == 2 })
	require.Zero(t, n.ends[0].e.Usage())
}

// A host whose link is the narrowest place has always another packet to send. RUDI packets and datagrams went only once
// nothing was left on any PDC, and failed where that lasted longer than MessageTimeout.
func TestEveryModeHasItsTurn(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) { c.CC.Mode = ccc.ModeOff })
	a, b, c := n.ends[0], n.ends[1], n.ends[2]
	const long, short = 1, 2
	n.write(ses.ModeRUD, netMemory)
	to := uetcc.Destination{Address: c.addr, Job: 1}
	for i, mode := range []ses.Mode{ses.ModeRUDI, ses.ModeUUD, ses.ModeROD} {
		for range 5 {
			m := uetcc.Message{To: to, Mode: mode, Key: 1, Length: 100, Cookie: short + uint64(i)}
			start := a.e.Write
			if mode == ses.ModeUUD {
				start, m.To.Index, m.Key = a.e.Send, netQueue, 0
			}
			_, err := start(n.now, &m)
			require.NoError(t, err)
		}
	}
	sent := map[uint64]int{}
	for range 30 { // a packet at a time, whichever batch
		out := [1]uetcc.Datagram{newDatagram()}
		require.Equal(t, 1, a.e.TransmitBatch(n.now, out[:]))
		if d := out[0]; d.Payload.Length > 0 {
			sent[d.Payload.Cookie]++
			if d.Dst == pdc.AddrFrom(b.addr) {
				require.EqualValues(t, long, d.Payload.Cookie)
			}
		}
	}
	require.Equal(t, map[uint64]int{long: 15, short: 5, short + 1: 5, short + 2: 5}, sent, "two turns of three are of PDCs")
}

// Messages wait behind one another. Whichever of them is given up, all others are sent.
func TestEndpointBehindACancelled(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI, ses.ModeUUD} {
		for gone := range uint64(4) {
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.RUDI = 1 })
			a := n.ends[0]
			write := func(cookie uint64) ses.Handle {
				m := uetcc.Message{To: uetcc.Destination{Address: n.ends[1].addr, Job: 1}, Mode: mode, Key: 1, Length: 64 * netMTU, Cookie: cookie}
				start := a.e.Write
				if mode == ses.ModeUUD {
					start, m.Length = a.e.Send, 100
				}
				a.local[cookie] = fill(int(m.Length), 1)
				h, err := start(n.now, &m)
				require.NoError(t, err)
				return h
			}
			var h [4]ses.Handle
			for i := range h {
				h[i] = write(uint64(i))
			}
			require.NoError(t, a.e.Cancel(n.now, h[gone]))
			write(4)
			n.run(func() bool { return len(a.events) == 5 })
			for _, ev := range a.events {
				require.Equal(t, ev.Cookie != gone, ev.Outcome.Status == ses.StatusOK, "%v: %+v", mode, ev)
			}
		}
	}
}

// Credit that is lost is granted again to whoever asks.
func TestEndpointCreditLost(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, underCredit(ccc.ControlRCCC, 2048))
	c := n.write(ses.ModeRUD, 40*netMTU)
	a := n.ends[0]
	n.run(func() bool { return n.now > 30_000 })
	n.cut[pdc.AddrFrom(a.addr)] = true // all that it has asked for is granted meanwhile
	n.run(func() bool { return n.now > 5_000_000 })
	n.cut[pdc.AddrFrom(a.addr)] = false
	n.endWell(a, 1)
	require.Equal(t, a.local[c], n.ends[1].mem[:40*netMTU])
}

// A source that has lost its memory starts to count credit again; the destination
// does not hold what it knew of the source by the same name against it.
func TestEndpointCreditStartsOver(t *testing.T) {
	first := pdc.TableConfig{General: 8, Quarantine: 3_000_000, FirstID: 1}
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(c)
		c.PDCs = first
		first.FirstID = 5 // of the next one
	})
	a := n.ends[0]
	for i := range 6 {
		n.write(ses.ModeRUD, netMemory-i)
		n.run(func() bool { return len(a.events) == i+1 })
	}
	again := newNetwork(t, 1, netFaults{}, 1, func(c *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(c)
		c.PDCs, c.Now = first, n.now
	})
	a.e, a.events, a.local = again.ends[0].e, nil, map[uint64][]byte{}
	n.write(ses.ModeRUD, 40*netMTU)
	n.endWell(a, 1)
}

// An initiator whose PDC fails lets go of the credit that it scheduled for the read
// data, and of everything else.
func TestEndpointCreditReadGone(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		underCredit(ccc.ControlRCCC, 2048)(c)
		c.PDS.MaxRTORetx = 2
	})
	a := n.ends[0]
	n.read(ses.ModeRUD, 100*netMTU)
	n.run(func() bool { return a.e.Usage().Senders == 1 })
	n.write(ses.ModeRUD, 4*netMTU)
	n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
	n.run(func() bool { return len(a.events) == 2 && a.e.Usage().PDCs == 0 })
	require.Zero(t, a.e.Usage())
}

// All messages of a PDC that fails, sent or not, fail for its reason.
func TestEndpointQueuedMessagesFailForTheReasonOfTheirPDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.MaxRTORetx = 2 })
	a := n.ends[0]
	n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
	for range 3 {
		n.write(ses.ModeRUD, 100*netMTU)
	}
	n.run(func() bool { return len(a.events) == 3 })
	for _, ev := range a.events {
		require.Equal(t, a.events[0].Cause, ev.Cause)
		require.NotEqual(t, pdc.CauseClosed, ev.Cause)
	}
}

// A sender that has been forgotten, because it holds credit and is silent, gets some when it
// asks again on the same PDC.
func TestEndpointCreditAfterSilence(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, underCredit(ccc.ControlRCCC, 2048))
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 40*netMTU)
	n.run(func() bool { return n.now > 30_000 })
	n.cut[pdc.AddrFrom(a.addr)], n.cut[pdc.AddrFrom(b.addr)] = true, true
	n.run(func() bool { return n.now > 5_000_000 })
	b.e.Tick(n.now)
	require.Zero(t, b.e.Usage().Senders)
	require.Equal(t, 1, b.e.Usage().PDCs)
	n.cut = nil
	n.endWell(a, 1)
}

// A target whose initiator falls silent hears that the rest of a message will not
// come, and has its receive buffer again.
func TestEndpointMessageBroken(t *testing.T) {
	n := newNetwork(t, 1, netFaults{reorder: 30_000}, 2, func(c *uetcc.Config) { c.PDS.MaxRTORetx, c.PDS.IdleTime = 2, 2_000_000 })
	a, b := n.ends[0], n.ends[1]
	_, err := b.e.Target().PostReceive(1<<16, netQueue, ses.Receive{Base: 4096, Length: 1 << 16, Ignore: ^uint64(0), Cookie: 77})
	require.NoError(t, err)
	m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Index: netQueue}, Length: 40 * netMTU, Cookie: 1}
	a.local[1] = fill(40*netMTU, 1)
	_, err = a.e.Send(0, &m)
	require.NoError(t, err)
	n.run(func() bool { return b.e.Usage().Arriving == 1 })
	n.cut[pdc.AddrFrom(b.addr)], n.cut[pdc.AddrFrom(a.addr)] = true, true
	n.run(func() bool { return len(b.events) == 1 && len(a.events) == 1 && b.e.Usage() == uetcc.Usage{} })
	require.Equal(t, ses.StatusPDS, a.events[0].Outcome.Status)
	ev := b.events[0]
	require.Zero(t, ev.Message)
	require.EqualValues(t, 77, ev.Cookie)
	require.Equal(t, ses.StatusPDS, ev.Outcome.Status)
	require.EqualValues(t, 1, b.e.Stats().Broken)
}

// A peer that is gone takes the reads from it along, and no others.
func TestEndpointReadsOfOnePeerFail(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 3, func(c *uetcc.Config) { c.PDS.MaxRTORetx = 2 })
	a := n.ends[0]
	for i := range 8 {
		cookie := uint64(i)
		m := uetcc.Message{To: uetcc.Destination{Address: n.ends[1+i%2].addr, Job: 1}, Key: 1, Length: 3 * netMTU, Cookie: cookie}
		a.local[cookie] = make([]byte, m.Length)
		_, err := a.e.Read(0, &m)
		require.NoError(t, err)
	}
	n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
	n.run(func() bool { return len(a.events) == 8 && a.e.Usage().PDCs == 1 })
	for _, ev := range a.events {
		want := ses.StatusOK
		if ev.Cookie%2 == 0 {
			want = ses.StatusPDS
		}
		require.Equal(t, want, ev.Outcome.Status, "%+v", ev)
	}
}

// Two messages for one record: it is kept for the packet that is missing, since the other
// message may wait for what has to wait for that.
func TestEndpointLastRecordIsForWhatIsMissing(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.Target.Messages = 1 })
	n.write(ses.ModeRUD, 2*netMTU)
	n.write(ses.ModeRUD, 2*netMTU)
	sent := sendAll(n.now, n.ends[0].e)
	require.Len(t, sent, 4)
	for _, c := range []struct {
		packet int
		want   ses.Action
	}{{3, ses.ActionNone}, {2, ses.ActionNone}, {0, ses.ActionPlace}, {1, ses.ActionPlace}, {2, ses.ActionPlace}, {3, ses.ActionPlace}} {
		r, back := receive(n.now, n.ends[1].e, sent[c.packet])
		require.NoError(t, r.Err)
		require.Equal(t, c.want, r.Action)
		require.Equal(t, c.want == ses.ActionNone, r.Check == step.Record)
		require.NotEmpty(t, back)
	}
}

// A message over RUDI that is refused for now, with packets that were not sent, is tried
// again in time, and those behind it do not wait for that.
func TestEndpointRUDIRefusedHalfWay(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.RUDI = 4 })
	b := n.ends[1]
	require.NoError(t, b.e.Target().SetIndexState(1<<16, 0, ses.IndexGenDisabled))
	first := n.write(ses.ModeRUDI, 100*netMTU)
	n.run(func() bool {
		at, ok := n.ends[0].e.NextDeadline()
		return ok && at > 10_000_000
	})
	require.NoError(t, b.e.Target().SetIndexState(1<<16, 0, ses.IndexEnabled))
	second := n.write(ses.ModeRUDI, 100)
	n.run(func() bool { return len(n.ends[0].events) == 1 })
	require.Equal(t, second, n.ends[0].events[0].Cookie)
	n.run(func() bool { return len(n.ends[0].events) == 2 })
	require.Equal(t, first, n.ends[0].events[1].Cookie)
	require.Equal(t, ses.Outcome{Status: ses.StatusOK, Retries: 1, Length: 100 * netMTU}, n.ends[0].events[1].Outcome)
}

// A PDC is aborted by way of its manager while a send that came on it waits for a buffer,
// which then comes: nobody is told to send again, and the buffer is for others. What it
// means for the messages of this side the next Tick tells, which is due at once.
func TestEndpointAbortByTheManager(t *testing.T) {
	s := newTwoSided(t, 1, netFaults{}, nil)
	s.deferrable(7, 99, fill(2000, 1))
	s.run(func() bool { return s.b.e.Usage().Pending == 1 })
	for _, end := range []*netEnd{s.b, s.a} {
		for h := range end.e.PDS().All() {
			require.NoError(t, end.e.PDS().Abort(s.now, h))
		}
		s.postTag(s.b, 0, 2000, 7, 5)
		out := newDatagram()
		require.False(t, end.e.Transmit(s.now, &out))
		at, ok := end.e.NextDeadline()
		require.True(t, ok && at <= s.now)
		end.e.Tick(s.now)
		s.poll(end)
	}
	require.Zero(t, s.b.e.Usage().Pending)
	require.Len(t, s.a.events, 1)
	require.Equal(t, pdc.CauseAborted, s.a.events[0].Cause)
	s.deferrable(7, 99, fill(2000, 1))
	s.run(func() bool { return len(s.a.events) == 2 })
	require.Equal(t, ses.StatusOK, s.a.events[1].Outcome.Status)
}

// A peer asks who reads with RUDI to show first that it receives, which takes two round trips. Copies sent
// meanwhile are refused, too, and no reason to give up: by default reads failed from 6 ms of round trip on.
func TestEndpointRUDIReadFromAfar(t *testing.T) {
	for _, delay := range []int64{ms / 2, 3 * ms, 5 * ms, 15 * ms, 25 * ms} {
		n := newNetwork(t, 1, netFaults{delay: delay}, 2, func(c *uetcc.Config) {
			c.PDS, c.CC = pdc.Config{}, ccc.Config{}
		})
		for range 3 {
			n.read(ses.ModeRUDI, netMTU)
		}
		n.endWell(n.ends[0], 3)
	}
}

// The RUDI packets of dead peers hold nobody up. Before, ten writes to one had all places until they had timed out, and
// where many packets are lost, so that few may be on their way, also those.
func TestDeadPeersLeavePlacesForRUDI(t *testing.T) {
	for _, c := range []struct {
		loss  float64
		peers int
		ends  int   // of those the others are dead from the start
		all   int64 // ns: time of 300 writes to a live peer
	}{{0, 200, 0, 3.1 * ms}, {0, 20, 20, 14 * ms}, {0.3, 4, 0, 420 * ms}} {
		n := newNetwork(t, 1, netFaults{loss: c.loss}, 2+c.ends, func(c *uetcc.Config) { c.PDS.MaxRTORetx, c.Messages = 5, 512 })
		a, b := n.ends[0], n.ends[1]
		write := func(to netip.Addr, length uint32) (took int64) {
			cookie, began := uint64(len(a.local)+1), n.now
			a.local[cookie] = make([]byte, length)
			_, err := a.e.Write(n.now, &uetcc.Message{
				To: uetcc.Destination{Address: to, Job: 1}, Mode: ses.ModeRUDI, Key: 1, Length: length, Cookie: cookie,
			})
			require.NoError(t, err)
			n.run(func() bool {
				k := len(a.events) - 1
				return to != b.addr || k >= 0 && a.events[k].Cookie == cookie
			})
			return n.now - began
		}
		write(b.addr, 256*netMTU)
		messages := max(c.peers, 40)
		for i := range messages {
			write(netip.AddrFrom4([4]byte{10, 0, 0, byte(3 + i%c.peers)}), 512*netMTU)
		}
		n.wait(50_000)
		for _, end := range n.ends[2:] {
			n.cut[pdc.AddrFrom(end.addr)] = true
		}
		all := int64(0)
		for range 300 {
			all += write(b.addr, netMTU)
			n.wait(100_000)
		}
		require.Less(t, all, c.all)
		n.run(func() bool { return len(a.events) == messages+301 })
		for _, ev := range a.events {
			require.True(t, ev.Peer != b.addr || ev.Err() == nil || c.loss > 0, ev)
		}
		require.Zero(t, a.e.Usage().RUDI)
	}
}

// However many peers are dead from the start, RUDI packets to live ones find a place at once where those have answered
// before, and otherwise about as soon as each of the dead has timed out once. Before, 240 dead peers had all places for
// 139 ms, and 1,000 for 558 ms.
func TestDeadPeersLeaveTriesForRUDI(t *testing.T) {
	const dead, live = 300, 8
	for _, known := range []bool{true, false} {
		n := newNetwork(t, 1, netFaults{}, 1+live, func(c *uetcc.Config) {
			c.PDS, c.Messages, c.Contexts = pdc.Config{}, 1024, 64
		})
		a := n.ends[0]
		write := func(to netip.Addr) {
			cookie := uint64(len(a.local) + 1)
			a.local[cookie] = make([]byte, netMTU)
			_, err := a.e.Write(n.now, &uetcc.Message{
				To: uetcc.Destination{Address: to, Job: 1}, Mode: ses.ModeRUDI, Key: 1, Length: netMTU, Cookie: cookie,
			})
			require.NoError(t, err)
		}
		liveEnded := 0
		writeLive := func(count int) {
			a.events = nil
			for i := range count {
				write(n.ends[1+i%live].addr)
			}
			n.run(func() bool {
				liveEnded = 0
				for _, ev := range a.events {
					if n.byAddr[pdc.AddrFrom(ev.Peer)] != nil {
						require.NoError(t, ev.Err())
						liveEnded++
					}
				}
				return liveEnded == count
			})
		}
		if known {
			writeLive(live)
		}
		for i := range 2 * dead {
			write(netip.AddrFrom4([4]byte{10, 0, 1 + byte(i%dead/200), byte(i % dead % 200)}))
		}
		n.wait(50_000)
		began := n.now
		writeLive(10 * live)
		require.Less(t, n.now-began, map[bool]int64{true: 300_000, false: 20 * ms}[known])
		n.run(func() bool { return a.e.Usage().Messages == 0 })
		require.Zero(t, a.e.Usage().RUDI)
	}
}

// RUDI goes on once messages have failed whose packets the link did not take for longer than MessageTimeout. Before, such
// packets counted as handed over for ever, and no RUDI message was sent any more.
func TestRUDIGoesOnAfterTheLinkStood(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a := n.ends[0]
	for range 8 {
		n.write(ses.ModeRUDI, 64*netMTU)
	}
	for len(a.events) < 8 {
		n.now += 500 * ms
		require.Less(t, n.now, int64(100_000*ms))
		a.e.Tick(n.now)
		n.poll(a)
	}
	n.write(ses.ModeRUDI, netMTU)
	n.run(func() bool { return len(a.events) == 9 })
	require.NoError(t, a.events[8].Err())
}
