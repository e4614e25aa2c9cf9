// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// The packet walk, but the first acknowledgement returns before the second
// fragment leaves, the next two fragments are acknowledged by CACK alone.
func TestWalkFirstACKEarly(t *testing.T) {
	initiator, target := newEnd(t, walkConfig(0, 0x4001)), newEnd(t, walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	h, err := initiator.Connect(0, &m)
	require.NoError(t, err)
	startAt(initiator, h, 0x12000)
	_, err = initiator.Write(0, &m)
	require.NoError(t, err)

	want := []struct{ request, ack string }{
		{"TC low RUD_REQ 0x4001>0x0 psn 0x12000 clear 0x11fff syn true offset 0 ar false | som,rel id 1 at 0 of 16384",
			"TC high ACK 0x8001>0x4001 cack 0x12000 psn 0x12000 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384"},
		{"TC low RUD_REQ 0x4001>0x8001 psn 0x12001 clear 0x12000 syn false offset 0 ar false | rel id 1 at 4096 of 16384", ""},
		{"TC low RUD_REQ 0x4001>0x8001 psn 0x12002 clear 0x12000 syn false offset 0 ar false | rel id 1 at 8192 of 16384", ""},
		{"TC low RUD_REQ 0x4001>0x8001 psn 0x12003 clear 0x12000 syn false offset 0 ar true | eom,rel id 1 at 12288 of 16384",
			"TC high ACK 0x8001>0x4001 cack 0x12003 psn 0x12003 | UET_DEFAULT_RESPONSE RC_OK UET_EXPECTED id 1 job 101 gen 1 length 16384"},
	}
	out := newDatagram()
	for i, w := range want {
		require.True(t, initiator.Transmit(0, &out))
		p := onWire(&out)
		require.Equal(t, w.request, walkLine(p))
		r, back := receive(0, target, p)
		require.Equal(t, ses.ActionPlace, r.Action)
		require.Equal(t, walkBase+uint64(i)*4096, r.Address)
		require.Equal(t, i == 3, r.Complete)
		if w.ack == "" {
			require.Empty(t, back)
			continue
		}
		require.Len(t, back, 1)
		require.Equal(t, w.ack, walkLine(back[0]))
		_, done := initiator.Poll()
		require.False(t, done)
		receive(0, initiator, back[0])
	}
	ev, done := initiator.Poll()
	require.True(t, done)
	require.Equal(t, ses.Outcome{Status: ses.StatusOK, Length: walkLen}, ev.Outcome)
	_, done = initiator.Poll()
	require.False(t, done, "once")
}

// What asks for an answer after delivery says so in each packet, and is delivered like any other.
func TestEndpointDeliveryComplete(t *testing.T) {
	n := newNetwork(t, 1, netFaults{}, 2, nil)
	a, b := n.ends[0], n.ends[1]
	a.local[1] = fill(4*netMTU, 1)
	_, err := a.e.Write(0, &uetcc.Message{
		To: uetcc.Destination{Address: b.addr, Job: 1}, Key: 1, Length: 4 * netMTU, Cookie: 1, DeliveryComplete: true,
	})
	require.NoError(t, err)
	out, packets := newDatagram(), 0
	for ; a.e.Transmit(0, &out); packets++ {
		var q ses.Request
		_, err := q.Decode(pds.NextRequestStd, out.Packet[pds.RequestLen:])
		require.NoError(t, err)
		require.True(t, q.Flags.Has(ses.FlagDC))
		n.carry(a, &out)
	}
	require.Equal(t, 4, packets)
	n.endWell(a, 1)
	require.Equal(t, a.local[1], b.mem[:4*netMTU])
}

// A peer whose responses name another message is counted: they still answer their packets.
func TestEndpointCountsResponsesOfAnotherMessage(t *testing.T) {
	initiator, target := newEnd(t, walkConfig(0, 0x4001)), newEnd(t, walkConfig(1, 0x8001))
	openWalk(target, walkLen, ses.RightWrite)
	m := walkMessage()
	m.Length = 4096
	_, err := initiator.Write(0, &m)
	require.NoError(t, err)
	for _, p := range sendAll(0, initiator) {
		_, back := receive(0, target, p)
		require.Len(t, back, 1)
		back[0].data[pds.TypeACK.HeaderLen()+3] ^= 2 // message_id
		receive(0, initiator, back[0])
	}
	ev, done := initiator.Poll()
	require.True(t, done)
	require.Equal(t, ses.StatusOK, ev.Outcome.Status)
	require.EqualValues(t, 1, initiator.Stats().Mismatched)
}
