// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/ses"
)

const endpointSeedsDefault = 150

// endpointResult is what a seed came to.
type endpointResult struct {
	faultResult
	ops     opCounts
	trouble [numTroubles]uint64
}

// runEndpointSeed is runFaultSeed for whole endpoints.
func runEndpointSeed(seed uint64) (res endpointResult) {
	s := endpointSettingOf(seed)
	res.test, res.seed, res.name = "TestFaultsEndpoint", seed, s.name
	w := newEndpointWorld(s, seed)
	defer func() {
		res.caught(recover(), func(lines int) string { return w.log.tail(lines) + w.state() })
		res.sent, res.hash, res.counts, res.ops, res.trouble = w.net.Sent, w.net.Hash(), w.net.Counts, w.ops, w.trouble
	}()
	w.run()
	return res
}

// Whole endpoints move messages of all kinds while everything goes wrong: each takes
// effect once, each ends once at both sides, and afterwards nothing is left open.
func TestFaultsEndpoint(t *testing.T) {
	if *faultSeed >= 0 {
		r := runEndpointSeed(uint64(*faultSeed))
		t.Logf("%s: %d packets, hash %#x\n%v\n%v", r.name, r.sent, r.hash, &r.counts, &r.ops)
		if r.err != nil {
			t.Error(&r)
		}
		return
	}
	n := endpointSeedsDefault
	if *faultSeeds > 0 {
		n = *faultSeeds
	}
	var all endpointResult
	tally := faultTally{}
	onAllCores(*faultFrom, n, runEndpointSeed, func(r endpointResult) {
		all.merge(&r)
		tally.count(t, &r.faultResult)
	})
	t.Logf("%v\n%v\n%v\n%s", tally, &all.counts, &all.ops, all.troubles())
	if n >= endpointSeedsDefault && !t.Failed() {
		all.requireEverything(t)
	}
}

func (r *endpointResult) merge(o *endpointResult) {
	r.counts.Add(&o.counts)
	r.ops.add(&o.ops)
	for i := range r.trouble {
		r.trouble[i] += o.trouble[i]
	}
}

func (r *endpointResult) troubles() (s string) {
	for i, n := range r.trouble {
		s += fmt.Sprintf("%-17s%10d   ", trouble(i), n)
		if i%4 == 3 {
			s += "\n"
		}
	}
	return s
}

// requireEverything holds that each operation, each fault and each trouble took place.
func (r *endpointResult) requireEverything(t *testing.T) {
	for i, c := range r.ops {
		require.NotZero(t, c[ses.StatusOK], "no %v ended well", endpointKinds[i])
	}
	require.Empty(t, r.counts.Missing(endpointFaults()), "faults that were never injected")
	for i, n := range r.trouble {
		require.NotZero(t, n, "no trouble %v", trouble(i))
	}
}

// Nobody opens PDCs in others' names where targets expect later PSNs: TSS keeps strangers off, and an
// INVALID_SYN of such a target has no Start_PSN to offer.
func TestFaultsEndpointSecured(t *testing.T) {
	secured := 0
	for i := range endpointSettings {
		s := &endpointSettings[i]
		expects := s.start == pdc.StartExpected0RTT
		require.Equal(t, expects, s.plan(rand.New(rand.NewPCG(1, 2))).Secured, s.name)
		if expects {
			secured++
		}
	}
	require.NotZero(t, secured)
}

// The same seed gives the same transcript, whatever runs beside it.
func TestFaultsEndpointDeterministic(t *testing.T) {
	if *faultSeed >= 0 {
		return
	}
	n := len(endpointSettings)
	alone, beside := make([]uint64, n), make([]uint64, n)
	for i := range alone {
		alone[i] = runEndpointSeed(uint64(i)).hash
	}
	onAllCores(0, n, runEndpointSeed, func(r endpointResult) { beside[r.seed] = r.hash })
	require.Equal(t, alone, beside)
}
