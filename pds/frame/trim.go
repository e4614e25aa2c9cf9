// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/internal/checksum"
	"github.com/uetcc/uetcc/pds"
)

// Trim cuts an Ethernet frame as a switch does: keep bytes of its IP payload stay, and the code
// point becomes d. Length and checksum of the IP header follow, the UDP length does not, since it
// tells how long the packet was. A frame with no more than that is only marked. It works in place and
// returns what is left of b; the error is [ErrIP] for what is no IP packet, and b is as it was.
//
// Source: UE Specification 1.0.x section 4.1; keep is at least [pds.MinTrimmedUDP] or
// [pds.MinTrimmedNative].
func Trim(b []byte, keep int, d pds.DSCP) ([]byte, error) {
	if len(b) < etherLen+ip4Len {
		return b, ErrIP
	}
	ip := b[etherLen:]
	switch kind := binary.BigEndian.Uint16(b[12:]); {
	case kind == etherIPv4 && ip[0]>>4 == 4:
		head := int(ip[0]&0xf) * 4
		if head < ip4Len || len(ip) < head {
			return b, ErrIP
		}
		ip = ip[:min(len(ip), head+keep)]
		ip[1] = pds.TOS(d, pds.ECN(ip[1]&3))
		binary.BigEndian.PutUint16(ip[2:], uint16(min(int(binary.BigEndian.Uint16(ip[2:])), len(ip))))
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], ^checksum.Fold(checksum.Add(0, ip[:head])))
	case kind == etherIPv6 && ip[0]>>4 == 6 && len(ip) >= ip6Len:
		ip = ip[:min(len(ip), ip6Len+keep)]
		word := binary.BigEndian.Uint32(ip)
		tos := pds.TOS(d, pds.ECN(word>>20&3))
		binary.BigEndian.PutUint32(ip, word&^(0xff<<20)|uint32(tos)<<20)
		binary.BigEndian.PutUint16(ip[4:], uint16(min(int(binary.BigEndian.Uint16(ip[4:])), len(ip)-ip6Len)))
	default:
		return b, ErrIP
	}
	return b[:etherLen+len(ip)], nil
}
