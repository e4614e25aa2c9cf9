// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errTest = errors.New("test: invalid configuration")

func TestRange(t *testing.T) {
	require.NoError(t, Range(errTest, "A", 1, 1, 2))
	require.NoError(t, Range(errTest, "A", 2, 1, 2))
	require.NoError(t, Range(errTest, "A", math.Inf(1), 0, math.Inf(1)))
	require.NoError(t, AtLeast(errTest, "A", 7, 7))
	for err, text := range map[error]string{
		Range(errTest, "A", 0, 1, 2):                                       "A is 0, want 1 to 2",
		Range(errTest, "A", 3, 1, 2):                                       "A is 3, want 1 to 2",
		Range(errTest, "A", math.NaN(), 0, 1.5):                            "A is NaN, want 0 to 1.5",
		Range(errTest, "A", time.Hour, time.Second, time.Minute):           "A is 1h0m0s, want 1s to 1m0s",
		AtLeast(errTest, "A", -1, 0):                                       "A is -1, want 0 or more",
		cmp.Or(Range(errTest, "A", 1, 0, 2), Range(errTest, "B", 9, 0, 2)): "B is 9, want 0 to 2",
	} {
		require.ErrorIs(t, err, errTest)
		require.EqualError(t, err, "test: invalid configuration: "+text)
	}
}
