// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"cmp"
	"fmt"
	"math"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// A creditor is the destination half of receiver credit: the askers, and the PDC for answers
// to each. Grants go out as CREDIT control packets when due. Acknowledgements repeat grants,
// but not beside NSCC, whose state has the same place in an ACK_CC.
type creditor struct {
	recv    *rccc.Receiver
	byKey   *table.Map // {peer, local endpoint, ccc_id} -> slot
	senders []creditSender
	pdcs    []pdc.Handle // by sender: the PDC used last, for grants unless ended; of the sender's PDCs the asker
	askers  []asker      // by PDCID
	held    *table.Quota // senders of each address
	start   int64        // first credit of every new sender
	alone   bool         // without NSCC, so that acknowledgements repeat the credit
	cells   *cellar      // with TFC, whose credit is no schedule's
}

// A creditSender is a context of a peer. Several PDCs may share a context.
type creditSender struct {
	handle rccc.Handle
	pdcs   int32 // live PDCs used by the sender
	source table.Source
}

// An asker is a PDC whose sender's grants go to that PDC, and the sender: all that another request of
// the PDC needs. Askers are small, so that a cache holds those of all PDCs, and the sender is known
// before the flow is.
type asker struct {
	pdc    pdc.Handle // 0: none
	sender rccc.Handle
}

// newCreditor makes the creditor asked for by c for so many PDCs, nil if none.
func newCreditor(c *Config, p *ccc.Params, pdcs int) (*creditor, error) {
	if !c.credits() {
		return nil, nil
	}
	r := c.Receiver
	r.Senders = cmp.Or(r.Senders, c.Contexts)
	if r.Rate == 0 && c.CC.NSCC.Unrated && c.CC.Control == ccc.ControlBoth { // the window finds the rate
		r.Rate = 8 * c.CC.NSCC.LinkRate
	}
	r.Rate = cmp.Or(r.Rate, c.CC.NSCC.LinkRate)
	r.MaxCredit = cmp.Or(r.MaxCredit, p.RCCC().MaxCredit(), min(p.NSCC().MaxWnd(), 1<<29))
	r.MaxDemand = cmp.Or(r.MaxDemand, c.CC.RCCC.MaxDemand)
	r.Timeout = cmp.Or(r.Timeout, max(8*cmp.Or(c.CC.RCCC.RTT, p.NSCC().BaseRTT()), 1_000_000))
	if r.Policy == nil {
		policy, err := rccc.NewPullPolicy(rccc.PullConfig{MaxCredit: r.MaxCredit})
		if err != nil {
			return nil, err
		}
		r.Policy = policy
	}
	recv, err := rccc.NewReceiver(r)
	if err != nil {
		if c.Receiver.Rate == 0 {
			err = fmt.Errorf("%w (Receiver.Rate is CC.NSCC.LinkRate unless set)", err)
		}
		return nil, err
	}
	k := &creditor{
		recv: recv, byKey: table.NewMap(r.Senders, c.seedFor(seedCredit)), senders: slab.Make[creditSender](r.Senders),
		held: table.NewQuota(r.Senders, math.MaxUint32, c.seedFor(seedCredit)),
		pdcs: slab.Make[pdc.Handle](r.Senders), askers: slab.Make[asker](pdcs + 1),
		alone: c.CC.Control == ccc.ControlRCCC || c.CC.Control == ccc.ControlNone,
	}
	if cells := p.TFC(); cells != nil {
		k.cells = &cellar{
			p: cells, dst: make([]tfc.Destination, r.Senders), due: timerwheel.New(r.Senders, 1, c.Now), ring: fifo.Make[celled](cellarRing),
		}
	}
	if c.CC.RCCC.CountInitial {
		k.start = p.RCCC().InitialCredit()
	}
	return k, nil
}

// creditKey names a sender, by address and ccc_id.
func creditKey(in *Datagram, id uint8) table.Key {
	return table.Key{in.Src.Hi, in.Src.Lo, in.Dst.Hi, in.Dst.Lo, uint64(id)}
}

// demand takes in the credit target of a packet that arrived on a PDC.
func (x *receiver) demand(now int64, in *Datagram) {
	k, d, h := x.credit, &x.res.Demand, x.res.ID.PDC
	arrival := rccc.ArrivalData
	switch {
	case in.Trimmed != 0:
		arrival = rccc.ArrivalTrimmed
	case x.res.Verdict == pdc.VerdictDone: // a control packet; what was dropped is data that came before
		arrival = rccc.ArrivalRequest
	}
	for a := &k.askers[h.ID()]; a.pdc != h || !k.recv.OnArrival(a.sender, now, arrival, rccc.Quanta(d.Target).Extend(k.recv.Target(a.sender))); {
		if !x.latest(now, in, x.source.belong(h.ID(), h)) {
			return // no room in the table: the source will ask again
		}
	}
}

// latest finds or adds the sender of f, whose grants go to the PDC of f from now on. False
// without room for a sender.
func (x *receiver) latest(now int64, in *Datagram, f *flow) bool {
	k := x.credit
	s := &k.senders[f.sender.Slot()]
	if f.sender == 0 || s.handle != f.sender {
		if s = x.creditSender(now, in, f); s == nil {
			return false
		}
	}
	to := &k.pdcs[f.sender.Slot()]
	if before := &k.askers[to.ID()]; before.sender == f.sender {
		*before = asker{}
	}
	*to, k.askers[f.pdc.ID()] = f.pdc, asker{f.pdc, f.sender}
	return true
}

// demandNext is demand for a request on PDC h the manager has not looked at. Nearly always the PDC is the asker of its sender.
//
//uetcc:hot
func (x *receiver) demandNext(now int64, in *Datagram, h pdc.Handle) {
	q := pds.Request{Type: pds.Type(in.Packet[0] >> 3)}
	if !q.HasCC() {
		return
	}
	q.DecodeRestCC((*[pds.RequestCCLen]byte)(in.Packet))
	k := x.credit
	if a := k.askers[h.ID()]; a.pdc == h && k.recv.OnArrival(a.sender, now, rccc.ArrivalData, rccc.Quanta(q.CreditTarget).Extend(k.recv.Target(a.sender))) {
		return
	}
	x.res.Verdict, x.res.ID.PDC = pdc.VerdictRequest, h
	x.res.Demand = pdc.Demand{Target: q.CreditTarget, CCCID: q.CCCID, Valid: true}
	x.demand(now, in)
}

// creditSender finds the sender of a PDC asking for the first time, or adds a sender.
func (x *receiver) creditSender(now int64, in *Datagram, f *flow) *creditSender {
	k, id := x.credit, x.res.Demand.CCCID
	key := creditKey(in, id)
	if h := k.byKey.Lookup(&key); h != table.None {
		s := &k.senders[h.Index()]
		if !k.startedOver(s.handle, x.res.Demand.Target) {
			f.sender = s.handle
			s.pdcs++
			return s
		}
		k.recv.Remove(s.handle)
		k.drop(s.handle)
	}
	start := k.startOf(x.res.Demand.Target)
	source := k.held.Source(in.Src.Hi, in.Src.Lo)
	if !k.shares(source) && !k.displaces(now, source) {
		return nil
	}
	h, err := k.recv.Add(now, 1, start)
	if err != nil {
		return nil
	}
	slot := uint16(h.Slot())
	if _, err := k.byKey.Insert(&key, table.NewHandle(slot, 1)); err != nil {
		k.recv.Remove(h)
		return nil
	}
	k.held.Take(source)
	k.senders[slot], k.pdcs[slot] = creditSender{handle: h, pdcs: 1, source: source}, 0
	if k.cells != nil {
		k.cells.dst[slot].Init(k.cells.p, now)
		k.cells.settle(h)
	}
	f.sender = h
	return &k.senders[slot]
}

// mostInitial is the most initial credit of any source, bytes, see rccc.Config.
const mostInitial = 1 << 29

// startOf is the credit at the begin of an unknown sender, bytes. A context forgotten here
// resumes one window below the target asked for; the totals on the wire are modulo 2^24
// quanta. A target below 0 by the most initial credit that any source may have is that of a new context
// with a balance for all that it has to send: resumed, the total would be below 0, and no news for long.
// Should it be an old context all the same, its total jumps, and is believed after two requests.
func (k *creditor) startOf(target uint32) int64 {
	if t := rccc.Quanta(target).Extend(0); t < 0 && t >= -mostInitial {
		return k.start
	}
	return max(k.start, k.recv.Resume(rccc.Quanta(target).Extend(1<<31)))
}

// ackState is what the acknowledgement of a packet says for congestion control where that is more
// than the host adds: to a request the credit that its source has so far.
func (x *receiver) ackState(in *Datagram) pdc.AckState {
	k, host := x.credit, x.backlog.host(in.State)
	if k == nil || !k.alone || len(in.Packet) < pds.RequestCCLen {
		return host
	}
	q := (*view.Request)(in.Packet)
	syn := q.Flags()&pds.FlagSYN != 0
	switch p := x.pds.Fast().Named(q); {
	case q.Type().IsRequest() && !syn && p != nil:
		return x.creditState(in.State, p.Handle())
	case q.Type() < pds.TypeRUDCCReq || !q.Type().IsRequest() || !syn || k.cells != nil: // asks for no credit, or has the first cells
		return host
	}
	return k.tell(host, k.grantedTo(in))
}

// creditState is ackState for a packet on PDC h.
func (x *receiver) creditState(host pdc.AckState, h pdc.Handle) pdc.AckState {
	host = x.backlog.host(host)
	k := x.credit
	if k == nil || !k.alone {
		return host
	}
	a := k.askers[h.ID()]
	if f := &x.flows[h.ID()]; a.pdc != h && f.pdc == h {
		a = asker{h, f.sender}
	}
	if total, ok := k.granted(a.sender); a.pdc == h && ok {
		return k.tell(host, total)
	}
	return host
}

// tell is the state of an acknowledgement with a total of credit to tell, bytes. The host
// may tell a total, too.
func (k *creditor) tell(host pdc.AckState, total int64) pdc.AckState {
	if host.Type != pds.CCNSCC {
		return host
	}
	return pdc.AckState{Type: pds.CCCredit, Credit: uint32(rccc.QuantaOf(total))}
}

// granted is the credit of a sender so far, bytes, and false when gone.
func (k *creditor) granted(h rccc.Handle) (total int64, ok bool) {
	total, ok = k.recv.Credit(h)
	if ok && k.cells != nil {
		total = k.cells.dst[h.Slot()].Total(k.cells.p) * pds.ByteUnit
	}
	return total, ok
}

// grantedTo is the credit so far of the sender a request of a new PDC comes from.
func (k *creditor) grantedTo(in *Datagram) int64 {
	q := pds.Request{Type: pds.TypeRUDCCReq}
	q.DecodeRestCC((*[pds.RequestCCLen]byte)(in.Packet))
	key := creditKey(in, q.CCCID)
	if i := k.byKey.Lookup(&key); i != table.None {
		if h := k.senders[i.Index()].handle; !k.startedOver(h, q.CreditTarget) {
			total, _ := k.granted(h)
			return total
		}
	}
	return k.startOf(q.CreditTarget)
}

// shares reports whether an address may have one more sender: more are free than the address
// has. So a peer of many contexts leaves half of the senders to others.
func (k *creditor) shares(s table.Source) bool {
	return k.held.Held(s) < len(k.senders)-k.recv.Senders().Count()
}

// displaces makes room for a sender of an address among the silent senders. Tick does so
// too, but may not have run for long, and leaves senders that hold nothing.
func (k *creditor) displaces(now int64, s table.Source) bool {
	if h, ok := k.recv.Displace(now); ok {
		k.drop(h)
	}
	return k.shares(s)
}

// startedOver reports whether the target of a new PDC is so far back that the context cannot
// be the known context of the same name. The source has lost or closed the known context,
// and would discard a credit based on the old total as a jump.
func (k *creditor) startedOver(h rccc.Handle, target uint32) bool {
	if k.cells != nil { // the target is what the source has charged
		received := k.cells.dst[h.Slot()].Received()
		return tfc.Cells(target).Extend(received) < received
	}
	granted, _ := k.granted(h)
	return rccc.Quanta(target).Extend(k.recv.Target(h)) < granted-k.recv.Ahead(h)/2 // a full balance, and a demand on the way
}

// grant writes the next credit due, or reports false.
func (e *Endpoint) grant(now int64, out *Datagram, buf []byte) bool {
	if e.credit.cells != nil {
		return e.grantCells(now, out, buf)
	}
	for {
		g, ok := e.credit.recv.Poll(now)
		if !ok {
			return false
		}
		e.loader.prefetchGrants()
		to := e.credit.pdcs[g.Sender.Slot()]
		n, err := e.pds.PutCredit(to, uint32(rccc.QuantaOf(g.Cum)), buf)
		if err != nil {
			continue // the total is absolute: the sender's next PDC repeats the credit
		}
		local, peer := e.pds.Fast().Ends(to)
		e.recv.control(out, n, local, peer)
		out.Entropy, out.Retx, out.Payload = 0, false, Payload{}
		return true
	}
}

// creditClosed takes an ended PDC from the sender; the last PDC ends the sender.
func (s *source) creditClosed(h pdc.Handle) {
	f := &s.flows[h.ID()]
	if f.pdc != h || f.sender == 0 {
		return
	}
	from := &s.credit.senders[f.sender.Slot()]
	if from.handle == f.sender {
		if from.pdcs--; from.pdcs <= 0 {
			s.credit.recv.Remove(from.handle)
			s.credit.drop(from.handle)
		} else if to := &s.credit.pdcs[f.sender.Slot()]; *to == h {
			*to = s.another(f.sender, h)
		}
	}
	f.sender = 0
	if a := &s.credit.askers[h.ID()]; a.pdc == h {
		*a = asker{}
	}
}

// another is a PDC of a sender besides h, on which the sender hears of its credit.
func (s *source) another(sender rccc.Handle, h pdc.Handle) pdc.Handle {
	for i := range s.flows {
		if f := &s.flows[i]; f.sender == sender && f.pdc != h {
			return f.pdc
		}
	}
	return 0
}

// deadline is when a credit is due.
func (k *creditor) deadline() (int64, bool) {
	if k.cells != nil {
		return k.cells.due.Next()
	}
	return k.recv.Deadline()
}

// isDue reports whether a credit is due. It is out of line so that the question whether there is any
// fits its callers.
//
//go:noinline
func (k *creditor) isDue(now int64) bool {
	at, awake := k.deadline()
	return awake && at <= now
}

// expire forgets senders that hold credit and stay silent.
func (k *creditor) expire(now int64) {
	for {
		h, ok := k.recv.Expire(now)
		if !ok {
			return
		}
		k.drop(h)
	}
}

// drop forgets a sender the receiver has removed.
func (k *creditor) drop(h rccc.Handle) {
	k.byKey.Delete(table.NewHandle(uint16(h.Slot()), 1))
	if k.cells != nil {
		k.cells.due.Cancel(uint32(h.Slot()))
	}
	k.held.Give(k.senders[h.Slot()].source)
	k.senders[h.Slot()], k.pdcs[h.Slot()] = creditSender{}, 0
}

// Credit returns the receiver that hands out credit, for a look or a slow-down; nil
// unless [Config].CC uses RCCC.
func (e *Endpoint) Credit() *rccc.Receiver {
	if e.credit == nil {
		return nil
	}
	return e.credit.recv
}
