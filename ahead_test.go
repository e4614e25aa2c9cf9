// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// What a packet names can be anything, and so can be how long it is; a look at it changes
// nothing but what is kept of the look, and each packet has its turn in each stage.
func TestLookAheadBearsAnyPacket(t *testing.T) {
	w, plain := fullWindow(t)
	other, _ := fullWindow(t)
	looks, rng := 0, rand.New(rand.NewPCG(1, 2))
	in := make([]Datagram, batchMost+1)
	for id := 0; id < 1<<16; {
		for i := range in {
			b := append([]byte(nil), plain.Packet...)
			binary.BigEndian.PutUint16(b[10:], uint16(id))
			if id++; rng.IntN(100) == 0 {
				b = b[:rng.IntN(len(b))]
			}
			if rng.IntN(1000) == 0 {
				b[0] = byte(pds.TypeRUDReq) << 3
			}
			in[i].Packet = b
		}
		w.e.loader.prefetched, w.e.loader.ahead = 0, ahead{}
		n := w.e.loader.lookAhead(in[:1+rng.IntN(len(in))], rng.IntN(99))
		if w.e.loader.ahead.end != 0 {
			looks++
		}
		for n > 0 {
			k := 1 + rng.IntN(n)
			w.e.loader.loadAhead(k)
			n -= k
		}
		require.Equal(t, w.e.loader.ahead.end, w.e.loader.ahead.next)
	}
	require.Greater(t, looks, 1000)
	requireSources(t, w.e, other.e, true)
}

func TestAheadKnowsWhoseTurnItIs(t *testing.T) {
	ack := func(id uint16) Datagram {
		b := make([]byte, pds.AckCCLen)
		b[0] = byte(pds.TypeACKCC) << 3
		binary.BigEndian.PutUint16(b[10:], id)
		return Datagram{Packet: b}
	}
	l := loader{flows: make([]flow, 10)}
	a := &l.ahead
	require.True(t, l.setAhead([]Datagram{ack(5), ack(9), {Packet: []byte{1}}, ack(10), ack(7)}))
	require.Equal(t, []pds.PDCID{5, 9, 0, 0, 7}, a.ids[aheadBy:aheadBy+5], "what is too short and what is not there are nobody's")
	require.Equal(t, 5+aheadBy, a.end-a.next)
	request := ack(1)
	request.Packet[0] = byte(pds.TypeRUDReq) << 3
	require.False(t, l.setAhead([]Datagram{ack(5), request}))
}

// Packets are looked at again only when those which have been looked at are through;
// requests are all prefetched at once.
func TestLookAheadOrPrefetch(t *testing.T) {
	w, in := fullWindow(t)
	look := func(batch []Datagram, before int) bool {
		w.e.loader.prefetched, w.e.loader.ahead = before, ahead{}
		n := w.e.loader.lookAhead(batch, batchMost)
		require.Equal(t, min(len(batch), batchMost), n)
		return w.e.loader.ahead.end != 0
	}
	batch := make([]Datagram, 2*batchMost)
	for i := range batch {
		batch[i] = in
	}
	require.True(t, look(batch, 0))
	require.Equal(t, batchMost, w.e.loader.prefetched)
	require.True(t, look(batch[:aheadLeast], aheadLeast-1))
	require.False(t, look(batch, batchMost), "they have been looked at")
	require.False(t, look(batch[:aheadLeast-1], 0), "too few")
	require.True(t, pds.Type(w.out[0].Packet[0]>>3).IsRequest())
	batch[3] = w.out[0]
	require.False(t, look(batch, 0), "a request is among them")
	require.True(t, look(batch[4:], 0))
	w.e.Receive(100, &in, &w.reply, &w.r)
	require.NotEmpty(t, w.e.pds.Fast().Upcoming(1))
	require.True(t, look(batch[4:], 0), "somebody has a turn to send")
}

// fullWindow is longWrite whose PDC waits for acknowledgements.
func fullWindow(t *testing.T) (w *sourceTwin, in Datagram) {
	w, in = longWrite(t, func(*Config) {})
	for w.e.TransmitBatch(0, w.out[:]) > 0 {
	}
	return w, in
}

func TestLookAheadAllocatesNothing(t *testing.T) {
	w, in := fullWindow(t)
	batch := make([]Datagram, batchMost)
	for i := range batch {
		batch[i] = in
	}
	alloctest.Zero(t, "look ahead", func() {
		w.e.loader.prefetched = 0
		w.e.loader.loadAhead(w.e.loader.lookAhead(batch, batchMost))
	})
}
