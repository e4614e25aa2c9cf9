// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// HeldBy says what kept data from being sent, in parts of whole, the longest cause first:
// "62 % window, 30 % credit". Times of held are in the unit of whole.
func HeldBy(held map[string]float64, whole float64) string {
	var parts []string
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(held[b], held[a]), cmp.Compare(a, b)) }
	for _, why := range slices.SortedFunc(maps.Keys(held), longest) {
		if part := 100 * held[why] / whole; part >= 0.5 {
			parts = append(parts, fmt.Sprintf("%.0f %% %s", part, why))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}
