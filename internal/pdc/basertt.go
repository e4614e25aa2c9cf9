// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/table"
)

// knownPaths remembers the base round trips of destinations whose contexts are gone, so the
// next context begins with the last measurement. Destinations with the same hash displace
// each other, and a displaced destination is measured anew.
//
// Source: UE Specification 1.0.x section 3.6.13.1 (MAY).
type knownPaths struct {
	slot   []knownPath
	hasher table.Hasher
}

type knownPath struct {
	key uint64
	rtt int64 // ns
}

// knownMost is for how many destinations there is room at most.
const knownMost = 1 << 14

func newKnownPaths(pdcs int, h table.Hasher) knownPaths {
	return knownPaths{slot: slab.Make[knownPath](min(ringSize(2*pdcs), knownMost)), hasher: h}
}

// of returns the place of p's path, and the key.
func (k *knownPaths) of(p *PDC) (*knownPath, uint64) {
	key := k.hasher.Sum(&table.Key{p.local.Hi, p.local.Lo, p.peer.Hi, p.peer.Lo, uint64(p.tc)})
	return &k.slot[key&uint64(len(k.slot)-1)], key
}

// rtt is the base round trip of p's path, ns, 0 if unknown.
func (k *knownPaths) rtt(p *PDC) int64 {
	if at, key := k.of(p); at.key == key {
		return at.rtt
	}
	return 0
}

// keep notes the measurement of the last context of p's path.
func (k *knownPaths) keep(p *PDC, rtt int64) {
	at, key := k.of(p)
	*at = knownPath{key, rtt}
}
