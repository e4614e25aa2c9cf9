// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
	"strconv"
)

// name is the place of a port and of the next node, for people.
func (n *net) name(p uint32) string {
	if p < n.hosts {
		return n.nodeName(p)
	}
	return n.nodeName(n.nodeOf(p)) + " to " + n.nodeName(n.ports[p].peer)
}

// nodeOf is the node of a port; a host has the port's number.
func (n *net) nodeOf(p uint32) uint32 {
	if p < n.hosts {
		return p
	}
	after, _ := slices.BinarySearchFunc(n.nodes, p, func(s node, p uint32) int { return cmp.Compare(s.first, p+1) })
	return n.hosts + uint32(after) - 1
}

func (n *net) nodeName(i uint32) string {
	number := i
	if i >= n.hosts {
		number -= n.hosts + n.tierFirst[n.tierOf[i-n.hosts]]
	}
	return n.tierName(i) + " " + strconv.FormatUint(uint64(number), 10)
}

// tierName is the common name of a node's tier.
func (n *net) tierName(i uint32) string {
	switch {
	case i < n.hosts:
		return "host"
	case n.tierOf[i-n.hosts] == 0:
		return "leaf"
	case n.tierOf[i-n.hosts] == 2:
		return "core"
	case n.tierFirst[3] > n.tierFirst[2]:
		return "agg"
	default:
		return "spine"
	}
}

// linkKind names the tiers connected by a port.
func (n *net) linkKind(p uint32) string {
	return n.tierName(n.nodeOf(p)) + " to " + n.tierName(n.ports[p].peer)
}
