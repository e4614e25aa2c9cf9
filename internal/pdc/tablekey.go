// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"github.com/uetcc/uetcc/internal/table"
)

// The last word of a table key, so both roles share one table:
//
//	target     0 {unused 47, SPDCID 16}
//	initiator  1 {unused 13, ordered 1, reserved 1, context 16, TC 8, JobID 24}
const initiatorRole = 1 << 63

func fillTarget(k *TargetKey, key *table.Key) { key.Set(k.Source, k.Destination, uint64(k.SPDCID)) }

func fillInitiator(k *InitiatorKey, key *table.Key) {
	w := uint64(k.Context)<<32 | uint64(k.TC)<<24 | uint64(k.JobID&0xff_ffff) | initiatorRole
	if k.Reserved {
		w |= 1 << 48
	}
	if k.Ordered {
		w |= 1 << 49
	}
	key.Set(k.Source, k.Destination, w)
}
