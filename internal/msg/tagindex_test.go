// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// matchWorld is a target with two queues, and the obvious model of them: lists in the order of
// posting that are looked at one by one.
type matchWorld struct {
	t       *testing.T
	rng     *rand.Rand
	target  *Target
	process ses.Handle
	masks   []uint64
	queue   [2][]uint32 // slots
	kept    []uint32    // posted, and not in a queue yet
}

func newMatchWorld(t *testing.T, seed uint64, masks int) *matchWorld {
	w := &matchWorld{t: t, rng: rand.New(rand.NewPCG(seed, 7))}
	for range masks {
		w.masks = append(w.masks, []uint64{0, ^uint64(0), w.rng.Uint64(), 0xffff, 0xffff << 32}[w.rng.IntN(5)])
	}
	var err error
	w.target, err = NewTarget(ses.TargetConfig{MTU: 4096, Processes: 1, Indices: 2, Receives: 64, Seed: seed})
	require.NoError(t, err)
	w.process, err = w.target.AddProcess(ses.Process{Job: 1})
	require.NoError(t, err)
	for i := range ses.ResourceIndex(2) {
		_, err = w.target.OpenIndex(0, w.process, i, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob})
		require.NoError(t, err)
	}
	return w
}

func (w *matchWorld) tag() uint64 { return uint64(w.rng.IntN(3)) | uint64(w.rng.IntN(3))<<32 }

// post posts a buffer, or has it kept for a while.
func (w *matchWorld) post() {
	q := w.rng.IntN(2)
	r := ses.Receive{Match: w.tag(), Ignore: w.masks[w.rng.IntN(len(w.masks))]}
	if w.rng.IntN(8) != 0 {
		h, err := w.target.PostReceive(w.process, ses.ResourceIndex(q), r)
		if err == nil {
			w.queue[q] = append(w.queue[q], slotOf(h))
		}
		return
	}
	if i, ok := w.target.recvSlots.take(); ok { // as PostReceive does for a deferred send
		w.target.posted++
		w.target.receives[i] = receive{Receive: r, entry: uint32(q), posted: w.target.posted, kept: true}
		w.kept = append(w.kept, i)
	}
}

// comesBack puts a buffer that was kept into its place.
func (w *matchWorld) comesBack() {
	if len(w.kept) == 0 {
		return
	}
	k := w.rng.IntN(len(w.kept))
	i := w.kept[k]
	w.kept = slices.Delete(w.kept, k, k+1)
	b := &w.target.receives[i]
	b.kept = false
	q := w.queue[b.entry]
	at := slices.IndexFunc(q, func(o uint32) bool { return b.before(&w.target.receives[o]) })
	if at < 0 {
		at = len(q)
	}
	w.queue[b.entry] = slices.Insert(q, at, i)
	w.target.enqueue(i)
}

// send matches a message, and takes the buffer if use says so.
func (w *matchWorld) send(use bool) {
	q := w.rng.IntN(2)
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeSend}, Key: w.tag()}}
	if w.rng.IntN(8) != 0 {
		r.Opcode = ses.OpcodeTaggedSend
	}
	at := slices.IndexFunc(w.queue[q], func(i uint32) bool {
		return r.Opcode == ses.OpcodeSend || w.target.receives[i].takes(r.Key)
	})
	i, ok := w.target.match(uint32(q), &r)
	require.Equal(w.t, at >= 0, ok)
	if !ok {
		return
	}
	require.Equal(w.t, w.queue[q][at], i, "the one that was posted first")
	if use {
		w.target.consume(i)
		w.queue[q] = slices.Delete(w.queue[q], at, at+1)
	}
}

// cancel takes any buffer back.
func (w *matchWorld) cancel() {
	q := w.rng.IntN(2)
	if n := len(w.queue[q]); n > 0 {
		at := w.rng.IntN(n)
		require.NoError(w.t, w.target.CancelReceive(w.target.recvSlots.handle(w.queue[q][at])))
		w.queue[q] = slices.Delete(w.queue[q], at, at+1)
	}
}

// check compares the queues.
func (w *matchWorld) check() {
	for q := range w.queue {
		var got, back []uint32
		for at := w.target.entries[q].queue.Head; at != 0; at = w.target.queued.Next(at) {
			got = append(got, at-1)
		}
		for at := w.target.entries[q].queue.Tail; at != 0; at = w.target.queued.Prev(at) {
			back = append(back, at-1)
		}
		slices.Reverse(back)
		require.ElementsMatch(w.t, w.queue[q], got)
		require.Equal(w.t, got, back)
		require.True(w.t, slices.Equal(w.queue[q], got))
	}
}

// A tag is found by hash in exactly the buffer that a walk through the queue finds: the one that
// was posted first of those that take it, with exact tags, any bits ignored, more values of Ignore
// than there are classes, buffers taken back, and those that were kept for another send.
func TestMatchingIsTheWalk(t *testing.T) {
	for _, masks := range []int{1, 3, 8, 20} {
		t.Run(fmt.Sprint(masks, " masks"), func(t *testing.T) {
			for seed := range uint64(60) {
				w := newMatchWorld(t, seed, masks)
				w.target.posted = uint32(seed) - 30 // it may wrap
				for step := range 800 {
					switch w.rng.IntN(8) {
					case 0, 1, 2:
						w.post()
					case 3, 4:
						w.send(true)
					case 5:
						w.cancel()
					case 6:
						w.comesBack()
					default:
						w.send(false)
					}
					if step%50 == 0 {
						w.check()
					}
				}
				used := 0
				for q := range w.queue {
					for len(w.queue[q]) > 0 {
						w.cancel()
					}
					used += len(w.queue[q])
				}
				require.Zero(t, used)
				x := &w.target.tags
				require.Zero(t, x.finder.used, "nothing is left behind")
				require.Zero(t, x.slots.live)
				require.Zero(t, x.posted)
				for _, l := range x.chains {
					require.Zero(t, l)
				}
			}
		})
	}
}

// Posting, matching and taking back allocate nothing, and what they look at does not grow with the
// number of buffers: of 65,535, a send that nothing takes looked at each, 258 us, and now at one
// place for each value of Ignore.
func TestMatchingAllocatesNothing(t *testing.T) {
	w := newMatchWorld(t, 1, 1)
	r := ses.Request{Form: pds.NextRequestStd, Standard: ses.Standard{Common: ses.Common{Opcode: ses.OpcodeTaggedSend}, Key: 5}}
	alloctest.Zero(t, "a match", func() {
		h, err := w.target.PostReceive(w.process, 0, ses.Receive{Match: 5, Ignore: w.rng.Uint64() & 0xff00})
		_, ok := w.target.match(0, &r)
		if err != nil || !ok || w.target.CancelReceive(h) != nil {
			panic("no match")
		}
	})
}
