package ses

import "math/bits"

// A process is written to at the same few addresses and keys by message after message.
// All that there is to ask about such a message of one packet, but its place in the
// region, an earlier one has answered, as long as nothing it was checked against has
// changed: see the epoch.

// A Grant is what writes that say the same were found to be allowed.
type Grant struct {
	head   head   // of a packet that passed, without message_id
	key    uint64 // memory_key
	base   uint64 // of the region
	length uint64 // bytes of the region
	cookie uint64
	at     uint32 // see atOf
	epoch  uint32 // of the target then; 0: there was none
	_      [16]byte
}

// maxGrants bounds the table of a target: few regions are in use at a time.
const maxGrants = 1 << 10

// grantHead is what a message of one packet says in its first eight bytes, but for its
// message_id and what changes no answer.
const grantHead = head(headMask &^ (0xffff << 32))

// grant is where the answers about an address and a key are kept. Only what has passed
// comes there, so that peers cannot choose what collides.
func (t *Target) grant(key uint64, at uint32) *Grant {
	i := (key ^ uint64(bits.ReverseBytes32(at))) * 0x9e3779b97f4a7c15 >> 32
	return &t.grants[i&uint64(len(t.grants)-1)]
}

// Whole judges a write of [ModeRUD] or [ModeROD] that is a message of one packet, see
// [StandardView.IsWhole], with payload bytes, as [Target.Receive] would, if the like
// was allowed before: its RequestLength bytes belong at address, and the answer is the
// default response, which [PutDefault] writes. Nothing changes. It reports false if the
// request is Receive's.
func (t *Target) Whole(v *StandardView, payload int) (address, cookie uint64, ok bool) {
	g := t.grant(v.Key(), v.at())
	if (g.key^v.Key())|uint64(g.head^head(v.word())&grantHead)|uint64(g.at^v.at()) != 0 || g.epoch != t.epoch {
		return 0, 0, false
	}
	off, n := v.BufferOffset(), uint64(v.RequestLength())
	if n > uint64(t.mtu) || int(n) > payload || off > g.length || n > g.length-off {
		return 0, 0, false
	}
	return g.base + off, g.cookie, true
}

// allow lets later requests pass as r has, which is a message of one packet.
func (t *Target) allow(r *Request, p *plan) {
	if r.Form == FormStandard && r.Opcode == OpcodeWrite {
		g, x := t.grant(r.Key, atOf(r)), &t.regions[p.region.slot()]
		*g = Grant{
			head: headOf(r)&grantHead | head(flagsOnly)<<48, at: atOf(r), key: r.Key,
			base: x.Base, length: x.Length, cookie: x.Cookie, epoch: t.epoch,
		}
	}
}
