// SPDX-License-Identifier: Apache-2.0

package pdc

// With Limit_PSN_Range a PDC closes before the PSN reaches Start_PSN + 2^31, so no
// PSN comes twice in the life of a key. New messages go to a new PDC from psnClose
// on: the rest is room for the messages open then, each of up to 2^22 packets. The
// return direction needs no limit: each packet answers a packet of the forward
// direction.
//
// Source: UE Specification 1.0.x section 3.5, Limit_PSN_Range.
const (
	psnEnd   = 1 << 31
	psnClose = psnEnd - 1<<26
)

// worn reports whether p has used all allowed PSNs, and then starts to close p.
func (l *life) worn(now int64, p *PDC) bool {
	if p.tx.tail < psnClose || !l.p.c.LimitPSNRange || l.mem.events.free() < l.mem.reserve {
		return false
	}
	l.startClose(now, p)
	return true
}
