// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// ordered is a network whose ends buffer what an ordered PDC brings too early. A test
// holds the wire from the first to the second in its hand.
type ordered struct {
	*network
	a, b *netEnd
	psns []pds.PSN // handed up at b
	back []wirePacket
}

// newOrdered has a PDC open already, so that packets may come in any order.
func newOrdered(t *testing.T, edit func(*uetcc.Config)) *ordered {
	o := &ordered{network: newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDS.BufferROD = true
		if edit != nil {
			edit(c)
		}
	})}
	o.a, o.b = o.ends[0], o.ends[1]
	o.write(ses.ModeROD, 1)
	o.run(func() bool { return len(o.a.events) == 1 })
	o.a.events = nil
	return o
}

// send takes n packets from a.
func (o *ordered) send(n int) (ps []wirePacket) {
	for out := newDatagram(); o.a.e.Transmit(o.now, &out); out = newDatagram() {
		p := onWire(&out)
		copy(p.data[len(out.Packet):], o.a.local[out.Payload.Cookie][out.Payload.Offset:])
		ps = append(ps, p)
	}
	require.Len(o.t, ps, n)
	return ps
}

// give has b receive a packet, and answer to it later.
func (o *ordered) give(p wirePacket) (r uetcc.Received) {
	in, reply, r := take(o.now, o.b.e, p)
	if r.Buffer != 0 {
		o.b.keep(&in, int(r.Buffer))
	}
	o.obey(&in, &reply, &r)
	return r
}

// replay has b take what may be taken of what it has buffered, and returns how many
// packets that is.
func (o *ordered) replay() (n int) {
	for {
		var r uetcc.Received
		reply := newDatagram()
		k := o.b.e.Replay(o.now, o.b.buffers, &reply, &r)
		if k == 0 {
			require.Empty(o.t, reply.Packet)
			require.Zero(o.t, r)
			return n
		}
		n++
		o.obey(&o.b.buffers[k], &reply, &r)
	}
}

func (o *ordered) obey(in, reply *uetcc.Datagram, r *uetcc.Received) {
	if r.Form != pds.NextNone {
		o.psns = append(o.psns, (*view.Request)(in.Packet).PSN())
	}
	if r.Action == ses.ActionPlace {
		copy(o.b.mem[r.Address:], in.Packet[r.Payload:][:r.Length])
	}
	if len(reply.Packet) > 0 {
		o.back = append(o.back, onWire(reply))
	}
}

// finish brings what b has answered, lets the rest happen, and holds that the write of
// cookie has ended well and nothing is left.
func (o *ordered) finish(cookie uint64) {
	for _, p := range o.back {
		receive(o.now, o.a.e, p)
	}
	o.endWell(o.a, 1)
	require.Equal(o.t, o.a.local[cookie], o.b.mem[:len(o.a.local[cookie])])
	o.settle()
	require.Zero(o.t, o.b.e.Usage())
}

// inOrder holds that n packets were handed up, each once and in order.
func (o *ordered) inOrder(n int) {
	require.Len(o.t, o.psns, n)
	for i, psn := range o.psns {
		require.Equal(o.t, o.psns[0]+pds.PSN(i), psn, "%d", o.psns)
	}
}

// In whatever order they come, packets are handed up in theirs; none is refused, none
// sent again. What comes before the waiting ones are taken waits as well. A tap sees the answers
// of those that waited, too.
func TestReplayReordered(t *testing.T) {
	const packets = 5
	for first := range packets {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint("from ", first, ", late ", late), func(t *testing.T) {
				sent := 0
				o := newOrdered(t, func(c *uetcc.Config) {
					if late {
						c.Tap = func(_ int64, out bool, d uetcc.Datagram) {
							if out && d.Src == pdc.AddrFrom(netip.MustParseAddr("10.0.0.2")) {
								sent++
							}
						}
					}
				})
				sent = 0
				cookie := o.write(ses.ModeROD, packets*netMTU)
				ps := o.send(packets)
				for i := range ps {
					r := o.give(ps[(first+packets-i)%packets])
					require.NoError(t, r.Err)
					require.Equal(t, r.Buffer != 0, r.Form == pds.NextNone, "%+v", r)
					if !late {
						o.replay()
					}
				}
				o.replay()
				o.inOrder(packets)
				require.True(t, !late || sent == len(o.back), "%d of %d", sent, len(o.back))
				o.finish(cookie)
				require.Zero(t, o.a.e.PDS().Stats().Resent)
				require.Zero(t, o.b.e.PDS().Stats().NACKs)
			})
		}
	}
}

// One acknowledgement, of the last, tells of all that a gap has kept.
func TestReplayAcknowledgesOnce(t *testing.T) {
	o := newOrdered(t, nil)
	cookie := o.write(ses.ModeROD, 9*netMTU)
	ps := o.send(9)
	for _, p := range ps[1:] {
		o.give(p)
	}
	require.Len(t, o.back, 1, "the last asks for it")
	var ack pds.AckCC
	_, err := ack.Decode(o.back[0].data)
	require.NoError(t, err)
	require.EqualValues(t, 0x1fe, ack.Bitmap<<(ack.SACKBase()-ack.CACK-1), "and shows what has come")
	o.give(ps[0])
	o.back = nil
	require.Equal(t, 8, o.replay())
	require.Len(t, o.back, 1)
	_, err = ack.Decode(o.back[0].data)
	require.NoError(t, err)
	require.Equal(t, o.psns[8], ack.CACK)
	o.inOrder(9)
	o.finish(cookie)
}

// A copy of a packet that waits is dropped; one that was sent again is told what has
// come, and takes no second buffer.
func TestReplayDuplicateWhileBuffered(t *testing.T) {
	o := newOrdered(t, nil)
	cookie := o.write(ses.ModeROD, 3*netMTU)
	ps := o.send(3)
	require.NotZero(t, o.give(ps[1]).Buffer)
	r := o.give(ps[1])
	require.ErrorIs(t, r.Err, pdc.ErrDuplicate)
	require.Zero(t, r.Buffer)
	require.Empty(t, o.back)
	again := slices.Clone(ps[1].data)
	again[1] |= byte(pds.FlagRetx)
	r = o.give(wirePacket{again, ps[1].src, ps[1].dst, tcLow, 0})
	require.ErrorIs(t, r.Err, pdc.ErrDuplicate)
	require.Len(t, o.back, 1)
	var ack pds.AckCC
	_, err := ack.Decode(o.back[0].data)
	require.NoError(t, err)
	require.EqualValues(t, 2, ack.Bitmap<<(ack.SACKBase()-ack.CACK-1))
	require.Equal(t, 1, o.b.e.Usage().Buffered)
	o.give(ps[0])
	o.give(ps[1]) // also when its turn has come
	o.give(ps[2])
	require.Equal(t, 2, o.replay())
	require.ErrorIs(t, o.give(ps[1]).Err, pdc.ErrDuplicate)
	o.inOrder(3)
	o.finish(cookie)
}

// Where no buffer is free the packet is asked for again later, which spares the others.
func TestReplayBufferFull(t *testing.T) {
	o := newOrdered(t, func(c *uetcc.Config) { c.Memory.Buffers = 3 }) // of which one PDC may have 2
	cookie := o.write(ses.ModeROD, 5*netMTU)
	ps := o.send(5)
	for i, buffer := range []uint16{1, 2, 0, 0} {
		r := o.give(ps[i+1])
		require.Equal(t, buffer, r.Buffer)
		if buffer == 0 {
			require.ErrorIs(t, r.Err, pdc.ErrNoBuffer)
			var n pds.Nack
			_, err := n.Decode(o.back[len(o.back)-1].data)
			require.NoError(t, err)
			require.Equal(t, pds.NackNoPktBuffer, n.Code)
			require.Equal(t, (*view.Request)(ps[i+1].data).PSN(), n.PSN)
		}
	}
	require.Equal(t, 2, o.b.e.Usage().Buffered)
	o.give(ps[0]) // needs none
	require.Equal(t, 2, o.replay())
	o.inOrder(3)
	o.finish(cookie)
	require.EqualValues(t, 2, o.a.e.PDS().Stats().Resent)
}

// What waits on a PDC that goes is gone: its buffers are free, and it is not replayed on
// another PDC.
func TestReplayClosedWhileBuffered(t *testing.T) {
	for _, due := range []bool{false, true} {
		t.Run(fmt.Sprint("due ", due), func(t *testing.T) {
			o := newOrdered(t, func(c *uetcc.Config) { c.Memory.Buffers = 3 }) // of which one PDC may have 2
			o.write(ses.ModeROD, 3*netMTU)
			ps := o.send(3)
			o.give(ps[1])
			h := o.give(ps[2]).PDC
			if due {
				o.give(ps[0])
			}
			require.Equal(t, 2, o.b.e.Usage().Buffered)
			require.NoError(t, o.b.e.PDS().Abort(o.now, h))
			require.Zero(t, o.b.e.Usage().Buffered)
			require.Zero(t, o.replay())
			o.run(func() bool { return len(o.a.events) == 1 })
			require.Equal(t, ses.StatusPDS, o.a.events[0].Outcome.Status)

			o.a.events, o.back, o.psns = nil, nil, nil
			o.write(ses.ModeROD, 1) // on a PDC of its own
			o.run(func() bool { return len(o.a.events) == 1 })
			o.a.events = nil
			cookie := o.write(ses.ModeROD, 3*netMTU)
			ps = o.send(3)
			require.NotZero(t, o.give(ps[2]).Buffer)
			require.NotZero(t, o.give(ps[1]).Buffer)
			o.give(ps[0])
			require.Equal(t, 2, o.replay())
			o.inOrder(3)
			for _, p := range o.back {
				receive(o.now, o.a.e, p)
			}
			o.endWell(o.a, 1)
			require.Equal(t, o.a.local[cookie], o.b.mem[:3*netMTU])
		})
	}
}

// A packet that cannot be judged for want of room waits on, and what is behind it; those
// of other PDCs do not.
func TestReplayWaitsForRoom(t *testing.T) {
	o := newOrdered(t, func(c *uetcc.Config) { c.Answers = 1 })
	for range 3 {
		o.read(ses.ModeROD, 8)
	}
	ps := o.send(3)
	o.give(ps[2])
	o.give(ps[1])
	first := o.give(ps[0])
	require.NotZero(t, first.Answer)
	require.Zero(t, o.replay(), "the only answer is under way")
	require.Equal(t, 2, o.b.e.Usage().Buffered)
	require.NotZero(t, o.b.e.Stats().Refused)
	answer := func(id uetcc.AnswerID) {
		reply := newDatagram()
		require.NoError(t, o.b.e.Answer(o.now, id, make([]byte, 8), &reply))
		o.back = append(o.back, onWire(&reply))
	}
	answer(first.Answer)
	for range 2 {
		var r uetcc.Received
		reply := newDatagram()
		require.NotZero(t, o.b.e.Replay(o.now, o.b.buffers, &reply, &r))
		require.Equal(t, ses.ActionRead, r.Action)
		require.Zero(t, o.replay())
		answer(r.Answer)
	}
	for _, p := range o.back {
		receive(o.now, o.a.e, p)
	}
	o.endWell(o.a, 3)
}

// A packet that was buffered can be taken back as any other.
func TestReplayFail(t *testing.T) {
	o := newOrdered(t, nil)
	o.write(ses.ModeROD, 3*netMTU)
	ps := o.send(3)
	o.give(ps[1])
	o.give(ps[2])
	o.give(ps[0])
	var r uetcc.Received
	reply := uetcc.Datagram{Packet: make([]byte, 0, 8)}
	require.Zero(t, o.b.e.Replay(o.now, o.b.buffers, &reply, &r), "too little room")
	reply = newDatagram()
	k := o.b.e.Replay(o.now, o.b.buffers, &reply, &r)
	require.NotZero(t, k)
	r.Code = ses.RCHostPoisoned
	require.NoError(t, o.b.e.Fail(o.now, &o.b.buffers[k], &reply, &r))
	o.back = append(o.back, onWire(&reply))
	require.Equal(t, 1, o.replay())
	for _, p := range o.back {
		receive(o.now, o.a.e, p)
	}
	o.run(func() bool { return len(o.a.events) == 1 })
	require.Equal(t, ses.RCHostPoisoned, o.a.events[0].Outcome.Code)
}

func TestReplayAllocs(t *testing.T) {
	o := newOrdered(t, nil)
	reply, out := newReply(o.b.e), newDatagram()
	buffers := make([]uetcc.Datagram, 1025)
	var ps [3][]byte
	var r uetcc.Received
	m := uetcc.Message{To: uetcc.Destination{Address: o.b.addr, Job: 1}, Mode: ses.ModeROD, Key: 1, Length: 3 * netMTU, Cookie: 1}
	for i := range ps {
		ps[i] = make([]byte, uetcc.HeaderMax+netMTU)
	}
	back := newReply(o.a.e)
	answer := func() {
		if len(reply.Packet) > 0 {
			in := uetcc.Datagram{Packet: reply.Packet, Src: reply.Src, Dst: reply.Dst}
			o.a.e.Receive(o.now, &in, &back, &r)
		}
	}
	alloctest.Zero(t, "Replay", func() {
		if _, err := o.a.e.Write(o.now, &m); err != nil {
			panic(err)
		}
		var ins [3]uetcc.Datagram
		for i := range ps {
			if out.Packet = ps[i][:0]; !o.a.e.Transmit(o.now, &out) {
				panic("not sent")
			}
			ins[i] = uetcc.Datagram{Packet: out.Packet[:len(out.Packet)+netMTU], Src: out.Src, Dst: out.Dst}
		}
		o.now += 10_000
		for i := len(ins) - 1; i >= 0; i-- {
			if o.b.e.Receive(o.now, &ins[i], &reply, &r); r.Buffer != 0 {
				buffers[r.Buffer] = ins[i]
			}
			answer()
		}
		for range 2 {
			if o.b.e.Replay(o.now, buffers, &reply, &r) == 0 {
				panic("not replayed")
			}
			answer()
		}
		if ev, ok := o.a.e.Poll(); !ok || ev.Outcome.Status != ses.StatusOK {
			panic("not done")
		}
	})
}
