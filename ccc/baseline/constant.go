// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
)

// Constant keeps a constant amount in flight.
type Constant struct {
	Cwnd int64 // bytes; 0: the first window of NSCC, which is MaxWnd unless it is configured
}

// OnSend is for [ccc.Algorithm].
func (*Constant) OnSend(now, size int64, rtx bool) {}

// OnACK is for [ccc.Algorithm].
func (*Constant) OnACK(now int64, a ccc.Ack) {}

// OnNACK is for [ccc.Algorithm].
func (*Constant) OnNACK(now int64, n ccc.Nack) {}

// OnInferredLoss is for [ccc.Algorithm].
func (*Constant) OnInferredLoss(now int64, l ccc.Loss) {}

// Allow is for [ccc.Algorithm].
func (c *Constant) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	return cmp.Or(c.Cwnd, s.Cwnd) - s.Inflight, 0
}
