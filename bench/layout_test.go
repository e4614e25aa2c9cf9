// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/cbfc"
	"github.com/uetcc/uetcc/hw/pcc"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/table"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// pointersIn lists the paths inside t that the collector would have to follow.
func pointersIn(t reflect.Type, path string) (found []string) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			found = append(found, pointersIn(t.Field(i).Type, path+"."+t.Field(i).Name)...)
		}
	case reflect.Array:
		if t.Len() > 0 {
			found = pointersIn(t.Elem(), path+"[]")
		}
	case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		found = []string{path + " " + t.String()}
	}
	return found
}

func TestContextsAreSmallAndWithoutPointers(t *testing.T) {
	for _, c := range []struct {
		value any
		limit uintptr // bytes, as budgeted; 0: what it is embedded in has the limit
	}{
		{ccc.Context{}, 256},
		{pdc.PDC{}, 512},
		{nscc.Window{}, 0},
		{rccc.Source{}, 0},
		{ccc.Entropy{}, 256},
		{tfc.Source{}, 64},
		{tfc.Destination{}, 64},
		{cbfc.Tx{}, 64},
		{cbfc.Rx{}, 64},
		{pcc.ZTR{}, 64},
		{pcc.Template{}, 64},
	} {
		typ := reflect.TypeOf(c.value)
		require.Empty(t, pointersIn(typ, typ.String()))
		t.Logf("%-16s %4d B", typ, typ.Size())
		if c.limit > 0 {
			require.LessOrEqual(t, typ.Size(), c.limit, typ)
		}
	}
}

// slabsOf gives the element types of the arrays that a value leads to: those of
// slices, and what pointers to the library's own types lead to.
func slabsOf(t reflect.Type, path string, seen map[reflect.Type]bool, slab func(path string, elem reflect.Type)) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			slabsOf(t.Field(i).Type, path+"."+t.Field(i).Name, seen, slab)
		}
	case reflect.Array:
		slabsOf(t.Elem(), path+"[]", seen, slab)
	case reflect.Slice:
		slab(path, t.Elem())
	case reflect.Pointer:
		if own := strings.HasPrefix(t.Elem().PkgPath(), "github.com/uetcc/uetcc"); own && !seen[t] {
			seen[t] = true
			slabsOf(t.Elem(), path, seen, slab)
		}
	}
}

// A collector that has to look at one word of each of 65,536 contexts costs
// milliseconds a cycle; slabs of types without pointers cost nothing.
func TestSlabsHaveNothingToScan(t *testing.T) {
	allowed := map[string]bool{
		"ccc.Algorithm": true, // what a user plugs in
		"ccc.cellGate":  true, // an Algorithm of the library, with TFC alone
		"*ccc.View":     true, // where a posted event wants a snapshot; 2,048 by default
		"pdc.waiter":    true, // a message that waits for a PDC keeps its netip addresses; the queue is short
	}
	for _, owner := range []any{
		ccc.Manager{}, ccc.Table{}, pdc.Manager{}, pdc.Table{}, rccc.Receiver{},
		table.Map{}, table.Pool{}, timerwheel.Wheel{}, msg.Target{}, msg.Initiator{}, cbfc.Port{}, cbfc.Sender{},
	} {
		typ, slabs := reflect.TypeOf(owner), 0
		slabsOf(typ, typ.String(), map[reflect.Type]bool{}, func(path string, elem reflect.Type) {
			slabs++
			if !allowed[elem.String()] {
				assert.Empty(t, pointersIn(elem, path+"[]"))
			}
		})
		require.NotZero(t, slabs, "%s: no slab was found: does the walk still reach them?", typ)
	}
}

func TestPointersInFindsEveryKind(t *testing.T) {
	type Inner struct {
		Funcs [3]func()
		Plain int64
	}
	type every struct {
		Plain     uint64
		Inner     [2]Inner
		String    string
		Pointer   *int
		Map       map[int]int
		Slice     []byte
		Interface any
		Chan      chan int
		Unsafe    unsafe.Pointer
		None      [0]*int
		Number    uintptr
	}
	require.Equal(t, []string{
		".Inner[].Funcs[] func()", ".String string", ".Pointer *int", ".Map map[int]int", ".Slice []uint8",
		".Interface interface {}", ".Chan chan int", ".Unsafe unsafe.Pointer",
	}, pointersIn(reflect.TypeFor[every](), ""))
}
