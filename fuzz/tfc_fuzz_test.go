// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// FuzzTFC lets a script of bytes drive a source and a destination over a network
// that loses, repeats and reorders; the invariants hold after every byte and
// nothing leaks in the end.
func FuzzTFC(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{0xf8, 0xf8, 0x50, 0x02, 0x02, 0x05, 0x06}, false)   // the worked table's start
	f.Add([]byte{0xf8, 0xf8, 0x0b, 0x03, 0x04, 0x02, 0x0f}, true)    // loss, repetition, wrap
	f.Add([]byte{0xf8, 0x02, 0x05, 0x07, 0xff, 0xff, 0x06}, false)   // the credit is lost and repeated
	f.Add([]byte{0xf8, 0xf8, 0x02, 0x05, 0x02, 0x05, 0x0e, 6}, true) // credits overtake each other
	fresh, wrapping := *newTFCWorld(f, 0), *newTFCWorld(f, 1<<24-200)
	f.Fuzz(func(t *testing.T, script []byte, wrap bool) {
		start := fresh
		if wrap {
			start = wrapping
		}
		w := &start
		for i, b := range script[:min(len(script), 500)] {
			w.step(b)
			for _, inv := range tfcInvariants {
				if !inv.holds(w) {
					t.Fatalf("%s: step %d", inv.name, i)
				}
			}
		}
		w.drain()
		require.Equal(t, w.limit, w.src.Allowed())
	})
}

// FuzzTFCHostile feeds either end with whatever the other could put on the wire.
func FuzzTFCHostile(f *testing.F) {
	f.Add([]byte{1, 0, 0, 40, 2, 16, 54})
	f.Add([]byte{3, 255, 255, 255, 1, 128, 0, 0})
	f.Add([]byte{0, 0, 0, 40, 2, 0, 8, 0, 3, 0, 4, 0, 3, 0, 255, 0}) // credit; cells that come, and more that go
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := tfc.NewParams(tfcConfig)
		require.NoError(t, err)
		var s tfc.Source
		var d tfc.Destination
		s.Init(&p)
		d.Init(&p, 0)
		for now := int64(0); len(in) >= 4; in, now = in[4:], now+1000 {
			v := int64(in[1])<<16 | int64(in[2])<<8 | int64(in[3])
			switch in[0] % 4 {
			case 0:
				s.OnCreditUpdate(&p, tfc.Cells(v|0xff<<24).Extend(s.Credit()))
			case 1:
				if s.CanSend(&p, v) {
					s.OnSend(&p, v)
				}
			case 2:
				d.Accept(&p, now, v)
			case 3:
				d.Release(&p, now, v)
			}
			require.GreaterOrEqual(t, s.Allowed(), int64(0))
			require.LessOrEqual(t, s.Allowed(), tfcConfig.Limit)
			require.GreaterOrEqual(t, d.Occupancy(), int64(0))
			require.LessOrEqual(t, d.Occupancy(), tfcConfig.Limit)
		}
	})
}
