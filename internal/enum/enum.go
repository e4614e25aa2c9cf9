// SPDX-License-Identifier: Apache-2.0

// Package enum names the values of enumerations.
package enum

import (
	"fmt"
	"reflect"
)

// Name returns the name of v in names or, without a name, the type of v with the number,
// such as Profile(9): any value from a peer can be printed.
func Name[E ~uint8 | ~uint16](names []string, v E) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[E]().Name(), v)
}
