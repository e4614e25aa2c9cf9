// SPDX-License-Identifier: Apache-2.0

package pcc

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
)

// TestContextFitsTheNIC: a NIC gives 48 bytes of context a flow.
func TestContextFitsTheNIC(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Template{}), uintptr(48))
	require.LessOrEqual(t, unsafe.Sizeof(ZTR{}), uintptr(48))
}

func TestAllocs(t *testing.T) {
	p, zp := DefaultTemplateParams(), DefaultZTRParams()
	var n TemplateCounters
	f, z := started(&p, &n), ztrStarted(&zp)
	e := ztrSample(9000)
	alloctest.Zero(t, "Template", func() {
		if !f.OnEvent(&p, e, &n).Probe {
			panic("not an answer")
		}
	})
	alloctest.Zero(t, "ZTR", func() {
		if !z.OnEvent(&zp, e).Probe {
			panic("not an answer")
		}
	})
}
