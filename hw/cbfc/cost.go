// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// Cost computes the credits of a frame. Both ends must use the same values.
type Cost struct {
	CreditSize int64 // bytes of a credit; the sender's default is 128
	Overhead   int64 // bytes added to each frame, -16..127
}

// Validate reports a value out of its range; the error wraps [ErrConfig].
func (c Cost) Validate() error {
	return cmp.Or(
		check.AtLeast(ErrConfig, "CreditSize", c.CreditSize, 1),
		check.Range(ErrConfig, "Overhead", c.Overhead, -16, 127),
	)
}

// Credits returns the cost of a frame: (bytes + overhead) / credit size, rounded
// up, and at least 1.
//
//uetcc:hot inlines
func (c Cost) Credits(bytes int64) int64 {
	return max(1, (bytes+c.Overhead+c.CreditSize-1)/c.CreditSize)
}
