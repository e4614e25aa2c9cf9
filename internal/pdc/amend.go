// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/pds"

// Amend replaces the answer that [Manager.Respond] or [FastPath.Take] gave to a request a
// moment ago ([RespondDefault] or [RespondGuaranteed]), found wrong by the layer above. in is
// the packet as received on the PDC h, and the kind of a is RespondGuaranteed. The output of
// Amend in out replaces the acknowledgement written before, if any.
//
// Call Amend before the acknowledgement leaves, and before a later packet of h is received or
// answered: another acknowledgement would report success. The errors are [ErrUnknown] if the
// PDC has gone, [ErrStale] without such a request or after the answer has been seen,
// [ErrNoStore], [ErrShortBuffer], and errors of decoding.
func (m *Manager) Amend(now int64, h Handle, in *In, a *Response, out []byte) (int, error) {
	var q pds.Request
	if _, err := q.Decode(in.Packet); err != nil {
		return 0, err
	}
	p, s := m.get(h), &m.mem.responses
	switch {
	case p == nil:
		return 0, ErrUnknown
	case len(out) < max(ReplyMax, pds.AckCCLen+len(a.Bytes)) || len(a.Bytes) > m.p.responseMax:
		return 0, ErrShortBuffer
	case !p.rx.unseen(m.mem.far(p), q.PSN, m.p.ranges):
		return 0, ErrStale
	}
	i := s.find(&p.resp, q.PSN)
	switch {
	case i != 0 && s.slot[i].state != respStored:
		return 0, ErrStale
	case !s.fits(p, a) || i == 0 && !s.available(&p.resp, true): // lowest or not, Receive has seen to it
		return 0, ErrNoStore
	}
	b := &inbound{psn: q.PSN, flags: q.Flags, ce: in.CE, state: in.State} // m.in may wait for Respond
	if i == 0 {
		i = m.mem.hold(p, b, respStored)
	}
	m.target.store(now, p, i, a)
	return m.reply.ackStored(p, i, b.echo(), &b.state, out), nil
}
