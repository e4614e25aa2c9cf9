// SPDX-License-Identifier: Apache-2.0

package cbfc

import (
	"cmp"

	"github.com/uetcc/uetcc/internal/check"
)

// SLToVL chooses the virtual lane of a packet from input port, output port and
// service level (0..15). The level never changes inside a subnet; the lane does
// from link to link. Safe for concurrent readers.
type SLToVL struct {
	ports int
	vl    []uint8 // [input][output][service level]
}

// serviceLevels is how many service levels there are.
const serviceLevels = 16

// NewSLToVL returns a table for a switch with the given number of ports and
// data lanes mapping service level s to lane s modulo lanes everywhere. The
// error wraps [ErrConfig].
func NewSLToVL(ports, lanes int) (*SLToVL, error) {
	err := cmp.Or(
		check.Range(ErrConfig, "number of ports", ports, 1, 255),
		check.Range(ErrConfig, "number of lanes", lanes, 1, MaxLanes),
	)
	if err != nil {
		return nil, err
	}
	m := &SLToVL{ports: ports, vl: make([]uint8, ports*ports*serviceLevels)}
	for i := range m.vl {
		m.vl[i] = uint8(i % serviceLevels % lanes)
	}
	return m, nil
}

// Set makes packets of service level sl from port in to port out take lane vl,
// or be dropped if vl is 15, the management lane.
func (m *SLToVL) Set(in, out int, sl, vl uint8) {
	m.vl[(in*m.ports+out)*serviceLevels+int(sl%serviceLevels)] = vl & 15
}

// Lane returns the lane of a packet, and false if it must be dropped.
func (m *SLToVL) Lane(in, out int, sl uint8) (vl uint8, ok bool) {
	vl = m.vl[(in*m.ports+out)*serviceLevels+int(sl%serviceLevels)]
	return vl, vl != managementLane
}
