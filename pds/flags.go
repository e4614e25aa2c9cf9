// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"strings"

	"github.com/uetcc/uetcc/internal/enum"
)

// Flags are the 7 flag bits of the prologue. Their meaning depends on the
// packet type; bits a type does not use are reserved.
//
//	type                 0x40  0x20   0x10  0x08  0x04 0x02  0x01
//	RUD, ROD requests     -     -     retx   ar   syn    -    -
//	RUDI_REQ              -     -     retx   -     -     -    -
//	RUDI_RESP             -     m     retx   -     -     -    -
//	UUD_REQ               -     -      -     -     -     -    -
//	ACK, ACK_CC, ACK_CCX  -     m     retx   p    [  req  ]   -
//	NACK, NACK_CCX        -     m     retx   nt    -     -    -
//	CP                    -   isrod   retx   ar   syn    -    -
//
// Source: UE Specification 1.0.x, Tables 3-32 to 3-42.
type Flags uint8

const (
	FlagM     Flags = 0x20 // the answered packet arrived with a CE mark
	FlagISROD Flags = 0x20 // control packet NOOP or NEGOTIATION: the PDC is ordered
	FlagRetx  Flags = 0x10 // retransmission; in an ACK or NACK, the answered packet was a retransmission
	FlagAR    Flags = 0x08 // the destination should acknowledge now
	FlagP     Flags = 0x08 // the ACK answers a probe
	FlagNT    Flags = 0x08 // the NACK refuses a RUDI packet
	FlagSYN   Flags = 0x04 // the PDC is being opened: [PDCInfo] replaces the PDCID

	FlagsReq Flags = reqMask // ACK: the two bits of [Flags.Req]
)

const (
	reqShift = 1
	reqMask  = 3 << reqShift

	requestFlags = FlagRetx | FlagAR | FlagSYN
	rudiReqFlags = FlagRetx
	rudiRspFlags = FlagM | FlagRetx
	ackFlags     = FlagM | FlagRetx | FlagP | reqMask
	nackFlags    = FlagM | FlagRetx | FlagNT
	cpFlags      = FlagISROD | FlagRetx | FlagAR | FlagSYN
)

// AckReq is the target's request to the initiator in an ACK. Initiators send
// zero.
type AckReq uint8

const (
	AckReqNone     AckReq = 0 // nothing
	AckReqClear    AckReq = 1 // a clear of guaranteed responses
	AckReqClose    AckReq = 2 // a close of the PDC
	ackReqReserved AckReq = 3 // not legal
)

var ackReqNames = [...]string{"none", "REQ_CLEAR", "REQ_CLOSE", "reserved"}

// String returns the specification's name.
func (r AckReq) String() string { return enum.Name(ackReqNames[:], r) }

// Req returns the request in the flags of an ACK.
func (f Flags) Req() AckReq { return AckReq(f & reqMask >> reqShift) }

// WithReq returns f with the request of an ACK set to r.
func (f Flags) WithReq(r AckReq) Flags { return f&^reqMask | Flags(r)<<reqShift&reqMask }

// flagNames are the names of the bits of a packet type, from 0x20 down.
type flagNames [4]string

var (
	requestFlagNames = flagNames{"", "retx", "ar", "syn"}
	ackFlagNames     = flagNames{"m", "retx", "p", ""}
	nackFlagNames    = flagNames{"m", "retx", "nt", ""}
	cpFlagNames      = flagNames{"isrod", "retx", "ar", "syn"}
)

// list returns the names of the bits set, each after a blank.
func (n *flagNames) list(f Flags) string {
	var s strings.Builder
	for i, name := range n {
		if f&(FlagM>>i) != 0 && name != "" {
			s.WriteString(" " + name)
		}
	}
	return s.String()
}
