package ses

import "github.com/uetcc/uetcc/internal/enum"

// An Action is what a [Decision] asks the caller to do with memory.
type Action uint8

const (
	ActionNone   Action = iota // touch nothing
	ActionPlace                // write Length payload bytes at Address
	ActionRead                 // read Length bytes at Address and send them as data
	ActionAtomic               // apply the request's atomic operation at Address
	ActionAbort                // forget the message: its initiator gave it up

	ActionRestart // [Initiator.Restart]: a peer is ready for a send that it had deferred
)

var actionNames = [...]string{"none", "place", "read", "atomic", "abort", "restart"}

// String returns a short name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// An Arrival is what a request came with, besides its header: the pds_ses_rx_req
// of specification table 3-27.
type Arrival struct {
	// Peer names the PDC that the packet came on; together with the message_id it names a
	// message. Every PDC must have another value. Address and PDCID are used again, so they
	// need a generation.
	Peer    uint64
	Mode    Mode
	Payload int // bytes behind the SES header, without trailer
}

// A Decision is the target's verdict on one request: what to do in memory and
// what to tell the PDS, the ses_pds_tx_rsp of specification table 3-27.
type Decision struct {
	Action   Action
	Check    Check // why not, CheckNone if all is well
	Complete bool  // with this packet the message is whole
	// Guaranteed asks the PDS to keep the response until the initiator has seen
	// it (gtd_del).
	Guaranteed bool
	// NACK asks the PDS to refuse the packet with NO_SES_MSG_AVAIL instead of
	// answering it (ses_nack); nothing has changed here.
	NACK       bool
	HasData    bool     // HeaderData is the initiator's completion data
	Length     uint32   // bytes that Action is about; may be 0
	Offset     uint32   // where they are in the message
	Address    uint64   // where they are in memory: region base + offsets; the end of the buffer if none fits
	Cookie     uint64   // of the region or receive buffer
	HeaderData uint64   // with Complete and HasData
	Response   Response // what to answer; [ResponseNone] for a datagram
}

// IsDefault reports whether the initiator may learn the answer from a cumulative
// acknowledgement alone: success, and no data.
func (d *Decision) IsDefault() bool {
	return !d.NACK && !d.Guaranteed && (d.Action == ActionPlace || d.Action == ActionNone)
}

// DataReply returns the header for all the bytes that an ActionRead asked for, as it goes in
// an ACK. Its own message_id is that of the read: the specification gives it no meaning, and
// the reference provider looks for the read there alone.
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

// accept fills in the answer that all is well. The length is the message's, even for a
// fragment.
func (d *Decision) accept(r *Request) {
	d.Response.Verdict = Verdict{Opcode: ResponseDefault, ReturnCode: RCOK}
	d.Response.ModifiedLength = r.RequestLength
}

// refuse fills in the answer that says why not.
func (d *Decision) refuse(why Check, code ReturnCode) {
	d.Check, d.Guaranteed = why, true
	d.Response.Verdict = Verdict{Opcode: ResponseExplicit, ReturnCode: code}
}
