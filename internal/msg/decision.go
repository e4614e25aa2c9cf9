// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"github.com/uetcc/uetcc/ses"
)

// An Arrival is the context of a request besides the header: the pds_ses_rx_req
// of specification table 3-27.
type Arrival struct {
	// Peer names the PDC the packet came on; together with the message_id, Peer names a
	// message. Every PDC must have a different value. Address and PDCID are used again, so
	// add a generation.
	Peer    uint64
	Mode    ses.Mode
	Payload int // bytes behind the SES header, without trailer
}

// A Decision is the target's verdict on one request: the action in memory and the message
// to the PDS, ses_pds_tx_rsp of specification table 3-27.
type Decision struct {
	Action   ses.Action
	Check    ses.Check // the failed check, CheckNone for success
	Complete bool      // the packet completes the message
	// Guaranteed asks the PDS to keep the response until seen by the initiator (gtd_del).
	Guaranteed bool
	// NACK asks the PDS to refuse the packet with NO_SES_MSG_AVAIL instead of an answer
	// (ses_nack); the target is unchanged.
	NACK       bool
	HasData    bool         // HeaderData is the initiator's completion data
	Length     uint32       // bytes of Action; may be 0
	Offset     uint32       // place of the bytes in the message
	Address    uint64       // place of the bytes in memory: region base + offsets; the end of the buffer if none fits
	Cookie     uint64       // of the region or receive buffer
	HeaderData uint64       // with Complete and HasData
	Response   ses.Response // the answer; [ResponseNone] for a datagram
}

// DataReply returns the header for all the bytes asked for by an ActionRead, as sent in an
// ACK. The response's own message_id repeats the read's: the specification gives the field
// no meaning, and the reference provider looks for the read nowhere else.
func (d *Decision) DataReply() ses.Reply {
	return ses.Reply{
		Form: ses.FormResponseData,
		Response: ses.Response{
			Verdict:   ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK},
			MessageID: d.Response.MessageID, JobID: d.Response.JobID, ModifiedLength: d.Response.ModifiedLength,
		},
		ReadRequestID: d.Response.MessageID, PayloadLength: uint16(d.Length), MessageOffset: d.Offset,
	}
}

// SmallDataReply is DataReply with the short header, for a request without a message_id;
// psn is the request's.
func (d *Decision) SmallDataReply(psn uint32) ses.Reply {
	return ses.Reply{
		Form: ses.FormResponseDataSmall,
		Response: ses.Response{
			Verdict: ses.Verdict{Opcode: ses.ResponseWithData, ReturnCode: ses.RCOK}, JobID: d.Response.JobID,
		},
		PayloadLength: uint16(d.Length), OriginalRequestPSN: psn,
	}
}

// accept fills in the answer of success. The length is the message's, even for a fragment.
func (d *Decision) accept(r *ses.Request) {
	d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseDefault, ReturnCode: ses.RCOK}
	d.Response.ModifiedLength = r.RequestLength
}

// refuse fills in the answer with the reason.
func (d *Decision) refuse(why ses.Check, code ses.ReturnCode) {
	d.Check, d.Guaranteed = why, true
	d.Response.Verdict = ses.Verdict{Opcode: ses.ResponseExplicit, ReturnCode: code}
}
