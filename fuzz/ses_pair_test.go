// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

const (
	pairMTU  = 1024
	pairPeer = 0x8001
	pairBase = 0x100000
	pairSize = 64 * pairMTU
)

// A sesPair is an initiator and a target with what a PDS owes them in between:
// each packet is delivered once and answered once. All else is up to the seed:
// the order of packets and of answers, whether a response without news is
// coalesced, refused packets that come again, and what the target's owner does
// to the memory meanwhile.
type sesPair struct {
	t        *testing.T
	rng      *rand.Rand
	now      int64
	in       *msg.Initiator
	target   *msg.Target
	ep       ses.Handle
	memory   ses.Handle // region, 0 while withdrawn
	gen      ses.Generation
	live     map[ses.Handle]*pairMessage
	toTarget []pairPacket
	answers  []pairAnswer
	ended    map[ses.Status]int
}

type pairMessage struct {
	op     msg.Operation
	id     ses.MessageID          // of the attempt that placed counts
	placed map[uint32]int         // packets placed in the last attempt, by offset
	notes  int                    // notices that it is given up
	ids    map[ses.MessageID]bool // of all attempts
}

// A pairPacket is on its way to the target.
type pairPacket struct {
	msg.TxReq
	request ses.Request
	header  []byte
}

type pairAnswer struct {
	packet msg.PacketHandle
	reply  []byte
}

func newSESPair(t *testing.T, seed uint64) *sesPair {
	p := &sesPair{t: t, rng: rand.New(rand.NewPCG(seed, 7)), live: map[ses.Handle]*pairMessage{}, ended: map[ses.Status]int{}}
	var err error
	p.in, err = msg.NewInitiator(msg.InitiatorConfig{MTU: pairMTU, Messages: 6, Backoff: 100})
	require.NoError(t, err)
	p.target, err = msg.NewTarget(ses.TargetConfig{MTU: pairMTU, Processes: 1, Indices: 2, Regions: 1, Receives: 4, Messages: 3})
	require.NoError(t, err)
	p.ep, err = p.target.AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	_, err = p.target.OpenIndex(0, p.ep, 0, ses.Index{})
	require.NoError(t, err)
	_, err = p.target.OpenIndex(0, p.ep, 1, ses.Index{Kind: ses.IndexQueue, Job: 1})
	require.NoError(t, err)
	p.register()
	return p
}

func (p *sesPair) register() {
	var err error
	p.memory, err = p.target.Register(p.ep, 0, ses.Region{Base: pairBase, Length: pairSize, Key: 9, Job: 1, Rights: ses.RightWrite})
	require.NoError(p.t, err)
}

// start begins a write or a send of up to eight packets.
func (p *sesPair) start() {
	lengths := []uint32{0, 1, pairMTU - 1, pairMTU, pairMTU + 1, 3 * pairMTU, 8*pairMTU - 5}
	o := msg.Operation{
		Opcode: ses.OpcodeWrite, Relative: true, Job: 1, Generation: p.gen, Key: 9,
		Length: lengths[p.rng.IntN(len(lengths))],
	}
	switch p.rng.IntN(8) {
	case 0:
		o.Opcode, o.Index, o.Generation, o.Key = ses.OpcodeTaggedSend, 1, 0, 5
	case 1:
		o.Key = 8 // unknown
	case 2:
		o.Generation += ses.Generation(p.rng.IntN(3))
	}
	h, err := p.in.Start(&o)
	if err != nil {
		require.ErrorIs(p.t, err, ses.ErrFull)
		return
	}
	require.Nil(p.t, p.live[h])
	p.live[h] = &pairMessage{op: o, ids: map[ses.MessageID]bool{}}
}

// owner does something to the memory that initiators cannot foresee.
func (p *sesPair) owner() {
	switch p.rng.IntN(4) {
	case 0:
		p.gen, _ = p.target.Renew(p.now, p.ep, 0)
	case 1:
		if p.memory == 0 {
			p.register()
		} else {
			require.NoError(p.t, p.target.Withdraw(p.memory))
			p.memory = 0
		}
	default:
		_, _ = p.target.PostReceive(p.ep, 1, ses.Receive{Base: 2 * pairBase, Length: []uint32{0, 1000, 8 * pairMTU}[p.rng.IntN(3)], Match: 5})
	}
}

// fill takes packets from every message that has some.
func (p *sesPair) fill(most int) {
	for _, h := range slices.Sorted(maps.Keys(p.live)) {
		m := p.live[h]
		for range most {
			var q pairPacket
			if p.in.Next(p.now, h, &q.TxReq) == 0 {
				break
			}
			require.NoError(p.t, p.in.Handed(h, 1))
			q.header = make([]byte, q.Header)
			n, y := p.in.PutHeader(q.header, q.Packet)
			require.Equal(p.t, int(q.Header), n)
			require.Equal(p.t, q.Length, y.Length)
			_, err := q.request.Decode(q.Form, q.header)
			require.NoError(p.t, err)
			require.Equal(p.t, q.Notice, q.request.Opcode == ses.OpcodeMsgError)
			if id := q.request.MessageID; q.Notice {
				m.notes++
			} else if id != m.id {
				require.False(p.t, m.ids[id], "an attempt has an id of its own")
				m.id, m.placed = id, map[uint32]int{}
				m.ids[m.id] = true
			}
			p.toTarget = append(p.toTarget, q)
		}
	}
}

// deliver gives the target a packet, and the network its answer.
func (p *sesPair) deliver() {
	i := p.rng.IntN(len(p.toTarget))
	q := p.toTarget[i]
	r := q.request
	require.Equal(p.t, q.header, r.AppendTo(nil))
	var d msg.Decision
	p.target.Receive(&r, msg.Arrival{Peer: pairPeer, Payload: int(q.Length)}, &d)
	if d.NACK {
		return // it stays in the network and comes again
	}
	p.toTarget = append(p.toTarget[:i], p.toTarget[i+1:]...)
	m := p.live[q.Packet.Message()]
	if d.Action == ses.ActionPlace {
		require.Equal(p.t, m.id, r.MessageID)
		m.placed[d.Offset]++
	}
	reply := d.Response.AppendTo(nil)
	if !d.Guaranteed && p.rng.IntN(2) == 0 {
		reply = nil // coalesced
	}
	p.answers = append(p.answers, pairAnswer{q.Packet, reply})
}

// answer gives the initiator an answer.
func (p *sesPair) answer() {
	i := p.rng.IntN(len(p.answers))
	a := p.answers[i]
	p.answers = append(p.answers[:i], p.answers[i+1:]...)
	h := a.packet.Message()
	m := p.live[h]
	require.NotNil(p.t, m, "the message ended before its packets were answered")
	var ev msg.Event
	var err error
	if a.reply == nil {
		err = p.in.RxAck(p.now, a.packet, 1, &ev)
	} else {
		_, err = p.in.RxRsp(p.now, a.packet, pds.NextResponse, a.reply, &ev)
	}
	require.NoError(p.t, err)
	if ev.Kind == msg.EventDone {
		p.end(m, ev.Outcome)
		delete(p.live, h)
	}
}

// end holds the outcome to what the target did.
func (p *sesPair) end(m *pairMessage, o ses.Outcome) {
	p.ended[o.Status]++
	for off, n := range m.placed {
		require.Equal(p.t, 1, n, "bytes at %d placed more than once in an attempt", off)
	}
	if o.Status == ses.StatusOK || o.Status == ses.StatusTruncated {
		require.Len(p.t, m.placed, int(m.op.Packets(pairMTU)))
	}
	require.LessOrEqual(p.t, m.notes, int(o.Retries)+1)
}

// TestSESPair: each message ends exactly once, one that ends well has all its
// bytes at the target once in the attempt that counts, and no record is left.
func TestSESPair(t *testing.T) {
	total := map[ses.Status]int{}
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newSESPair(t, seed)
			for step := 0; step < 1500 || len(p.live) > 0; step++ {
				require.Less(t, step, 100_000, "stuck with %d messages", len(p.live))
				p.step(step < 1500)
			}
			require.Zero(t, p.in.Messages())
			require.Zero(t, p.target.Messages(), "records left")
			for s, n := range p.ended {
				total[s] += n
			}
		})
	}
	t.Log(total)
	for _, s := range []ses.Status{ses.StatusOK, ses.StatusFailed, ses.StatusTruncated} {
		require.NotZero(t, total[s], "%v never happened", s)
	}
}

func (p *sesPair) step(more bool) {
	p.now += p.rng.Int64N(20)
	switch k := p.rng.IntN(20); {
	case k == 0 && more:
		p.owner()
	case k < 4 && more:
		p.start()
	case k < 8:
		p.fill(1 + p.rng.IntN(4))
	case k < 14 && len(p.toTarget) > 0:
		p.deliver()
	case len(p.answers) > 0:
		p.answer()
	}
}
