// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/ccc"

// An expWindow is a window as htsim's -sender_cc_algo dctcp and constant have it. Its DCTCP has no
// estimate of the share of marks: each marked acknowledgement takes a third of its bytes off.
type expWindow struct {
	cwnd, mtu int64 // bytes; 0 before the first Allow
	constant  bool  // but for timeouts, for good
}

// OnSend is for [ccc.Algorithm].
func (*expWindow) OnSend(now, size int64, rtx bool) {}

// OnACK is for [ccc.Algorithm].
func (w *expWindow) OnACK(_ int64, a ccc.Ack) {
	switch {
	case w.constant:
	case a.ECN:
		w.shrink(a.Bytes / 3)
	default:
		w.cwnd += a.Bytes * w.mtu / w.cwnd
	}
}

// OnNACK is for [ccc.Algorithm].
func (w *expWindow) OnNACK(_ int64, n ccc.Nack) {
	if !w.constant {
		w.shrink(n.Size)
	}
}

// OnInferredLoss is for [ccc.Algorithm].
func (w *expWindow) OnInferredLoss(_ int64, l ccc.Loss) { w.shrink(l.Size) }

func (w *expWindow) shrink(bytes int64) { w.cwnd = max(w.cwnd-bytes, w.mtu) }

// Allow is for [ccc.Algorithm].
func (w *expWindow) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	if w.mtu == 0 {
		w.cwnd, w.mtu = s.Cwnd, s.MTU
	}
	return w.cwnd - s.Inflight, 0
}
