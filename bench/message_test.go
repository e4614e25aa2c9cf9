// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// messageEnd is an initiator that writes messages of one size, from the call to the completion.
type messageEnd struct {
	*sourceEnd
	to    []uetcc.Message // by PDC
	order *[1 << 16]uint16
	at    int
	next  [pathSlice]uetcc.Message
	begun [pathSlice]ses.Handle
	in    [4 * pathSlice]uetcc.Datagram
	acks  int // written in in
	done  int
	clock stopwatch // of messages
}

func newMessages(b testing.TB, n int, size uint32) *messageEnd {
	window := 2 * pathSlice
	if n > 1 {
		window = 16 // those of a slice are for different PDCs
	}
	m := &messageEnd{to: make([]uetcc.Message, n), order: (*[1 << 16]uint16)(pathOrder(n)), sourceEnd: bareSource(b, n, window, option{edit: func(c *uetcc.Config) {
		c.Messages = 4 * pathSlice
		c.Memory.Chunks = 16*2*pathSlice + n
	}})}
	for i := range m.in {
		m.in[i].Packet = append(make([]byte, 0, uetcc.HeaderMax), ackPacket...)
		m.in[i].Size = 116
		binary.BigEndian.PutUint32(m.in[i].Packet[pds.AckCCLen+atModifiedLength:], size)
	}
	for i := range n { // all PDCs open
		to := &m.to[i]
		*to = uetcc.Message{To: pathDestination(i), Length: size, Cookie: uint64(i)}
		to.To.PDC, _ = m.e.Connect(m.now, to)
		m.write(i)
		m.finish(m.e.TransmitBatch(m.now, m.out[:]), m.done+1)
	}
	return m
}

// write begins a message on a PDC.
func (m *messageEnd) write(i int) {
	if _, err := m.e.Write(m.now, &m.to[i]); err != nil {
		m.b.Fatal(err)
	}
}

// finish acknowledges packets, of which n have been sent, until so many messages are complete.
func (m *messageEnd) finish(n, done int) {
	for m.done < done {
		m.acknowledge(n)
		m.clock.time(0, func() {
			n = 0
			for i := 0; i < m.acks; i += pathBatch {
				k := min(pathBatch, m.acks-i)
				n += m.e.ExchangeBatch(m.now, m.in[i:i+k], m.reply[:k], m.got[:k], m.out[n:])
			}
			n += m.e.TransmitBatch(m.now, m.out[n:])
			for ev, ok := m.e.Poll(); ok; ev, ok = m.e.Poll() {
				if ev.Outcome.Status != ses.StatusOK {
					m.b.Fatalf("%+v", ev)
				}
				m.done++
			}
		})
	}
}

// acknowledge writes an acknowledgement of each of n packets that were sent.
func (m *messageEnd) acknowledge(n int) {
	m.now += pathRTT
	m.acks = 0
	for i := range n {
		sent := m.out[i].Packet
		if !pds.Type(sent[0] >> 3).IsRequest() {
			continue
		}
		in := &m.in[m.acks]
		id := binary.BigEndian.Uint16(sent[atSPDCID:])
		copy(in.Packet[atPSN:atPSN+4], sent[atPSN:])
		binary.BigEndian.PutUint32(in.Packet[atSPDCID:], uint32(id)<<16|uint32(id))
		copy(in.Packet[pds.AckCCLen+atMessageID:][:2], sent[pds.RequestLen+atMessageID:])
		in.Src = pdc.Addr{Lo: pathSource | uint64(id-1)}
		m.acks++
	}
}

// slice is so many messages.
func (m *messageEnd) slice() {
	n := 0
	for i := range m.next {
		m.next[i] = m.to[m.order[m.at&0xffff]]
		m.at++
	}
	m.clock.time(pathSlice, func() {
		if n, err := m.e.WriteBatch(m.now, m.next[:], m.begun[:]); err != nil {
			m.b.Fatal(n, err)
		}
		n = m.e.TransmitBatch(m.now, m.out[:])
	})
	m.finish(n, m.done+pathSlice)
}

// BenchmarkMessage is a write from the call to its completion: begun, all of its packets sent
// and acknowledged, each by an acknowledgement of its own, and polled; 64 at a time.
func BenchmarkMessage(b *testing.B) {
	for _, size := range []uint32{64, 4096, 65536} {
		for _, n := range []int{1, 1 << 10, pathMost} {
			b.Run(fmt.Sprintf("size=%d/pdcs=%d", size, n), func(b *testing.B) {
				m := newMessages(b, n, size)
				m.clock = stopwatch{}
				b.ReportAllocs()
				for b.Loop() {
					m.slice()
				}
				m.check(b)
				ns := float64(m.clock.taken) / float64(m.clock.packets)
				b.ReportMetric(ns, "ns/op")
				b.ReportMetric(1e9/ns, "messages/s")
			})
		}
	}
}
