package ccc

import "github.com/uetcc/uetcc/nscc"

// A member is the part of one PDC in its context: the same counters, of which the
// context's are the sums.
type member struct {
	handle  Handle
	context Handle
	fixed   bool  // takes no part in path choice
	queued  bool  // has its turns in the context's round
	purse   int32 // bytes that this turn still has; a debt if negative
	left    Left  // what the PDC would leave behind if it went now

	sent     int64 // bytes, each packet once
	received int64 // bytes that the destination reports
}

// waiting is what the PDC has to send, bytes.
func (b *member) waiting() int64 { return b.left.Backlog + b.left.RtxBacklog }

func (b *member) send(size int64, rtx bool) {
	l := &b.left
	if rtx {
		l.RtxBacklog = less(l.RtxBacklog, size)
		l.WaitingRtx = less(l.WaitingRtx, 1)
	} else {
		l.Backlog = less(l.Backlog, size)
		b.sent += size
	}
	b.fly(size)
}

// sendNew is send for a new packet, of which the PDC has the bytes.
func (b *member) sendNew(size int64) {
	b.left.Backlog -= size
	b.sent += size
	b.fly(size)
}

// fly counts a packet as in flight.
func (b *member) fly(size int64) {
	b.left.Inflight += size
	b.left.InflightPackets++
	b.purse -= int32(min(size, nscc.MaxMTU))
}

// rcvdUnit is what rcvd_bytes is rounded up to, bytes.
const rcvdUnit = 256

// acknowledge takes an acknowledgement in, and cuts a.Bytes to what a truthful
// destination can report: it counts each packet once. A window that believed more
// would let everything out.
func (b *member) acknowledge(a *Ack) {
	a.Bytes = b.receive(a.Bytes, int32(a.Packets-a.RtxPackets))
	if a.RtxPackets != 0 || a.RtxBytes != 0 {
		l := &b.left
		l.RtxBacklog = less(l.RtxBacklog, a.RtxBytes)
		l.WaitingRtx = less(l.WaitingRtx, int32(a.RtxPackets))
		l.Inflight += a.RtxBytes
	}
}

// receive takes what has arrived out of flight, and returns the bytes of it that
// can be true.
func (b *member) receive(bytes int64, packets int32) int64 {
	bytes = min(max(bytes, 0), b.sent+rcvdUnit-1-b.received)
	b.received += bytes
	b.left.Inflight -= bytes
	b.left.InflightPackets -= packets
	return bytes
}

// mark takes a packet out of flight and counts it as waiting for retransmission.
func (b *member) mark(size int64) {
	l := &b.left
	l.RtxBacklog += size
	l.WaitingRtx++
	l.Inflight -= size
	l.InflightPackets--
}
