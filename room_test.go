// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// What there is too little of: room in a reply, memory for packets, PDCs.

// Without room for a reply nothing is taken in.
func TestReceiveNeedsRoomForAReply(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	out := []uetcc.Datagram{newDatagram(), newDatagram()}
	short := func(e *uetcc.Endpoint, p wirePacket) {
		in, reply := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst}, uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax-1)}
		var r uetcc.Received
		for _, f := range []func(){
			func() { e.Receive(0, &in, &reply, &r) },
			func() { e.Exchange(0, &in, &reply, &r, out) },
		} {
			r = uetcc.Received{Complete: true}
			f()
			require.ErrorIs(t, r.Err, pdc.ErrShortBuffer)
			require.Equal(t, uetcc.Received{Err: r.Err}, r)
		}
	}
	for range 3 { // the first one opens the PDC
		n.write(ses.ModeRUD, 1000*netMTU)
		for ps := sendAll(0, a.e); len(ps) > 0; ps = sendAll(0, a.e) {
			for _, p := range ps {
				short(b.e, p)
				r, back := receive(0, b.e, p)
				require.Equal(t, ses.ActionPlace, r.Action)
				for _, q := range back {
					short(a.e, q)
					receive(0, a.e, q)
				}
			}
		}
	}
	n.run(func() bool { return len(a.events) == 3 })
}

// Nothing is sent into too little room, and nothing is lost by it.
func TestTransmitNeedsRoomForHeaders(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	e, out := n.ends[0].e, [4]uetcc.Datagram{newDatagram(), newDatagram(), {Packet: make([]byte, 0, uetcc.HeaderMax-1)}}
	n.write(ses.ModeRUD, 100) // the PDC is open then
	n.endWell(n.ends[0], 1)
	n.write(ses.ModeRUD, 5*netMTU)
	require.False(t, e.Transmit(n.now, &out[2]))
	require.Zero(t, e.TransmitBatch(n.now, out[2:]))
	require.Equal(t, 2, e.TransmitBatch(n.now, out[:]))
	require.Len(t, sendAll(n.now, e), 3)
}

// The nominal size of a packet is what the caller says, if it says something.
func TestReceiveCountsTheSizeItIsTold(t *testing.T) {
	for _, size := range []int64{0, 64 * 256} {
		n := newNetwork(t, 1, netFaults{}, 2, nil)
		n.write(ses.ModeRUD, 10)
		p := sendAll(0, n.ends[0].e)[0]
		in, reply := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst, Size: size}, newDatagram()
		var r uetcc.Received
		n.ends[1].e.Receive(0, &in, &reply, &r)
		var ack pds.AckCC
		_, err := ack.Decode(reply.Packet)
		require.NoError(t, err)
		var st pds.NSCCState
		require.True(t, ack.NSCC(&st))
		require.Equal(t, size == 0, st.RcvdBytes < 64, "%d", st.RcvdBytes)
	}
}

// Of an atomic as many operands as fit a packet, but no more than an acknowledgement takes
// if their values before are asked for.
func TestAtomicOfSeveralOperands(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	for _, c := range []struct {
		fetch  bool
		length uint32
		code   ses.ReturnCode
	}{{false, netMTU, ses.RCNull}, {true, 16, ses.RCNull}, {true, 24, ses.RCAMOUnsupportedSize}} {
		a.local[1] = binary.BigEndian.AppendUint64(make([]byte, 0, netMTU), 1)[:c.length]
		_, err := a.e.Atomic(n.now, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: c.length, Cookie: 1,
			Fetch: c.fetch, Swap: ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}})
		require.NoError(t, err)
		ps := sendAll(n.now, a.e)
		r, back := receive(n.now, b.e, ps[0])
		if c.fetch && c.code == ses.RCNull {
			reply := newReply(b.e)
			require.EqualValues(t, c.length, r.Length)
			require.NoError(t, b.e.Answer(n.now, r.Answer, make([]byte, c.length), &reply))
			back = append(back, onWire(&reply))
		}
		for _, q := range back {
			receive(n.now, a.e, q)
		}
		n.poll(a)
		require.Len(t, a.events, 1)
		require.Equal(t, c.code, a.events[0].Outcome.Code)
		a.events = nil
	}
}

// Behind a fetching atomic under way each packet asks for an acknowledgement: the target holds CACK below the
// answer, so CACK tells nothing of the packets behind. With the answer here only the last of a message asks.
func TestPacketsBehindAnAtomicAskEach(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.CC.NSCC.Trimming = true })
	a, b := n.ends[0], n.ends[1]
	n.write(ses.ModeRUD, 10)
	n.endWell(a, 1)
	asks := func() (asked int) {
		n.write(ses.ModeRUD, 10*netMTU)
		for _, p := range sendAll(n.now, a.e) {
			if p.data[1]&byte(pds.FlagAR) != 0 {
				asked++
			}
		}
		return asked
	}
	a.local[9] = binary.BigEndian.AppendUint64(nil, 1)
	_, err := a.e.Atomic(n.now, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: 8, Cookie: 9,
		Fetch: true, Swap: ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}})
	require.NoError(t, err)
	atomic := sendAll(n.now, a.e)
	require.Equal(t, 10, asks())
	r, _ := receive(n.now, b.e, atomic[0])
	reply := newReply(b.e)
	require.NoError(t, b.e.Answer(n.now, r.Answer, make([]byte, r.Length), &reply))
	receive(n.now, a.e, onWire(&reply))
	require.Equal(t, 1, asks())
}

// Read data for which there is no memory waits for it, and goes with its PDC.
func TestReadDataWaitsForMemory(t *testing.T) {
	for _, abort := range []bool{false, true} {
		chunks := 64
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { // the first end has more
			c.Memory.Chunks, chunks, c.PDS.KnownSources = chunks, 1, true
		})
		a, b := n.ends[0], n.ends[1]
		for i := range uint64(8) {
			a.local[i] = make([]byte, 4*netMTU)
			_, err := a.e.Read(0, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Context: uint16(i % 2)}, Key: 1, Length: 4 * netMTU, Cookie: i})
			require.NoError(t, err)
		}
		var r uetcc.Received
		for _, p := range sendAll(0, a.e) {
			var back []wirePacket
			r, back = receive(0, b.e, p)
			for _, q := range back {
				receive(0, a.e, q)
			}
		}
		require.Equal(t, 32, b.e.Usage().Answers)
		if abort {
			require.NoError(t, b.e.PDS().Abort(0, r.PDC))
			b.e.Tick(0)
			require.Equal(t, 16, b.e.Usage().Answers)
			continue
		}
		n.run(func() bool { return len(a.events) == 8 && b.e.Usage().Answers == 0 })
		for _, ev := range a.events {
			require.Equal(t, ses.StatusOK, ev.Outcome.Status)
		}
	}
}

// Completions that nobody polls keep messages from beginning, here and at peers.
func TestCompletionsThatNobodyPolls(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.Messages, c.Target.Messages = 2, 2 })
	a, b := n.ends[0], n.ends[1]
	m := uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1, Index: netQueue}, Mode: ses.ModeUUD, Length: 8}
	sent := 0
	for ; sent < 100; sent++ {
		if _, err := a.e.Send(0, &m); err != nil {
			require.ErrorIs(t, err, uetcc.ErrEvents)
			break
		}
		sendAll(0, a.e)
	}
	require.GreaterOrEqual(t, sent, 2, "half of all messages")
	require.Equal(t, sent, a.e.Usage().Events)
	_, err := b.e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: a.addr, Job: 1}, Key: 1, Length: 8})
	require.NoError(t, err)
	p := sendAll(0, b.e)[0]
	r, _ := receive(0, a.e, p)
	require.Equal(t, ses.ActionNone, r.Action)
	require.EqualValues(t, 1, a.e.Stats().Refused)
	_, ok := a.e.Poll()
	require.True(t, ok)
	r, _ = receive(0, a.e, p)
	require.Equal(t, ses.ActionPlace, r.Action)
	_, err = a.e.Send(0, &m)
	require.NoError(t, err)
}

// A message that is given up while it waits for a PDC does not get one.
func TestCancelWhileWaitingForAPDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDCs = pdc.TableConfig{General: 2, Initiators: 1, Quarantine: 1_000_000}
		c.Waiting = 4
	})
	a := n.ends[0]
	write := func(cookie uint64, context uint16) ses.Handle {
		a.local[cookie] = fill(10, byte(cookie))
		to := uetcc.Destination{Address: n.ends[1].addr, Job: 1, Context: context}
		h, err := a.e.Write(n.now, &uetcc.Message{To: to, Key: 1, Length: 10, Cookie: cookie})
		require.NoError(t, err)
		return h
	}
	write(1, 1)
	h := write(2, 2)
	write(3, 2)
	require.NoError(t, a.e.Cancel(0, h))
	n.run(func() bool { return len(a.events) == 3 })
	for _, ev := range a.events {
		require.Equal(t, ev.Cookie != 2, ev.Outcome.Status == ses.StatusOK, "%+v", ev)
	}
}

// A target that has no PDC for what it has to ask of its peer asks later.
func TestErrandWaitsForAPDC(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDCs = pdc.TableConfig{General: 4, Initiators: 1, Quarantine: 1_000_000}
		c.Waiting = 1
	})
	a, b := n.ends[0], n.ends[1]
	n.post(b, 0, 5000)
	a.local[1] = fill(5000, 1)
	copy(a.mem, a.local[1])
	m := n.matched(b, 0, 1, 5000)
	m.Tagged, m.Rendezvous, m.Source.Process = false, true, 1<<16
	_, err := a.e.Send(0, &m)
	require.NoError(t, err)
	for i := range uint64(2) { // on the PDC, and in the queue for it
		b.local[i] = fill(10, 1)
		_, err := b.e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: a.addr, Job: 1, Context: uint16(i + 1)}, Key: 1, Offset: 1 << 16, Length: 10, Cookie: i})
		require.NoError(t, err)
	}
	n.run(func() bool { return len(a.events) == 1 && len(b.events) == 3 })
	require.Equal(t, ses.StatusOK, a.events[0].Outcome.Status)
	require.Equal(t, a.local[1], b.mem[:5000])
}

// A rendezvous send that cannot begin leaves nothing open.
func TestRendezvousThatCannotBeginLendsNothing(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.PDCs = pdc.TableConfig{General: 2, Initiators: 1, Quarantine: 1_000_000}
		c.Waiting, c.Target.Regions = 1, 2
	})
	a := n.ends[0]
	m := n.matched(n.ends[1], 0, 1, 5000)
	m.Rendezvous, m.Source.Process = true, 1<<16
	for i := range 3 {
		m.To.Context = uint16(i)
		m.Rendezvous = i == 2
		_, err := a.e.Send(0, &m)
		require.Equal(t, i == 2, err == pdc.ErrPaused)
	}
	_, err := a.e.Target().Register(1<<16, 0, ses.Region{Key: 2})
	require.NoError(t, err)
}

// What the window has room for goes out before anything comes back, whatever the mode.
func TestTransmitFillsTheWindow(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD, ses.ModeRUDI} {
		for _, batch := range []bool{false, true} {
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.RUDI = 128 })
			e, sent := n.ends[0].e, 0
			n.write(mode, 100) // the PDC is open then
			n.endWell(n.ends[0], 1)
			n.write(mode, 100*netMTU)
			if out := []uetcc.Datagram{newDatagram(), newDatagram(), newDatagram()}; batch {
				for k := 3; k == 3; sent += k {
					k = e.TransmitBatch(n.now, out)
				}
			}
			require.Equal(t, 100, sent+len(sendAll(n.now, e)), "%v", mode)
		}
	}
}

// PDCs that find too little memory for packets get some in turn, until all is sent.
func TestTransmitInTurnWithLittleMemory(t *testing.T) {
	for chunks := 1; chunks < 8; chunks++ {
		w := newStar(t, 6, fabric.Config{Rate: 100e9, Hop: link.Microsecond, Loss: .01}, func(c *uetcc.Config) { c.Memory.Chunks = chunks })
		for dst := 1; dst < 6; dst++ {
			for range 2 {
				w.post(fabric.Message{Src: 0, Dst: dst, Size: 200_000})
			}
		}
		w.end()
	}
}
