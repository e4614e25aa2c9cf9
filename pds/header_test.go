// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// The walk of the specification: PSN 336 with everything up to 335 cleared.
func TestRequestClearPSN(t *testing.T) {
	r := Request{Type: TypeRUDReq, PSN: 336, ClearOffset: -1}
	require.Equal(t, PSN(335), r.ClearPSN())
	r.PSN, r.ClearOffset = 1, -4
	require.Equal(t, PSN(0xfffffffd), r.ClearPSN(), "across zero")
}

func TestRequestStartPSN(t *testing.T) {
	r := Request{PSN: 0x12003, Flags: FlagSYN, Info: MakePDCInfo(false, 3)}
	require.Equal(t, PSN(0x12000), r.StartPSN())
	r.PSN = 1
	require.Equal(t, PSN(0xfffffffe), r.StartPSN(), "across zero")
}

func TestAckPSNs(t *testing.T) {
	a := AckCC{Ack: Ack{CACK: 0xffffffff, Offset: 3}, SACK: SACK{SACKOffset: -7}}
	require.Equal(t, PSN(2), a.AckPSN())
	require.Equal(t, PSN(0xfffffff8), a.SACKBase())
	a.Flags = FlagP
	require.Equal(t, PSN(0xffffffff), a.AckPSN(), "the answer to a probe names no packet")
	require.Equal(t, uint16(3), a.ProbeOpaque())
}

// An ACK with an Expected_PSN is an ACK to those who do not know it; others have none.
func TestAckExpected(t *testing.T) {
	want := AckExpected{Ack: Ack{Flags: FlagRetx, CACK: 9, Offset: -2, SPDCID: 3, DPDCID: 4}, Expected: 0x80000001}
	b := want.AppendTo(nil)
	require.Equal(t, []byte{0x38, 0x50, 0xff, 0xfe, 0, 0, 0, 9, 0, 3, 0, 4, 0x80, 0, 0, 1}, b)
	var got AckExpected
	n, err := got.Decode(b)
	require.NoError(t, err)
	require.Equal(t, ackExpectedLen, n)
	require.Equal(t, want, got)
	var a Ack
	n, err = a.Decode(b)
	require.NoError(t, err)
	require.Equal(t, ackLen, n)
	require.Equal(t, want.Ack, a)
	for i := range b {
		n, err = got.Decode(b[:i])
		require.ErrorIs(t, err, ErrTruncated)
		require.Zero(t, n)
	}
	n, err = got.Decode(append(a.AppendTo(nil), 0, 0, 0, 1))
	require.ErrorIs(t, err, ErrType)
	require.Zero(t, n)
	require.Equal(t, want, got)
}

// A NACK as it is on the wire, and back.
func TestNackBytes(t *testing.T) {
	want := Nack{Next: NextNone, Flags: FlagRetx | FlagM, Code: NackTrimmed, Vendor: 0x5a, PSN: 0x80000001, SPDCID: 3, DPDCID: 4, Payload: 0xfffefdfc}
	b := want.AppendTo(nil)
	require.Len(t, b, nackLen)
	require.Equal(t, []byte{byte(NackTrimmed), 0x5a, 0x80, 0, 0, 1, 0, 3, 0, 4, 0xff, 0xfe, 0xfd, 0xfc}, b[2:])
	require.Equal(t, TypeNACK, Type(b[0]>>3))
	var got Nack
	n, err := got.Decode(b)
	require.NoError(t, err)
	require.Equal(t, nackLen, n)
	require.Equal(t, want, got)
	for i := range b {
		n, err = got.Decode(b[:i])
		require.ErrorIs(t, err, ErrTruncated)
		require.Zero(t, n)
	}
	b[0] = byte(TypeACK)<<3 | b[0]&7
	n, err = got.Decode(b)
	require.ErrorIs(t, err, ErrType)
	require.Zero(t, n)
	require.Equal(t, want, got)
}

func TestFlagsReq(t *testing.T) {
	f := (FlagM | FlagRetx).WithReq(AckReqClose)
	require.Equal(t, AckReqClose, f.Req())
	require.Equal(t, FlagM|FlagRetx, f.WithReq(AckReqNone))
	require.Equal(t, "REQ_CLOSE", f.Req().String())
}

func TestAckCCStateOfTheOtherType(t *testing.T) {
	var a AckCC
	want := CreditState{Credit: 0xabcdef, OOOCount: 9}
	a.SetCredit(&want)
	n := NSCCState{CwndPend: 5}
	require.False(t, a.NSCC(&n))
	require.Equal(t, NSCCState{CwndPend: 5}, n)
	var c CreditState
	require.True(t, a.Credit(&c))
	require.Equal(t, want, c)

	set := NSCCState{ServiceTime: 0xffff, Restore: true, CwndPend: 127, RcvdBytes: maxUint24, OOOCount: OOOUnknown}
	a.SetNSCC(&set)
	require.False(t, a.Credit(&c))
	require.True(t, a.NSCC(&n))
	require.Equal(t, set, n)
}

func TestEncodeKeepsNeighboursOfWideValues(t *testing.T) {
	r := Request{Type: TypeRUDCCReq, Next: NextRequestStd, SPDCID: 1, DPDCID: 1, CCCID: 7, CreditTarget: 1<<24 + 5}
	require.ErrorIs(t, r.Validate(), errRange)
	var got Request
	_, err := got.Decode(r.AppendTo(nil))
	require.NoError(t, err)
	require.Equal(t, uint8(7), got.CCCID)
	require.Equal(t, uint32(5), got.CreditTarget, "modulo 2^24")

	n := NSCCState{CwndPend: 0xff, RcvdBytes: 1<<24 + 1, ServiceTime: 3}
	var a AckCC
	a.SetNSCC(&n)
	a.NSCC(&n)
	require.Equal(t, NSCCState{CwndPend: 0x7f, RcvdBytes: 1, ServiceTime: 3}, n)
}

func TestNackValidateWithoutPDC(t *testing.T) {
	n := Nack{Code: NackNoPDCAvail, DPDCID: 5}
	require.NoError(t, n.Validate(), "a refused SYN leaves its sender without a PDC to name")
	n.Code = NackRODOOO
	require.NoError(t, n.Validate(), "so does a SYN that opens an ordered PDC out of order")
	n.Code = NackRcvdSESProcg
	require.ErrorIs(t, n.Validate(), errPDCID)
	n = Nack{Code: NackTrimmed, Flags: FlagNT}
	require.NoError(t, n.Validate())
	n.SPDCID = 1
	require.ErrorIs(t, n.Validate(), errPDCID)
}

func TestPeekType(t *testing.T) {
	for v := range 256 {
		typ, err := PeekType([]byte{byte(v)})
		if v>>3 == 0 || v>>3 > 14 {
			require.ErrorIs(t, err, ErrType)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, Type(v>>3), typ)
	}
	_, err := PeekType(nil)
	require.ErrorIs(t, err, ErrTruncated)
}

func TestHeadersDoNotAllocate(t *testing.T) {
	check(t, &Entropy{Value: 7}, nil)
	check(t, &Prologue{Type: TypeACK}, nil)
	check(t, &Request{Type: TypeRUDReq}, new(Ack))
	check(t, &Request{Type: TypeRODCCReq, Flags: FlagSYN}, new(Ack))
	check(t, &RUDI{Type: TypeRUDIResp}, new(Ack))
	check(t, &UUD{Next: NextRequestStd}, new(Ack))
	check(t, &Ack{CACK: 9}, new(AckCC))
	check(t, &AckExpected{Expected: 7}, new(AckCC))
	check(t, &AckCC{}, new(AckCCX))
	check(t, &AckCCX{}, new(Control))
	check(t, &Nack{}, new(NackCCX))
	check(t, &NackCCX{}, new(Ack))
	check(t, &Control{Ctl: CtlCredit}, new(Ack))
	check(t, &TSS{}, new(Ack))
	check(t, &TSS{SP: true}, new(Ack))
}

type codec interface {
	Decode(b []byte) (int, error)
	AppendTo(b []byte) []byte
	Validate() error
	String() string
}

// check asserts that no method of h but String allocates, in success or error.
// other is a header of another type.
func check(t *testing.T, h, other codec) {
	t.Helper()
	wire := h.AppendTo(nil)
	buf := make([]byte, 0, 64)
	alloctest.Zero(t, "Decode", func() {
		if n, err := h.Decode(wire); err != nil || n != len(wire) {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "AppendTo", func() {
		if buf = h.AppendTo(buf[:0]); len(buf) != len(wire) {
			panic("the path under test did not run")
		}
	})
	alloctest.Zero(t, "Validate", func() { _ = h.Validate() })
	alloctest.Zero(t, "truncated", func() {
		if n, err := h.Decode(wire[:len(wire)-1]); n != 0 || err != ErrTruncated {
			panic("the path under test did not run")
		}
	})
	if other == nil {
		return
	}
	foreign := append(other.AppendTo(nil), make([]byte, 64)...)
	alloctest.Zero(t, "wrong type", func() {
		if n, err := h.Decode(foreign); n != 0 || err != ErrType {
			panic("the path under test did not run")
		}
	})
}

// The word of a control packet says what each of its constructors was given, and nothing
// that is reserved.
func TestPayload(t *testing.T) {
	for ctl, tt := range map[CtlType]struct{ got, want Payload }{
		CtlClearCmd:  {Payload(0xfedc_ba98), 0xfedc_ba98},
		CtlCredit:    {CreditPayload(0x12_3456), 0x1234_5600},
		CtlCreditReq: {CreditReqPayload(0xab, 0xff12_3456), 0xab12_3456},
	} {
		require.Equal(t, tt.want, tt.got, "%v", ctl)
		require.Zero(t, tt.got&^ctl.payloadMask(), "%v", ctl)
	}
	require.EqualValues(t, 0x12_3456, CreditPayload(0x12_3456).Credit())
	q := CreditReqPayload(0xab, 0xff12_3456)
	require.EqualValues(t, 0xab, q.CCCID())
	require.EqualValues(t, 0x12_3456, q.CreditTarget(), "modulo 2^24")
}

// A NEGOTIATION of 20 bytes as UE Specification 1.0.3, Table 3-69, has it: SYN_RETX_TRANSFER on.
func TestControlNegotiationOfFeatures(t *testing.T) {
	b := []byte("\x5c\xac\x00\x00\x00\x01\x20\x00\x00\x07\x00\x00\x01\x02\x00\x00\x00\x00\x00\x01")
	var c Control
	n, err := c.Decode(b)
	require.NoError(t, err)
	require.Equal(t, negotiationLen, n)
	require.Equal(t, Control{Ctl: CtlNegotiation, Flags: FlagISROD | FlagAR | FlagSYN, SPDCID: 7, PSN: 0x12000,
		Payload: PayloadOnOff, Features: FeatureSYNRetxTransfer}, c)
	require.NoError(t, c.Validate())
	require.Equal(t, b, c.AppendTo(nil))
	n, err = c.Decode(b[:ControlLen])
	require.ErrorIs(t, err, ErrTruncated)
	require.Zero(t, n)

	b[13] = 3 // an element of a length that is not known: its rest is not the header's
	n, err = c.Decode(b)
	require.NoError(t, err)
	require.Equal(t, ControlLen, n)
	require.Zero(t, c.Features)
	c.Features = 1
	require.ErrorIs(t, c.Validate(), errRange)
}
