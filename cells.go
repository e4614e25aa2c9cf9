// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// A cellar is the destination half of transport flow control: the cells of each sender of a
// creditor, and the packets that fill them until the memory of this host has taken them.
type cellar struct {
	p   *tfc.Params
	dst []tfc.Destination // by slot of the sender
	due *timerwheel.Wheel // by slot: when the sender is to hear of free cells

	ring    fifo.Queue[celled]
	bytes   int64 // of them
	backlog int64 // bytes of the newest that keep their cells, see SetBacklog
}

// A celled packet is one that fills cells.
type celled struct {
	sender rccc.Handle
	size   int64
}

// cellarRing is how many packets may wait on the way into memory: what comes beyond that is refused.
const cellarRing = 1 << 12

// settle brings the timer of a sender in line.
func (c *cellar) settle(h rccc.Handle) {
	slot := uint32(h.Slot())
	if at, ok := c.dst[slot].Deadline(); ok {
		c.due.Arm(slot, at)
	} else {
		c.due.Cancel(slot)
	}
}

// fits reports whether there is room for a packet of a sender.
func (c *cellar) fits(h rccc.Handle, size int64) bool {
	return c.ring.Free() > 0 && c.dst[h.Slot()].Fits(c.p, size)
}

// fill takes a packet that fits.
func (c *cellar) fill(now int64, h rccc.Handle, size int64) {
	c.dst[h.Slot()].Accept(c.p, now, size)
	*c.ring.Push() = celled{h, size}
	c.bytes += size
	c.settle(h)
}

// clear frees the cells of the oldest packets, but for those of the backlog.
func (c *cellar) clear(now int64, k *creditor) {
	for x := c.ring.First(); x != nil && c.bytes-x.size >= c.backlog; x = c.ring.First() {
		c.ring.Drop()
		c.bytes -= x.size
		if k.senders[x.sender.Slot()].handle == x.sender {
			c.dst[x.sender.Slot()].Release(c.p, now, x.size)
			c.settle(x.sender)
		}
	}
}

// celled finds the sender of a request of TFC that has arrived, nil where there is no room for one.
func (x *receiver) celled(now int64, in *Datagram) *creditSender {
	h := x.res.ID.PDC
	if a := x.credit.askers[h.ID()]; a.pdc == h {
		if s := &x.credit.senders[a.sender.Slot()]; s.handle == a.sender {
			return s
		}
	}
	f := x.source.belong(h.ID(), h)
	if !x.latest(now, in, f) {
		return nil
	}
	return &x.credit.senders[f.sender.Slot()]
}

// onCelled is onRequest where requests fill cells. A packet for which there is no room is refused, as
// an honest source sends none; so is a sender for which there is no state.
func (x *receiver) onCelled(now int64, in *Datagram, buf []byte, r *Received) int {
	if !x.res.Demand.Valid {
		return x.onRequest(now, in, buf, r)
	}
	c, s := x.credit.cells, x.celled(now, in)
	code := pds.NackNoResource
	if s != nil {
		if size := in.nominal(); c.fits(s.handle, size) {
			was := x.pds.Stats().Requests
			n := x.onRequest(now, in, buf, r)
			if x.pds.Stats().Requests != was { // not refused for want of something else
				c.fill(now, s.handle, size)
				c.clear(now, x.credit)
			}
			return n
		}
		code = pds.NackNoPktBuffer
	}
	x.response = pdc.Response{Kind: pdc.RespondRefuse, Code: code}
	n, _ := x.pds.Respond(now, x.res.ID, &x.response, buf)
	return n
}

// grantCells writes the next credit of cells that is due, and reports false if none is.
func (e *Endpoint) grantCells(now int64, out *Datagram, buf []byte) bool {
	c := e.credit.cells
	for {
		slot, ok := c.due.Expire(now)
		if !ok {
			return false
		}
		s := &e.credit.senders[slot]
		if s.handle == 0 {
			continue
		}
		total := c.dst[slot].Credit(c.p, now)
		c.settle(s.handle)
		to := e.credit.pdcs[slot]
		n, err := e.pds.PutCredit(to, uint32(tfc.CellsOf(total)), buf)
		if err != nil {
			continue // the total is absolute, and is repeated
		}
		info, _ := e.pds.PDC(to)
		e.recv.control(out, n, info.Local, info.Peer)
		out.Entropy, out.Retx, out.Payload = 0, false, Payload{}
		return true
	}
}

// A backlog is what waits on the way into the memory of this host, and what peers hear of it: a
// penalty in acknowledgements (destination flow control), less receiver credit, and cells of
// transport flow control that are not free yet.
type backlog struct {
	policy  hbm.Policy
	limits  rccc.HostLimits
	on      bool // there is a policy
	pend    uint8
	restore bool
}

// SetBacklog says how many bytes, in datagrams with their headers, have come and wait on the way
// into the memory of this host, those of the last packets included. Until the next call
// acknowledgements say what Config.Penalty makes of that, receiver credit is handed out at the rate
// that Config.HostLimits has for it, and as many bytes of the newest packets keep their cells
// of Config.CC.TFC.
func (e *Endpoint) SetBacklog(now, bytes int64) {
	now = e.clock.read(now)
	b := &e.recv.backlog
	if b.on {
		b.pend, b.restore = b.policy.Mark(bytes)
	}
	if k := e.credit; k != nil {
		k.recv.SetFactor(b.limits.Factor(bytes))
		if k.cells != nil {
			k.cells.backlog = bytes
			k.cells.clear(now, k)
		}
	}
}

// host is what the host has an acknowledgement say, where it names no penalty by itself.
func (b *backlog) host(s pdc.AckState) pdc.AckState {
	if s.Type == pds.CCNSCC && s.Pend == 0 && !s.Restore {
		s.Pend, s.Restore = b.pend, b.restore
	}
	return s
}
