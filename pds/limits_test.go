// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is one past the last legal value is refused, and does not panic.
func TestOnePastTheLast(t *testing.T) {
	ack := Ack{SPDCID: 1, DPDCID: 1}
	for _, c := range []struct {
		err, want error
	}{
		{(&Prologue{Type: TypeRODCCReq + 1, Next: NextRequestStd}).Validate(), ErrType},
		{(&Prologue{Type: typeReserved}).Validate(), ErrType},
		{(&Prologue{Type: TypeTSS, Next: 0xf, Flags: 0x7f}).Validate(), nil},
		{(&Prologue{Type: TypeTSS, Flags: 0x80}).Validate(), errRange},
		{(&Prologue{Type: TypeTSS, Next: 0x10}).Validate(), errRange},
		{(&Prologue{Type: TypeCP, Flags: 0x7f}).Validate(), nil},
		{(&Prologue{Type: TypeCP, Flags: 0x80}).Validate(), errRange},
		{(&Prologue{Type: TypeCP, Next: 0x10}).Validate(), errCtlType},
		{(&Prologue{Type: TypeACK, Flags: 0x80}).Validate(), errRange},
		{(&Prologue{Type: TypeACK, Next: 0x10}).Validate(), errNextHdr},
		{(&RUDI{Type: TypeRUDReq, Next: NextRequestStd}).Validate(), ErrType},
		{(&TSS{AN: 1}).Validate(), nil},
		{(&TSS{AN: 2}).Validate(), errRange},
		{(&TSS{SSI: 1}).Validate(), errRange},
		{(&TSS{SP: true, SSI: 1}).Validate(), nil},
		{(&AckCCX{Ack: ack, SACK: SACK{CCType: 15, CCFlags: 0xf}}).Validate(), nil},
		{(&AckCCX{Ack: ack, SACK: SACK{CCType: 15, CCFlags: 0x10}}).Validate(), errRange},
		{(&Request{Type: TypeRUDReq, Next: NextRequestStd, SPDCID: 1}).Validate(), errPDCID},
		{(&Control{Ctl: CtlNOOP, SPDCID: 1}).Validate(), errPDCID},
		{(&DSCPs{Trimmable: 1, Control: 64}).Validate(), errDSCP},
		{(&DSCPs{Trimmable: 1, Control: 2, Trimmed: 1}).Validate(), errDSCP},
		{(&DSCPs{Trimmable: 1, Control: 2, Trimmed: 3, TrimmedLastHop: 2}).Validate(), errDSCP},
	} {
		require.ErrorIs(t, c.err, c.want)
	}
	for next := range NextHdr(16) {
		require.False(t, Type(32).Allows(next))
	}
	for i := range Type(32) {
		require.False(t, i.Allows(NextHdr(16)))
	}
	nack := (&Nack{}).AppendTo(nil)
	nack[1] |= flagExpected
	_, err := new(AckExpected).Decode(nack)
	require.ErrorIs(t, err, ErrType)
}

// Which control packets consume a PSN, and which codes say that a packet was cut, of all.
func TestKindsOfControlAndNACK(t *testing.T) {
	for c := range CtlType(32) {
		want := c == CtlNOOP || c == CtlCloseCmd || c == CtlCloseReq || c == CtlNegotiation
		require.Equal(t, want, c.ConsumesPSN(), c)
	}
	for c := range 256 {
		code := NackCode(c)
		require.Equal(t, code == NackTrimmed || code == NackTrimmedLastHop || code == NackTrimmedACK, code.IsTrimmed(), code)
	}
}
