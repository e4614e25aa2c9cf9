// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// faultRows is how many scenarios each family of the fault list has.
var faultRows = []struct {
	family string
	rows   int
}{{"L", 14}, {"D", 5}, {"R", 8}, {"C", 3}, {"T", 5}, {"P", 7}, {"W", 5}, {"F", 9}, {"S", 7}, {"K", 7}, {"M", 5}, {"U", 3}, {"X", 4}, {"Q", 1}}

// faultElsewhere are the tests of rows that are no matter of the PDS.
var faultElsewhere = map[string]string{
	"W4": "TestInitiatorMessageIDWrap",
	"W5": "TestRenewHoldsGenerationsBack",
	"M1": "TestTargetInterleavedMessages",
	"M2": "TestTargetKeyWithdrawnInMidMessage",
	"M3": "TestInitiatorSegmentation",
	"M4": "TestInitiatorErrorFailsMessageOnce",
	"M5": "TestQueueNoMatchThenPosted",
}

// Every scenario of the fault list has a test: TestFault, its number and a word in
// internal/pdc, or one of those above.
func TestFaultsEveryRowHasATest(t *testing.T) {
	var all []byte
	for _, pattern := range []string{"../internal/pdc/*_test.go", "../internal/msg/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			all = append(all, b...)
		}
	}
	for _, f := range faultRows {
		for i := range f.rows {
			row := fmt.Sprintf("%s%d", f.family, i+1)
			name, elsewhere := faultElsewhere[row]
			if !elsewhere {
				name = "TestFault" + row + "[A-Z]\\w*"
			}
			require.True(t, regexp.MustCompile(`\nfunc `+name+`\(t \*testing\.T\)`).Match(all), "row %s", row)
		}
	}
}
