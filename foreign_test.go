// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// What other implementations, or hostile ones, send that this endpoint does not.

// setLength makes a whole standard request ask for so many bytes.
func setLength(p wirePacket, bytes uint32) {
	binary.BigEndian.PutUint32(p.data[pds.RequestLen+ses.StandardLen-4:], bytes)
}

// A read request asks for an MTU at most.
func TestForeignReadOfSeveralMTUs(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, knownSources)
	p := n.reads(netMTU)[0]
	setLength(p, netMTU+1)
	r, _ := receive(0, n.ends[1].e, p)
	require.Equal(t, ses.RCOpViolation, r.Code)
	require.Equal(t, ses.ActionAbort, r.Action)
	require.Zero(t, n.ends[1].e.Usage().Answers)
}

// Read data may be acknowledged with a response, of which only the acknowledgement counts.
func TestForeignResponseToReadData(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, knownSources)
	a, b := n.ends[0], n.ends[1]
	for _, p := range n.reads(3 * netMTU) {
		receive(0, b.e, p)
	}
	require.Equal(t, 3, b.e.Usage().Answers)
	for _, p := range sendAll(0, b.e) {
		_, back := receive(0, a.e, p)
		for _, q := range back {
			var h pds.AckCC
			_, err := h.Decode(q.data)
			require.NoError(t, err)
			h.Next = pds.NextResponse
			q.data = (&ses.Response{}).AppendTo(h.AppendTo(nil))
			r, _ := receive(0, b.e, q)
			require.NoError(t, r.Err)
		}
	}
	require.Zero(t, b.e.Usage().Answers)
}

// Read data that no message waits for, or that is not all there, goes nowhere.
func TestForeignReadDataThatIsStray(t *testing.T) {
	for name, spoil := range map[string]func(p *wirePacket, other []byte){
		"another job":        func(p *wirePacket, _ []byte) { p.data[pds.RequestLen+7]++ },
		"no such read":       func(p *wirePacket, _ []byte) { p.data[pds.RequestLen+8]++ },
		"read elsewhere":     func(p *wirePacket, other []byte) { copy(p.data[pds.RequestLen+8:][:2], other[pds.RequestLen+8:]) },
		"cut in its data":    func(p *wirePacket, _ []byte) { p.data = p.data[:len(p.data)-1] },
		"cut in its headers": func(p *wirePacket, _ []byte) { p.data = p.data[:pds.RequestLen+19] },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t, 1, netFaults{}, 2, knownSources)
			a, b := n.ends[0].e, n.ends[1].e
			n.read(ses.ModeRUD, 100)
			n.read(ses.ModeROD, 100)
			for _, p := range sendAll(0, a) {
				receive(0, b, p)
			}
			data := sendAll(0, b)
			require.Len(t, data, 2)
			spoil(&data[0], data[1].data)
			r, _ := receive(0, a, data[0])
			require.Equal(t, ses.ActionNone, r.Action)
			require.Equal(t, uetcc.Stats{StrayData: 1}, a.Stats())
			r, _ = receive(0, a, data[1])
			require.Equal(t, ses.ActionPlace, r.Action)
			require.EqualValues(t, 100, r.Length)
		})
	}
}

// A message may not be longer than any that can be read: who sends such is told. Before, the
// target took it, failed the receive, and left the sender to its IdleTime.
func TestForeignRendezvousThatIsTooLongToRead(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, knownSources)
	a, b := n.ends[0], n.ends[1]
	n.post(b, 0, math.MaxUint32)
	m := n.matched(b, 0, 1, 5000)
	m.Tagged, m.Rendezvous, m.Source.Process = false, true, 1<<16
	_, err := a.e.Send(0, &m)
	require.NoError(t, err)
	p := sendAll(0, a.e)[0]
	setLength(p, math.MaxUint32)
	r, back := receive(0, b.e, p)
	require.Equal(t, ses.RCTooLong, r.Code)
	require.Zero(t, b.e.Usage().Pending)
	require.Empty(t, sendAll(0, b.e))
	require.Len(t, back, 1)
	receive(0, a.e, back[0])
	n.poll(a)
	require.Len(t, a.events, 1)
	require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: ses.RCTooLong}, a.events[0].Outcome)
}

// A switch cuts data, but whatever it has cut is not what it was.
func TestForeignTrimmedAcknowledgement(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	for range 2 { // the first one says who the peer is
		n.write(ses.ModeRUD, 10)
	}
	ps := sendAll(0, a.e)
	_, back := receive(0, b.e, ps[0])
	receive(0, a.e, back[0])
	_, back = receive(0, b.e, ps[1])
	in, reply := uetcc.Datagram{Packet: back[0].data, Src: back[0].src, Dst: back[0].dst, Trimmed: pds.NackTrimmed}, newDatagram()
	var r uetcc.Received
	a.e.Receive(0, &in, &reply, &r)
	require.ErrorIs(t, r.Err, pdc.ErrTrimmed)
	in.Trimmed = 0
	a.e.Receive(0, &in, &reply, &r)
	n.poll(a)
	require.Len(t, a.events, 2)
}
