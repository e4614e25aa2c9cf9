// SPDX-License-Identifier: Apache-2.0

package nscc

import "github.com/uetcc/uetcc/internal/enum"

// NackReason is the reason of a refusal, as far as congestion control cares. The
// values are the wire codes; every other code is a ReasonOther.
type NackReason uint8

// The reasons.
const (
	ReasonOther          NackReason = 0
	ReasonTrimmed        NackReason = 1 // UET_TRIMMED
	ReasonTrimmedLastHop NackReason = 2 // UET_TRIMMED_LASTHOP
)

var reasonNames = [...]string{"other", "trimmed", "trimmed-lasthop"}

// String is other, trimmed or trimmed-lasthop.
func (r NackReason) String() string { return enum.Name(reasonNames[:], r) }

// Nack is the news of one negative acknowledgement.
type Nack struct {
	Size   int64 // of the refused packet, bytes
	RTT    int64 // sample with a service time of 0, ticks; <= 0: no valid one
	Reason NackReason
}

// OnNACK takes in the refusal of one packet in flight; never call OnNACK for
// refusals of anything else. A reason other than a trim only takes the packet out
// of flight, good also for packets leaving without a verdict (a context torn
// down, a recovery scheme of the embedder's).
//
//uetcc:hot nobounds
func (w *Window) OnNACK(p *Params, now int64, n Nack) {
	n.Size = clampBytes(n.Size)
	if p.profile.htsim() {
		w.nackHTSim(p, now, n)
		return
	}
	trimmed := n.Reason == ReasonTrimmed || n.Reason == ReasonTrimmedLastHop
	w.did(ActionNone)
	w.SampleBase(p, n.RTT)
	if trimmed && p.profile == ProfileAdaptive {
		w.loseAdaptive(p, n.Size, true)
		return
	}
	w.inflight = max(w.inflight-n.Size, inflightMin)
	if !trimmed {
		return
	}
	if p.forgets {
		w.forget(now, p.baseRTT)
	} else {
		w.average(p, p.baseRTT)
	}
	w.ignored += uint64(n.Size)
	if n.Reason == ReasonTrimmedLastHop && p.rccc {
		return
	}
	w.trigger = true
	if w.ignored < uint64(w.ignore) {
		w.skip()
		return
	}
	if now >= w.qaEnd && !p.qaOff {
		cut := w.quickAdapt(p)
		w.openPeriod(p, now)
		if cut {
			return
		}
	}
	w.cwnd = max(w.cwnd-n.Size, p.mtu)
	w.did(ActionReduce)
}
