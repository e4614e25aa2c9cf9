// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/uetcc/uetcc/pds"
)

// Errors of [Domain.Seal] and [Domain.Open]. A refused packet is unchanged, except after
// ErrAuth, when the bytes behind the headers are lost.
var (
	// ErrForm: no whole IPv4 packet without options, or IPv6 packet without extension headers,
	// in native form and with room for security header and tag.
	ErrForm = errors.New("tss: not an IP packet that can be secured")

	// ErrClear: the packet has no security header.
	ErrClear = errors.New("tss: packet is not secured")

	// ErrDomain: the packet is of a different secure domain.
	ErrDomain = errors.New("tss: packet of another secure domain")

	// ErrKey: the packet's key slot is empty; with Seal no slot has been chosen.
	ErrKey = errors.New("tss: no key")

	// ErrSSI: the packet lacks a source identifier where the domain wants it, or has a source
	// identifier where the domain has none; or comes over IPv6, without source identifier, in a
	// mode in which the address does not tell senders apart.
	ErrSSI = errors.New("tss: source identifier missing or not expected")

	// ErrLate: the packet's epoch is too old.
	ErrLate = errors.New("tss: epoch is over")

	// ErrAuth: the tag is wrong.
	ErrAuth = errors.New("tss: packet is not authentic")

	// ErrLimit: the counters of the key are used up. A new key or epoch has to be loaded.
	ErrLimit = errors.New("tss: counters of the key are used up")
)

// A Domain is one FEP's part in a secure domain. Single writer.
type Domain struct {
	c     Config
	slots [2]slot
	using int8 // slot for sealing; -1: none
	spent []spent

	// Keys of senders, by a hash of the identity. A key is kept once a packet opened with the
	// key was authentic.
	peers []sender

	out   sender // the key for sealing
	nonce [nonceLen]byte
	stats Stats
}

// A slot is a [Key] prepared by [Domain.Load].
type slot struct {
	key  Key
	mac  *cmac      // for modes with derived keys
	own  cipherText // for modes without
	next uint64     // counter of the next packet
	set  bool
}

// A spent is a key that has sealed packets and is in no slot any more: its hash, since Drop leaves no secret.
type spent struct {
	hash        [sha256.Size]byte
	first, next uint64 // counters of the first packet and of the next
}

// spentMost is how many such keys a domain knows, the latest.
const spentMost = 64

// hash is the name of a key with its epoch, which is part of the nonces.
func (k *Key) hash() [sha256.Size]byte {
	return sha256.Sum256(binary.BigEndian.AppendUint16(k.Secret[:len(k.Secret):len(k.Secret)], k.Epoch))
}

// retire empties key slot an with all keys derived, and keeps in mind which counters its key has used.
func (d *Domain) retire(an uint8) {
	s := d.slots[an]
	d.slots[an], d.out = slot{}, sender{}
	for i := range d.peers {
		if d.peers[i].an == an {
			d.peers[i] = sender{}
		}
	}
	if !s.set || s.next == s.key.First {
		return
	}
	k := spent{s.key.hash(), s.key.First, s.next}
	if i := d.spentAs(k.hash); i >= 0 {
		k.first, k.next = min(k.first, d.spent[i].first), max(k.next, d.spent[i].next)
		d.spent = slices.Delete(d.spent, i, i+1)
	} else if len(d.spent) == spentMost {
		d.spent = slices.Delete(d.spent, 0, 1)
	}
	d.spent = append(d.spent, k)
}

// spentAs returns the place of a key that is in no slot any more, or -1.
func (d *Domain) spentAs(hash [sha256.Size]byte) int {
	return slices.IndexFunc(d.spent, func(k spent) bool { return k.hash == hash })
}

// A cipherText is a key with the mask of the nonces (iv_mask).
type cipherText struct {
	aead cipher.AEAD
	mask [nonceLen]byte
}

// A sender is the key derived for an identity.
type sender struct {
	id identity
	an uint8
	cipherText
}

// Stats counts packets by outcome. The names are the specification's, as far as public.
type Stats struct {
	OutAuth     uint64 // out_auth_pkts: sealed
	OutFail     uint64 // not sealed
	InAuth      uint64 // in_auth_pkts: opened
	InInvalid   uint64 // no key, a different domain, or a wrong source identifier
	InLate      uint64 // in_late_pkts: epoch over
	InAuthFail  uint64 // in_auth_fail_pkts: forged or changed
	InBypass    uint64 // not secured, or not to be read
	Derivations uint64 // keys derived
}

// New makes the domain; keys come with [Domain.Load]. The error wraps [ErrConfig].
func New(c Config) (*Domain, error) {
	c.fill()
	if err := c.validate(); err != nil {
		return nil, err
	}
	n := 1
	for n < c.Keys {
		n *= 2
	}
	return &Domain{c: c, using: -1, peers: make([]sender, n)}, nil
}

// Load fills key slot an, 0 or 1: packets naming the slot are opened with k from now on.
// Packets sealed with a former key of the slot open no more, so load the unused slot, have all
// members do so, and then call [Domain.Use]. The errors are [ErrConfig] and [ErrReuse]: for the latter
// a domain remembers the keys in both slots, and the counters of the last 64 keys that were.
func (d *Domain) Load(an uint8, k Key) error {
	if an > 1 || !k.limits(d.c.Mode) {
		return fmt.Errorf("%w: slot %d with counters %d to %d", ErrConfig, an, k.First, k.Limit)
	}
	for i := range d.slots {
		if s := &d.slots[i]; s.set && s.key.Secret == k.Secret && s.key.Epoch == k.Epoch && k.First < s.next {
			return fmt.Errorf("%w: below %d", ErrReuse, s.next)
		}
	}
	if i := d.spentAs(k.hash()); i >= 0 && k.First < d.spent[i].next {
		return fmt.Errorf("%w: below %d", ErrReuse, d.spent[i].next)
	}
	s := slot{key: k, next: k.First, set: true}
	var err error
	switch d.c.Mode {
	case ModeDirect:
		err = s.own.init(&k.Secret, &[nonceLen]byte{})
	case ModeClient:
		err = s.own.init(&k.Secret, &k.Mask)
	default:
		s.mac, err = newCMAC(&k.Secret)
	}
	if err != nil {
		return err
	}
	d.retire(an)
	d.slots[an] = s
	return nil
}

// Drop empties key slot an: packets naming the slot open no more.
func (d *Domain) Drop(an uint8) {
	if d.retire(an & 1); d.using == int8(an&1) {
		d.using = -1
	}
}

// Use seals with key slot an from now on. The second slot still opens packets of others, until
// dropped or loaded. The errors are [ErrKey] and [ErrReuse]: a key in both slots, or in the second
// before, seals with the counters of each only if the counters of one end below the first of the other.
func (d *Domain) Use(an uint8) error {
	if an > 1 || !d.slots[an].set {
		return ErrKey
	}
	s, o := &d.slots[an], &d.slots[1-an]
	if o.set && o.key.Secret == s.key.Secret && o.key.Epoch == s.key.Epoch && s.repeats(o.key.First, o.next) {
		return fmt.Errorf("%w: from %d on in slot %d", ErrReuse, o.key.First, 1-an)
	}
	if i := d.spentAs(s.key.hash()); i >= 0 && s.repeats(d.spent[i].first, d.spent[i].next) {
		return fmt.Errorf("%w: from %d on before", ErrReuse, d.spent[i].first)
	}
	d.using, d.out = int8(an), sender{}
	return nil
}

// repeats reports whether s would come to counters from first on and below next.
func (s *slot) repeats(first, next uint64) bool {
	return first < next && s.next < next && first <= s.key.Limit
}

// Counter returns the counter of the next packet sealed with key slot an: the value to store,
// with some reserve, for a [Key] to be used again after a restart.
func (d *Domain) Counter(an uint8) uint64 { return d.slots[an&1].next }

// Overhead returns how many bytes the security header and the tag need.
func (d *Domain) Overhead() (header, tag int) { return d.c.headerLen(), pds.TSSTagLen }

// Stats returns the counters.
func (d *Domain) Stats() Stats { return d.stats }

func (c *cipherText) init(key *[keyLen]byte, mask *[nonceLen]byte) error {
	b, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	c.mask = *mask
	c.aead, err = cipher.NewGCM(b)
	return err
}

// identify returns whom the key of a packet is for.
func (d *Domain) identify(p *parts, h *pds.TSS, sealing bool) (id identity) {
	id.epoch, id.v6 = h.Epoch, p.v6
	at := p.src
	if d.c.Mode == ModeServer && sealing {
		at = p.dst
	}
	switch {
	case p.v6:
		copy(id.addr[:], at)
	case d.c.SSI:
		binary.BigEndian.PutUint32(id.addr[12:], h.SSI)
	default:
		copy(id.addr[12:], at)
	}
	if d.c.Mode == ModeCluster {
		id.rekey = uint32(h.TSC & d.c.RekeyMask >> d.c.RekeyShift)
	}
	return id
}

// derive makes the key of an identity.
func (d *Domain) derive(s *slot, an uint8, id *identity) (k sender, err error) {
	l := labelCluster
	if d.c.Mode == ModeServer {
		l = labelServer
	}
	key, mask := s.mac.derive(l, id)
	k.id, k.an = *id, an
	d.stats.Derivations++
	return k, k.init(&key, &mask)
}

// ways is in how many places the key of an identity may be: in one alone some of 64 senders would share theirs.
const ways = 8

// place is where the key of an identity is kept, or to be kept.
func (d *Domain) place(id *identity, an uint8) *sender {
	h := binary.BigEndian.Uint64(id.addr[:])*0x9e3779b97f4a7c15 ^ binary.BigEndian.Uint64(id.addr[8:])
	h = (h ^ uint64(id.epoch)<<33 ^ uint64(id.rekey)<<1 ^ uint64(an)) * 0xbf58476d1ce4e5b9 >> 40
	mask := uint64(len(d.peers) - 1)
	best := &d.peers[h&mask]
	for i := range uint64(ways) {
		switch p := &d.peers[(h+i)&mask]; {
		case p.aead == nil:
			best = p
		case p.id == *id && p.an == an:
			return p
		}
	}
	return best
}

// setNonce sets the nonce of a packet.
func (d *Domain) setNonce(p *parts, h *pds.TSS, mask *[nonceLen]byte) []byte {
	switch {
	case h.SP:
		binary.BigEndian.PutUint32(d.nonce[:], h.SSI)
	case p.v6:
		binary.BigEndian.PutUint32(d.nonce[:], h.SDI)
	default:
		copy(d.nonce[:4], p.src)
	}
	binary.BigEndian.PutUint64(d.nonce[4:], uint64(h.Epoch)<<48|h.TSC)
	xor(d.nonce[:], mask[:])
	return d.nonce[:]
}
