// SPDX-License-Identifier: Apache-2.0

package faultnet

import "github.com/uetcc/uetcc/pds"

// Class is the kind of a packet, for a separate loss rate.
type Class uint8

const (
	Data Class = iota
	SYN
	ACK
	ACKData
	NACK
	Control
	NumClasses
)

var classNames = [NumClasses]string{"data", "syn", "ack", "ack-data", "nack", "control"}

// String returns the class in a word.
func (c Class) String() string { return classNames[c] }

// classify reads the class of a packet out of the PDS header.
func classify(head []byte) Class {
	t, err := pds.PeekType(head)
	if err != nil {
		return Control
	}
	switch t {
	case pds.TypeACK, pds.TypeACKCC, pds.TypeACKCCX:
		if len(head) > t.HeaderLen() {
			return ACKData
		}
		return ACK
	case pds.TypeNACK, pds.TypeNACKCCX:
		return NACK
	case pds.TypeCP:
		return Control
	}
	if t.IsRequest() && len(head) > 1 && pds.Flags(head[1])&pds.FlagSYN != 0 {
		return SYN
	}
	return Data
}
