// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

const (
	targetJob      = ses.JobID(101)
	targetMTU      = 1024
	targetMessages = 4
	targetPending  = 4
)

// A targetWorld is a target and what was opened in it, as plain lists.
type targetWorld struct {
	*msg.Target
	regions  []ses.Region  // of resource index 0, and only there
	receives []ses.Receive // of resource index 1
	ep       ses.Handle
	errands  []msg.Errand // begun and not done
	short    int          // requests that a short way has judged
}

// newTargetWorld opens memory at the ends of the address space, empty, of one
// byte, closed for writing, closed for reading, and for another job.
func newTargetWorld(t testing.TB) *targetWorld {
	tg, err := msg.NewTarget(ses.TargetConfig{
		MTU: targetMTU, Processes: 2, Indices: 2, Regions: 8, Receives: 16, Messages: targetMessages, Pending: targetPending,
		AtomicOps: math.MaxUint32, AtomicTypes: math.MaxUint32,
	})
	require.NoError(t, err)
	w := &targetWorld{Target: tg}
	ep, err := tg.AddProcess(ses.Process{Job: targetJob, PID: 2})
	require.NoError(t, err)
	w.ep = ep
	_, err = tg.OpenIndex(0, ep, 0, ses.Index{Kind: ses.IndexMemory})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, ep, 1, ses.Index{Kind: ses.IndexQueue, Job: targetJob})
	require.NoError(t, err)
	const all = ses.RightRead | ses.RightWrite | ses.RightAtomic
	w.regions = []ses.Region{
		{Key: 0, Base: 0, Length: math.MaxUint64, Job: targetJob, Rights: all},
		{Key: 1, Base: math.MaxUint64 - 4095, Length: 4096, Job: targetJob, Rights: all, Idempotent: true},
		{Key: 2, Base: 0xba5eadd1, Length: 16384, Job: targetJob, Rights: ses.RightWrite},
		{Key: 3, Base: 0x1000, Length: 1, Job: targetJob, Rights: all},
		{Key: 4, Base: 0x2000, Length: 0, Job: ses.AnyJob, Rights: all},
		{Key: 5, Base: 0x3000, Length: 8192, Job: targetJob, Rights: ses.RightRead | ses.RightAtomic},
		{Key: 6, Base: 0x8000, Length: 8192, Job: 102, Rights: all},
	}
	for _, r := range w.regions {
		_, err := tg.Register(ep, 0, r)
		require.NoError(t, err)
	}
	w.receives = []ses.Receive{
		{Base: math.MaxUint64 - 1023, Length: 1024},
		{Base: 0x10000, Length: 3000, Match: 7},
		{Base: 0x20000, Length: 0, Match: 7},
		{Base: 0x30000, Length: math.MaxUint32, Ignore: math.MaxUint64},
	}
	for _, r := range w.receives {
		_, err := tg.PostReceive(ep, 1, r)
		require.NoError(t, err)
	}
	return w
}

// inside reports whether [at, at+n) lies in [base, base+length), in integers
// without a limit.
func inside(at uint64, n uint32, base, length uint64) bool {
	sum := func(a, b uint64) *big.Int {
		return new(big.Int).Add(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	}
	return at >= base && sum(at, uint64(n)).Cmp(sum(base, length)) <= 0
}

// check holds a decision to what the header may do, told from the lists alone.
func (w *targetWorld) check(t *testing.T, r *ses.Request, a msg.Arrival, d *msg.Decision) {
	t.Helper()
	if d.NACK {
		require.Equal(t, msg.Decision{NACK: true, Check: step.Record}, *d)
	} else {
		require.NoError(t, (&ses.Reply{Form: pds.NextResponse, Response: d.Response}).Validate())
		require.Equal(t, a.Mode == ses.ModeUUD, d.Response.Opcode == ses.ResponseNone, "a datagram has no answer, all else one")
	}
	if d.Check != step.None {
		require.Zero(t, d.Length)
		require.False(t, d.Complete)
		require.Contains(t, []ses.Action{ses.ActionNone, ses.ActionAbort}, d.Action)
		return
	}
	require.LessOrEqual(t, w.Messages(), targetMessages)
	var right ses.Rights
	switch r.Opcode {
	case ses.OpcodeWrite:
		require.Equal(t, ses.ActionPlace, d.Action)
		require.LessOrEqual(t, int(d.Length), min(a.Payload, targetMTU))
		right = ses.RightWrite
	case ses.OpcodeRead:
		require.Equal(t, ses.ActionRead, d.Action)
		right = ses.RightRead
	case ses.OpcodeAtomic, ses.OpcodeFetchingAtomic:
		require.Equal(t, ses.ActionAtomic, d.Action)
		require.Zero(t, d.Address%uint64(r.Swap.Type.Size()))
		require.Zero(t, d.Length%uint32(r.Swap.Type.Size()))
		right = ses.RightAtomic
	case ses.OpcodeTSendAtomic, ses.OpcodeTSendFetchingAtomic:
		require.Equal(t, ses.ActionAtomic, d.Action)
		require.Zero(t, d.Address%uint64(r.Swap.Type.Size()))
		w.checkSend(t, r, d)
		return
	case ses.OpcodeDeferrableRTR:
		require.Equal(t, ses.ActionRestart, d.Action)
		return
	case ses.OpcodeSend, ses.OpcodeTaggedSend, ses.OpcodeDatagramSend, ses.OpcodeRendezvousSend, ses.OpcodeRendezvousTSend,
		ses.OpcodeDeferrableSend, ses.OpcodeDeferrableTSend:
		require.Equal(t, ses.ActionPlace, d.Action)
		require.LessOrEqual(t, int(d.Length), min(a.Payload, targetMTU))
		w.checkSend(t, r, d)
		return
	default:
		require.Contains(t, []ses.Opcode{ses.OpcodeNoOp, ses.OpcodeMsgError}, r.Opcode)
		require.Zero(t, d.Length)
		return
	}
	require.Zero(t, r.Index)
	require.Equal(t, ses.PIDonFEP(2), r.PIDonFEP)
	g := w.regions[r.Key]
	require.True(t, g.Job == ses.AnyJob || g.Job == r.JobID)
	require.NotZero(t, g.Rights&right)
	require.True(t, inside(d.Address, d.Length, g.Base, g.Length), "%d bytes at 0x%x of %+v", d.Length, d.Address, g)
	require.True(t, a.Mode != ses.ModeRUDI || g.Idempotent)
}

func (w *targetWorld) checkSend(t *testing.T, r *ses.Request, d *msg.Decision) {
	require.Equal(t, ses.ResourceIndex(1), r.Index)
	require.Equal(t, targetJob, r.JobID)
	w.checkBuffer(t, d.Address, d.Length)
}

func (w *targetWorld) checkBuffer(t *testing.T, at uint64, n uint32) {
	for _, b := range w.receives {
		if inside(at, n, b.Base, uint64(b.Length)) || n == 0 {
			return
		}
	}
	t.Fatalf("%d bytes at 0x%x are in no buffer", n, at)
}

// comeBack does what the target has to come back to sends for, and what its owner
// may do meanwhile, as choice says. What is read has a place in a buffer.
func (w *targetWorld) comeBack(t *testing.T, choice byte) {
	require.LessOrEqual(t, w.Pending(), targetPending)
	var x msg.Errand
	if choice&1 != 0 && w.Target.Errand(&x) {
		require.NoError(t, x.Operation.Validate(targetMTU))
		if p, ok := w.PullOf(x.Handle); ok {
			require.Equal(t, ses.OpcodeRead, x.Operation.Opcode)
			require.Equal(t, p.Placed-p.Eager, x.Operation.Length)
			require.Positive(t, x.Operation.Length)
			w.checkBuffer(t, p.Address, x.Operation.Length)
		}
		w.errands = append(w.errands, x)
	}
	if choice&2 != 0 && len(w.errands) > 0 {
		w.ErrandDone(w.errands[0].Handle, ses.Status(1+choice>>5%4))
		w.errands = w.errands[1:]
	}
	if choice&0x0c == 0x0c {
		b := ses.Receive{Base: 0x50000, Length: 2048, Match: uint64(choice >> 4 % 8)}
		w.receives = append(w.receives, b)
		_, _ = w.PostReceive(w.ep, 1, b)
	}
	if choice == 0xff {
		w.ClosePeer(uint64(choice>>6), nil)
	}
}

// end takes all peers away: nothing is left of them.
func (w *targetWorld) end(t *testing.T, what string, args ...any) {
	for peer := range uint64(4) {
		w.ClosePeer(peer, nil)
	}
	require.Zero(t, w.Messages(), append([]any{what}, args...)...)
	var x msg.Errand
	for w.Target.Errand(&x) {
		w.errands = append(w.errands, x)
	}
	for _, x := range w.errands {
		w.ErrandDone(x.Handle, ses.StatusPDS)
	}
	require.Zero(t, w.Pending(), append([]any{what}, args...)...)
}

// hostile builds a request from 12 bytes: a good fragment of a write in which
// they overwrite what they choose.
func hostile(op []byte) (r ses.Request, a msg.Arrival) {
	pick := func(b byte, of ...uint32) uint32 { return of[int(b)%len(of)] }
	r.Form = pds.NextHdr(1 + op[0]%3)
	r.Opcode = ses.Opcode(op[1] & 0x3f)
	r.Flags = ses.Flags(op[2] & 0x3f)
	r.Version = op[2] >> 7
	r.JobID = ses.JobID(pick(op[3], 101, 101, 101, 102, 0))
	r.PIDonFEP = ses.PIDonFEP(pick(op[3]>>4, 2, 2, 2, 3))
	r.Index = ses.ResourceIndex(op[4] % 3)
	r.Generation = ses.Generation(op[4] >> 7)
	r.Key = uint64(op[5] % 8)
	r.MessageID = ses.MessageID(op[6] % 8)
	r.MessageOffset = pick(op[7], 0, 1024, 2048, 3072, 1, math.MaxUint32, math.MaxUint32-1023, 16384)
	r.PayloadLength = uint16(pick(op[7]>>3, 1024, 1024, 0, 1, 1023, 1025, 16383))
	r.RequestLength = pick(op[8], 4096, 2048, 1024, 0, 1, 8, 16384, math.MaxUint32, math.MaxUint32-1, 1025)
	r.BufferOffset = []uint64{0, 1, 8, 4095, 16384, math.MaxUint64, math.MaxUint64 - 4095, 1 << 63}[op[9]%8]
	r.Swap.Opcode, r.Swap.Type = ses.AtomicOpcode(op[10]&0x1f), ses.AtomicType(op[10]>>3)
	a.Payload = int(pick(op[11], 1024, 1024, 0, 1, 8, 1023, 1025, 9000))
	a.Mode = ses.Mode(op[11] >> 5 % 5)
	a.Peer = uint64(op[6] >> 6)
	r.Rendezvous = ses.Rendezvous{EagerLength: pick(op[10], 0, 1024, 1, 2048, 4096, math.MaxUint32), PIDonFEP: 2, Key: uint64(op[9]), BufferOffset: r.BufferOffset}
	r.Token = ses.RestartToken{Initiator: uint32(op[6] % 8), Target: pick(op[10]>>3, 0, 0, 1<<16, 1<<16|1, 3<<16, math.MaxUint32)}
	return r, a
}

// judge is Receive, after a look at what the short ways say: nothing else, where they
// say something.
func (w *targetWorld) judge(t *testing.T, r *ses.Request, a msg.Arrival) (d msg.Decision) {
	var x msg.Expected
	short := false
	if r.Form == pds.NextRequestStd && r.Opcode.IsPlain() && a.Mode <= ses.ModeROD {
		v := (*msg.StandardView)(r.Standard.AppendTo(nil))
		short = w.Expect(v, uint16(a.Peer), a, &x)
		m := w.Recent(uint16(a.Peer))
		require.True(t, short || !m.Repeats(v, a.Peer) || !w.Continues(m, v, v.MessageOffset(), uint32(v.PayloadLength()), a.Payload))
	}
	w.Receive(r, a, &d)
	if short {
		w.short++
		want := msg.Decision{
			Action: ses.ActionPlace, Complete: x.Complete, HasData: x.HasData, Length: x.Length, Offset: x.Offset,
			Address: x.Address, Cookie: x.Cookie, HeaderData: x.HeaderData, Response: d.Response,
		}
		require.Equal(t, want, d, "%v", r)
	}
	return d
}

// FuzzSESTarget lets a peer say whatever it wants, first in fields that were
// chosen to hurt and then in raw headers: no header reaches a byte outside of
// what is open to it, and nothing is left of the peer when its PDCs are gone.
func FuzzSESTarget(f *testing.F) {
	good := []byte{2, 1, 0x09, 0, 0, 2, 1, 0, 0, 0, 0, 0}
	f.Add(good, []byte{})
	f.Add([]byte{2, 1, 0x08, 0, 0, 2, 1, 1, 0, 0, 0, 0, 2, 1, 0x08, 0, 0, 2, 1, 2, 0, 0, 0, 0}, []byte{})
	f.Add([]byte{2, 5, 0x09, 0, 1, 7, 1, 0, 0, 0, 0, 0, 2, 1, 0x08, 0, 0, 2, 1, 2, 0, 0, 0, 0}, []byte{})    // a send that goes on as a write
	f.Add([]byte{2, 8, 0x0b, 0, 1, 0, 1, 0, 3, 0, 0, 4, 2, 8, 0x0b, 0, 1, 0, 1, 0, 3, 0, 0x10, 0}, []byte{}) // deferred, and again with a token
	f.Add([]byte{2, 6, 0x0b, 0, 1, 0, 1, 0, 0, 0, 1, 0, 2, 6, 0x09, 0, 1, 0, 2, 0, 0, 0, 3, 0}, []byte{})    // rendezvous
	f.Add([]byte{2, 3, 0x0b, 0, 0, 1, 1, 0, 5, 2, 0x3a, 4}, []byte{})
	for _, kind := range []string{"req_std_som1", "req_std_som0", "req_small", "req_medium", "req_std_cswap"} {
		for _, seed := range sesSeeds(f, kind)[:4] {
			f.Add(good, seed)
		}
	}
	f.Fuzz(func(t *testing.T, ops, raw []byte) {
		w := newTargetWorld(t)
		ops = ops[:min(len(ops), 64*12)] // a longer story finds nothing more
		for ; len(ops) >= 12; ops = ops[12:] {
			r, a := hostile(ops)
			d := w.judge(t, &r, a)
			w.check(t, &r, a, &d)
			w.comeBack(t, ops[2]^ops[11])
		}
		for form := pds.NextRequestSmall; form <= pds.NextRequestStd; form++ {
			var r ses.Request
			n, err := r.Decode(form, raw)
			if err != nil {
				continue
			}
			a := msg.Arrival{Payload: len(raw) - n, Mode: ses.Mode(binary.BigEndian.Uint16(raw) % 4)}
			d := w.judge(t, &r, a)
			w.check(t, &r, a, &d)
		}
		w.end(t, "of the peer")
	})
}

// TestSESTargetHostile is the fuzz target on a fixed sequence, for every run.
func TestSESTargetHostile(t *testing.T) {
	short := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newTargetWorld(t)
		op := make([]byte, 12)
		for range 100 {
			binary.BigEndian.PutUint64(op, rng.Uint64())
			binary.BigEndian.PutUint32(op[8:], rng.Uint32())
			if rng.IntN(2) == 0 { // near what passes
				copy(op, []byte{2, byte(1 + rng.IntN(3)), 0x08 | byte(rng.IntN(4)), 0, 0, byte(rng.IntN(3))})
			} else if rng.IntN(2) == 0 { // sends that the target comes back to
				copy(op, []byte{2, []byte{6, 8, 8, 10, 11, 12, 13}[rng.IntN(7)], 0x0b, 0, 1, []byte{0, 7}[rng.IntN(2)], byte(rng.Uint32()), 0, 2, 0,
					[]byte{0, 2, 1 << 4, 3 << 3}[rng.IntN(4)], 0})
			}
			for range 1 + rng.IntN(2) { // the like again, elsewhere in the region
				r, a := hostile(op)
				d := w.judge(t, &r, a)
				w.check(t, &r, a, &d)
				op[7], op[9] = byte(rng.Uint32()), byte(rng.Uint32())
			}
			w.comeBack(t, byte(rng.Uint32()))
		}
		w.end(t, "seed %d", seed)
		short += w.short
	}
	require.Greater(t, short, 50, "of requests that need not be judged at length")
}
