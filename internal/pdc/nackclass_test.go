// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
)

func TestNackClasses(t *testing.T) {
	for c := range 256 {
		if code := pds.NackCode(c); strings.HasPrefix(code.String(), "NackCode(") {
			require.Equal(t, NackIgnore, ClassOf(code), "a reserved code must do nothing: %v", code)
		}
	}
	require.Equal(t, NackIgnore, ClassOf(pds.NackRcvdSESProcg))
	for class, codes := range map[NackClass][]pds.NackCode{
		NackRetx: {pds.NackTrimmed, pds.NackNoPktBuffer, pds.NackPSNOORWindow, pds.NackRcvrInferLoss}, NackGoBack: {pds.NackRODOOO},
		NackNewPDC: {pds.NackInvDPDCID, pds.NackClosing}, NackRenumber: {pds.NackNewStartPSN}, NackFatal: {pds.NackInvalidSYN, pds.NackUnexpEvent},
	} {
		for _, c := range codes {
			require.Equal(t, class, ClassOf(c), c)
		}
	}
}
