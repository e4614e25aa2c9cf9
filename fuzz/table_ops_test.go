// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// slowTable is pdc.Table as one would explain it: a list of PDCs and loops. The
// pools are small enough for every open to reap all that is due.
type slowTable struct {
	c    pdc.TableConfig
	pdcs []*slowPDC
}

type slowPDC struct {
	h        pdc.Handle
	reserved bool
	target   bool
	syn      pdc.TargetKey
	init     pdc.InitiatorKey
	retired  bool // init finds it no more
	peer     pds.PDCID
	from     netip.Addr
	proven   bool
	resting  bool
	until    int64
}

func (s *slowTable) find(match func(p *slowPDC) bool) *slowPDC {
	if i := slices.IndexFunc(s.pdcs, match); i >= 0 {
		return s.pdcs[i]
	}
	return nil
}

func (s *slowTable) count(match func(p *slowPDC) bool) (n int) {
	for _, p := range s.pdcs {
		if match(p) {
			n++
		}
	}
	return n
}

func (s *slowTable) reap(now int64) (n int) {
	before := len(s.pdcs)
	s.pdcs = slices.DeleteFunc(s.pdcs, func(p *slowPDC) bool { return p.resting && p.until <= now })
	return before - len(s.pdcs)
}

func (s *slowTable) free(reserved bool) int {
	size := s.c.General
	if reserved {
		size = s.c.Reserved
	}
	return size - s.count(func(p *slowPDC) bool { return p.reserved == reserved })
}

// refuses is the error that a SYN packet of a new PDC deserves, nil for none.
func (s *slowTable) refuses(from netip.Addr, reserved bool) error {
	proven := s.count(func(p *slowPDC) bool { return p.target && p.from == from && p.proven })
	held := s.count(func(p *slowPDC) bool { return p.target && p.from == from })
	switch {
	case !reserved && s.free(false) <= s.c.Kept && proven == 0:
		return pdc.ErrNoPDC
	case held >= s.c.PerSource:
		return pdc.ErrQuota
	case s.free(reserved) == 0:
		return pdc.ErrNoPDC
	}
	return nil
}

// tableRun drives a table and the slow one through the same operations.
type tableRun struct {
	t    *testing.T
	tab  *pdc.Table
	slow slowTable
	now  int64
	all  []pdc.Handle // ever handed out, the most recent last
}

var tableSources = [3]netip.Addr{
	netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("2001:db8::1"),
}

func newTableRun(t *testing.T) *tableRun {
	// With this seed the three sources share no counter, so quotas are exact.
	c := pdc.TableConfig{General: 6, Reserved: 2, Quarantine: 20, PerSource: 3, Kept: 1, Initiators: 3, FirstID: 1, Seed: 1}
	tab, err := pdc.NewTable(c)
	require.NoError(t, err)
	return &tableRun{t: t, tab: tab, slow: slowTable{c: c}}
}

func (r *tableRun) step(op, a byte) {
	from, n, reserved := tableSources[a%3], int(a/3%4), a&0x80 != 0
	switch op % 9 {
	case 0, 1:
		r.openTarget(pdc.TargetKey{Source: from, Destination: tableSources[0], SPDCID: pds.PDCID(n + 1)}, reserved)
	case 2:
		r.openInitiator(pdc.InitiatorKey{Source: tableSources[0], Destination: from, TC: uint8(n % 2), Reserved: reserved})
	case 3:
		r.release(r.handle(a))
	case 4:
		r.now += int64(a % 16)
	case 5:
		r.match(r.handle(a), tableSources[op/9%3], pds.PDCID(op/27))
	case 6:
		r.learn(r.handle(a), pds.PDCID(op/9%4))
	case 7:
		r.retire(r.handle(a))
	case 8:
		require.Equal(r.t, r.slow.reap(r.now), r.tab.Reap(r.now, 8))
	}
	r.check()
}

func (r *tableRun) handle(a byte) pdc.Handle {
	if len(r.all) == 0 {
		return 0
	}
	return r.all[max(0, len(r.all)-1-int(a%12))]
}

func (r *tableRun) live(h pdc.Handle) *slowPDC {
	return r.slow.find(func(p *slowPDC) bool { return p.h == h && !p.resting })
}

func (r *tableRun) openTarget(k pdc.TargetKey, reserved bool) {
	h, opened, err := r.tab.OpenTarget(r.now, &k, reserved)
	same := func(p *slowPDC) bool { return p.target && p.syn == k }
	if p := r.slow.find(same); p != nil && !p.resting {
		require.NoError(r.t, err)
		require.False(r.t, opened)
		require.Equal(r.t, p.h, h)
		return
	}
	r.slow.reap(r.now)
	if r.slow.find(same) != nil {
		require.ErrorIs(r.t, err, pdc.ErrResting)
		return
	}
	if want := r.slow.refuses(k.Source, reserved); want != nil {
		require.ErrorIs(r.t, err, want)
		return
	}
	require.NoError(r.t, err)
	require.True(r.t, opened)
	r.add(&slowPDC{h: h, reserved: reserved, target: true, syn: k, peer: k.SPDCID, from: k.Source})
}

func (r *tableRun) openInitiator(k pdc.InitiatorKey) {
	h, opened, err := r.tab.OpenInitiator(r.now, &k)
	if p := r.slow.find(func(p *slowPDC) bool { return !p.target && p.init == k && !p.retired }); p != nil {
		require.NoError(r.t, err)
		require.False(r.t, opened)
		require.Equal(r.t, p.h, h)
		return
	}
	r.slow.reap(r.now)
	limit := r.slow.c.Initiators
	if k.Reserved {
		limit = r.slow.c.Reserved / 2
	}
	held := r.slow.count(func(p *slowPDC) bool { return !p.target && p.reserved == k.Reserved })
	switch {
	case held == limit:
		require.ErrorIs(r.t, err, pdc.ErrInitiators)
	case r.slow.free(k.Reserved) == 0:
		require.ErrorIs(r.t, err, pdc.ErrNoPDC)
	default:
		require.NoError(r.t, err)
		require.True(r.t, opened)
		r.add(&slowPDC{h: h, reserved: k.Reserved, init: k, from: k.Destination})
	}
}

func (r *tableRun) add(p *slowPDC) {
	require.NotContains(r.t, r.all, p.h, "a handle is never handed out twice")
	for _, q := range r.slow.pdcs {
		require.NotEqual(r.t, q.h.ID(), p.h.ID(), "an id in use, or at rest")
	}
	require.Equal(r.t, p.reserved, int(p.h.ID()) > r.slow.c.General)
	r.slow.pdcs, r.all = append(r.slow.pdcs, p), append(r.all, p.h)
}

func (r *tableRun) release(h pdc.Handle) {
	err := r.tab.Release(r.now, h)
	p := r.live(h)
	if p == nil {
		require.ErrorIs(r.t, err, pdc.ErrUnknown)
		return
	}
	require.NoError(r.t, err)
	p.resting, p.until, p.retired = true, r.now+r.slow.c.Quarantine, true
}

func (r *tableRun) retire(h pdc.Handle) {
	p := r.live(h)
	want := p != nil && !p.target && !p.retired
	require.Equal(r.t, want, r.tab.Retire(h))
	if want {
		p.retired = true
	}
}

func (r *tableRun) learn(h pdc.Handle, peer pds.PDCID) {
	p := r.live(h)
	want := p != nil && (p.peer == 0 || p.peer == peer)
	require.Equal(r.t, want, r.tab.Learn(h, peer))
	if want {
		p.peer = peer
	}
}

func (r *tableRun) match(h pdc.Handle, from netip.Addr, spdcid pds.PDCID) {
	got, err := r.tab.Match(h.ID(), from, spdcid)
	p := r.slow.find(func(p *slowPDC) bool { return p.h.ID() == h.ID() && !p.resting })
	switch {
	case p == nil || h == 0:
		require.ErrorIs(r.t, err, pdc.ErrUnknown)
	case p.from != from || p.peer != 0 && spdcid != 0 && p.peer != spdcid:
		require.ErrorIs(r.t, err, pdc.ErrPeer)
	default:
		require.NoError(r.t, err)
		require.Equal(r.t, p.h, got)
		p.proven = p.proven || spdcid != 0
	}
}

// check compares everything that can be seen: I9.
func (r *tableRun) check() {
	s := r.tab.Stats()
	for _, pool := range []pdc.PoolStats{s.General, s.Reserved} {
		require.Equal(r.t, pool.Capacity, pool.Free+pool.Live+pool.Resting)
	}
	require.Equal(r.t, r.slow.free(false), s.General.Free)
	require.Equal(r.t, r.slow.free(true), s.Reserved.Free)
	for _, p := range r.slow.pdcs {
		require.Equal(r.t, !p.resting, r.tab.Live(p.h))
		switch {
		case p.target && p.resting:
			h, err := r.tab.Target(&p.syn)
			require.ErrorIs(r.t, err, pdc.ErrResting)
			require.Equal(r.t, p.h, h)
		case p.target:
			h, err := r.tab.Target(&p.syn)
			require.NoError(r.t, err)
			require.Equal(r.t, p.h, h)
		case !p.retired:
			require.Equal(r.t, p.h, r.tab.Initiator(&p.init))
		}
	}
	require.Len(r.t, slices.Collect(r.tab.All()), s.General.Live+s.Reserved.Live)
	require.Equal(r.t, r.slow.count(func(p *slowPDC) bool { return !p.resting }), s.General.Live+s.Reserved.Live)
}

func FuzzTableOps(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 3, 0, 4, 15, 0, 0, 4, 5, 0, 0})        // open, again, close, late SYN, after the quarantine
	f.Add([]byte{0, 0, 0, 3, 0, 6, 0, 9, 0, 1, 5, 1, 0, 1})         // one source at its quota, another goes on
	f.Add([]byte{2, 0, 2, 0, 2, 0, 7, 1, 2, 0, 6, 0, 5, 0})         // a key again, and after its PDC has retired
	f.Add([]byte{0, 0x80, 0, 0x81, 0, 0x82, 2, 0x80, 3, 1, 8, 0})   // the reserved pool
	f.Add([]byte{0, 0, 5, 0, 0, 1, 0, 2, 0, 4, 0, 5, 0, 3, 0, 7})   // ids kept for peers that have answered
	f.Add([]byte{2, 1, 3, 0, 3, 0, 7, 0, 6, 0, 4, 15, 4, 15, 2, 1}) // stale handles
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := newTableRun(t)
		for i := 0; i+1 < min(len(ops), 400); i += 2 {
			r.step(ops[i], ops[i+1])
		}
	})
}

// TestTableOps runs the fuzz target's operations at random.
func TestTableOps(t *testing.T) {
	for seed := range uint64(100) {
		rng, r := rand.New(rand.NewPCG(seed, 9)), newTableRun(t)
		for range 150 {
			r.step(byte(rng.Uint32()), byte(rng.Uint32()))
		}
	}
}
