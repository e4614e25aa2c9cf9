// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"encoding/binary"
	"net/netip"

	"github.com/uetcc/uetcc/pds/pdc"
)

// AddrFrom is the public package's.
func AddrFrom(a netip.Addr) Addr { return pdc.AddrFrom(a) }

// AddrFrom4 returns the Addr of an IPv4 address as in a packet.
func AddrFrom4(b [4]byte) Addr {
	return Addr{Lo: 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[:]))}
}
