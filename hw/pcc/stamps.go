// SPDX-License-Identifier: Apache-2.0

package pcc

// Stamps are the three times a probe collects before the return, in
// nanoseconds modulo 2^32. The fourth is the time of the RTT event.
//
//	sender                                   receiver
//	1  the algorithm asks for a probe
//	2  it leaves behind the next burst
//	   ReqSend (t1)   ---------------->  3   ReqRecv (t2)
//	5  Event.Time (t4) <---------------  4   RespSend (t3)
//
// Source: DOCA ZTR-RTT, "RTT Measurement Flow".
type Stamps struct {
	ReqSend  uint32 // t1, sender's clock
	ReqRecv  uint32 // t2, receiver's clock
	RespSend uint32 // t3, receiver's clock
}

// Network returns (t4 - t1) - (t3 - t2): the network's share of the round trip.
// The result is 0 where a coarse or drifting clock makes the residence the longer
// of the two.
//
//uetcc:hot inlines nobounds
func (s Stamps) Network(t4 uint32) uint32 {
	total, residence := t4-s.ReqSend, s.RespSend-s.ReqRecv
	if residence > total {
		return 0
	}
	return total - residence
}
