// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// One connection, many writes: the PDC is found once, and messages of one packet leave together.
func ExampleEndpoint_WriteBatch() {
	initiator, _ := uetcc.NewEndpoint(walkConfig(0, 0x4001))
	target, _ := uetcc.NewEndpoint(walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	m.Length = 64
	m.To.PDC, _ = initiator.Connect(0, &m)
	writes, handles := []uetcc.Message{m, m, m}, make([]ses.Handle, 3)
	for i := range writes {
		writes[i].Offset = uint64(i) * 64
	}
	fmt.Println(initiator.WriteBatch(0, writes, handles))
	for _, p := range sendAll(0, initiator) {
		r, acks := receive(0, target, p)
		fmt.Printf("%v %d bytes at %#x\n", r.Action, r.Length, r.Address)
		for _, ack := range acks {
			receive(0, initiator, ack)
		}
	}
	for e, ok := initiator.Poll(); ok; e, ok = initiator.Poll() {
		fmt.Println(e.Message == handles[0], e.Message == handles[1], e.Message == handles[2], e.Outcome.Status)
	}
	// Output:
	// 3 <nil>
	// place 64 bytes at 0xba5eadd1
	// place 64 bytes at 0xba5eae11
	// place 64 bytes at 0xba5eae51
	// true false false ok
	// false true false ok
	// false false true ok
}

// The PDC of a Destination saves a search and decides nothing: where messages may not begin on the
// PDC, another is found, as without.
func TestDestinationPDC(t *testing.T) {
	e := newEnd(t, walkConfig(0, 0x4001))
	m := walkMessage()
	m.Length = 64
	h, err := e.Connect(0, &m)
	require.NoError(t, err)
	on := func(m uetcc.Message) (found pdc.Handle) {
		m.To.PDC = h
		_, err := e.Write(0, &m)
		require.NoError(t, err)
		m.To.PDC = 0
		found, err = e.Connect(0, &m)
		require.NoError(t, err)
		info, ok := e.PDS().PDC(found)
		require.True(t, ok)
		require.NotZero(t, info.Unsent, "the message is where messages without PDC go")
		require.Equal(t, pdc.StateCreating, info.State)
		return found
	}
	require.Equal(t, h, on(m))
	for _, edit := range []func(*uetcc.Message){
		func(m *uetcc.Message) { m.To.Address = m.To.Address.Next() },
		func(m *uetcc.Message) { m.To.TC++ },
		func(m *uetcc.Message) { m.Mode = ses.ModeROD },
	} {
		other := m
		edit(&other)
		require.NotEqual(t, h, on(other))
	}
	require.NoError(t, e.PDS().Abort(0, h))
	e.Tick(0)
	require.NotEqual(t, h, on(m), "of the past")
}

// A batch ends where a single write would fail, and the messages before have begun.
func TestWriteBatchEndsWithAnError(t *testing.T) {
	e := newEnd(t, walkConfig(0, 0x4001))
	good, bad := walkMessage(), uetcc.Message{}
	var h [3]ses.Handle
	n, err := e.WriteBatch(0, []uetcc.Message{good, bad, good}, h[:])
	require.ErrorIs(t, err, uetcc.ErrAddress)
	require.Equal(t, 1, n)
	require.NotZero(t, h[0])
	require.Zero(t, h[2])
	require.Equal(t, 1, e.Usage().Messages)
}

// With as many PDCs as call for it, WriteBatch loads ahead: any handle is harmless, and the packets
// are those of single writes.
func TestWriteBatchAhead(t *testing.T) {
	begin := func(batch bool) (lines []string) {
		c := walkConfig(0, 0x4001)
		c.PDCs, c.Messages, c.Contexts = pdc.TableConfig{General: 1 << 12}, 16, 16
		e := newEnd(t, c)
		var m [8]uetcc.Message
		for i := range m {
			m[i] = walkMessage()
			m[i].Length, m[i].To.Context = 64, uint16(i/2)
			h, err := e.Connect(0, &m[i])
			require.NoError(t, err)
			m[i].To.PDC = []pdc.Handle{h, 0, h + 1<<16, ^pdc.Handle(0)}[i%4]
		}
		var h [len(m)]ses.Handle
		if batch {
			n, err := e.WriteBatch(0, m[:], h[:])
			require.NoError(t, err)
			require.Len(t, m, n)
		}
		for i := range m {
			if !batch {
				_, err := e.Write(0, &m[i])
				require.NoError(t, err)
			}
		}
		for _, p := range sendAll(0, e) {
			lines = append(lines, walkLine(p))
		}
		require.Len(t, lines, len(m))
		return lines
	}
	require.Equal(t, begin(false), begin(true))
}
