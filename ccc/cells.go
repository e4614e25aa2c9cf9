// SPDX-License-Identifier: Apache-2.0

package ccc

import "github.com/uetcc/uetcc/rccc/tfc"

// A cellGate is transport flow control of one context, as an [Algorithm] beside what
// [Control] names: a packet goes when the buffer of the destination has room for all of it.
type cellGate struct {
	p      *tfc.Params
	mtu    int64
	src    tfc.Source
	marked int64 // bytes to send again, whose cells are charged already
}

func (g *cellGate) init(p *Params) {
	*g = cellGate{p: &p.cells, mtu: p.mtu}
	g.src.Init(g.p)
}

func (g *cellGate) OnSend(_, size int64, rtx bool) {
	if rtx {
		g.marked -= size
	} else {
		g.src.OnSend(g.p, size)
	}
}

func (g *cellGate) OnACK(_ int64, a Ack)           { g.marked -= a.RtxBytes }
func (g *cellGate) OnNACK(_ int64, n Nack)         { g.marked += n.Size }
func (g *cellGate) OnInferredLoss(_ int64, l Loss) { g.marked += l.Size }

// Allow lets one packet go at a time: small ones fill more cells than their bytes.
func (g *cellGate) Allow(_ int64, s Standing) (bytes, notBefore int64) {
	g.src.OnCreditUpdate(g.p, s.CreditTotal/cellUnit)
	if g.marked > 0 || g.src.CanSend(g.p, g.mtu) {
		return g.mtu, 0
	}
	return 0, 0
}

// abandon gives back what a PDC had charged and nobody will acknowledge, each packet as a full one:
// what is too much comes off when the destination has freed all that came.
func (g *cellGate) abandon(l Left) {
	g.marked -= l.RtxBacklog
	for range l.InflightPackets + l.WaitingRtx {
		g.src.OnAbandon(g.p, g.mtu)
	}
}

// cellUnit is how many bytes a credit counts for that counts cells, since the field of
// receiver credit counts units of so many.
const cellUnit = 256
