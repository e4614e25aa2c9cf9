// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/pds"
)

const (
	ip4Len   = 20
	ip6Len   = 40
	protoUDP = 17
)

// parts holds the offsets in an IP packet.
type parts struct {
	src, dst []byte
	aad      int // offset of the source address, the begin of the authenticated bytes
	tss      int // offset of the security header
	v6       bool
}

// split finds the parts of an IP packet in native form, false for any other form.
func split(ip []byte) (p parts, ok bool) {
	if len(ip) < ip4Len {
		return p, false
	}
	length, protocol := 0, ip[9]
	switch {
	case ip[0] == 0x45:
		length = int(binary.BigEndian.Uint16(ip[2:]))
		p.aad, p.src, p.dst, p.tss = 12, ip[12:16], ip[16:20], ip4Len+pds.EntropyLen
	case ip[0]>>4 == 6 && len(ip) >= ip6Len:
		length, protocol = ip6Len+int(binary.BigEndian.Uint16(ip[4:])), ip[6]
		p.aad, p.src, p.dst, p.tss = 8, ip[8:24], ip[24:40], ip6Len+pds.EntropyLen
		p.v6 = true
	default:
		return p, false
	}
	switch protocol {
	case 0, 6, protoUDP, 43, 44, 50, 51, 60: // others' transports, and extension headers
		return p, false
	}
	return p, length == len(ip)
}

// Seal secures ip, a whole IP packet in native form: IP header, entropy header, room for the
// security header, the bytes to be protected, room for the tag. Lengths and addresses in the IP
// header have to be final; DSCP, ECN, hop limit and header checksum may still change. ssi is the
// source identifier of the FEP, with [ModeServer] of the client addressed by the packet; ssi is
// not used without [Config.SSI].
//
// A packet sent again is sealed again, from the clear copy. No allocation, but where a
// key is derived: after [Domain.Use], with a rekeying counter, and with ModeServer for a client
// whose key is not kept. The errors are [ErrForm], [ErrKey], [ErrSSI] and [ErrLimit].
func (d *Domain) Seal(ip []byte, ssi uint32) error {
	err := d.seal(ip, ssi)
	if err != nil {
		d.stats.OutFail++
		return err
	}
	d.stats.OutAuth++
	return nil
}

func (d *Domain) seal(ip []byte, ssi uint32) error {
	p, ok := split(ip)
	if !ok || len(ip) < p.tss+d.c.Offset+pds.TSSTagLen {
		return ErrForm
	}
	if d.using < 0 {
		return ErrKey
	}
	s := &d.slots[d.using]
	if s.next > s.key.Limit {
		return ErrLimit
	}
	if !d.told(p.v6) {
		return ErrSSI
	}
	h := pds.TSS{SP: d.c.SSI, AN: uint8(d.using), Epoch: s.key.Epoch, SDI: d.c.SDI, TSC: s.next}
	if d.c.SSI {
		h.SSI = ssi
	}
	k, err := d.sealing(s, &p, &h)
	if err != nil {
		return err
	}
	s.next++
	h.AppendTo(ip[:p.tss])
	secret := p.tss + d.c.Offset
	nonce := d.setNonce(&p, &h, &k.mask)
	k.aead.Seal(ip[secret:secret], nonce, ip[secret:len(ip)-pds.TSSTagLen], ip[p.aad:secret])
	return nil
}

// told reports whether nonces tell the senders of packets of an IP version apart.
func (d *Domain) told(v6 bool) bool { return d.c.SSI || !v6 || d.c.Mode == ModeCluster }

// sealing returns the key that seals a packet.
func (d *Domain) sealing(s *slot, p *parts, h *pds.TSS) (*cipherText, error) {
	if s.mac == nil {
		return &s.own, nil
	}
	id := d.identify(p, h, true)
	kept := &d.out
	if d.c.Mode == ModeServer {
		kept = d.place(&id, h.AN)
	}
	if kept.aead == nil || kept.id != id || kept.an != h.AN {
		k, err := d.derive(s, h.AN, &id)
		if err != nil {
			return nil, err
		}
		*kept = k
	}
	return &kept.cipherText, nil
}

// Open checks ip, a received IP packet in native form, decrypts the packet in place and sets h
// to the security header. The bytes between the header and the tag are then in the clear. No
// allocation, except for the derivation of a key not kept. The errors are [ErrForm], [ErrClear],
// [ErrDomain], [ErrKey], [ErrSSI], [ErrLate] and [ErrAuth]; send no packet in answer to any.
func (d *Domain) Open(ip []byte, h *pds.TSS) error {
	err := d.open(ip, h)
	switch err {
	case nil:
		d.stats.InAuth++
	case ErrForm, ErrClear:
		d.stats.InBypass++
	case ErrLate:
		d.stats.InLate++
	case ErrAuth:
		d.stats.InAuthFail++
	default:
		d.stats.InInvalid++
	}
	return err
}

func (d *Domain) open(ip []byte, h *pds.TSS) error {
	p, ok := split(ip)
	if !ok || len(ip) < p.tss+d.c.Offset+pds.TSSTagLen {
		return ErrForm
	}
	var in pds.TSS
	if _, err := in.Decode(ip[p.tss:]); err != nil {
		return ErrClear
	}
	s := &d.slots[in.AN]
	switch {
	case in.SDI != d.c.SDI:
		return ErrDomain
	case !s.set:
		return ErrKey
	case in.SP != d.c.SSI || !d.told(p.v6):
		return ErrSSI
	case int16(s.key.Epoch-in.Epoch) > int16(min(d.c.MaxEpochLifetime, 1<<15-1)):
		return ErrLate
	}
	fresh, kept, err := sender{}, (*sender)(nil), error(nil)
	k := &s.own
	if s.mac != nil {
		id := d.identify(&p, &in, false)
		kept = d.place(&id, in.AN)
		k = &kept.cipherText
		if k.aead == nil || kept.id != id || kept.an != in.AN {
			if fresh, err = d.derive(s, in.AN, &id); err != nil {
				return err
			}
			k = &fresh.cipherText
		}
	}
	secret := p.tss + d.c.Offset
	nonce := d.setNonce(&p, &in, &k.mask)
	if _, err := k.aead.Open(ip[secret:secret], nonce, ip[secret:], ip[p.aad:secret]); err != nil {
		return ErrAuth
	}
	if fresh.aead != nil {
		*kept = fresh
	}
	*h = in
	return nil
}
