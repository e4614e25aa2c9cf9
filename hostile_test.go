// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A foe speaks the protocol of a PDC to an end, as it likes.
type foe struct {
	n        *network
	addr     pdc.Addr
	victim   *netEnd
	id, peer pds.PDCID
	psn      pds.PSN
}

func newFoe(n *network, victim *netEnd, id pds.PDCID) *foe {
	return &foe{n: n, addr: pdc.Addr{Lo: 0xffff_0a09_0909}, victim: victim, id: id, psn: 100}
}

// request sends the next packet, and learns the peer's PDCID from the answer.
func (f *foe) request(s *ses.Standard, payload int) uetcc.Received {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, Flags: pds.FlagAR, SPDCID: f.id, DPDCID: f.peer, PSN: f.psn, ClearOffset: -1}
	if f.peer == 0 {
		q.Flags |= pds.FlagSYN
	} else {
		q.ClearOffset, _ = pds.ClearOffset(f.psn, 99)
	}
	f.psn++
	in := uetcc.Datagram{Packet: append(s.AppendTo(q.AppendTo(nil)), make([]byte, payload)...), Src: f.addr, Dst: pdc.AddrFrom(f.victim.addr)}
	reply := newReply(f.victim.e)
	var r uetcc.Received
	f.victim.e.Receive(f.n.now, &in, &reply, &r)
	var a pds.AckCC
	if _, err := a.Decode(reply.Packet); err == nil {
		f.peer = a.SPDCID
	}
	return r
}

// begin sends the first packet of a message.
func (f *foe) begin(op ses.Opcode, flags ses.Flags, id int, length uint32, payload int) {
	f.request(&ses.Standard{
		Common:    ses.Common{Opcode: op, Flags: ses.FlagSOM | ses.FlagRel | flags, JobID: 1},
		MessageID: ses.MessageID(id), RequestLength: length, Key: 1,
	}, payload)
}

// goesWell has one end write to the other, or read, beside the foe.
func (n *network) goesWell(from, to int, start func(*uetcc.Endpoint, int64, *uetcc.Message) (ses.Handle, error)) {
	const length = 16 * netMTU
	a := n.ends[from]
	a.local[1], a.events = make([]byte, length), nil
	_, err := start(a.e, n.now, &uetcc.Message{To: uetcc.Destination{Address: n.ends[to].addr, Job: 1}, Key: 1, Length: length, Cookie: 1})
	require.NoError(n.t, err)
	n.run(func() bool { return len(a.events) > 0 })
	require.Equal(n.t, ses.StatusOK, a.events[0].Outcome.Status, "%v", a.events[0])
}

// Messages that a peer begins and does not end keep nobody else's from being taken in.
func TestMessagesThatDoNotEnd(t *testing.T) {
	n := newNetwork(t, 1, netFaults{loss: .01}, 2, func(c *uetcc.Config) { c.Target.Messages = 64 })
	f := newFoe(n, n.ends[1], 7)
	for i := range 200 {
		f.begin(ses.OpcodeWrite, 0, i+1, 4*netMTU, netMTU)
	}
	require.Equal(t, 32, n.ends[1].e.Usage().Arriving)
	for range 10 {
		n.goesWell(0, 1, (*uetcc.Endpoint).Write)
	}
}

// Reads whose data a peer does not acknowledge keep nobody else's from being answered.
func TestReadsThatNobodyAcknowledges(t *testing.T) {
	n := newNetwork(t, 1, netFaults{loss: .01}, 2, func(c *uetcc.Config) { c.Answers = 64 })
	for i := range 10 {
		f := newFoe(n, n.ends[1], pds.PDCID(7+i))
		for k := range 100 {
			f.begin(ses.OpcodeRead, ses.FlagEOM, k+1, netMTU, 0)
		}
		n.goesWell(0, 1, (*uetcc.Endpoint).Read)
	}
}

// Data that is to be read takes a context of congestion control whose PDC has nothing to
// send any more, if all are in use.
func TestReadsTakeAContext(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 4, func(c *uetcc.Config) { c.Contexts = 1 }) // and one for answers
	n.goesWell(1, 0, (*uetcc.Endpoint).Read)
	n.goesWell(2, 0, (*uetcc.Endpoint).Read)
	require.Equal(t, 2, n.ends[0].e.Usage().Contexts)
	before := n.now
	n.goesWell(3, 0, (*uetcc.Endpoint).Read)
	require.Less(t, n.now-before, int64(1e6))
	require.Equal(t, 2, n.ends[0].e.Usage().Contexts)
}

// A peer with a context of receiver credit for each PDC leaves some to others, who are
// granted credit beside it.
func TestSendersOfManyContexts(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
		c.CC.Control, c.PDCs.General, c.Receiver.Senders, c.Receiver.Timeout = ccc.ControlRCCC, 64, 16, 1e9
	})
	for i := range 40 {
		f := newFoe(n, n.ends[1], pds.PDCID(7+i))
		f.begin(ses.OpcodeWrite, 0, 1, 4*netMTU, netMTU)
		c := pds.Control{Ctl: pds.CtlCreditReq, SPDCID: f.id, DPDCID: f.peer, Payload: pds.CreditReqPayload(uint8(i), 1<<20)}
		in, reply := uetcc.Datagram{Packet: c.AppendTo(nil), Src: f.addr, Dst: pdc.AddrFrom(f.victim.addr)}, newReply(f.victim.e)
		f.victim.e.Receive(n.now, &in, &reply, &uetcc.Received{})
	}
	require.Equal(t, 8, n.ends[1].e.Usage().Senders)
	n.goesWell(0, 1, (*uetcc.Endpoint).Write)
	require.Equal(t, 9, n.ends[1].e.Usage().Senders)
}
