// SPDX-License-Identifier: Apache-2.0

// Package counters prints structures of counters for people.
package counters

import (
	"fmt"
	"reflect"
	"strings"
)

// String names the fields of v, a struct of integers, except zeros, with values.
func String(v any) string {
	var b strings.Builder
	x := reflect.ValueOf(v)
	for i := range x.NumField() {
		if f := x.Field(i); !f.IsZero() {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %v", x.Type().Field(i).Name, f)
		}
	}
	if b.Len() == 0 {
		return "all 0"
	}
	return b.String()
}
