// SPDX-License-Identifier: Apache-2.0

package nscc

import "github.com/uetcc/uetcc/internal/enum"

// PenaltyRule is the way rcv_cwnd_pend cuts the window (apply_cwnd_penalty); text and
// pseudo-code of the specification disagree.
type PenaltyRule uint8

const (
	// PenaltyMinInflight is the pseudo-code: first the window falls to the bytes in
	// flight, then by the penalty. A full window stops at the first penalised
	// acknowledgement.
	PenaltyMinInflight PenaltyRule = iota
	// PenaltyShareOnly is the text: only the penalty is taken off, so 64 on
	// every acknowledgement of a round trip halves the window.
	PenaltyShareOnly
)

var penaltyNames = [...]string{"min-inflight", "share-only"}

// String is min-inflight or share-only.
func (r PenaltyRule) String() string { return enum.Name(penaltyNames[:], r) }

// pendMask is the width of rcv_cwnd_pend.
const pendMask = 0x7f

// penalise takes pend/128 of n newly acknowledged bytes, still counted as in flight, off the
// window. pend = 0, from the restore flag, brings back the window saved by the first
// penalty. See [PenaltyRule].
//
//uetcc:hot inlines nobounds
func (w *Window) penalise(p *Params, n, pend int64) {
	if pend == 0 {
		if w.saved != 0 {
			// The ceiling may have come down since the window was saved.
			w.cwnd = int64(min(w.saved, w.maxWnd))
			w.saved = 0
		}
		return
	}
	if w.saved == 0 {
		w.saved = uint32(w.cwnd)
	}
	if p.penalty == PenaltyMinInflight {
		w.cwnd = min(w.cwnd, w.inflight-n)
	}
	w.cwnd = max(w.cwnd-pend*n>>7, p.mtu)
}
