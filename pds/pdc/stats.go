package pdc

import "github.com/uetcc/uetcc/internal/counters"

// Stats counts the events of a manager since creation.
type Stats struct {
	Received    uint64 // packets taken in, by Receive or a FastPath
	Malformed   uint64 // not a legal packet of this version
	Unknown     uint64 // for no PDC, or from another peer than the PDC's
	Requests    uint64 // requests accepted
	Duplicates  uint64 // requests that had arrived before
	Outside     uint64 // requests outside the window
	Trimmed     uint64 // packets that a switch has cut, of any type
	BadClear    uint64 // CLEAR of what had not arrived or was not answered
	BadACK      uint64 // acknowledgements of packets never sent
	StaleNACK   uint64 // NACKs that change nothing
	Resting     uint64 // SYN packets of a PDC that was closed
	PendingOver uint64 // PDCs whose New_PDC_Time ended: the alarm of New_PDC_Timeout_Thresh compares it
	Refused     uint64 // SYN packets without resources for them
	Doubted     uint64 // SYN packets whose senders had to show first that they receive, see [StartMethod]

	Sent        uint64 // data packets, first transmissions
	Resent      uint64 // data packets again
	Controls    uint64 // control packets
	ACKs        uint64 // written, with a response or without
	NACKs       uint64 // written
	Muted       uint64 // answers that the limits on answers kept back
	RTOs        uint64 // packets that timed out
	Inferred    uint64 // packets concluded to be lost from SACK
	StallBreaks uint64 // times that a CLEAR_CMD and an ACK_REQ moved a blocked window
	Opened      uint64 // PDCs, by either side
	Closed      uint64 // PDCs, in order or in error
	Failed      uint64 // PDCs that closed in error
	Hoarded     uint64 // PDCs asked to close because their peer would not clear a response
	Unconfirmed uint64 // PDCs that closed although nobody acknowledged the CLOSE_CMD
}

// Stats returns the counters.
func (m *Manager) Stats() Stats { return m.stats }

// String names the counters other than 0.
func (s Stats) String() string { return counters.String(s) }
