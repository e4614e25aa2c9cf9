// SPDX-License-Identifier: Apache-2.0

package ses

import (
	"github.com/uetcc/uetcc/pds"
)

// Lengths of the headers of single forms, bytes.
const (
	smallLen             = 20
	mediumLen            = 32
	responseDataLen      = 20
	responseDataSmallLen = 12
)

var formLens = [16]int{
	pds.NextRequestSmall: smallLen, pds.NextRequestMedium: mediumLen, pds.NextRequestStd: StandardLen,
	pds.NextResponse: ResponseLen, pds.NextResponseData: responseDataLen, pds.NextResponseDataSmall: responseDataSmallLen,
}

// formLen is the length of the header without extensions, 0 for no layout.
func formLen(f pds.NextHdr) int { return formLens[f&15] }

// extensionLen returns the length of the extension after the request header of form f and
// n bytes at the start of b. For an undefined opcode the extension is unknown; Validate
// reports such an opcode, and a rendezvous in a short form.
func extensionLen(f pds.NextHdr, n int, b []byte) int {
	switch op := Opcode(b[0] & opcodeMask); {
	case op.IsAtomic() && len(b) > n && AtomicOpcode(b[n]).IsSwap():
		return CompareSwapLen
	case op.IsAtomic():
		return AtomicLen
	case op.IsRendezvous() && f == pds.NextRequestStd:
		return RendezvousLen
	}
	return 0
}
