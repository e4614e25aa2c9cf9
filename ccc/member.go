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
	l.Inflight += size
	l.InflightPackets++
	b.purse -= int32(min(size, nscc.MaxMTU))
}

// rcvdUnit is what rcvd_bytes is rounded up to, bytes.
const rcvdUnit = 256

// acknowledge takes an acknowledgement in, and cuts a.Bytes to what a truthful
// destination can report: it counts each packet once. A window that believed more
// would let everything out.
func (b *member) acknowledge(a *Ack) {
	a.Bytes = min(max(a.Bytes, 0), b.sent+rcvdUnit-1-b.received)
	b.received += a.Bytes
	l := &b.left
	if a.RtxPackets != 0 || a.RtxBytes != 0 {
		l.RtxBacklog = less(l.RtxBacklog, a.RtxBytes)
		l.WaitingRtx = less(l.WaitingRtx, int32(a.RtxPackets))
	}
	l.Inflight += a.RtxBytes - a.Bytes
	l.InflightPackets -= int32(a.Packets - a.RtxPackets)
}

// mark takes a packet out of flight and counts it as waiting for retransmission.
func (b *member) mark(size int64) {
	l := &b.left
	l.RtxBacklog += size
	l.WaitingRtx++
	l.Inflight -= size
	l.InflightPackets--
}
