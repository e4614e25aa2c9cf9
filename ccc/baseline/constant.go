// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/rccc"
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

// EQDS is the receiver credit of Olteanu et al., An edge-queued datagram service for all datacenter
// traffic, NSDI 2022, as far as the credit of Ultra Ethernet, its descendant, can say as much. c
// has a link rate and a base round trip, bytes a second and ns; packet is a full packet on the wire,
// bytes. A source sends a bandwidth-delay product unasked and from then on by credit alone, whatever
// switches mark. A destination pulls a packet at a time, at the rate of the link, from the senders in
// turn, and keeps up to a bandwidth-delay product of credit with idle senders.
//
// In an Endpoint the first result is CC, and a policy of the second is Receiver.Policy.
func EQDS(c ccc.Config, packet int64) (ccc.Config, rccc.PullConfig) {
	bdp := int64(float64(c.NSCC.LinkRate) * float64(c.NSCC.BaseRTT) / 1e9)
	c.Control, c.RCCC.InitialCredit = ccc.ControlRCCC, bdp
	grant := (packet + rccc.QuantumBytes - 1) / rccc.QuantumBytes * rccc.QuantumBytes
	return c, rccc.PullConfig{MaxCredit: bdp, Grant: grant}
}
