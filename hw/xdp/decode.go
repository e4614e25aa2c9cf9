// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/binary"
	"net/netip"

	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/internal/checksum"
)

// Lengths of headers without options, bytes.
const (
	etherLen = 14
	ip4Len   = 20
	ip6Len   = 40
	udpLen   = 8
)

const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	ip4First  = 0x45   // version, and a header without options
	ip4Pieces = 0x3fff // of the fragment field: more fragments come, or not the first
	protoUDP  = 17
)

// decode takes a frame apart; q.Data becomes the payload. Refused are all frames but whole UDP
// packets to local with plain headers, consistent lengths and right checksums.
func decode(b []byte, local netip.AddrPort, q *port.Packet) bool {
	if len(b) < etherLen {
		return false
	}
	ip := b[etherLen:]
	switch binary.BigEndian.Uint16(b[12:]) {
	case etherIPv4:
		return decode4(ip, local, q)
	case etherIPv6:
		return decode6(ip, local, q)
	}
	return false
}

func decode4(ip []byte, local netip.AddrPort, q *port.Packet) bool {
	if len(ip) < ip4Len+udpLen || ip[0] != ip4First || ip[9] != protoUDP || binary.BigEndian.Uint16(ip[6:])&ip4Pieces != 0 {
		return false
	}
	end := int(binary.BigEndian.Uint16(ip[2:]))
	if end < ip4Len+udpLen || end > len(ip) || checksum.Fold(checksum.Add(0, ip[:ip4Len])) != 0xffff {
		return false
	}
	q.TOS = ip[1]
	return netip.AddrFrom4([4]byte(ip[16:])) == local.Addr() &&
		decodeUDP(ip[ip4Len:end], checksum.Add(0, ip[12:20]), netip.AddrFrom4([4]byte(ip[12:])), local.Port(), q)
}

func decode6(ip []byte, local netip.AddrPort, q *port.Packet) bool {
	if len(ip) < ip6Len+udpLen || ip[0]>>4 != 6 || ip[6] != protoUDP {
		return false
	}
	end := ip6Len + int(binary.BigEndian.Uint16(ip[4:]))
	if end < ip6Len+udpLen || end > len(ip) {
		return false
	}
	q.TOS = ip[0]<<4 | ip[1]>>4
	return netip.AddrFrom16([16]byte(ip[24:])) == local.Addr().WithZone("") &&
		decodeUDP(ip[ip6Len:end], checksum.Add(0, ip[8:40]), netip.AddrFrom16([16]byte(ip[8:])), local.Port(), q)
}

// decodeUDP takes a datagram apart, given the sum of its addresses. The sum may be missing, or just begun: a sender on this
// machine leaves the rest to a device, where present.
func decodeUDP(u []byte, sum uint64, from netip.Addr, to uint16, q *port.Packet) bool {
	if int(binary.BigEndian.Uint16(u[4:])) != len(u) || binary.BigEndian.Uint16(u[2:]) != to {
		return false
	}
	if c := binary.BigEndian.Uint16(u[6:]); c != 0 {
		pseudo := sum + protoUDP + uint64(len(u))
		if checksum.Fold(checksum.Add(pseudo, u)) != 0xffff && c != checksum.Fold(pseudo) {
			return false
		}
	}
	q.Peer = netip.AddrPortFrom(from, binary.BigEndian.Uint16(u))
	q.Data = u[udpLen:len(u):len(u)]
	return true
}
