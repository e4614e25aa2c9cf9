// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// readAll reads in pieces of the given lengths from end 1 to end 0, and what is read.
func (n *network) readAll(mode ses.Mode, lengths ...int) {
	a, b := n.ends[0], n.ends[1]
	copy(b.mem, fill(netMemory, 7))
	got, at := make([][]byte, len(lengths)), 0
	for i, l := range lengths {
		got[i] = make([]byte, l)
		a.local[uint64(i)] = got[i]
		_, err := a.e.Read(n.now, &uetcc.Message{To: uetcc.Destination{Address: b.addr, Job: 1}, Mode: mode, Key: 1,
			Offset: uint64(at), Length: uint32(l), Cookie: uint64(i)})
		require.NoError(n.t, err)
		at += l
	}
	n.run(func() bool { return len(a.events) == len(lengths) })
	at = 0
	for i, l := range lengths {
		require.Equal(n.t, b.mem[at:][:l], got[i], "read %d", i)
		at += l
	}
	for _, ev := range a.events {
		require.Equal(n.t, ses.StatusOK, ev.Outcome.Status)
	}
	a.events = nil
}

// prove has end 1 hear something of end 0 that is no SYN packet.
func (n *network) prove() {
	n.readAll(ses.ModeRUD, 1)
	n.readAll(ses.ModeRUD, 1)
}

func ackData(bytes, places int) func(*uetcc.Config) {
	return func(c *uetcc.Config) {
		c.MTU, c.PDS.MaxAckData, c.Memory.LongResponses = 8192, bytes, places
	}
}

// Read data up to Max_ACK_Data_Size rides in the acknowledgement; what is one byte
// longer takes packets of its own.
func TestEndpointMaxAckData(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, ackData(8192, 0))
	require.Equal(t, pds.AckCCLen+(&ses.Reply{Form: pds.NextResponseData}).Len()+8192, n.ends[0].e.ReplyMax())
	n.prove()
	n.readAll(ses.ModeRUD, 17, 4096, 8192, 3*8192)
	require.Zero(t, n.ends[1].e.PDS().Stats().Sent, "nothing on the return direction")

	n = newNetwork(t, 1, netFaults{}, 2, ackData(4096, 0))
	n.prove()
	n.readAll(ses.ModeRUD, 4096)
	require.Zero(t, n.ends[1].e.PDS().Stats().Sent)
	n.readAll(ses.ModeRUD, 4097)
	require.EqualValues(t, 1, n.ends[1].e.PDS().Stats().Sent)

	require.Equal(t, uetcc.HeaderMax, newNetwork(t, 1, netFaults{}, 1, nil).ends[0].e.ReplyMax(), "the default needs no more")
}

// With few places for such answers some ride and the others go their own way, also
// where packets are lost, and no place is.
func TestEndpointMaxAckDataWithFewPlaces(t *testing.T) {
	for name, f := range netSettings {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
				n := newNetwork(t, 3, f, 2, ackData(2000, 2))
				for range 5 {
					n.readAll(mode, 2000, 16, 17, 2001, 2000, 1, 1000, 20_000, 2000, 2000)
				}
				require.NotZero(t, n.ends[1].e.PDS().Stats().Sent)
			}
		})
	}
}

// A host that has no data says so in the place of any length.
func TestEndpointRefusesLongAckData(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, ackData(8192, 1))
	n.refuses = true
	a := n.ends[0]
	for i := range 3 {
		n.read(ses.ModeRUD, 5000)
		n.run(func() bool { return len(a.events) == i+1 })
		require.Equal(t, ses.RCHostPoisoned, a.events[i].Outcome.Code)
	}
}

// A reply without room for it is an error, and the answer is still owed.
func TestEndpointMaxAckDataNeedsRoom(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, ackData(8192, 1))
	n.prove()
	b := n.ends[1]
	p := n.reads(5000)[0]
	in, short, reply := uetcc.Datagram{Packet: p.data, Src: p.src, Dst: p.dst}, newDatagram(), newReply(b.e)
	var r uetcc.Received
	b.e.Receive(n.now, &in, &short, &r)
	require.ErrorIs(t, r.Err, pdc.ErrShortBuffer)
	b.e.Receive(n.now, &in, &reply, &r)
	require.NoError(t, r.Err)
	require.ErrorIs(t, b.e.Answer(n.now, r.Answer, make([]byte, 5000), &short), pdc.ErrShortBuffer)
	require.NoError(t, b.e.Answer(n.now, r.Answer, make([]byte, 5000), &reply))
}

// Nobody can have much sent to others by reads in their name: the data of the first read waits
// until the peer has shown that it hears this side, and then goes in packets of its own.
func TestEndpointMaxAckDataToStrangers(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, ackData(8192, 0))
	n.readAll(ses.ModeRUD, 8192)
	sent := n.ends[1].e.PDS().Stats().Sent
	require.NotZero(t, sent)
	n.readAll(ses.ModeRUD, 8192)
	require.Equal(t, sent, n.ends[1].e.PDS().Stats().Sent, "it goes in the acknowledgement")
	require.Zero(t, n.ends[1].e.PDS().Stats().Doubted)
}
