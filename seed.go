// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"math/rand/v2"
)

// A seedUse is a part of an endpoint with a separate seed.
type seedUse uint8

const (
	seedIDs         seedUse = iota // PDCIDs, and the hashes of their table
	seedTarget                     // hashes of the target
	_                              // free: the other values stay, and recorded runs, too
	seedPaths                      // entropy of the contexts
	seedContexts                   // hashes of the table of contexts
	seedPSNs                       // Start_PSNs and probes
	seedCredit                     // hashes of peers asking for credit
	seedLentRegions                // keys of lent regions
)

// seedFor returns the seed of a part, never 0. Peers see numbers derived from some seeds,
// such as paths, and can work those seeds out; no other seed may follow.
func (c *Config) seedFor(u seedUse) uint64 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], c.Seed)
	key[8] = byte(u)
	return max(rand.NewChaCha8(key).Uint64(), 1)
}
