// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"

	"github.com/uetcc/uetcc/pds"
)

// Errors in [Result]; a malformed packet has an error of package pds.
var (
	ErrMode      = errors.New("pdc: packet of another delivery mode than its PDC")
	ErrStart     = errors.New("pdc: SYN packet with another Start_PSN than its PDC")
	ErrOutside   = errors.New("pdc: PSN outside the window")
	ErrNoStore   = errors.New("pdc: no room for a guaranteed response")
	ErrNoBuffer  = errors.New("pdc: no buffer for a packet ahead of a gap")
	ErrNeverSent = errors.New("pdc: acknowledges a packet that was never sent")
	ErrIllegal   = errors.New("pdc: packet not allowed in this state")
	ErrClosing   = errors.New("pdc: PSN after the CLOSE_CMD")
	ErrSecurity  = errors.New("pdc: secured packet; remove the TSS header first")
)

// Receive takes a packet in. The kind of the packet, and the caller's work, is in r. An
// answer, if any, is in out, of at least [Params.ReplyMax] bytes; r.Reply is the answer's
// length, and the answer goes back to in.Src from in.Dst.
//
//uetcc:hot
func (m *Manager) Receive(now int64, in *In, out []byte, r *Result) {
	*r = Result{}
	m.target.in.awaited = false
	if m.mem.events.free() < m.mem.reserve {
		r.Err = ErrEvents
		return
	}
	if len(out) < m.p.replyMax {
		r.Err = ErrShortBuffer
		return
	}
	m.stats.Received++
	switch t, err := pds.PeekType(in.Packet); {
	case err != nil:
		r.Err = m.reply.malformed(err)
	case t.IsRequest():
		r.Err = m.receiveRequest(now, in, out, r)
	case t == pds.TypeACKCC:
		r.Err = m.receiveACK(now, t, in, r)
	default:
		r.Err = m.receiveRare(now, t, in, out, r)
	}
}

// ReceiveACK is [Manager.Receive] for an ACK_CC, never answered. Only Packet, Src and Trimmed
// of in are read, and Buffer of r is not touched.
//
//uetcc:hot
func (f *FastPath) ReceiveACK(now int64, in *In, r *Result) {
	m := (*Manager)(f)
	r.Verdict, r.Err, r.Reply, r.ID, r.Demand = VerdictDropped, nil, 0, RxID{}, Demand{}
	m.target.in.awaited = false
	if m.mem.events.free() < m.mem.reserve {
		r.Err = ErrEvents
		return
	}
	m.stats.Received++
	r.Err = m.receiveACK(now, pds.TypeACKCC, in, r)
}

func (m *Manager) receiveRare(now int64, t pds.Type, in *In, out []byte, r *Result) error {
	switch t {
	case pds.TypeACK, pds.TypeACKCCX:
		return m.receiveACK(now, t, in, r)
	case pds.TypeNACK, pds.TypeNACKCCX:
		return m.receiveNACK(now, t, in, r)
	case pds.TypeCP:
		return m.receiveControl(now, in, out, r)
	case pds.TypeRUDIReq, pds.TypeRUDIResp:
		return m.receiveRUDI(now, in, out, r)
	case pds.TypeUUDReq:
		return m.reply.receiveUUD(in, r)
	default:
		return ErrSecurity
	}
}

// malformed counts err.
func (w *answers) malformed(err error) error {
	w.stats.Malformed++
	return err
}
