// SPDX-License-Identifier: Apache-2.0

package ccc

import "math/bits"

// Port is the NIC port, or network plane, that a packet with an entropy value leaves through: 0 to
// EntropyConfig.Ports - 1. It is what GetSendParams chooses beside the value.
func (p *EntropyParams) Port(v uint16) int { return int(v & p.ports) }

// allPorts has a bit for each port.
func (p *EntropyParams) allPorts() uint64 { return uint64(1)<<(p.ports+1) - 1 } // 0 - 1 for 64

// SetPorts says which NIC ports are up, bit n for port n. Packets of all contexts, those sent again
// too, leave through the others until the next call. None at all counts as all. Only the owner calls it.
//
// Source: UE Specification 1.0.x sections 3.6.6 (free_port_list) and 3.6.16.
func (m *Manager) SetPorts(up uint64) {
	all := m.p.entropy.allPorts()
	if m.down = all &^ up; m.down == all {
		m.down = 0
	}
	m.listens = m.p.entropy.scheme != SchemeOblivious || m.down != 0
	for i := range m.seats {
		m.classify(&m.seats[i].context)
	}
}

// passable is v, or, where the port of v is down, the value beside it whose port is up. Values that
// differ in their other bits spread over those ports.
func (m *Manager) passable(v uint16) uint16 {
	if m.down == 0 || m.down>>m.p.entropy.Port(v)&1 == 0 {
		return v
	}
	mask := m.p.entropy.ports
	up := m.p.entropy.allPorts() &^ m.down
	for n := int(v>>bits.Len16(mask)) % bits.OnesCount64(up); n > 0; n-- {
		up &= up - 1
	}
	return v&^mask | uint16(bits.TrailingZeros64(up))
}
