// SPDX-License-Identifier: Apache-2.0

package pdc

import "iter"

// PDC returns a look at the PDC of h, false after the PDC's life. While the id rests, the
// look then has the ids and the addresses.
func (m *Manager) PDC(h Handle) (Info, bool) {
	p := m.get(h)
	if p == nil {
		if p = m.target.byID(h.ID()); p != nil && p.handle == h {
			return Info{ID: h.ID(), PeerID: p.peerID, Peer: p.peer, Local: p.local}, false
		}
		return Info{}, false
	}
	_, owed := m.mem.owed(p)
	return Info{
		State: p.state, Owed: owed, Initiator: p.is(flagInitiator), Ordered: p.is(flagROD),
		ID: h.ID(), PeerID: p.peerID, Peer: p.peer, Local: p.local, Context: p.cc,
		OpenMessages: int(p.openMsgs), Locks: int(p.locks),
		Unsent: p.tx.Unsent(), Outstanding: int(p.tx.next - p.tx.base),
		Base: p.tx.Base(), Next: p.tx.Next(), MaxCACK: p.tx.MaxCACK(),
		CACK: p.rx.CACK(), Contiguous: p.rx.Missing() - 1, MaxRcvd: p.rx.MaxRcvd(), Clear: p.rx.ClearPSN(),
	}, true
}

// Ends returns the addresses of a PDC, live or resting: [Manager.PDC] without what else is known.
//
//uetcc:hot inlines
func (f *FastPath) Ends(h Handle) (local, peer Addr) {
	if p := f.target.byID(h.ID()); p != nil && p.handle == h {
		return p.local, p.peer
	}
	return Addr{}, Addr{}
}

// FreeChunks returns the number of free chunks, of 16 packets each, in the memory for sent
// packets.
func (m *Manager) FreeChunks() int { return m.mem.freeChunks() }

// HasEvents reports whether Event has an event.
func (m *Manager) HasEvents() bool { return m.mem.events.head != m.mem.events.tail }

// All iterates over the live PDCs in the order of ids.
func (m *Manager) All() iter.Seq[Handle] { return m.table.All() }

// RUDI returns how many RUDI packets wait for their response.
func (m *Manager) RUDI() int { return m.rudi.live }

// Stats returns the counters.
func (m *Manager) Stats() Stats { return m.stats }
