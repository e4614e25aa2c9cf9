// SPDX-License-Identifier: Apache-2.0

package ses

import "github.com/uetcc/uetcc/internal/enum"

// An Action is a [Decision]'s request to the caller about memory.
type Action uint8

const (
	ActionNone   Action = iota // touch nothing
	ActionPlace                // write Length payload bytes at Address
	ActionRead                 // read Length bytes at Address, to be sent as data
	ActionAtomic               // apply the request's atomic operation at Address
	ActionAbort                // forget the message, given up by the initiator

	ActionRestart // [Initiator.Restart]: a peer is ready for a send deferred before
)

var actionNames = [...]string{"none", "place", "read", "atomic", "abort", "restart"}

// String returns a short name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// An Arrival is the context of a request besides the header: the pds_ses_rx_req
// of specification table 3-27.
type Arrival struct {
	// Peer names the PDC the packet came on; together with the message_id, Peer names a
	// message. Every PDC must have a different value. Address and PDCID are used again, so
	// add a generation.
	Peer    uint64
	Mode    Mode
	Payload int // bytes behind the SES header, without trailer
}

// A Decision is the target's verdict on one request: the action in memory and the message
// to the PDS, ses_pds_tx_rsp of specification table 3-27.
type Decision struct {
	Action   Action
	Check    Check // the failed check, CheckNone for success
	Complete bool  // the packet completes the message
	// Guaranteed asks the PDS to keep the response until seen by the initiator (gtd_del).
	Guaranteed bool
	// NACK asks the PDS to refuse the packet with NO_SES_MSG_AVAIL instead of an answer
	// (ses_nack); the target is unchanged.
	NACK       bool
	HasData    bool     // HeaderData is the initiator's completion data
	Length     uint32   // bytes of Action; may be 0
	Offset     uint32   // place of the bytes in the message
	Address    uint64   // place of the bytes in memory: region base + offsets; the end of the buffer if none fits
	Cookie     uint64   // of the region or receive buffer
	HeaderData uint64   // with Complete and HasData
	Response   Response // the answer; [ResponseNone] for a datagram
}

// IsDefault reports whether the initiator may learn the answer from a cumulative
// acknowledgement alone: success, and no data.
func (d *Decision) IsDefault() bool {
	return !d.NACK && !d.Guaranteed && (d.Action == ActionPlace || d.Action == ActionNone)
}

// DataReply returns the header for all the bytes asked for by an ActionRead, as sent in an
// ACK. The response's own message_id repeats the read's: the specification gives the field
// no meaning, and the reference provider looks for the read nowhere else.
func (d *Decision) DataReply() Reply {
	return Reply{
		Form: FormResponseData,
		Response: Response{
			Verdict:   Verdict{Opcode: ResponseWithData, ReturnCode: RCOK},
			MessageID: d.Response.MessageID, JobID: d.Response.JobID, ModifiedLength: d.Response.ModifiedLength,
		},
		ReadRequestID: d.Response.MessageID, PayloadLength: uint16(d.Length), MessageOffset: d.Offset,
	}
}

// SmallDataReply is DataReply with the short header, for a request without a message_id;
// psn is the request's.
func (d *Decision) SmallDataReply(psn uint32) Reply {
	return Reply{
		Form: FormResponseDataSmall,
		Response: Response{
			Verdict: Verdict{Opcode: ResponseWithData, ReturnCode: RCOK}, JobID: d.Response.JobID,
		},
		PayloadLength: uint16(d.Length), OriginalRequestPSN: psn,
	}
}

// accept fills in the answer of success. The length is the message's, even for a fragment.
func (d *Decision) accept(r *Request) {
	d.Response.Verdict = Verdict{Opcode: ResponseDefault, ReturnCode: RCOK}
	d.Response.ModifiedLength = r.RequestLength
}

// refuse fills in the answer with the reason.
func (d *Decision) refuse(why Check, code ReturnCode) {
	d.Check, d.Guaranteed = why, true
	d.Response.Verdict = Verdict{Opcode: ResponseExplicit, ReturnCode: code}
}
