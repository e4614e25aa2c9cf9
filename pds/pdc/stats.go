// SPDX-License-Identifier: Apache-2.0

package pdc

import "github.com/uetcc/uetcc/internal/counters"

// Stats counts what has happened to packets and PDCs.
type Stats struct {
	Received    uint64 // packets taken in, by Receive or a FastPath
	Malformed   uint64 // not a legal packet of the version
	Unknown     uint64 // for no PDC, or not from the PDC's peer
	Requests    uint64 // requests accepted
	Duplicates  uint64 // requests received before
	Outside     uint64 // requests outside the window
	Trimmed     uint64 // packets cut by a switch, of any type
	BadClear    uint64 // CLEAR of requests not received or not answered
	BadACK      uint64 // acknowledgements of packets never sent
	StaleNACK   uint64 // NACKs without effect
	Resting     uint64 // SYN packets of a closed PDC
	PendingOver uint64 // PDCs whose New_PDC_Time ended: compared by the alarm of New_PDC_Timeout_Thresh
	Refused     uint64 // SYN packets without resources
	Doubted     uint64 // SYN packets whose senders had to prove first to receive, see [StartMethod]

	Sent        uint64 // data packets, first transmissions
	Resent      uint64 // data packets again
	Controls    uint64 // control packets
	ACKs        uint64 // written, with a response or without
	NACKs       uint64 // written
	Muted       uint64 // answers kept back by the limits on answers
	RTOs        uint64 // packets that timed out
	Inferred    uint64 // packets concluded to be lost from SACK
	StallBreaks uint64 // blocked windows moved by a CLEAR_CMD and an ACK_REQ
	Opened      uint64 // PDCs, by either side
	Closed      uint64 // PDCs, in order or in error
	Failed      uint64 // PDCs closed in error
	Hoarded     uint64 // PDCs asked to close because their peer would not clear a response
	Unconfirmed uint64 // PDCs closed without an acknowledgement of the CLOSE_CMD
}

// String names the counters other than 0.
func (s Stats) String() string { return counters.String(s) }
