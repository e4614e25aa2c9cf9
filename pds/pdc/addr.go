// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"net/netip"

	"github.com/uetcc/uetcc/internal/table"
)

// Addr is a fabric address: an IPv6 address, or an IPv4 address in mapped form,
// as two big-endian words. The zero Addr is none.
type Addr struct{ Hi, Lo uint64 }

// AddrFrom returns the Addr of a. Zones are ignored.
func AddrFrom(a netip.Addr) Addr {
	hi, lo := table.AddrWords(a)
	return Addr{hi, lo}
}

// Netip returns a in the form of the standard library.
func (a Addr) Netip() netip.Addr {
	if a.Hi == 0 && a.Lo>>32 == 0xffff {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(a.Lo)) // a literal would be built byte by byte
		return netip.AddrFrom4(b)
	}
	return a.netip16()
}

func (a Addr) netip16() netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return netip.AddrFrom16(b)
}

// String returns the usual text form.
func (a Addr) String() string { return a.Netip().String() }
