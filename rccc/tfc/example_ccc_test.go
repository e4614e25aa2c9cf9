// SPDX-License-Identifier: Apache-2.0

package tfc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// A cellGate lets a packet go when the destination's buffer has room for all of it.
type cellGate struct {
	p      *tfc.Params
	src    tfc.Source
	packet int64 // nominal size of every packet here, bytes
	marked int64 // bytes to send again, whose cells are charged already
}

func (g *cellGate) OnSend(_, size int64, rtx bool) {
	if rtx {
		g.marked -= size
	} else {
		g.src.OnSend(g.p, size)
	}
}

func (g *cellGate) OnACK(_ int64, a ccc.Ack)           { g.marked -= a.RtxBytes }
func (g *cellGate) OnNACK(_ int64, n ccc.Nack)         { g.marked += n.Size }
func (g *cellGate) OnInferredLoss(_ int64, l ccc.Loss) { g.marked += l.Size }

func (g *cellGate) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	g.src.OnCreditUpdate(g.p, s.CreditTotal/256) // the field counts cells here
	if g.marked > 0 || g.src.CanSend(g.p, g.packet) {
		return g.packet, 0
	}
	return 0, 0
}

// Transport flow control is one more gate: as a [ccc.Algorithm] it runs beside NSCC, and
// a packet goes when both consent. It is not for contexts under RCCC, whose credit comes
// in the same field. All packets take one path.
func Example_besideNSCC() {
	cells, err := tfc.NewParams(tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 40, MTU: 4150, RTT: 6_000})
	if err != nil {
		panic(err)
	}
	p, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6_000, MTU: 4150, Trimming: true}})
	if err != nil {
		panic(err)
	}
	m, err := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 1, PDCs: 1})
	if err != nil {
		panic(err)
	}
	context, pdc := ccc.NewHandle(0, 1), ccc.NewHandle(0, 1)
	if m.Open(context, 0, 0) != nil || m.Bind(pdc, context, 0, true) != nil {
		panic("the manager is new")
	}
	gate := &cellGate{p: &cells, packet: 4150}
	gate.src.Init(&cells)
	m.SetAlgorithm(context, 0, gate)

	c := m.Context(context)
	send := func() {
		sent := 0
		for c.State() == ccc.StateReady {
			m.OnSend(pdc, 0, ccc.Sent{Size: 4150, Rtx: c.WaitingRtx() > 0})
			sent++
		}
		fmt.Println(sent, "sent,", c.State(), c.Reason(), "cells left:", gate.src.Allowed())
	}
	m.OnNewData(pdc, 0, 100*4150)
	send()

	m.OnNACK(pdc, 6_000, ccc.Nack{Nack: nscc.Nack{Size: 4150, Reason: nscc.ReasonTrimmed}})
	send() // again, without another charge

	m.OnACK(pdc, 12_000, &ccc.Ack{Ack: nscc.Ack{Bytes: 4150, RTT: 6_000}, Packets: 1})
	m.OnCreditUpdate(pdc, 12_000, 57*256) // from the ACK_CC, or a CREDIT
	send()
	// Output:
	// 2 sent, ACTIVE algorithm cells left: 6
	// 1 sent, ACTIVE algorithm cells left: 6
	// 1 sent, ACTIVE algorithm cells left: 6
}
