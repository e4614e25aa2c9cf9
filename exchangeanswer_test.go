// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ses"
)

// Exchange and ExchangeBatch leave behind, and say, what Receive and TransmitBatch do where the
// acknowledgements are of data that a peer reads, overtaken and lost ones among them.
func TestExchangeOfAnswersIsReceiveAndTransmit(t *testing.T) {
	for _, most := range []int{1, 8} {
		for _, lossy := range []bool{false, true} {
			t.Run(fmt.Sprintf("most=%d/lossy=%v", most, lossy), func(t *testing.T) { exchangeAnswers(t, most, lossy) })
		}
	}
}

func exchangeAnswers(t *testing.T, most int, lossy bool) {
	rng := rand.New(rand.NewPCG(9, uint64(most)))
	var ends [2]*sourceTwin
	for i := range ends {
		ends[i] = newSourceTwin(t, func(c *Config) { c.Answers, c.Memory.Chunks, c.CC.NSCC.LinkRate = 1024, 256, 160e10 })
		target := ends[i].e.Target()
		process, err := target.AddProcess(ses.Process{Job: 1})
		require.NoError(t, err)
		_, err = target.OpenIndex(0, process, 0, ses.Index{})
		require.NoError(t, err)
		_, err = target.Register(process, 0, ses.Region{Length: 1 << 30, Job: 1, Rights: ses.RightRead})
		require.NoError(t, err)
	}
	a, b := ends[0], ends[1]
	reader := newSourceTwin(t, func(c *Config) {
		c.Address, c.PDS.AckPerPacket, c.Memory.Chunks = netip.AddrFrom4([4]byte{10, 0, 0, 2}), true, 256
	})
	data := make([]byte, nextMTU+HeaderMax)
	var acks []Datagram
	deliver := func(now int64, n int) {
		for i := range n {
			require.Equal(t, b.out[i], a.out[i])
			d := a.out[i]
			d.Packet = data[:copy(data, d.Packet)+int(d.Payload.Length)]
			if lossy && rng.IntN(40) == 0 {
				continue
			}
			ack := newRoom()
			var r Received
			if reader.e.Receive(now, &d, &ack, &r); len(ack.Packet) != 0 && (!lossy || rng.IntN(40) != 0) {
				acks = append(acks, ack)
			}
		}
	}
	exchanged, runs, done := 0, 0, 0
	for now, step := int64(1000), 0; step < 8000; step++ {
		now += 1000 + int64(rng.IntN(3000))
		for ev, ok := reader.e.Poll(); ok; ev, ok = reader.e.Poll() {
			require.Equal(t, ses.StatusOK, ev.Outcome.Status)
			done++
		}
		if reader.e.Usage().Messages < 2 {
			m := Message{To: Destination{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Job: 1}, Length: 1 + rng.Uint32N(1<<18)}
			_, err := reader.e.Read(now, &m)
			require.NoError(t, err)
		}
		for request := newRoom(); reader.e.Transmit(now, &request); {
			var r Received
			a.reply, b.reply = newRoom(), newRoom()
			a.e.Receive(now, &request, &a.reply, &a.r)
			b.e.Receive(now, &request, &b.reply, &b.r)
			require.Equal(t, b.r, a.r)
			for _, x := range ends {
				if x.r.Answer != 0 { // a few bytes, which the acknowledgement brings
					require.NoError(t, x.e.Answer(now, x.r.Answer, data[:x.r.Length], &x.reply))
				}
			}
			require.Equal(t, b.reply, a.reply)
			if d := a.reply; len(d.Packet) != 0 {
				none := newRoom()
				reader.e.Receive(now, &d, &none, &r)
			}
		}
		if lossy && len(acks) > 2 && rng.IntN(8) == 0 {
			acks[0], acks[1] = acks[1], acks[0]
		}
		k, room := min(1+rng.IntN(most), len(acks)), 1+rng.IntN(len(a.out))
		if n := 0; k != 0 {
			in := acks[:k]
			got, reply := make([]Received, k), make([]Datagram, k)
			for i := range reply {
				reply[i] = newRoom()
			}
			x := a.e.pds.Fast().Run()
			x.Most = 0
			if k == 1 {
				n = a.e.Exchange(now, &in[0], &reply[0], &got[0], a.out[:room])
			} else {
				n = a.e.ExchangeBatch(now, in, reply, got, a.out[:room])
			}
			if x.Most != 0 && x.Acks == 1 {
				exchanged++
			}
			if x.Most != 0 && x.Acks > 1 {
				runs++
			}
			sent := 0
			for i := 0; i < k; {
				for range together(in[i:]) {
					b.reply = newRoom()
					b.e.Receive(now, &in[i], &b.reply, &b.r)
					require.Equal(t, b.r, got[i])
					require.Equal(t, b.reply, reply[i])
					i++
				}
				sent += b.e.TransmitBatch(now, b.out[sent:room])
			}
			require.Equal(t, sent, n)
			acks = acks[k:]
			deliver(now, n)
		}
		n := 0
		if rng.IntN(16) == 0 {
			n = a.e.TransmitBatch(now, a.out[:room])
			require.Equal(t, n, b.e.TransmitBatch(now, b.out[:room]))
			deliver(now, n)
		}
		for _, w := range []*sourceTwin{a, b, reader} {
			w.e.Tick(now)
		}
		requireSources(t, a.e, b.e, step%128 == 0)
		require.True(t, slices.Equal(b.e.source.answers.slot, a.e.source.answers.slot))
	}
	require.Greater(t, done, 20)
	require.Greater(t, exchanged, 20)
	require.Equal(t, most > 1 && !lossy, runs > 20)
	require.Equal(t, lossy, a.e.PDS().Stats().Resent > 20)
}
