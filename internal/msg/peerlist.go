// SPDX-License-Identifier: Apache-2.0

package msg

// A peerList is the list of records or pending sends of the peers with the same low bits,
// the newest first.
type peerList struct {
	head uint32 // slot + 1
	n    uint32
}

// peerLists finds the list of a peer, for a table of n slots.
type peerLists []peerList

func newPeerLists(n int) peerLists { return make(peerLists, buckets(n)) }

func (l peerLists) of(peer uint64) *peerList { return &l[peer&uint64(len(l)-1)] }

// shares reports whether the peers of l may have one more slot: only while more slots are
// free than the peers have. So a peer giving none back leaves half of the slots to the
// rest.
func (l *peerList) shares(s *slots) bool { return int(l.n) < s.spare() }

// leaves reports whether the peers of l may have two more slots.
func (l *peerList) leaves(s *slots) bool { return int(l.n)+1 < s.spare()-1 }
