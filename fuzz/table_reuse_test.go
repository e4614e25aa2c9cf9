package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
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
	const workers, rounds, keys = 4, 6000, 12
	tab, err := ccc.NewTable(6, 0)
	require.NoError(t, err)
	key := func(k reuseKey) *ccc.Key {
		return &ccc.Key{Source: reuseSources[k.source], Destination: reuseSources[0], TC: uint8(k.number)}
	}
	logs := make([]*reuseLog, workers)
	var wg sync.WaitGroup
	for w := range workers {
		l := newReuseLog()
		logs[w] = l
		wg.Go(func() {
			r := rand.New(rand.NewPCG(14, uint64(w)))
			own := map[reuseKey]ccc.Handle{} // opened here: only the owner names and closes
			for range rounds {
				k := reuseKey{r.IntN(len(reuseSources)), r.IntN(keys / len(reuseSources))}
				if r.IntN(16) == 0 {
					runtime.Gosched()
				}
				switch h := own[k]; {
				case h != 0 && r.IntN(2) == 0:
					if tab.Lookup(key(k)) != h || !tab.Live(h) {
						l.clash = "not there while it lives"
					}
					if tab.Close(h) != nil || tab.Live(h) || tab.Close(h) == nil {
						l.clash = "closed not once"
					}
					delete(own, k)
				case r.IntN(2) == 0:
					h, opened, err := tab.Open(key(k))
					if opened {
						own[k] = h
						l.note(l.opened, uint32(h), k)
						if e := tab.Name(h, reuseSources[k.source], uint8(k.number)); e != nil && e != ccc.ErrNamed {
							l.clash = e.Error()
						}
					} else if err == nil {
						l.note(l.found, uint32(h), k)
					}
				case r.IntN(2) == 0:
					if h := tab.Lookup(key(k)); h != 0 {
						l.note(l.found, uint32(h), k)
					}
				default:
					if h := tab.ByID(reuseSources[k.source], uint8(k.number)); h != 0 {
						l.note(l.found, uint32(h), k)
					}
				}
			}
			for _, h := range own {
				if tab.Close(h) != nil {
					l.clash = "not closed"
				}
			}
		})
	}
	wg.Wait()
	requireOneLife(t, logs)
	require.Equal(t, ccc.TableStats{Capacity: 6, Free: 6}, tab.Stats())
	for source := range reuseSources {
		for number := range keys {
			require.Zero(t, tab.Lookup(key(reuseKey{source, number})))
			require.Zero(t, tab.ByID(reuseSources[source], uint8(number)))
		}
	}
}

// PDCs of both roles are opened, matched, told their peer's PDCID, released and reaped on
// several cores. A packet matches the PDC of its peer or none, a PDC has one peer, and
// nothing remains charged to a source.
func TestPDCIDServesAnother(t *testing.T) {
	const workers, rounds, ids = 4, 6000, 6
	tab, err := pdc.NewTable(pdc.TableConfig{General: ids, Initiators: ids, PerSource: 3, Kept: 2, PerKey: 4, Seed: 1})
	require.NoError(t, err)
	logs := make([]*reuseLog, workers)
	var wg sync.WaitGroup
	for w := range workers {
		l := newReuseLog()
		logs[w] = l
		wg.Go(func() { reusePDCs(tab, l, rand.New(rand.NewPCG(15, uint64(w))), rounds, ids) })
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

// reusePDCs is one core. The number of a target's key is its peer's PDCID, that of an
// initiator's is 0: its peer is learnt.
func reusePDCs(tab *pdc.Table, l *reuseLog, r *rand.Rand, rounds, ids int) {
	var own []pdc.Handle
	for range rounds {
		if r.IntN(16) == 0 {
			runtime.Gosched()
		}
		source, peer := r.IntN(len(reuseSources)), pds.PDCID(1+r.IntN(3))
		switch r.IntN(6) {
		case 0:
			k := pdc.TargetKey{Source: reuseSources[source], Destination: reuseSources[0], SPDCID: peer}
			h, opened, err := tab.OpenTarget(1, &k, false)
			if opened {
				own = append(own, h)
				l.note(l.opened, uint32(h), reuseKey{source, int(peer)})
			} else if err == nil {
				l.note(l.found, uint32(h), reuseKey{source, int(peer)})
			}
		case 1:
			k := pdc.InitiatorKey{Source: reuseSources[0], Destination: reuseSources[source]}
			if h, err := tab.OpenInitiator(1, &k); err == nil {
				own = append(own, h)
				l.note(l.opened, uint32(h), reuseKey{source, 0})
			}
		case 2, 3:
			id := pds.PDCID(1 + r.IntN(ids))
			h, err := tab.Match(id, reuseSources[source], peer+10*pds.PDCID(r.IntN(2)))
			if err == nil && h.ID() != id {
				l.clash = "another PDCID"
			}
			if err == nil && r.IntN(2) == 0 && tab.Learn(h, peer) {
				if before, ok := l.learnt[uint32(h)]; ok && before != peer {
					l.clash = "two peers"
				}
				l.learnt[uint32(h)] = peer
			}
		case 4:
			k := pdc.TargetKey{Source: reuseSources[source], Destination: reuseSources[0], SPDCID: peer}
			if h, err := tab.Target(&k); err == nil {
				l.note(l.found, uint32(h), reuseKey{source, int(peer)})
			}
		default:
			if len(own) == 0 {
				continue
			}
			i := r.IntN(len(own))
			h := own[i]
			own[i] = own[len(own)-1]
			own = own[:len(own)-1]
			if tab.Release(1, h) != nil || tab.Live(h) || tab.Release(1, h) == nil {
				l.clash = "released not once"
			}
		}
	}
	for _, h := range own {
		if tab.Release(1, h) != nil {
			l.clash = "not released"
		}
	}
}
