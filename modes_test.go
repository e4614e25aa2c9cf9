// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

var netSettings = map[string]netFaults{
	"clean": {},
	"lossy": {loss: .05, dup: .05, reorder: 30_000, mark: .1},
	"trims": {loss: .01, trim: .1, dup: .02, reorder: 10_000, mark: .2},
}

func fill(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i*7) + byte(i>>8)
	}
	return b
}

// traffic starts all kinds of messages from end 0 to end 1, in each mode that
// carries them, and remembers what must be the case afterwards.
func traffic(n *network, mode ses.Mode) (check func()) {
	a, b := n.ends[0], n.ends[1]
	var checks []func()
	cookie := uint64(0)
	start := func(f func(int64, *uetcc.Message) (ses.Handle, error), m uetcc.Message, data []byte) {
		cookie++
		m.To.Address, m.To.TC, m.To.Job, m.Mode, m.Cookie = n.ends[1].addr, tcLow, 1, mode, cookie
		m.HasData, m.HeaderData, m.Length = true, cookie, uint32(len(data))
		a.local[cookie] = data
		_, err := f(n.now, &m)
		require.NoError(n.t, err)
	}
	lengths := []int{0, 1, netMTU, netMTU + 1, 17*netMTU + 5}
	for i, l := range lengths {
		data, at := fill(l, byte(i)), uint64(i*32*netMTU)
		start(a.e.Write, uetcc.Message{Key: 1, Offset: at}, data)
		checks = append(checks, func() { require.Equal(n.t, data, b.mem[at:][:l], "write %d", i) })

		source := uint64(512*1024 + i*32*netMTU)
		want, got := fill(l, byte(i+40)), make([]byte, l)
		copy(b.mem[source:], want)
		start(a.e.Read, uetcc.Message{Key: 1, Offset: source}, got)
		checks = append(checks, func() { require.Equal(n.t, want, got, "read %d", i) })
	}
	if mode == ses.ModeRUDI {
		return func() { runAll(checks) }
	}
	sum := uint64(1000 * 1024)
	add := ses.CompareSwap{Atomic: ses.Atomic{Opcode: ses.AtomicSum, Type: ses.TypeUint64}}
	for i := range 4 {
		m := uetcc.Message{Key: 1, Offset: sum, Swap: add, Fetch: i%2 == 1}
		start(a.e.Atomic, m, binary.BigEndian.AppendUint64(nil, 10))
	}
	checks = append(checks, func() { require.Equal(n.t, uint64(40), binary.BigEndian.Uint64(b.mem[sum:]), "each once") })
	base := uint64(700 * 1024)
	for i := range 3 {
		n.post(b, base+uint64(i)*8192, 8192)
		start(a.e.Send, uetcc.Message{To: uetcc.Destination{Index: netQueue}}, fill(5000, 9))
	}
	for i := range 3 {
		checks = append(checks, func() { require.Equal(n.t, fill(5000, 9), b.mem[base+uint64(i)*8192:][:5000]) })
	}
	return func() { runAll(checks) }
}

func runAll(fs []func()) {
	for _, f := range fs {
		f()
	}
}

// Everything arrives once, whatever the network does, and each message ends once.
func TestEndpointModes(t *testing.T) {
	for _, x := range []struct {
		name   string
		mode   ses.Mode
		buffer bool
	}{{"RUD", ses.ModeRUD, false}, {"ROD", ses.ModeROD, false}, {"ROD, buffering", ses.ModeROD, true}, {"RUDI", ses.ModeRUDI, false}} {
		for name, faults := range netSettings {
			for seed := range uint64(6) {
				t.Run(fmt.Sprint(name, "/", x.name, "/", seed), func(t *testing.T) {
					n := newNetwork(t, seed, faults, 2, func(c *uetcc.Config) { c.PDS.BufferROD = x.buffer })
					check := traffic(n, x.mode)
					a := n.ends[0]
					n.run(func() bool { return len(a.events) == len(a.local) })
					ended := map[uint64]bool{}
					for _, ev := range a.events {
						require.Equal(t, ses.StatusOK, ev.Outcome.Status, "cookie %d: %+v", ev.Cookie, ev)
						require.Equal(t, uint32(len(a.local[ev.Cookie])), ev.Outcome.Length)
						require.False(t, ended[ev.Cookie], "ended twice")
						ended[ev.Cookie] = true
					}
					check()
					n.settle()
				})
			}
		}
	}
}

// settle lets the PDCs go: they close when told to, and nothing is left.
func (n *network) settle() {
	clean := n.f == netFaults{}
	n.f = netFaults{}
	for _, end := range n.ends {
		for id := pdc.Handle(1); id <= 8; id++ {
			_ = end.e.PDS().Close(n.now, id|1<<16)
		}
	}
	n.run(func() bool {
		for _, end := range n.ends {
			s := end.e.PDS().Stats()
			if s.Opened != s.Closed {
				return false
			}
		}
		return true
	})
	for _, end := range n.ends {
		require.Zero(n.t, end.e.Usage().Arriving, "records")
		require.Zero(n.t, end.e.Stats().Broken)
		require.Equal(n.t, 64, (*pdc.Manager)(end.e.PDS()).FreeChunks())
		if clean { // else the acknowledgement of read data may have been lost
			require.Zero(n.t, end.e.PDS().Stats().Failed)
		}
	}
}

// A receiver that is gone: every message ends once, with the cause, and all that it
// held is free again. What comes after it has returned goes over a new PDC.
func TestEndpointReceiverGone(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.MaxRTORetx = 2 })
	_ = traffic(n, ses.ModeRUD)
	a, gone := n.ends[0], pdc.AddrFrom(n.ends[1].addr)
	n.cut[gone] = true
	n.run(func() bool { return len(a.events) == len(a.local) })
	for _, ev := range a.events {
		require.Equal(t, ses.StatusPDS, ev.Outcome.Status, "%+v", ev)
		require.Equal(t, pdc.CauseRTO, ev.Cause)
	}
	require.Equal(t, 64, (*pdc.Manager)(a.e.PDS()).FreeChunks())
	n.cut[gone], a.events, a.local = false, nil, map[uint64][]byte{}
	check := traffic(n, ses.ModeRUD)
	n.endWell(a, len(a.local))
	check()
}

// An idle PDC closes by itself at both ends, and its number is used again.
func TestEndpointIdleAndReuse(t *testing.T) {
	n := newNetwork(t, 2, netFaults{loss: .02, reorder: 5000}, 2, func(c *uetcc.Config) {
		c.PDS.IdleTime, c.PDS.MaxRTORetx, c.PDCs.General = 6_400_000, 5, 1 // 32 times RTOInit
	})
	a := n.ends[0]
	for round := range 4 {
		a.events, a.local = nil, map[uint64][]byte{}
		cookie := n.begin(a.e.Write, ses.ModeRUD, fill(3000, byte(round)))
		n.endWell(a, 1)
		require.Equal(t, a.local[cookie], n.ends[1].mem[:3000])
		closed := uint64(round + 1)
		n.run(func() bool {
			return a.e.PDS().Stats().Closed == closed && n.ends[1].e.PDS().Stats().Closed == closed
		})
		n.now += 4_000_000 // the quarantine
	}
}
