// SPDX-License-Identifier: Apache-2.0

// Package path puts the floors of the other packages together, to show the cost of
// a whole send or receive step. No part is a protocol.
package path

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/bench/peers/cc"
	"github.com/uetcc/uetcc/bench/peers/codec"
	"github.com/uetcc/uetcc/bench/peers/ranges"
)

const (
	requestLen = 60
	firstByte  = 0x2a // of a request
	mtu        = 4096
)

// conn is one connection: both directions and the controller's context.
type conn struct {
	rx, tx ranges.Ring
	ctl    cc.Shape
	next   uint32
	id     uint16
}

// engine is connections by 16-bit id, and the buffers of one packet each way.
type engine struct {
	conns    []conn
	byID     [1 << 16]*conn
	hdr, ack [64]byte
}

func newEngine(n int) *engine {
	e := &engine{conns: make([]conn, n)}
	for i := range e.conns {
		e.conns[i].ctl, e.conns[i].id = cc.NewShape(), uint16(i)
		e.byID[i] = &e.conns[i]
	}
	return e
}

// prologue writes the part of a request read by target.
func (e *engine) prologue(c *conn, psn uint32) {
	binary.BigEndian.PutUint64(e.hdr[:], firstByte<<56|uint64(psn))
	binary.BigEndian.PutUint64(e.hdr[8:], uint64(c.id)<<48|uint64(c.id)<<32|7)
}

// send checks the window and writes the header of a request. A full window is
// taken as acknowledged.
func (e *engine) send(c *conn) {
	if c.ctl.InFlight+mtu > c.ctl.Cwnd {
		c.ctl.InFlight = 0
	}
	c.ctl.InFlight += mtu
	e.prologue(c, c.next)
	for o := 16; o < requestLen; o += 4 {
		binary.BigEndian.PutUint32(e.hdr[o:], uint32(o)+c.next)
	}
	c.next++
}

// target reads a request, finds the connection, marks the packet and writes the
// acknowledgement.
func (e *engine) target(h []byte) bool {
	if len(h) < requestLen || h[0] != firstByte {
		return false
	}
	w0, w1 := binary.BigEndian.Uint64(h), binary.BigEndian.Uint64(h[8:])
	c := e.byID[uint16(w1>>32)]
	if c == nil {
		return false
	}
	c.rx.Add(uint32(w0))
	a := codec.Ack{
		Prologue: 0x4d12, CACK: c.rx.Base, SPDCID: c.id, DPDCID: uint16(w1 >> 48), CC: 0x10,
		Bitmap: c.rx.Sack(c.rx.Base), State: 0x0102030405060708,
	}
	return a.Put(e.ack[:])
}

// mark is target without an acknowledgement.
func (e *engine) mark(h []byte) bool {
	if len(h) < requestLen || h[0] != firstByte {
		return false
	}
	w0, w1 := binary.BigEndian.Uint64(h), binary.BigEndian.Uint64(h[8:])
	c := e.byID[uint16(w1>>32)]
	if c == nil {
		return false
	}
	c.rx.Add(uint32(w0))
	return true
}

// source reads an acknowledgement, finds the connection, merges the bitmap and
// updates the window.
func (e *engine) source(b []byte, now, delay int64) bool {
	var a codec.Ack
	if !a.Get(b) {
		return false
	}
	c := e.byID[a.DPDCID]
	if c == nil {
		return false
	}
	c.tx.Merge(a.CACK, a.Bitmap)
	c.ctl.OnAck(now, delay, mtu, delay > 12_000)
	return true
}

// touch loads one word of each line needed later by target and source, so the
// misses of a batch overlap.
func (e *engine) touch(ids []uint16) (sum uint64) {
	for _, id := range ids {
		c := e.byID[id]
		sum += uint64(c.rx.Base+c.rx.Touch()+c.tx.Base) + uint64(c.id) + uint64(c.ctl.Touch())
	}
	return sum
}
