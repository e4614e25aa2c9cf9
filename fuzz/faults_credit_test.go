// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
)

// Receiver credit in the simulation: who grants it, and the account of it.

// shadowCredit is the account of one context's credit, out of the packets seen:
//
//	balance = initial + granted + given back - used - void
type shadowCredit struct {
	on                      bool
	src                     rccc.Source
	p                       *rccc.Params
	used, granted, returned int64
	asking                  int64 // packets sent without any, since nothing else could ask for it
}

func (c *shadowCredit) init(e *pdcEnd) {
	if c.on = e.w.s.control != ccc.ControlNSCC; c.on {
		c.p = e.cc.Params().RCCC()
		c.src.Init(c.p)
	}
}

// charge counts a packet that leaves. Without credit none may but the first of a PDC
// whose peer nothing can ask yet.
func (c *shadowCredit) charge(size int64) {
	if c.on {
		if c.src.Credit() <= 0 {
			c.asking++
		}
		c.src.OnSend(size)
		c.used += size
	}
}

func (c *shadowCredit) acked() {
	if c.on {
		c.src.OnACK()
	}
}

func (c *shadowCredit) lost(size int64, present bool) {
	if c.on {
		before := c.src.Credit()
		if present {
			c.src.OnLoss()
		} else {
			c.src.OnNoPDC(c.p, size)
		}
		c.returned += max(c.src.Credit()-before, 0)
	}
}

func (c *shadowCredit) update(units uint32) {
	if c.on {
		c.granted += c.src.OnCreditUpdate(c.p, rccc.Quanta(units).Extend(c.src.Cum()))
	}
}

// compare holds that a context has the credit that the packets say, never more than
// W, never a whole packet less than nothing but for those that asked for it, and has
// used no more than it was given.
func (c *shadowCredit) compare(w *pdcWorld, x *ccc.Context) {
	if !c.on {
		return
	}
	if x.Credit() != c.src.Credit() || x.CreditTotal() != c.src.Cum() {
		w.failf("credit %d of %d in all; the packets say %d of %d", x.Credit(), x.CreditTotal(), c.src.Credit(), c.src.Cum())
	}
	if x.Credit() > c.p.MaxCredit() || x.Credit() <= -faultMTU*(1+c.asking) {
		w.failf("credit %d, W is %d", x.Credit(), c.p.MaxCredit())
	}
	if c.used >= c.p.InitialCredit()+c.granted+c.returned+faultMTU*(1+c.asking) {
		w.failf("%d bytes of credit used, %d initial, %d granted, %d given back", c.used, c.p.InitialCredit(), c.granted, c.returned)
	}
}

// faultGrant is what a destination has given a source.
type faultGrant struct {
	given, target int64
	most          int64 // ever, to any context of that source
}

// creditState is what an acknowledgement to a place says of credit.
func (e *pdcEnd) creditState(from int) pdc.AckState {
	if e.w.s.control == ccc.ControlNSCC || from >= len(e.grants) {
		return pdc.AckState{}
	}
	return pdc.AckState{Type: pds.CCCredit, Credit: uint32(rccc.QuantaOf(e.grants[from].given))}
}

// demand takes in what a source asks for, and gives it some of that: by the next
// acknowledgement, and by a CREDIT if it was asked in so many words.
func (e *pdcEnd) demand(from int, class faultnet.Class, r *pdc.Result) {
	if !r.Demand.Valid || e.w.s.control == ccc.ControlNSCC || from >= len(e.grants) {
		return
	}
	g, w := &e.grants[from], e.w
	window := e.cc.Params().RCCC().MaxCredit()
	g.target = rccc.Quanta(r.Demand.Target).Extend(g.given)
	if g.target < g.given-window { // a new context, which has heard of nothing
		g.given = max(g.target-window, 0)
	}
	g.given = max(g.given, min(g.target, g.given+1+w.net.Rand.Int64N(60_000)))
	g.most = max(g.most, g.given)
	if class != faultnet.Control && !w.net.Chance(.3) {
		return
	}
	var out [pdc.ReplyMax]byte
	n, err := e.m.PutCredit(r.ID.PDC, uint32(rccc.QuantaOf(g.given)), out[:])
	if err == nil {
		w.net.Counts[faultnet.Credit]++
		e.asked++
		w.send(e.place, from, out[:n], n, 64)
	}
}
