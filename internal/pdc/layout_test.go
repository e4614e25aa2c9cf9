// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestLayout(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(PDC{}), uintptr(512), "both directions; with a bitmap of 1024 for what arrives")
	require.EqualValues(t, 16, unsafe.Sizeof(packet{}))
	require.EqualValues(t, 32*chunkLen, unsafe.Sizeof(chunk{}))
	require.Zero(t, unsafe.Offsetof(chunk{}.packet), "what every packet needs comes first")
	if unsafe.Sizeof(uintptr(0)) == 8 { // a 32-bit machine aligns 64-bit words less
		require.EqualValues(t, 64, unsafe.Sizeof(row{}))
		require.Zero(t, unsafe.Sizeof(PDC{})%128, "pairs of cache lines")
		require.Zero(t, unsafe.Offsetof(PDC{}.handle), "the first line is that of a target, and of each nil check")
		require.EqualValues(t, 64, unsafe.Offsetof(PDC{}.rx)+unsafe.Offsetof(recvWindow{}.hold), "with all that it needs")
		require.EqualValues(t, 128, unsafe.Offsetof(PDC{}.tx), "a source needs a line besides")
		require.EqualValues(t, 192, unsafe.Offsetof(PDC{}.counted)+4, "with all that it needs")
		require.Equal(t, unsafe.Offsetof(PDC{}.unsubmitted)/64, unsafe.Offsetof(PDC{}.openMsgs)/64, "for packets handed over")
	}
	t.Logf("PDC %d bytes: recvWindow %d, sendWindow %d; packet %d, response %d, event %d", unsafe.Sizeof(PDC{}),
		unsafe.Sizeof(recvWindow{}), unsafe.Sizeof(sendWindow{}), unsafe.Sizeof(packet{}), unsafe.Sizeof(response{}), unsafe.Sizeof(Event{}))
	for _, v := range []any{PDC{}, row{}, chunk{}, response{}, Event{}} {
		requireNoPointers(t, reflect.TypeOf(v))
	}
}

// requireNoPointers fails if the collector would have to look into a type.
func requireNoPointers(t *testing.T, typ reflect.Type) {
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			requireNoPointers(t, typ.Field(i).Type)
		}
	case reflect.Array:
		requireNoPointers(t, typ.Elem())
	default:
		require.Contains(t, []reflect.Kind{reflect.Bool, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
			reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Int}, typ.Kind(), typ.String())
	}
}
