// SPDX-License-Identifier: Apache-2.0

package pds

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnumStrings(t *testing.T) {
	for _, c := range []struct {
		got  interface{ String() string }
		want string
	}{
		{TypeRODCCReq, "ROD_CC_REQ"}, {Type(15), "Type(15)"}, {Type(255), "Type(255)"},
		{NextRequestStd, "UET_HDR_REQUEST_STD"}, {NextHdr(7), "NextHdr(7)"},
		{NackTrimmed, "UET_TRIMMED"}, {NackRcvrInferLoss, "UET_RCVR_INFER_LOSS"}, {NackExpFatal, "UET_EXP_NACK_FATAL"},
		{NackCode(0), "NackCode(0)"}, {NackCode(0x0c), "NackCode(12)"}, {NackCode(0x74), "NackCode(116)"},
		{CtlNegotiation, "NEGOTIATION"}, {CtlType(10), "CtlType(10)"},
	} {
		require.Equal(t, c.want, c.got.String())
	}
}

func TestNackCodeReserved(t *testing.T) {
	assigned := 0
	for c := range 256 {
		if !NackCode(c).isReserved() {
			assigned++
		}
	}
	require.Equal(t, 0x1A-1+3, assigned, "0x01-0x1A but 0x0C, and three experimental codes")
}

func TestTypeAllows(t *testing.T) {
	require.True(t, TypeRUDReq.Allows(NextResponseData), "read data travels as a request")
	require.False(t, TypeRUDReq.Allows(NextNone))
	require.False(t, TypeRUDReq.Allows(NextResponse))
	require.True(t, TypeACK.Allows(NextNone))
	require.False(t, TypeNACK.Allows(NextRequestStd))
	require.False(t, TypeCP.Allows(NextNone))
	require.False(t, Type(200).Allows(NextNone))
	require.False(t, TypeACK.Allows(NextHdr(200)))
}

func TestTypeClasses(t *testing.T) {
	requests, ordered := 0, 0
	for v := range 32 {
		if Type(v).IsRequest() {
			requests++
		}
		if Type(v).IsROD() {
			ordered++
		}
	}
	require.Equal(t, 4, requests)
	require.Equal(t, 2, ordered)
	require.True(t, TypeRUDCCReq.IsRequest())
}
