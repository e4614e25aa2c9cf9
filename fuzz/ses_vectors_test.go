// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A sesCodec is what every SES header can do.
type sesCodec interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
	Validate() error
	String() string
}

// sesFields binds the field names of a vector to the places in a header value
// that hold them: a pointer to an unsigned integer, to an Operand, or a sesFlag.
type sesFields map[string]any

// A sesFlag is one bit of a Flags field.
type sesFlag struct {
	flags *ses.Flags
	bit   ses.Flags
}

// sesKinds tells for each kind of header in ses.jsonl how the package reads it.
var sesKinds = map[string]func() (sesCodec, sesFields){
	"req_std_som1":       sesRequest(pds.NextRequestStd),
	"req_std_som0":       sesRequest(pds.NextRequestStd),
	"req_std_atomic":     sesRequest(pds.NextRequestStd),
	"req_std_cswap":      sesRequest(pds.NextRequestStd),
	"req_std_rendezvous": sesRequest(pds.NextRequestStd),
	"defer_send":         sesRequest(pds.NextRequestStd),
	"defer_tsend":        sesRequest(pds.NextRequestStd),
	"rtr":                sesRequest(pds.NextRequestStd),
	"req_small":          sesRequest(pds.NextRequestSmall),
	"req_small_atomic":   sesRequest(pds.NextRequestSmall),
	"req_small_cswap":    sesRequest(pds.NextRequestSmall),
	"req_medium":         sesRequest(pds.NextRequestMedium),
	"req_medium_atomic":  sesRequest(pds.NextRequestMedium),
	"req_medium_cswap":   sesRequest(pds.NextRequestMedium),
	"atomic_ext":         sesExtension(ses.OpcodeAtomic, ses.AtomicLen),
	"cswap_ext":          sesExtension(ses.OpcodeAtomic, ses.CompareSwapLen),
	"rendezvous_ext":     sesExtension(ses.OpcodeRendezvousSend, ses.RendezvousLen),
	"rsp":                sesReply(pds.NextResponse),
	"rsp_default":        sesReply(pds.NextResponse),
	"rsp_none":           sesReply(pds.NextResponse),
	"rsp_data":           sesReply(pds.NextResponseData),
	"rsp_data_small":     sesReply(pds.NextResponseDataSmall),
}

// with adds the fields of more, under names that begin with prefix.
func (f sesFields) with(prefix string, more sesFields) sesFields {
	for name, place := range more {
		f[prefix+name] = place
	}
	return f
}

func sesCommonFields(c *ses.Common) sesFields {
	return sesFields{
		"opcode": &c.Opcode, "ver": &c.Version, "ri_generation": &c.Generation,
		"job_id": &c.JobID, "pid_on_fep": &c.PIDonFEP, "resource_index": &c.Index,
		"som": sesFlag{&c.Flags, ses.FlagSOM}, "eom": sesFlag{&c.Flags, ses.FlagEOM},
		"hd": sesFlag{&c.Flags, ses.FlagHD}, "rel": sesFlag{&c.Flags, ses.FlagRel},
		"ie": sesFlag{&c.Flags, ses.FlagIE}, "dc": sesFlag{&c.Flags, ses.FlagDC},
	}
}

func sesVerdictFields(v *ses.Verdict) sesFields {
	return sesFields{"list": &v.List, "opcode": &v.Opcode, "ver": &v.Version, "return_code": &v.ReturnCode}
}

func sesAtomicFields(h *ses.Atomic) sesFields {
	return sesFields{"atomic_opcode": &h.Opcode, "atomic_datatype": &h.Type, "semantic_control": &h.Control}
}

func sesSwapFields(h *ses.CompareSwap) sesFields {
	return sesAtomicFields(&h.Atomic).with("", sesFields{"compare_value": &h.Compare, "swap_value": &h.Swap})
}

func sesRendezvousFields(h *ses.Rendezvous) sesFields {
	return sesFields{
		"eager_length": &h.EagerLength, "ri_generation": &h.Generation, "pid_on_fep": &h.PIDonFEP,
		"resource_index": &h.Index, "buffer_offset": &h.BufferOffset, "memory_key_match_bits": &h.Key,
	}
}

func sesTokenFields(t *ses.RestartToken) sesFields {
	return sesFields{"initiator_restart_token": &t.Initiator, "target_restart_token": &t.Target}
}

// A sesExtended is the extension of a request, read and written behind a standard header of
// the opcode.
type sesExtended struct {
	ses.Request
	length int
}

func (e *sesExtended) Decode(b []byte) (int, error) {
	if len(b) < e.length {
		return 0, ses.ErrTruncated
	}
	head := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: e.Opcode}}}
	wire := append(head.AppendTo(nil)[:ses.StandardLen], b[:e.length]...)
	_, err := e.Request.Decode(pds.NextRequestStd, append(wire, make([]byte, ses.CompareSwapLen)...)) // operands of 0
	return e.length, err
}

func (e *sesExtended) AppendTo(b []byte) []byte {
	return append(b, e.Request.AppendTo(nil)[ses.StandardLen:][:e.length]...)
}

func sesExtension(op ses.Opcode, length int) func() (sesCodec, sesFields) {
	return func() (sesCodec, sesFields) {
		h := &sesExtended{length: length}
		h.Form, h.Opcode = pds.NextRequestStd, op
		if op.IsRendezvous() {
			return h, sesFields{}.with("ext.", sesRendezvousFields(&h.Rendezvous))
		}
		return h, sesFields{}.with("ext.", sesSwapFields(&h.Swap))
	}
}

// A sesFormRequest is a Request whose form is given from outside, as by a PDS
// header.
type sesFormRequest struct{ ses.Request }

func (r *sesFormRequest) Decode(b []byte) (int, error) { return r.Request.Decode(r.Form, b) }

func sesRequest(form pds.NextHdr) func() (sesCodec, sesFields) {
	return func() (sesCodec, sesFields) {
		h := new(sesFormRequest)
		h.Form = form
		return h, sesCommonFields(&h.Common).with("", sesFields{
			"message_id": &h.MessageID, "buffer_offset": &h.BufferOffset, "initiator": &h.Initiator,
			"memory_key_match_bits": &h.Key, "match_bits": &h.Key, "header_data": &h.HeaderData,
			"request_length": &h.RequestLength, "payload_length": &h.PayloadLength, "message_offset": &h.MessageOffset,
		}).with("", sesTokenFields(&h.Token)).
			with("ext.", sesRendezvousFields(&h.Rendezvous)).with("ext.", sesSwapFields(&h.Swap))
	}
}

// A sesFormReply is a Reply whose form is given from outside.
type sesFormReply struct{ ses.Reply }

func (r *sesFormReply) Decode(b []byte) (int, error) { return r.Reply.Decode(r.Form, b) }

func sesReply(form pds.NextHdr) func() (sesCodec, sesFields) {
	return func() (sesCodec, sesFields) {
		h := new(sesFormReply)
		h.Form = form
		return h, sesVerdictFields(&h.Verdict).with("", sesFields{
			"message_id": &h.MessageID, "ri_generation": &h.Generation, "job_id": &h.JobID,
			"modified_length": &h.ModifiedLength, "read_request_message_id": &h.ReadRequestID,
			"payload_length": &h.PayloadLength, "message_offset": &h.MessageOffset,
			"original_request_psn": &h.OriginalRequestPSN,
		})
	}
}
