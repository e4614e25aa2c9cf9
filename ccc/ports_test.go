// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/nscc"
)

// portsRig is a manager with a context and two PDCs, the second one kept to a path.
func portsRig(t *testing.T, scheme Scheme, ports int) (m *Manager, free, fixed Handle) {
	p, err := NewParams(Config{
		NSCC:    nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4200},
		Entropy: EntropyConfig{Scheme: scheme, Values: 64, Ports: ports},
	})
	require.NoError(t, err)
	m, err = NewManager(ManagerConfig{Params: &p, Contexts: 2, PDCs: 3, Seed: 1})
	require.NoError(t, err)
	c := NewHandle(1, 1)
	require.NoError(t, m.Open(c, 0, 0))
	free, fixed = NewHandle(1, 1), NewHandle(2, 1)
	require.NoError(t, m.Bind(free, c, 0, false))
	require.NoError(t, m.Bind(fixed, c, 0, true))
	return m, free, fixed
}

// used is how many of n packets leave through each port, one by one and in runs.
func used(m *Manager, pdc Handle, n int) map[int]int {
	ports := map[int]int{}
	var paths [8]uint16
	for range n / 16 {
		m.OnNewData(pdc, 0, 16*4200)
		for range 8 {
			ports[m.Params().Entropy().Port(m.Send(pdc, 0, Sent{Size: 4200}).Entropy)]++
		}
		s, _ := exchange(m, pdc, 0, nil, 4200, paths[:])
		for _, v := range paths[:s.Sent] {
			ports[m.Params().Entropy().Port(v)]++
		}
		m.OnACK(pdc, 0, &Ack{Ack: nscc.Ack{Bytes: int64(8+s.Sent) * 4200, RTT: 12_000}, Packets: 8 + s.Sent})
		m.OnWithdraw(pdc, 0, int64(8-s.Sent)*4200)
	}
	return ports
}

// Packets spread over all ports. Those of a port that is down leave through the others, evenly, also
// of a PDC that is kept to a path, and come back when the port does.
func TestPortsThatAreDown(t *testing.T) {
	for scheme := range Scheme(schemes) {
		m, free, fixed := portsRig(t, scheme, 4)
		all := used(m, free, 1<<12)
		require.Len(t, all, 4, scheme)
		way := used(m, fixed, 16)
		require.Len(t, way, 1, scheme)
		for lost := range way {
			m.SetPorts(0b1111 &^ (1 << lost))
			three := used(m, free, 1<<12)
			require.Len(t, three, 3, scheme)
			require.NotContains(t, three, lost)
			total := 0
			for _, n := range three {
				total += n
			}
			for _, n := range three {
				require.Greater(t, 4*n, total, "%v %v", scheme, three)
			}
			other := used(m, fixed, 64)
			require.Len(t, other, 1)
			require.NotContains(t, other, lost)
			m.SetPorts(0)
			require.Equal(t, way, used(m, fixed, 16), "none counts as all")
		}
		m.SetPorts(1 << 2)
		require.Equal(t, []int{2}, keys(used(m, free, 256)))
		m.SetPorts(0b1111)
		require.Len(t, used(m, free, 1<<12), 4)
	}
	m, free, _ := portsRig(t, SchemeOblivious, 64)
	m.SetPorts(1 << 63)
	require.Equal(t, []int{63}, keys(used(m, free, 256)))
	m, free, _ = portsRig(t, SchemeOblivious, 0)
	m.SetPorts(0)
	require.Equal(t, []int{0}, keys(used(m, free, 256)))
}

// The same for a PDC that has its context to itself, whose packets are exchanged in runs.
func TestPortsThatAreDownUnderRuns(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		p, err := NewParams(Config{
			NSCC:    nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4200},
			Entropy: EntropyConfig{Values: 64, Ports: 2},
		})
		require.NoError(t, err)
		m := newManager(t, ManagerConfig{Params: &p, Contexts: 1, PDCs: 1, Seed: 1})
		pdc := NewHandle(0, 1)
		require.NoError(t, m.Open(pdc, 0, 0))
		require.NoError(t, m.Bind(pdc, pdc, 0, fixed))
		all := used(m, pdc, 256)
		require.Equal(t, fixed, len(all) == 1)
		for port := range 2 {
			m.SetPorts(1 << port)
			require.Equal(t, []int{port}, keys(used(m, pdc, 256)))
		}
		m.SetPorts(0b11)
		require.Equal(t, fixed, len(used(m, pdc, 256)) == 1)
		m.OnNewData(pdc, 0, 4200)
		require.Zero(t, m.pdcs[0].left(), "what a context's only PDC has is counted once, in the context")
	}
}

func keys(m map[int]int) (all []int) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestPortsConfig(t *testing.T) {
	for _, c := range []EntropyConfig{{Ports: 3}, {Ports: 128}, {Ports: -1}, {Ports: 8, Values: 4}, {Scheme: SchemeREPS, Values: 100, Ports: 8}} {
		_, err := NewEntropyParams(c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, "Ports")
	}
	_, err := NewEntropyParams(EntropyConfig{Scheme: SchemeREPS, Values: 100, Ports: 4})
	require.NoError(t, err)
}
