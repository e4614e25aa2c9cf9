// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/step"
	"github.com/uetcc/uetcc/ses"
)

func TestNewTargetRefusesBadConfig(t *testing.T) {
	good := ses.TargetConfig{MTU: 4096, Processes: 1, Indices: 1}
	for name, change := range map[string]func(*ses.TargetConfig){
		"MTU":       func(c *ses.TargetConfig) { c.MTU = 1500 },
		"Processes": func(c *ses.TargetConfig) { c.Processes = 65537 },
		"Indices":   func(c *ses.TargetConfig) { c.Indices = 4097 },
		"Regions":   func(c *ses.TargetConfig) { c.Regions = -1 },
		"Hold":      func(c *ses.TargetConfig) { c.Hold = -1 },
		"Hold is 7": func(c *ses.TargetConfig) { c.Hold = maxHold + 1 },
	} {
		c := good
		change(&c)
		_, err := NewTarget(c)
		require.ErrorIs(t, err, ses.ErrConfig)
		require.ErrorContains(t, err, "TargetConfig."+name)
	}
	for _, mtu := range []uint32{512, 16384} {
		_, err := NewTarget(ses.TargetConfig{MTU: mtu})
		require.ErrorContains(t, err, "TargetConfig.MTU")
	}
	_, err := NewTarget(good)
	require.NoError(t, err)
}

func TestTargetTables(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 2, Indices: 2, Regions: 2, Receives: 1})
	require.NoError(t, err)
	a, err := tg.AddProcess(ses.Process{Job: 1, PID: 1})
	require.NoError(t, err)
	_, err = tg.AddProcess(ses.Process{Job: 1, PID: 1})
	require.ErrorIs(t, err, ses.ErrExists)
	_, err = tg.AddProcess(ses.Process{Job: 1 << 24})
	require.ErrorIs(t, err, ses.ErrRange)
	_, err = tg.AddProcess(ses.Process{PID: 1 << 12})
	require.ErrorIs(t, err, ses.ErrRange)
	_, err = tg.AddProcess(ses.Process{Job: 1, PID: 2})
	require.NoError(t, err)
	_, err = tg.AddProcess(ses.Process{Job: 1, PID: 3})
	require.ErrorIs(t, err, ses.ErrFull)

	_, err = tg.OpenIndex(0, a, 2, ses.Index{})
	require.ErrorIs(t, err, ses.ErrRange)
	_, err = tg.OpenIndex(0, a, 1, ses.Index{})
	require.NoError(t, err)
	_, err = tg.OpenIndex(0, a, 1, ses.Index{})
	require.ErrorIs(t, err, ses.ErrExists)
	_, err = tg.PostReceive(a, 1, ses.Receive{})
	require.ErrorIs(t, err, ses.ErrRange, "not a queue")
	_, err = tg.PostReceive(a, 0, ses.Receive{})
	require.ErrorIs(t, err, ses.ErrNotFound)
	require.ErrorIs(t, tg.SetIndexState(a, 0, ses.IndexEnabled), ses.ErrNotFound)
	_, err = tg.Renew(0, a, 0)
	require.ErrorIs(t, err, ses.ErrNotFound)
	require.ErrorIs(t, tg.CloseIndex(0, a, 0), ses.ErrNotFound)
	require.ErrorIs(t, tg.SetIndexState(a, 1, ses.IndexInvalid), ses.ErrRange)
	require.ErrorIs(t, tg.SetIndexState(a, 2, ses.IndexEnabled), ses.ErrRange)
	require.ErrorIs(t, tg.SetIndexState(a+1<<16, 1, ses.IndexEnabled), ses.ErrNotFound)

	h, err := tg.Register(a, 0, ses.Region{})
	require.ErrorIs(t, err, ses.ErrNotFound)
	require.Zero(t, h)
	h, err = tg.Register(a, 1, ses.Region{Job: ses.AnyJob + 1})
	require.ErrorIs(t, err, ses.ErrRange)
	require.Zero(t, h)
	h, err = tg.Register(a, 1, ses.Region{Base: 2, Length: math.MaxUint64})
	require.ErrorIs(t, err, ses.ErrRange)
	require.Zero(t, h)
	_, err = tg.Register(a, 1, ses.Region{Base: 2, Length: math.MaxUint64 - 1, Key: 1})
	require.NoError(t, err, "up to the last byte of memory")
	h, err = tg.Register(a, 1, ses.Region{Key: 1})
	require.ErrorIs(t, err, ses.ErrExists)
	require.Zero(t, h)
	h, err = tg.Register(a, 1, ses.Region{Key: 2})
	require.NoError(t, err)
	none, err := tg.Register(a, 1, ses.Region{Key: 3})
	require.ErrorIs(t, err, ses.ErrFull)
	require.Zero(t, none)
	require.NoError(t, tg.Withdraw(h))
	require.ErrorIs(t, tg.Withdraw(h), ses.ErrNotFound, "a stale handle")

	require.NoError(t, tg.RemoveProcess(0, a))
	require.ErrorIs(t, tg.RemoveProcess(0, a), ses.ErrNotFound)
	require.Zero(t, tg.keys.used, "regions go with their index")
	require.Equal(t, 1, tg.jobs.used, "another process of the job is left")
}

func TestTargetReopenedIndexHasAnotherGeneration(t *testing.T) {
	s := newWalkTarget(t)
	require.NoError(t, s.CloseIndex(0, s.ep, walkIndex))
	require.Equal(t, step.Index, s.send(0).Check)
	gen, err := s.OpenIndex(0, s.ep, walkIndex, ses.Index{})
	require.NoError(t, err)
	require.Equal(t, ses.Generation(2), gen)
	require.Equal(t, step.Generation, s.send(0, func(r *ses.Request, _ *Arrival) { r.MessageID = 2 }).Check)
}

// Scenario W5 of the fault list: no value comes back within Hold, however the
// index is renewed, closed and opened.
func TestRenewHoldsGenerationsBack(t *testing.T) {
	const hold = int64(1000)
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 1, Indices: 1, Hold: hold})
	require.NoError(t, err)
	ep, err := tg.AddProcess(ses.Process{})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	left := map[ses.Generation]int64{} // when the value was given up
	now, renewals, refusals := int64(0), 0, 0
	gen, err := tg.OpenIndex(now, ep, 0, ses.Index{})
	require.NoError(t, err)
	for range 20_000 {
		now += rng.Int64N(8)
		old := gen
		if rng.IntN(4) == 0 {
			require.NoError(t, tg.CloseIndex(now, ep, 0))
			for gen, err = tg.OpenIndex(now, ep, 0, ses.Index{}); err != nil; gen, err = tg.OpenIndex(now, ep, 0, ses.Index{}) {
				require.ErrorIs(t, err, ses.ErrHeldBack)
				now++
				refusals++
			}
		} else if gen, err = tg.Renew(now, ep, 0); err != nil {
			require.ErrorIs(t, err, ses.ErrHeldBack)
			gen = old
			refusals++
			continue
		}
		left[old] = now
		if at, ok := left[gen]; ok {
			require.GreaterOrEqual(t, now-at, hold)
		}
		renewals++
	}
	require.Greater(t, renewals, 5000)
	require.NotZero(t, refusals)
}

func TestOpenIndexHeldBack(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 1, Indices: 1, Hold: 1000})
	require.NoError(t, err)
	ep, err := tg.AddProcess(ses.Process{})
	require.NoError(t, err)
	for range renewBurst {
		_, err := tg.OpenIndex(0, ep, 0, ses.Index{})
		require.NoError(t, err)
		require.NoError(t, tg.CloseIndex(0, ep, 0))
	}
	_, err = tg.OpenIndex(0, ep, 0, ses.Index{})
	require.ErrorIs(t, err, ses.ErrHeldBack)
	_, err = tg.OpenIndex(1000, ep, 0, ses.Index{})
	require.NoError(t, err)
}

// A job is known as long as it has a process.
func TestTargetKnowsJobsByTheirProcesses(t *testing.T) {
	tg, err := NewTarget(ses.TargetConfig{MTU: 1024, Processes: 3})
	require.NoError(t, err)
	var eps []ses.Handle
	for _, p := range []ses.Process{{Job: 1, PID: 1}, {Job: 1, PID: 2}, {Job: 2, PID: 1}} {
		ep, err := tg.AddProcess(p)
		require.NoError(t, err)
		eps = append(eps, ep)
	}
	refused := func(job ses.JobID) ses.Check {
		r, a := walkPacket(0)
		r.Flags, r.JobID, r.PIDonFEP, r.RequestLength, a.Payload = ses.FlagRel|flagsOnly, job, 9, 8, 8
		var d Decision
		tg.Receive(&r, a, &d)
		return d.Check
	}
	for i, known := range [][2]ses.Check{{step.PID, step.PID}, {step.PID, step.PID}, {step.Job, step.PID}, {step.FEP, step.FEP}} {
		require.Equal(t, known, [2]ses.Check{refused(1), refused(2)})
		if i < len(eps) {
			require.NoError(t, tg.RemoveProcess(0, eps[i]))
		}
	}
}

// No handle names what is free.
func TestHandleOfNothing(t *testing.T) {
	s := newSlots(1)
	for range 3 {
		for _, h := range []ses.Handle{0, s.handle(0), 1} {
			_, ok := s.at(h)
			require.False(t, ok)
		}
		i, ok := s.take()
		require.True(t, ok)
		s.release(i)
	}
	in := newInitiator(t)
	require.ErrorIs(t, in.Cancel(0, 0, ses.RCCancelled, &Event{}), ses.ErrStale)
}

// The index against a map, with few homes so that runs form and wrap.
func TestFinderAgainstMap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := newFinder(16, seed)
		ref := map[pair]uint32{}
		for range 2000 {
			k := pair{rng.Uint64N(4), rng.Uint64N(8)}
			want, has := ref[k]
			got, ok := x.find(k)
			require.Equal(t, has, ok)
			require.Equal(t, want, got)
			switch {
			case has:
				x.remove(k)
				delete(ref, k)
			case len(ref) < 16:
				v := rng.Uint32N(100)
				x.insert(k, v)
				ref[k] = v
			}
			require.Equal(t, len(ref), x.used)
		}
		x.remove(pair{99, 99})
		require.Equal(t, len(ref), x.used)
	}
}
