// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// header is what the tests need of each header type.
type header interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
	Validate() error
	fmt.Stringer
}

// A formRequest is a Request whose form is given from outside, as by a PDS header.
type formRequest struct{ Request }

func (r *formRequest) Decode(b []byte) (int, error) { return r.Request.Decode(r.Form, b) }

// request is a request of one packet.
func request(f pds.NextHdr, op Opcode) *formRequest {
	return &formRequest{Request{Form: f, Standard: Standard{Common: Common{Opcode: op, Flags: flagsOnly}}}}
}

// swap is an atomic operation with an extension.
func swap(op AtomicOpcode, typ AtomicType) *formRequest {
	r := request(pds.NextRequestStd, OpcodeAtomic)
	r.Swap.Atomic = Atomic{Opcode: op, Type: typ}
	return r
}

// rendezvous is a rendezvous send with the extension.
func rendezvous(x Rendezvous) Request {
	return Request{Form: pds.NextRequestStd, Standard: Standard{Common: Common{Opcode: OpcodeRendezvousSend}}, Rendezvous: x}
}

// with is a standard request of the fields, withVerdict a response.
func with(c Common) *formRequest {
	return &formRequest{Request{Form: pds.NextRequestStd, Standard: Standard{Common: c}}}
}

func withVerdict(v Verdict) *formReply {
	return &formReply{Reply{Form: pds.NextResponse, Response: Response{Verdict: v}}}
}

// A formReply is a Reply whose form is given from outside.
type formReply struct{ Reply }

func (r *formReply) Decode(b []byte) (int, error) { return r.Reply.Decode(r.Form, b) }

func reply(f pds.NextHdr, op ResponseOpcode) *formReply {
	return &formReply{Reply{Form: f, Response: Response{Verdict: Verdict{Opcode: op}}}}
}

// headers lists every header with its length and its smallest valid value.
var headers = []struct {
	name   string
	length int
	valid  header
	fresh  func() header
}{
	{"standard", StandardLen, request(pds.NextRequestStd, OpcodeNoOp), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"small", 20, request(pds.NextRequestSmall, OpcodeNoOp), func() header { return &formRequest{Request{Form: pds.NextRequestSmall}} }},
	{"medium", 32, request(pds.NextRequestMedium, OpcodeNoOp), func() header { return &formRequest{Request{Form: pds.NextRequestMedium}} }},
	{"deferrable", 44, request(pds.NextRequestStd, OpcodeDeferrableSend), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"ready to restart", 44, request(pds.NextRequestStd, OpcodeDeferrableRTR), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"rendezvous", 44 + RendezvousLen, request(pds.NextRequestStd, OpcodeRendezvousSend), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"atomic", 44 + AtomicLen, request(pds.NextRequestStd, OpcodeAtomic), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"compare and swap", 44 + CompareSwapLen, swap(AtomicSwapEqual, TypeInt8), func() header { return &formRequest{Request{Form: pds.NextRequestStd}} }},
	{"response", ResponseLen, reply(pds.NextResponse, ResponseDefault), func() header { return &formReply{Reply{Form: pds.NextResponse}} }},
	{"data", 20, reply(pds.NextResponseData, ResponseWithData), func() header { return &formReply{Reply{Form: pds.NextResponseData}} }},
	{"small data", 12, reply(pds.NextResponseDataSmall, ResponseWithData), func() header { return &formReply{Reply{Form: pds.NextResponseDataSmall}} }},
}

func TestHeaderLengths(t *testing.T) {
	for _, h := range headers {
		t.Run(h.name, func(t *testing.T) {
			wire := h.valid.AppendTo(nil)
			require.Len(t, wire, h.length)
			require.NoError(t, h.valid.Validate())
			for n := range h.length {
				got := h.fresh()
				used, err := got.Decode(wire[:n])
				require.ErrorIs(t, err, ErrTruncated)
				require.Zero(t, used)
				require.Equal(t, h.fresh(), got, "touched on error")
			}
			got := h.fresh()
			used, err := got.Decode(append(wire, 0xff))
			require.NoError(t, err)
			require.Equal(t, h.length, used)
			require.Equal(t, h.valid, got)
			require.NotContains(t, got.String(), "\n")
			require.NotContains(t, got.String(), "%!")
		})
	}
}

func TestHeaderAppendToKeepsPrefix(t *testing.T) {
	for _, h := range headers {
		b := h.valid.AppendTo([]byte("before"))
		require.Equal(t, "before", string(b[:6]), h.name)
		require.Len(t, b, 6+h.length, h.name)
	}
}

func TestHeaderAllocs(t *testing.T) {
	buf := make([]byte, 0, 128)
	for _, h := range headers {
		wire := h.valid.AppendTo(nil)
		got := h.fresh()
		alloctest.Zero(t, h.name+"/Decode", func() {
			if n, err := got.Decode(wire); n != h.length || err != nil {
				panic("not decoded")
			}
		})
		alloctest.Zero(t, h.name+"/Decode truncated", func() {
			if _, err := got.Decode(wire[:3]); err == nil {
				panic("decoded")
			}
		})
		alloctest.Zero(t, h.name+"/AppendTo", func() {
			if len(h.valid.AppendTo(buf)) != h.length {
				panic("not encoded")
			}
		})
		alloctest.Zero(t, h.name+"/Validate", func() {
			if h.valid.Validate() != nil {
				panic("invalid")
			}
		})
	}
}

func TestAppendToPanicsOnWideField(t *testing.T) {
	wide := map[string]header{
		"opcode":            with(Common{Opcode: 0x40}),
		"version":           with(Common{Version: 4}),
		"flags":             with(Common{Flags: 0x40}),
		"job":               with(Common{JobID: 1 << 24}),
		"pid":               with(Common{PIDonFEP: 1 << 12}),
		"index":             with(Common{Index: 1 << 12}),
		"payload_length":    &formRequest{Request{Form: pds.NextRequestStd, Standard: Standard{PayloadLength: 1 << 14}}},
		"small pid":         &formRequest{Request{Form: pds.NextRequestSmall, Standard: Standard{Common: Common{PIDonFEP: 1 << 12}}}},
		"small length":      &formRequest{Request{Form: pds.NextRequestSmall, Standard: Standard{RequestLength: 1 << 14}}},
		"medium length":     &formRequest{Request{Form: pds.NextRequestMedium, Standard: Standard{RequestLength: 1 << 14}}},
		"rendezvous pid":    &formRequest{rendezvous(Rendezvous{PIDonFEP: 1 << 12})},
		"rendezvous index":  &formRequest{rendezvous(Rendezvous{Index: 1 << 12})},
		"response list":     withVerdict(Verdict{List: 4}),
		"response opcode":   withVerdict(Verdict{Opcode: 0x40}),
		"response version":  withVerdict(Verdict{Version: 4}),
		"response code":     withVerdict(Verdict{ReturnCode: 0x40}),
		"response job":      &formReply{Reply{Form: pds.NextResponse, Response: Response{JobID: 1 << 24}}},
		"data length":       &formReply{Reply{Form: pds.NextResponseData, PayloadLength: 1 << 14}},
		"small data length": &formReply{Reply{Form: pds.NextResponseDataSmall, PayloadLength: 1 << 14}},
	}
	for name, h := range wide {
		require.Panics(t, func() { h.AppendTo(nil) }, name)
	}
}

func TestValidate(t *testing.T) {
	some := request(pds.NextRequestMedium, OpcodeWrite)
	some.Flags = FlagEOM
	cases := []struct {
		name string
		h    header
		want error
	}{
		{"a vendor's opcode stands", with(Common{Opcode: 0x30}), nil},
		{"the escape to an extended opcode stands", with(Common{Opcode: 0x3f}), nil},
		{"opcode 0x10 is reserved", with(Common{Opcode: 0x10}), errOpcode},
		{"opcode 0x2f is reserved", request(pds.NextRequestMedium, 0x2f), errOpcode},
		{"version 1", with(Common{Version: 1}), errVersion},
		{"a send has no small form", request(pds.NextRequestSmall, OpcodeSend), errOpcodeForm},
		{"a tagged atomic has no small form", request(pds.NextRequestSmall, OpcodeTSendAtomic), errOpcodeForm},
		{"a tagged send has a medium form", request(pds.NextRequestMedium, OpcodeTaggedSend), nil},
		{"a rendezvous has no medium form", request(pds.NextRequestMedium, OpcodeRendezvousSend), errOpcodeForm},
		{"a message error has no medium form", request(pds.NextRequestMedium, OpcodeMsgError), errOpcodeForm},
		{"a small request without flags", &formRequest{Request{Form: pds.NextRequestSmall}}, errFraming},
		{"a medium request without som", some, errFraming},
		{"atomic opcode 0x15", swap(0x15, 0), errAtomicOpcode},
		{"atomic opcode 0xe0 is a vendor's", swap(0xe0, 0), nil},
		{"atomic opcode 0xff", swap(0xff, 0), errAtomicOpcode},
		{"atomic type 0x12", swap(0, 0x12), errAtomicType},
		{"a swap of a reserved type", swap(AtomicSwapEqual, 0xff), errAtomicType},
		{"a plain response with the opcode of data", withVerdict(Verdict{Opcode: ResponseWithData}), errOpcodeForm},
		{"data with the opcode of a plain response", reply(pds.NextResponseData, ResponseDefault), errOpcodeForm},
		{"small data with the opcode of none", reply(pds.NextResponseDataSmall, ResponseNone), errOpcodeForm},
		{"response opcode 4", withVerdict(Verdict{Opcode: 4}), errResponseOpcode},
		{"response opcode 0x30 is a vendor's", withVerdict(Verdict{Opcode: 0x30}), nil},
		{"return code 0x25", withVerdict(Verdict{ReturnCode: 0x25}), errReturnCode},
		{"return code 0x37 is a vendor's", withVerdict(Verdict{ReturnCode: 0x37}), nil},
		{"return code 0x38", withVerdict(Verdict{ReturnCode: 0x38}), errReturnCode},
		{"the extended return code", withVerdict(Verdict{ReturnCode: RCExtended}), nil},
		{"response version 3", withVerdict(Verdict{Version: 3}), errVersion},
	}
	for _, c := range cases {
		require.Equal(t, c.want, c.h.Validate(), c.name)
	}
}

func TestRequestForms(t *testing.T) {
	cases := []struct {
		name string
		r    Request
		want int
	}{
		{"small", Request{Form: pds.NextRequestSmall}, 20},
		{"small atomic", Request{Form: pds.NextRequestSmall, Standard: Standard{Common: Common{Opcode: OpcodeAtomic}}}, 24},
		{"medium", Request{Form: pds.NextRequestMedium}, 32},
		{
			"medium compare and swap",
			Request{Form: pds.NextRequestMedium, Standard: Standard{Common: Common{Opcode: OpcodeTSendAtomic}}, Swap: CompareSwap{Atomic: Atomic{Opcode: AtomicSwapGreater}}},
			68,
		},
		{"medium rendezvous has no extension", Request{Form: pds.NextRequestMedium, Standard: Standard{Common: Common{Opcode: OpcodeRendezvousSend}}}, 32},
		{"standard", Request{Form: pds.NextRequestStd}, 44},
		{"standard rendezvous", Request{Form: pds.NextRequestStd, Standard: Standard{Common: Common{Opcode: OpcodeRendezvousTSend}}}, 68},
		{"masked swap has one operand", Request{Form: pds.NextRequestStd, Standard: Standard{Common: Common{Opcode: OpcodeAtomic}}, Swap: CompareSwap{Atomic: Atomic{Opcode: AtomicMaskedSwap}}}, 48},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wire := c.r.AppendTo(nil)
			require.Len(t, wire, c.want)
			var got Request
			for short := range c.want {
				_, err := got.Decode(c.r.Form, wire[:short])
				require.ErrorIs(t, err, ErrTruncated)
			}
			require.Equal(t, Request{}, got)
			n, err := got.Decode(c.r.Form, append(wire, 1, 2, 3))
			require.NoError(t, err)
			require.Equal(t, c.want, n)
			require.Equal(t, c.r, got)
			got.Standard = Standard{
				MessageID: 1, PayloadLength: 2, Initiator: 3, MessageOffset: 4, RequestLength: 5, BufferOffset: 6, Key: 7, HeaderData: 8,
			}
			_, err = got.Decode(c.r.Form, wire)
			require.NoError(t, err)
			require.Equal(t, c.r, got, "what the form lacks is 0, whatever was there")
			require.False(t, strings.Contains(got.String(), "%!"))
		})
	}
}

// The hd flag is reserved in a small request.
func TestRequestSmallHasNoHeaderData(t *testing.T) {
	b := make([]byte, smallLen)
	b[1] = byte(flagsOnly | FlagHD)
	var r Request
	_, err := r.Decode(pds.NextRequestSmall, b)
	require.NoError(t, err)
	require.Equal(t, flagsOnly, r.Flags)
}

func TestRequestRefusesOtherForms(t *testing.T) {
	b := make([]byte, 64)
	for f := range pds.NextHdr(16) {
		var r Request
		_, err := r.Decode(f, b)
		require.Equal(t, f >= pds.NextRequestSmall && f <= pds.NextRequestStd, err == nil, f)
		var y Reply
		_, err = y.Decode(f, b)
		require.Equal(t, f >= pds.NextResponse && f <= pds.NextResponseDataSmall, err == nil, f)
	}
	require.Panics(t, func() { new(Request).AppendTo(nil) })
	require.Panics(t, func() { new(Reply).AppendTo(nil) })
}

func TestEnumStrings(t *testing.T) {
	require.Equal(t, "UET_TSEND_FETCH_ATOMIC", OpcodeTSendFetchingAtomic.String())
	require.Equal(t, "Opcode(49)", Opcode(0x31).String())
	require.Equal(t, "RC_DROPPED", RCDropped.String())
	require.Equal(t, "ReturnCode(48)", ReturnCode(0x30).String())
	require.Equal(t, "UET_NO_RESPONSE", ResponseNone.String())
	require.Equal(t, "UET_OVERFLOW", ListOverflow.String())
	require.Equal(t, "UET_AMO_INVAL", AtomicInvalidate.String())
	require.Equal(t, "UET_TYPE_FP16", TypeFP16.String())
	require.Equal(t, "AtomicType(18)", AtomicType(0x12).String())
	require.Equal(t, "UET_HDR_RESPONSE_DATA_SMALL", pds.NextResponseDataSmall.String())
	require.Equal(t, "som,eom,rel", (FlagSOM | FlagEOM | FlagRel).String())
	require.Equal(t, "-", Flags(0).String())
	require.Equal(t, 32, TypeLongDoubleComplex.Size())
	require.Equal(t, 0, AtomicType(0xe0).Size())
}
