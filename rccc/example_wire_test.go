// SPDX-License-Identifier: Apache-2.0

package rccc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

var (
	nodeA = netip.MustParseAddr("10.0.0.1")
	nodeB = netip.MustParseAddr("10.0.0.3")
)

const (
	tcLow = 1
	piece = 2500 // nominal packet size of the story: five of them are the burst
)

// storyNode is one fabric endpoint: PDCs and the contexts they are bound to.
type storyNode struct {
	pdcs     *pdc.Manager
	contexts *ccc.Manager
	ids      *ccc.Table
	addr     netip.Addr
}

// newStoryNode makes a node whose next PDC is firstPDC and whose next context is
// firstCCC: contexts to other peers have the ids before it.
func newStoryNode(addr netip.Addr, firstPDC pds.PDCID, firstCCC int) *storyNode {
	params, err := ccc.NewParams(ccc.Config{
		Control: ccc.ControlRCCC,
		NSCC:    nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6000, MTU: piece},
		RCCC:    rccc.Config{MaxCredit: 1 << 29, InitialCredit: 12_500, CountInitial: true},
	})
	check(err)
	n := &storyNode{addr: addr}
	n.contexts, err = ccc.NewManager(ccc.ManagerConfig{Params: &params, Contexts: 256, PDCs: 1 << 16})
	check(err)
	n.ids, err = ccc.NewTable(255, true, 0)
	check(err)
	for other := range firstCCC - 1 {
		_, _, err := n.ids.Open(&ccc.Key{Source: addr, Destination: netip.AddrFrom4([4]byte{10, 1, 0, byte(other)})})
		check(err)
	}
	pp, err := pdc.NewParams(pdc.Config{})
	check(err)
	table, err := pdc.NewTable(pdc.TableConfig{General: 0x4fff, FirstID: firstPDC})
	check(err)
	n.pdcs, err = pdc.NewManager(pdc.ManagerConfig{
		Params: &pp, Table: table, CC: n.contexts, Contexts: n.ids, Memory: pdc.MemoryConfig{Chunks: 80},
	})
	check(err)
	return n
}

// deliver hands a packet to a node and returns what it was.
func (n *storyNode) deliver(now int64, from netip.Addr, packet, reply []byte) (r pdc.Result) {
	in := pdc.In{Packet: packet, Src: pdc.AddrFrom(from), Dst: pdc.AddrFrom(n.addr), Size: piece}
	n.pdcs.Receive(now, &in, reply, &r)
	check(r.Err)
	for n.pdcs.Event(&pdc.Event{}) {
	}
	return r
}

// story is the write of 256 MB over two nodes.
type story struct {
	a, b   *storyNode
	pdc    pdc.Handle
	ccc    ccc.Handle
	target *rccc.Receiver
	sender rccc.Handle

	submitted     int64
	packet, reply []byte
}

const storyBytes = 256_000_000

func newStory() *story {
	policy, err := rccc.NewSlicePolicy(rccc.SliceConfig{Slice: 1000})
	check(err)
	s := &story{
		a: newStoryNode(nodeA, 0x4001, 0xa1), b: newStoryNode(nodeB, 0x4011, 0xb1),
		packet: make([]byte, pdc.ReplyMax), reply: make([]byte, pdc.ReplyMax),
	}
	s.target, err = rccc.NewReceiver(rccc.ReceiverConfig{
		Senders: 256, Rate: 12_500_000_000, Utilisation: 1, MaxCredit: 1 << 29, Policy: policy,
	})
	check(err)
	return s
}

// open gives the message a PDC and that a context; the whole message adds to the
// backlog of both.
func (s *story) open() {
	var err error
	s.pdc, err = s.a.pdcs.Open(0, &pdc.InitiatorKey{Source: nodeA, Destination: nodeB, TC: tcLow}, 1)
	check(err)
	check(s.a.pdcs.Begin(s.pdc))
	check(s.a.pdcs.Announce(0, s.pdc, storyBytes))
	info, _ := s.a.pdcs.PDC(s.pdc)
	s.ccc = info.Context
}

func (s *story) backlog() int64 { return s.a.contexts.Context(s.ccc).Backlog() }

// burst sends what credit allows. The target works on the data until the end of
// the slice; burst returns what it works on, and the header of the first request.
func (s *story) burst(now int64) (first pds.Request, working []pdc.RxID) {
	for ; s.submitted < storyBytes; s.submitted += piece {
		p := pdc.Packet{Size: piece, Next: pds.NextRequestStd, EOM: s.submitted+piece == storyBytes}
		_, err := s.a.pdcs.Submit(now, s.pdc, p)
		if err == pdc.ErrWindowFull {
			break
		}
		check(err)
	}
	var out pdc.Out
	for s.a.pdcs.Transmit(now, s.packet, &out) {
		if out.Control { // a probe of the new context
			s.b.deliver(now, nodeA, s.packet[:out.Header], s.reply)
			continue
		}
		if len(working) == 0 {
			_, err := first.Decode(s.packet)
			check(err)
		}
		r := s.b.deliver(now, nodeA, s.packet[:out.Header], s.reply)
		_, err := s.b.pdcs.Respond(now, r.ID, &pdc.Response{Kind: pdc.RespondLater}, s.reply)
		check(err)
		working = append(working, r.ID)
		s.demand(now, r.Demand)
	}
	return first, working
}

// demand takes the credit target of a request. An unknown {peer, ccc_id} gets a
// context at the target and an entry in the active sender table.
func (s *story) demand(now int64, d pdc.Demand) {
	if s.sender == 0 {
		h, _, err := s.b.ids.Open(&ccc.Key{Source: nodeB, Destination: nodeA, TC: tcLow})
		check(err)
		check(s.b.ids.Name(h, nodeA, d.CCCID))
		s.sender, err = s.target.Add(now, 1, 12_500)
		check(err)
		fmt.Printf("target CCC %#x, active sender %v TC %d CCC %#x\n", h.Index(), nodeA, tcLow, d.CCCID)
	}
	s.target.OnArrival(s.sender, now, rccc.ArrivalData, rccc.Quanta(d.Target).Extend(s.target.Target(s.sender)))
}

// commit ends the slice: the memory has taken the data, and the acknowledgements
// bring the next credit. It returns that and the last acknowledgement.
func (s *story) commit(now int64, working []pdc.RxID) (grant rccc.Grant, ack pds.AckCC) {
	grant, _ = s.target.Poll(now)
	state := pdc.AckState{Type: pds.CCCredit, Credit: uint32(rccc.QuantaOf(grant.Cum))}
	for _, id := range working {
		n, err := s.b.pdcs.Respond(now, id, &pdc.Response{State: state}, s.reply)
		check(err)
		_, err = ack.Decode(s.reply[:n])
		check(err)
		s.a.deliver(now, nodeB, s.reply[:n], s.packet)
	}
	return grant, ack
}

// close takes down the PDC, with its last PDC the context, and the target's entry.
func (s *story) close(now int64) {
	check(s.a.pdcs.Close(now, s.pdc))
	var out pdc.Out
	for s.a.pdcs.Transmit(now, s.packet, &out) {
		if r := s.b.deliver(now, nodeA, s.packet[:out.Header], s.reply); r.Reply > 0 {
			s.a.deliver(now, nodeB, s.reply[:r.Reply], s.packet)
		}
	}
	_, open := s.a.pdcs.PDC(s.pdc)
	fmt.Println("PDC open", open, "CCC open", s.a.ids.Live(s.ccc), "sender dropped", s.target.Remove(s.sender))
}

// The story of Example_rankZeroWritesToRankTwo with its packets: delivery
// contexts 0x4001 and 0x4011, congestion control contexts 0xA1 and 0xB1, and the
// headers as they are on the wire. Credit there counts quanta of 256 bytes, rounded
// down; the last packet of a slice overdraws the balance by less than one.
func Example_rankZeroWritesToRankTwoOnTheWire() {
	s := newStory()
	s.open()
	fmt.Printf("PDC %#x CCC %#x backlog %d\n", uint16(s.pdc.ID()), s.ccc.Index(), s.backlog())
	slice := int64(0)
	for ; s.backlog() > 0; slice++ {
		req, working := s.burst(slice * 1000)
		left := s.backlog()
		grant, ack := s.commit((slice+1)*1000, working)
		if slice > 1 {
			continue
		}
		fmt.Printf("%v SYN %v SPDCID %#x DPDCID %#x pdc_info %d ccc_id %#x target %d quanta, backlog %d\n", req.Type,
			req.Flags&pds.FlagSYN != 0, uint16(req.SPDCID), uint16(req.DPDCID), req.Info, req.CCCID, req.CreditTarget, left)
		var credit pds.CreditState
		ack.Credit(&credit)
		fmt.Printf("ACK_CC %v SPDCID %#x: grant %d, cumulative %d, %d quanta\n", ack.CCType, uint16(ack.SPDCID), grant.Bytes, grant.Cum, credit.Credit)
	}
	fmt.Println("slices", slice, "backlog", s.backlog())
	s.close(slice * 1000)
	// Output:
	// PDC 0x4001 CCC 0xa1 backlog 256000000
	// target CCC 0xb1, active sender 10.0.0.1 TC 1 CCC 0xa1
	// RUD_CC_REQ SYN true SPDCID 0x4001 DPDCID 0x0 pdc_info 0 ccc_id 0xa1 target 1000000 quanta, backlog 255987500
	// ACK_CC CC_CREDIT SPDCID 0x4011: grant 12500, cumulative 25000, 97 quanta
	// RUD_CC_REQ SYN false SPDCID 0x4001 DPDCID 0x4011 pdc_info 0 ccc_id 0xa1 target 1000000 quanta, backlog 255975000
	// ACK_CC CC_CREDIT SPDCID 0x4011: grant 12500, cumulative 37500, 146 quanta
	// slices 20480 backlog 0
	// PDC open false CCC open false sender dropped true
}
