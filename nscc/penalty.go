// SPDX-License-Identifier: Apache-2.0

package nscc

// pendMask is the width of rcv_cwnd_pend.
const pendMask = 0x7f

// penalise takes pend/128 of n newly acknowledged bytes, still counted as in flight, off the
// window. pend = 0, from the restore flag, brings back the window saved by the first
// penalty. See [Config.PenaltyShareOnly].
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
	if !p.shareOnly {
		w.cwnd = min(w.cwnd, w.inflight-n)
	}
	w.cwnd = max(w.cwnd-pend*n>>7, p.mtu)
}
