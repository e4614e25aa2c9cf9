package pdc

// With Limit_PSN_Range a PDC closes before its PSN reaches Start_PSN + 2^31, so
// that no PSN comes twice in the life of a key. New messages go to another PDC from
// psnClose on: what is left is room for the messages that are open then, each of
// up to 2^22 packets. The return direction needs no limit of its own: each of its
// packets answers a packet of this one.
//
// Source: UE Specification 1.0.x section 3.5, Limit_PSN_Range.
const (
	psnEnd   = 1 << 31
	psnClose = psnEnd - 1<<26
)

// worn reports whether p has used as many PSNs as it may, and then starts to close
// it.
func (l *life) worn(now int64, p *PDC) bool {
	if p.tx.tail < psnClose || !l.p.c.LimitPSNRange || l.mem.events.free() < l.mem.reserve {
		return false
	}
	l.startClose(now, p)
	return true
}
