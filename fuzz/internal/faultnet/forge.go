// SPDX-License-Identifier: Apache-2.0

package faultnet

import "github.com/uetcc/uetcc/pds"

// far is beyond the packets a sender can have in flight: a window, or the
// 4,096 packets of the SYN phase.
const far = 6000

// forge makes the packets that an observer of p could make. No forgery may have an
// effect on deliveries and outcomes of messages: each names something never sent,
// over, or somebody else's.
func (n *Net) forge(p *Packet) {
	if !n.Chance(n.Plan.Forge) {
		return
	}
	switch p.Class {
	case Data, SYN:
		var q pds.Request
		if _, err := q.Decode(p.Head); err == nil {
			n.forgeOnRequest(p, &q)
		}
	case ACK, ACKData:
		var a pds.AckCC
		if _, err := a.Decode(p.Head); err == nil {
			n.forgeOnACK(p, &a)
		}
	case NACK:
		var k pds.Nack
		if _, err := k.Decode(p.Head); err == nil && k.SPDCID != 0 {
			n.forgeOnNACK(p, &k)
		}
	}
}

func (n *Net) forgeOnRequest(p *Packet, q *pds.Request) {
	b := n.scratch[:0]
	peer := q.DPDCID
	if q.Flags&pds.FlagSYN != 0 {
		peer = pds.PDCID(1 + n.Rand.IntN(100))
	}
	ahead, behind := pds.PSN(far+n.Rand.IntN(1<<20)), pds.PSN(far/3+n.Rand.IntN(1<<20))
	ack := pds.AckCC{Ack: pds.Ack{SPDCID: peer, DPDCID: q.SPDCID, CACK: q.PSN - behind}}
	switch n.Rand.IntN(9) {
	case 0: // F1: acknowledges what was never sent
		if ack.CACK = q.PSN + ahead; n.Chance(.5) {
			ack.CACK, ack.Offset = q.PSN-far/3, 2*far
		}
		n.Inject(ForgeNeverSent, p.To, p.From, ack.AppendTo(b))
	case 1: // F2: SACK beyond what was sent
		ack.CACK = q.PSN - far/3
		ack.SACKOffset, _ = pds.AckOffset(ack.CACK, q.PSN+far)
		ack.MPR, ack.Bitmap = uint8(n.Rand.IntN(256)), n.Rand.Uint64()
		n.Inject(ForgeSACK, p.To, p.From, ack.AppendTo(b))
	case 2: // F3: a lap behind or ahead
		ack.CACK = q.PSN + 1<<31 - far/2 + pds.PSN(n.Rand.IntN(far))
		n.Inject(ForgeLap, p.To, p.From, ack.AppendTo(b))
	case 3: // F4: clears what was never received
		if q.Flags&pds.FlagSYN == 0 {
			c := pds.Control{Ctl: pds.CtlClearCmd, SPDCID: q.SPDCID, DPDCID: q.DPDCID, Payload: pds.Payload(q.PSN + ahead)}
			n.Inject(ForgeClear, p.From, p.To, c.AppendTo(b))
		}
	case 4:
		n.forgeNACK(p, q, ahead, behind)
	case 5: // P7: from an address that is not the peer's, or with another PDCID
		f := *q
		f.Flags &^= pds.FlagSYN
		if f.DPDCID, f.Info = peer, 0; n.Chance(.5) {
			n.Inject(ForgeSource, n.places, p.To, f.AppendTo(b))
		} else {
			ack.CACK = q.PSN
			n.Inject(ForgeSource, n.places, p.From, ack.AppendTo(b))
		}
	case 6:
		n.forgeReserved(p, q)
	case 7:
		if q.Next <= pds.NextRequestStd && !n.Plan.Secured { // of an initiator
			n.forgeStart(p, q)
		}
	default: // F9: a control packet for an id that is free. The refusal must not name what is live.
		c := pds.Control{
			Ctl: pds.CtlType(n.Rand.IntN(10)), Flags: pds.FlagAR, SPDCID: q.SPDCID, DPDCID: 60000, PSN: q.PSN + ahead,
		}
		n.Inject(ForgeAnswer, p.From, p.To, c.AppendTo(b))
	}
}

// forgeStart opens a PDC in the sender's name, under the PDCID of the packet or one of the next, once
// for each: after a second, with all packets lost until the first PDC has ended and rested, the sender's
// PDC ends with INVALID_SYN.
func (n *Net) forgeStart(p *Packet, q *pds.Request) {
	c := pds.Control{
		Ctl: pds.CtlNOOP, Flags: pds.FlagAR | pds.FlagSYN, SPDCID: q.SPDCID + pds.PDCID(n.Rand.IntN(4)), PSN: pds.PSN(n.Rand.Uint32()),
	}
	if q.Type == pds.TypeRODReq {
		c.Flags |= pds.FlagISROD
	}
	if w, bit := &n.begun[c.SPDCID/64], uint64(1)<<(c.SPDCID%64); *w&bit == 0 {
		*w |= bit
		n.Inject(ForgeStart, p.From, p.To, c.AppendTo(n.scratch[:0]))
	}
}

// forgeNACK is F5 and F6: refusals of packets done or never sent, of an accepted
// start, and fatal refusals from the wrong PDC.
func (n *Net) forgeNACK(p *Packet, q *pds.Request, ahead, behind pds.PSN) {
	k := pds.Nack{
		Code: pds.NackCode(1 + n.Rand.IntN(0x1a)), SPDCID: q.DPDCID, DPDCID: q.SPDCID, PSN: q.PSN + ahead,
		Payload: n.Rand.Uint32(),
	}
	if q.Flags&pds.FlagSYN != 0 {
		k.SPDCID = 60000
	}
	switch n.Rand.IntN(5) {
	case 0:
		k.PSN = q.PSN - behind
	case 1:
		k.Code = 0xc // reserved
		k.PSN = q.PSN
	case 2:
		if q.Flags&pds.FlagSYN == 0 {
			k.Code, k.PSN = pds.NackNewStartPSN, q.PSN
		}
	case 3:
		if q.Flags&pds.FlagSYN == 0 {
			k.Code, k.PSN, k.SPDCID = pds.NackUnexpEvent, q.PSN, q.DPDCID+1
		}
	case 4: // from an address that is not the peer's
		k.Code, k.PSN = pds.NackUnexpEvent, q.PSN
		n.Inject(ForgeSource, n.places, p.From, k.AppendTo(n.scratch[:0]))
		return
	}
	n.Inject(ForgeNACK, p.To, p.From, k.AppendTo(n.scratch[:0]))
}

// forgeReserved is F8: types and control types without a meaning.
func (n *Net) forgeReserved(p *Packet, q *pds.Request) {
	c := pds.Control{
		Ctl: pds.CtlType(10 + n.Rand.IntN(6)), Flags: pds.FlagAR, SPDCID: q.SPDCID, DPDCID: max(q.DPDCID, 1), PSN: q.PSN,
	}
	b := c.AppendTo(n.scratch[:0])
	if n.Chance(.5) {
		t := [...]byte{0, 1, 15, 16, 31}[n.Rand.IntN(5)]
		b[0] = t<<3 | b[0]&7
	}
	n.Inject(ForgeReserved, p.From, p.To, b)
}

// forgeOnACK is F7: the acknowledgement says the truth but for the range.
func (n *Net) forgeOnACK(p *Packet, a *pds.AckCC) {
	if p.Class == ACKData || a.Flags&pds.FlagP != 0 {
		return
	}
	a.MPR = [...]uint8{0, 1, 255}[n.Rand.IntN(3)]
	n.Inject(ForgeRange, p.From, p.To, a.AppendTo(n.scratch[:0]))
}

// forgeOnNACK is F9: answers to a refusal, not to be answered again.
func (n *Net) forgeOnNACK(p *Packet, k *pds.Nack) {
	a := pds.Ack{SPDCID: k.DPDCID, DPDCID: 60000, CACK: k.PSN}
	b := a.AppendTo(n.scratch[:0])
	if n.Chance(.5) {
		r := pds.Nack{Code: pds.NackRcvdSESProcg, SPDCID: k.DPDCID, DPDCID: k.SPDCID, PSN: k.PSN}
		b = r.AppendTo(n.scratch[:0])
	}
	n.Inject(ForgeAnswer, p.To, p.From, b)
}
