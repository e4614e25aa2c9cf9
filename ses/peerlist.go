package ses

// A peerList is what the peers with the same low bits have of a table, records or pending
// sends: a list through these, the newest first.
type peerList struct {
	head uint32 // slot + 1
	n    uint32
}

// peerLists finds the list of a peer, for a table of n slots.
type peerLists []peerList

func newPeerLists(n int) peerLists { return make(peerLists, buckets(n)) }

func (l peerLists) of(peer uint64) *peerList { return &l[peer&uint64(len(l)-1)] }

// shares reports whether the peers of l may have another of the slots: only while more are
// free than they have. So one that gives none back leaves half of them to others.
func (l *peerList) shares(s *slots) bool { return int(l.n) < s.spare() }

// leaves reports whether the peers of l may have another of the slots, and one more then.
func (l *peerList) leaves(s *slots) bool { return int(l.n)+1 < s.spare()-1 }
