// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// reuseKey is all that names a context or a PDC here, in both of its ways.
type reuseKey struct{ source, number int }

var reuseSources = []netip.Addr{
	netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("2001:db8::1"),
}

// A reuseLog is what one goroutine saw: handles that it opened, and handles that it found,
// under a key each.
type reuseLog struct {
	opened, found map[uint32]reuseKey
	learnt        map[uint32]pds.PDCID
	clash         string
}

func newReuseLog() *reuseLog {
	return &reuseLog{opened: map[uint32]reuseKey{}, found: map[uint32]reuseKey{}, learnt: map[uint32]pds.PDCID{}}
}

func (l *reuseLog) note(m map[uint32]reuseKey, h uint32, k reuseKey) {
	if before, ok := m[h]; ok && before != k {
		l.clash = "one handle, two keys"
	}
	m[h] = k
}

// requireOneLife checks the logs of all: each handle was opened once, and nobody found it
// under another key than it was opened for.
func requireOneLife(t *testing.T, logs []*reuseLog) {
	t.Helper()
	all, found, learnt := map[uint32]reuseKey{}, 0, map[uint32]pds.PDCID{}
	for _, l := range logs {
		require.Empty(t, l.clash)
		for h, k := range l.opened {
			require.NotContains(t, all, h, "opened twice")
			all[h] = k
		}
	}
	for _, l := range logs {
		for h, k := range l.found {
			if want, ok := all[h]; !ok || want != k {
				t.Fatalf("%#x was found under %v, and opened (%v) for %v", h, k, ok, want)
			}
			found++
		}
		for h, peer := range l.learnt {
			if before, ok := learnt[h]; ok && before != peer {
				t.Fatalf("%#x has two peers", h)
			}
			learnt[h] = peer
		}
	}
	require.Greater(t, len(all), 500)
	require.Positive(t, found)
	t.Log("opened", len(all), "found", found, "learnt", len(learnt))
}

// Contexts are opened, named, found both ways and closed on several cores, with so few
// keys and indices that each index serves another key soon.
func TestContextIndexServesAnother(t *testing.T) {
	const workers, rounds = 4, 6000
	tab, err := ccc.NewTable(6, true, 0)
	require.NoError(t, err)
	logs := make([]*reuseLog, workers)
	var wg sync.WaitGroup
	for w := range workers {
		x := reuseContexts{newReuseLog(), tab, rand.New(rand.NewPCG(14, uint64(w))), map[reuseKey]ccc.Handle{}}
		logs[w] = x.reuseLog
		wg.Go(func() {
			for range rounds {
				x.step()
			}
			for k, h := range x.own {
				x.close(k, h)
			}
		})
	}
	wg.Wait()
	requireOneLife(t, logs)
	live, _ := tab.Stats()
	require.Zero(t, live)
	for source := range reuseSources {
		for number := range reuseNumbers {
			k := reuseKey{source, number}
			require.Zero(t, tab.Lookup(k.context()))
			require.Zero(t, tab.ByID(reuseSources[source], uint8(number)))
		}
	}
}

// reuseNumbers is how many contexts each source may have.
const reuseNumbers = 4

func (k reuseKey) context() *ccc.Key {
	return &ccc.Key{Source: reuseSources[k.source], Destination: reuseSources[0], TC: uint8(k.number)}
}

// reuseContexts is one core that uses contexts.
type reuseContexts struct {
	*reuseLog
	tab *ccc.Table
	r   *rand.Rand
	own map[reuseKey]ccc.Handle // opened here: only the owner names and closes
}

func (x *reuseContexts) step() {
	k := reuseKey{x.r.IntN(len(reuseSources)), x.r.IntN(reuseNumbers)}
	if x.r.IntN(16) == 0 {
		runtime.Gosched()
	}
	found := ccc.Handle(0)
	switch h := x.own[k]; {
	case h != 0 && x.r.IntN(2) == 0:
		if x.tab.Lookup(k.context()) != h || !x.tab.Live(h) {
			x.clash = "not there while it lives"
		}
		x.close(k, h)
	case x.r.IntN(2) == 0:
		found = x.open(k)
	case x.r.IntN(2) == 0:
		found = x.tab.Lookup(k.context())
	default:
		found = x.tab.ByID(reuseSources[k.source], uint8(k.number))
	}
	if found != 0 {
		x.note(x.found, uint32(found), k)
	}
}

// open opens a context and names it, or returns the one that it has found.
func (x *reuseContexts) open(k reuseKey) (found ccc.Handle) {
	h, opened, err := x.tab.Open(k.context())
	switch {
	case err != nil:
		return 0
	case !opened:
		return h
	}
	x.own[k] = h
	x.note(x.opened, uint32(h), k)
	if err := x.tab.Name(h, reuseSources[k.source], uint8(k.number)); err != nil && err != ccc.ErrNamed {
		x.clash = err.Error()
	}
	return 0
}

func (x *reuseContexts) close(k reuseKey, h ccc.Handle) {
	if x.tab.Close(h) != nil || x.tab.Live(h) || x.tab.Close(h) == nil {
		x.clash = "closed not once"
	}
	delete(x.own, k)
}

// PDCs of both roles are opened, matched, told their peer's PDCID, released and reaped on
// several cores. A packet matches the PDC of its peer or none, a PDC has one peer, and
// nothing remains charged to a source.
func TestPDCIDServesAnother(t *testing.T) {
	const workers, rounds, ids = 4, 6000, 6
	tab, err := pdc.NewTable(pdc.TableConfig{General: ids, Initiators: ids, PerSource: 3, Kept: 2, Seed: 1})
	require.NoError(t, err)
	logs := make([]*reuseLog, workers)
	var wg sync.WaitGroup
	for w := range workers {
		x := reusePDCs{newReuseLog(), tab, rand.New(rand.NewPCG(15, uint64(w))), nil}
		logs[w] = x.reuseLog
		wg.Go(func() {
			for range rounds {
				x.step(ids)
			}
			for len(x.own) > 0 {
				x.release()
			}
		})
	}
	wg.Wait()
	requireOneLife(t, logs)
	tab.Reap(1, ids)
	require.Equal(t, pdc.PoolStats{Capacity: ids, Free: ids}, tab.Stats().General)
	for _, source := range reuseSources { // no source is proven, or charged: 4 ids for 2 of them, then those kept
		for n := range 3 {
			h, opened, err := tab.OpenTarget(1, &pdc.TargetKey{Source: source, Destination: reuseSources[0], SPDCID: pds.PDCID(100 + n)}, false)
			require.NoError(t, err)
			require.True(t, opened)
			require.NoError(t, tab.Release(1, h))
			tab.Reap(1, ids)
		}
	}
	for n := range 3 {
		_, _, err := tab.OpenTarget(1, &pdc.TargetKey{Source: reuseSources[0], Destination: reuseSources[0], SPDCID: pds.PDCID(200 + n)}, false)
		require.NoError(t, err)
	}
	_, _, err = tab.OpenTarget(1, &pdc.TargetKey{Source: reuseSources[1], Destination: reuseSources[0], SPDCID: 300}, false)
	require.NoError(t, err)
	_, _, err = tab.OpenTarget(1, &pdc.TargetKey{Source: reuseSources[0], Destination: reuseSources[0], SPDCID: 301}, false)
	require.ErrorIs(t, err, pdc.ErrNoPDC, "what is kept is for proven sources, and nobody is")
}

// reusePDCs is one core that uses PDCs. The number of a target's key is its peer's PDCID,
// that of an initiator's is 0: its peer is learnt.
type reusePDCs struct {
	*reuseLog
	tab *pdc.Table
	r   *rand.Rand
	own []pdc.Handle // opened here: only the owner releases
}

func (x *reusePDCs) step(ids int) {
	if x.r.IntN(16) == 0 {
		runtime.Gosched()
	}
	source, peer := x.r.IntN(len(reuseSources)), pds.PDCID(1+x.r.IntN(3))
	switch x.r.IntN(6) {
	case 0:
		x.openTarget(source, peer)
	case 1:
		k := pdc.InitiatorKey{Source: reuseSources[0], Destination: reuseSources[source]}
		h, opened, err := x.tab.OpenInitiator(1, &k)
		x.noteOpen(h, opened, err, reuseKey{source, 0})
	case 2, 3:
		x.match(pds.PDCID(1+x.r.IntN(ids)), source, peer)
	case 4:
		k := pdc.TargetKey{Source: reuseSources[source], Destination: reuseSources[0], SPDCID: peer}
		if h, err := x.tab.Target(&k); err == nil {
			x.note(x.found, uint32(h), reuseKey{source, int(peer)})
		}
	default:
		if len(x.own) > 0 {
			x.release()
		}
	}
}

func (x *reusePDCs) openTarget(source int, peer pds.PDCID) {
	k := pdc.TargetKey{Source: reuseSources[source], Destination: reuseSources[0], SPDCID: peer}
	h, opened, err := x.tab.OpenTarget(1, &k, false)
	x.noteOpen(h, opened, err, reuseKey{source, int(peer)})
}

// noteOpen takes note of what an open of k gave.
func (x *reusePDCs) noteOpen(h pdc.Handle, opened bool, err error, k reuseKey) {
	switch {
	case err != nil:
	case opened:
		x.own = append(x.own, h)
		x.note(x.opened, uint32(h), k)
	default:
		x.note(x.found, uint32(h), k)
	}
}

// match takes in a packet from a peer, or from a PDCID that no peer has.
func (x *reusePDCs) match(id pds.PDCID, source int, peer pds.PDCID) {
	h, err := x.tab.Match(id, reuseSources[source], peer+10*pds.PDCID(x.r.IntN(2)))
	if err != nil {
		return
	}
	if h.ID() != id {
		x.clash = "another PDCID"
	}
	if x.r.IntN(2) == 0 && x.tab.Learn(h, peer) {
		if before, ok := x.learnt[uint32(h)]; ok && before != peer {
			x.clash = "two peers"
		}
		x.learnt[uint32(h)] = peer
	}
}

// release gives one of its own PDCs back.
func (x *reusePDCs) release() {
	i, last := x.r.IntN(len(x.own)), len(x.own)-1
	h := x.own[i]
	x.own[i] = x.own[last]
	x.own = x.own[:last]
	if x.tab.Release(1, h) != nil || x.tab.Live(h) || x.tab.Release(1, h) == nil {
		x.clash = "released not once"
	}
}
