// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The walk with one thing wrong: what the initiator is told, and that no byte is
// placed.
func TestWalkErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*uetcc.Message)
		length uint64
		rights ses.Rights
		code   ses.ReturnCode
	}{
		{"region too short", func(*uetcc.Message) {}, walkLen - 1, ses.RightWrite, ses.RCUnsupportedSize},
		{"key unknown", func(m *uetcc.Message) { m.Key++ }, walkLen, ses.RightWrite, ses.RCBadMKey},
		{"job 102", func(m *uetcc.Message) { m.To.Job = 102 }, walkLen, ses.RightWrite, ses.RCBadJobID},
		{"PIDonFEP 3", func(m *uetcc.Message) { m.To.PID = 3 }, walkLen, ses.RightWrite, ses.RCBadPID},
		{"index 0x00b", func(m *uetcc.Message) { m.To.Index = 0x00b }, walkLen, ses.RightWrite, ses.RCBadIndex},
		{"read-only", func(*uetcc.Message) {}, walkLen, ses.RightRead, ses.RCPermViolation},
	} {
		t.Run(c.name, func(t *testing.T) {
			initiator, target := newEnd(t, walkConfig(0, 0x4001)), newEnd(t, walkConfig(1, 0x8001))
			openWalk(target, c.length, c.rights)
			m := walkMessage()
			c.edit(&m)
			_, err := initiator.Write(0, &m)
			require.NoError(t, err)
			for _, p := range sendAll(0, initiator) {
				r, back := receive(0, target, p)
				require.Equal(t, c.code, r.Code)
				require.NotEqual(t, ses.ActionPlace, r.Action)
				require.Len(t, back, 1, "a guaranteed response of its own")
				receive(0, initiator, back[0])
			}
			ev, done := initiator.Poll()
			require.True(t, done)
			require.Equal(t, ses.Outcome{Status: ses.StatusFailed, Code: c.code}, ev.Outcome)
		})
	}
}

// A wrong generation: nothing is placed, the initiator learns the current one and
// sends the message again, once, under another id.
func TestWalkWrongGeneration(t *testing.T) {
	initiator, target := newEnd(t, walkConfig(0, 0x4001)), newEnd(t, walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	m.To.Generation = 0
	_, err := initiator.Write(0, &m)
	require.NoError(t, err)
	for attempt := range 2 {
		packets := sendAll(0, initiator)
		require.GreaterOrEqual(t, len(packets), 4)
		for _, p := range packets {
			r, back := receive(0, target, p)
			if r.Form.IsRequest() {
				require.Equal(t, attempt == 1, r.Action == ses.ActionPlace)
			}
			for _, a := range back {
				receive(0, initiator, a)
			}
		}
	}
	ev, done := initiator.Poll()
	require.True(t, done)
	require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: walkLen, Retries: 1}, ev.Outcome)
}

// Reverse arrival: the last fragment opens the PDC, and the acknowledgements name
// what has come above the hole.
func TestWalkReverseArrival(t *testing.T) {
	initiator, target := newEnd(t, walkConfig(0, 0x4001)), newEnd(t, walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	h, err := initiator.Connect(0, &m)
	require.NoError(t, err)
	startAt(initiator, h, 0x12000)
	_, err = initiator.Write(0, &m)
	require.NoError(t, err)
	packets := sendAll(0, initiator)
	slices.Reverse(packets)
	for i, p := range packets {
		r, back := receive(0, target, p)
		require.Equal(t, walkBase+uint64(3-i)*4096, r.Address)
		require.Equal(t, i == 3, r.Complete)
		var a pds.Ack
		_, err := a.Decode(back[0].data)
		require.NoError(t, err)
		cack, offset := pds.PSN(0x11fff), int16(4-i)
		if i == 3 {
			cack, offset = 0x12003, -3
		}
		require.Equal(t, cack, a.CACK)
		require.Equal(t, offset, a.Offset)
		receive(0, initiator, back[0])
	}
	ev, done := initiator.Poll()
	require.True(t, done)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	// A copy of a fragment is not placed again; message 2 starts at 0x12004.
	r, _ := receive(0, target, packets[0])
	require.Equal(t, ses.ActionNone, r.Action)
	_, err = initiator.Write(0, &m)
	require.NoError(t, err)
	out := newDatagram()
	require.True(t, initiator.Transmit(0, &out))
	var q pds.Request
	_, err = q.Decode(out.Packet)
	require.NoError(t, err)
	require.Equal(t, pds.PSN(0x12004), q.PSN)
}

// Figure 6-11: five ranks write 4,096 KB each over three PDCs that share one
// context. Ranks 0 and 8 are on the first, 2 on the second, 1 and 3 on the third:
// what separates them is the job.
func TestFigure611(t *testing.T) {
	c := walkConfig(0, 0x4001)
	c.PDCs.General = 0x4003
	c.CC.NSCC.InitialCwnd = 0
	c.Memory.Chunks = 64
	e := newEnd(t, c)
	const each = 4096 * 1024
	job := map[int]ses.JobID{0: 1, 8: 1, 2: 2, 1: 3, 3: 3}
	overhead := int64(1024) * (pds.NominalSize(8+pds.RequestLen) + ses.StandardLen)
	for _, rank := range []int{0, 8, 2, 1, 3} {
		m := walkMessage()
		m.Length, m.To.Job, m.Initiator = each, job[rank], uint32(rank)
		_, err := e.Write(0, &m)
		require.NoError(t, err)
	}
	kib := map[ses.JobID]int{}
	var context ccc.Handle
	for _, rank := range []int{0, 2, 1} {
		m := walkMessage()
		m.To.Job = job[rank]
		h, err := e.Connect(0, &m)
		require.NoError(t, err)
		require.Equal(t, pds.PDCID(0x4000+int(job[rank])), h.ID())
		info, _ := e.PDS().PDC(h)
		if context == 0 {
			context = info.Context
		}
		require.Equal(t, context, info.Context, "one for all three")
		kib[job[rank]] = info.OpenMessages * 4096
		require.Equal(t, 5*(int64(each)+overhead), e.CC().Context(info.Context).Backlog())
	}
	require.Equal(t, map[ses.JobID]int{1: 8192, 2: 4096, 3: 8192}, kib)
	require.Equal(t, int64(20_971_520), int64(5*each))
}

// Figure 6-12: of four packets in flight, 16,384 bytes, 12,288 have arrived behind one that has not, as
// rcvd_bytes says beside a bitmap that shows none of them; 4,096 are left. Bits that come later take nothing
// out. Before, what CACK and SACK show left flight, whatever rcvd_bytes said.
func TestFigure612(t *testing.T) {
	at := func(i int, first pds.PDCID) uetcc.Config {
		c := walkConfig(i, first)
		c.PDS = pdc.Config{AckPerPacket: true}
		return c
	}
	initiator, target := newEnd(t, at(0, 0x4001)), newEnd(t, at(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	m.Length = 4096 - uint32(pds.NominalSize(8+pds.RequestLen)+ses.StandardLen)
	h, err := initiator.Connect(0, &m)
	require.NoError(t, err)
	for range 4 {
		_, err := initiator.Write(0, &m)
		require.NoError(t, err)
	}
	packets := sendAll(0, initiator)
	require.Len(t, packets, 4)
	info, _ := initiator.PDS().PDC(h)
	inflight := func() int64 { return initiator.CC().Context(info.Context).Inflight() }
	require.EqualValues(t, 16_384, inflight())
	var shown wirePacket
	for i, n := range []int{1, 2, 3, 0} {
		_, back := receive(0, target, packets[n])
		require.Len(t, back, 1)
		var a pds.AckCC
		var s pds.NSCCState
		_, err := a.Decode(back[0].data)
		require.NoError(t, err)
		require.True(t, a.NSCC(&s))
		require.EqualValues(t, 4096*(i+1), s.RcvdBytes*256)
		switch i {
		case 2:
			shown, a.Bitmap = back[0], 0
			hidden := shown
			hidden.data = a.AppendTo(nil)
			receive(1, initiator, hidden)
			require.EqualValues(t, 16_384-12_288, inflight())
			receive(1, initiator, shown)
			require.EqualValues(t, 4096, inflight())
		case 3:
			receive(1, initiator, back[0])
			require.Zero(t, inflight())
		}
	}
}

func TestMessageWithoutAnAddress(t *testing.T) {
	e, m := newEnd(t, walkConfig(0, 0x4001)), walkMessage()
	m.To.Address = netip.Addr{}
	_, err := e.Write(0, &m)
	require.ErrorIs(t, err, uetcc.ErrAddress)
	_, err = e.Connect(0, &m)
	require.ErrorIs(t, err, uetcc.ErrAddress)
	require.Zero(t, e.Usage(), "nothing has begun")
}
