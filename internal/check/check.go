// SPDX-License-Identifier: Apache-2.0

// Package check reports errors of configurations in a uniform way. [cmp.Or] of several
// errors is the first error.
package check

import (
	"cmp"
	"fmt"
)

// Range returns nil if v is from least to most, and otherwise an error that wraps kind and
// names the field. A NaN is out of every range.
func Range[T cmp.Ordered](kind error, field string, v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return fmt.Errorf("%w: %s is %v, want %v to %v", kind, field, v, least, most)
}

// AtLeast is Range without an upper limit.
func AtLeast[T cmp.Ordered](kind error, field string, v, least T) error {
	if v >= least {
		return nil
	}
	return fmt.Errorf("%w: %s is %v, want %v or more", kind, field, v, least)
}
