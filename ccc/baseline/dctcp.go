// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"cmp"

	"github.com/uetcc/uetcc/ccc"
)

// DCTCP is Alizadeh et al., Data Center TCP, SIGCOMM 2010, in the form of RFC 8257: the
// window shrinks with the share of bytes marked, estimated round trip by round trip.
type DCTCP struct {
	InitialCwnd int64   // bytes; 0: 10 packets
	Gain        float64 // g, of a round trip's share in the estimate; 0: 1/16

	window
	unmarked      float64 // 1 - alpha, so that alpha begins with 1 (RFC 8257 section 3.3)
	acked, marked int64   // bytes of this round trip
	end           int64   // of it: when so much has left the flight
}

// alpha is the estimate of the share of bytes marked.
func (d *DCTCP) alpha() float64 { return 1 - d.unmarked }

// OnACK is for [ccc.Algorithm]. Of the bytes an acknowledgement covers a mark is the last
// packet's: a marked packet is acknowledged at once.
func (d *DCTCP) OnACK(_ int64, a ccc.Ack) {
	used := d.leave(outgoing(&a))
	d.acked += a.Bytes
	if a.ECN {
		d.marked += min(a.Bytes, int64(d.mtu))
	}
	if d.left >= d.end {
		d.endRound()
	}
	if a.ECN && d.reduce(1-d.alpha()/2) {
		return
	}
	if used {
		d.grow(float64(a.Bytes))
	}
}

// endRound takes the share of a round trip into the estimate (RFC 8257 section 3.3, 5 to 7).
func (d *DCTCP) endRound() {
	if d.acked > 0 {
		g := cmp.Or(d.Gain, 1./16)
		d.unmarked += g * (1 - float64(d.marked)/float64(d.acked) - d.unmarked)
	}
	d.acked, d.marked, d.end = 0, 0, d.sent+1
}

// OnNACK is for [ccc.Algorithm].
func (d *DCTCP) OnNACK(_ int64, n ccc.Nack) { d.lost(n.Size) }

// OnInferredLoss is for [ccc.Algorithm].
func (d *DCTCP) OnInferredLoss(_ int64, l ccc.Loss) { d.lost(l.Size) }

// lost halves the window, as conventional TCP does (RFC 8257 section 3.5).
func (d *DCTCP) lost(size int64) {
	d.leave(size)
	d.reduce(0.5)
}

// Allow is for [ccc.Algorithm].
func (d *DCTCP) Allow(_ int64, s ccc.Standing) (bytes, notBefore int64) {
	d.begin(s, d.InitialCwnd)
	return d.room(s), 0
}
