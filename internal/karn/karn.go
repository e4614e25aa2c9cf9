// SPDX-License-Identifier: Apache-2.0

// Package karn tells which acknowledgements of a packet sent several times give a round trip.
// Source: UE Specification 1.0.x, section 3.6.10 (Karn's rule).
package karn

// Copies is the transmissions of a packet that may still be answered.
type Copies uint8

// The transmissions told apart.
const (
	None    Copies = iota // not sent yet
	First                 // the first copy alone
	One                   // one retransmission, and perhaps the first copy
	More                  // more retransmissions, or an answer to a question
	Refused               // no retransmission: each was refused by a NACK
)

// Again is c after one more transmission.
func (c Copies) Again() Copies {
	if c == Refused {
		return One
	}
	return min(c+1, More)
}

// Refused is c after a NACK of the last transmission: the last copy is gone, so an answer with
// the retransmit flag can then belong only to the next transmission. With more copies under way
// the NACK may be for any.
func (c Copies) Refused() Copies {
	if c == One {
		return Refused
	}
	return c
}

// Unambiguous reports whether an acknowledgement with the given echo of the retransmit flag
// can only be for the last transmission, so the round trip is known.
func (c Copies) Unambiguous(retx bool) bool {
	return c == First && !retx || c == One && retx
}
