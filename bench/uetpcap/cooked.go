// SPDX-License-Identifier: Apache-2.0

package uetpcap

import "github.com/gopacket/gopacket"

// cooked is the head that Linux puts in place of the link's, as in captures of all
// interfaces at once.
type cooked uint8

const (
	notCooked cooked = iota
	cookedV1         // LINUX_SLL, 16 bytes: the protocol is the last two
	cookedV2         // LINUX_SLL2, 20 bytes: the protocol is the first two
)

const etherLen = 14

// ethernet gives packet b an Ethernet head, with the right type and meaningless addresses,
// maybe in place.
func (c cooked) ethernet(b []byte, info *gopacket.CaptureInfo) []byte {
	head := [...]int{notCooked: etherLen, cookedV1: 16, cookedV2: 20}[c]
	if len(b) < head {
		if c == notCooked {
			return b
		}
		info.Length = 0 // not even a whole head
		return nil
	}
	if c == cookedV2 {
		copy(b[head-2:head], b)
	}
	info.Length -= head - etherLen
	return b[head-etherLen:]
}
