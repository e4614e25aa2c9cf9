// Package enum names the values of enumerations.
package enum

import (
	"fmt"
	"reflect"
)

// Name returns the name that names has for v, or, if it has none, the type of v with its
// number, such as Profile(9): whatever a peer sent can be printed.
func Name[E ~uint8 | ~uint16](names []string, v E) string {
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[E]().Name(), v)
}
