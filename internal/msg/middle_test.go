// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// Middle writes what PutHeader does, of the packets that it is for and of no others.
func TestMiddle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 4000 {
		in, h, sent := middleMessage(t, rng)
		m := &in.messages[slotOf(h)]
		for i := range m.packets + 2 {
			p := packetHandle(h, m.attempt+uint8(rng.IntN(8)/7), i)
			var want, got [ses.StandardLen]byte
			n, y := in.PutHeader(want[:], p)
			x, more := in.Middle(p)
			if x == nil {
				require.Zero(t, more)
				continue
			}
			found++
			require.Equal(t, ses.StandardLen, n)
			require.Equal(t, Payload{Offset: x.Offset(p), Length: in.mtu, Cookie: x.Cookie()}, y)
			x.Put(&got, x.Offset(p), in.mtu)
			require.Equal(t, want, got)
			require.Equal(t, min(sent, m.packets-1)-i, more)
		}
	}
	require.Greater(t, found, 500, "the test must reach what it is about")
}

// A response tells whether it is of a message in whose middle packets may be, and of which:
// those that Middle knows.
func TestPassingIsOfTheMiddle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	found := 0
	for range 1000 {
		in, h, sent := middleMessage(t, rng)
		m := in.of(h)
		if m == nil || m.state != messageSending || sent == 0 {
			continue
		}
		y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: m.id(), JobID: 7}
		word := func() uint64 { return binary.BigEndian.Uint64(y.AppendTo(nil)) }
		first, more := in.Middle(packetHandle(h, m.attempt, 1))
		x := in.Passing(h, word())
		require.Equal(t, m.is(kindMiddle), x != nil)
		if first != nil {
			found++
			from, end := x.Range()
			require.Equal(t, first, x)
			require.Equal(t, packetHandle(h, m.attempt, 0), from)
			require.EqualValues(t, more+1, end-from)
		}
		require.Nil(t, in.Passing(h+ses.Handle(len(in.messages)), word()), "no such slot")
		y.MessageID++
		require.Nil(t, in.Passing(h, word()), "of another message")
		y.MessageID--
		y.ReturnCode = ses.RCUncor
		require.Nil(t, in.Passing(h, word()), "not all is well")
	}
	require.Greater(t, found, 100, "the test must reach what it is about")
}

// middleMessage begins some message, of which some packets have been sent.
func middleMessage(t *testing.T, rng *rand.Rand) (in *Initiator, h ses.Handle, sent uint32) {
	in, err := NewInitiator(InitiatorConfig{MTU: 1024, Messages: 2})
	require.NoError(t, err)
	o := Operation{Opcode: ses.OpcodeWrite, Job: 7, PID: 3, Index: 2, Key: rng.Uint64(), Cookie: rng.Uint64(), Length: rng.Uint32N(6 * in.mtu)}
	if rng.IntN(4) == 0 {
		o.Opcode = ses.OpcodeRead
	} else if o.HasData = rng.IntN(2) == 0; o.HasData {
		o.HeaderData = rng.Uint64()
	}
	h, err = in.Start(&o)
	require.NoError(t, err)
	var ev Event
	if rng.IntN(4) == 0 { // the target asks for another generation first
		y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCBadGeneration}, MessageID: 1, JobID: 7}
		require.NoError(t, in.Handed(h, 1))
		_, err = in.RxRsp(0, packetHandle(h, 0, 0), pds.NextResponse, y.AppendTo(nil), &ev)
		require.NoError(t, err)
	}
	if m := in.of(h); m != nil && m.state == messageSending {
		sent = rng.Uint32N(o.Packets(in.mtu) + 1)
		require.NoError(t, in.Handed(h, sent))
		if rng.IntN(4) == 0 {
			_ = in.Cancel(0, h, ses.RCCancelled, &ev)
		}
	}
	return in, h, sent
}

func TestMiddleAllocatesNothing(t *testing.T) {
	in, err := NewInitiator(InitiatorConfig{MTU: 1024, Messages: 1})
	require.NoError(t, err)
	h, err := in.Start(&Operation{Opcode: ses.OpcodeWrite, Length: 8192})
	require.NoError(t, err)
	require.NoError(t, in.Handed(h, 4))
	var b [ses.StandardLen]byte
	alloctest.Zero(t, "middle", func() {
		x, n := in.Middle(packetHandle(h, 0, 2))
		if x == nil || n != 2 {
			panic(n)
		}
		x.Put(&b, x.Offset(packetHandle(h, 0, 2)), 1024)
	})
}
