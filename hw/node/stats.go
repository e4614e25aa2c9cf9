// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/pds/pdc"
)

// Stats counts the events of a node, summed over the shards.
type Stats struct {
	Begun, Ended, Failed     uint64 // operations
	SentBytes, ReceivedBytes uint64 // of data, including retransmissions and duplicates
	Wakeups                  uint64 // looks of shards for work
	Port                     port.Stats
	Endpoints                []EndpointStats // by shard
}

// EndpointStats are the counters of a single endpoint.
type EndpointStats struct {
	Endpoint uetcc.Stats
	PDS      pdc.Stats
	Usage    uetcc.Usage
}

// Stats returns the counters. Shards are read in turn.
func (n *Node) Stats() (all Stats) {
	for _, s := range n.shards {
		s.mu.Lock()
		c, p := &s.counts, s.port.Stats()
		all.Begun += c.begun
		all.Ended += c.ended
		all.Failed += c.failed
		all.SentBytes += c.sentBytes
		all.ReceivedBytes += c.receivedBytes
		all.Wakeups += c.turns
		all.Endpoints = append(all.Endpoints, EndpointStats{s.ep.Stats(), s.ep.PDS().Stats(), s.ep.Usage()})
		s.mu.Unlock()
		all.Port.Add(&p)
	}
	return all
}

// Look calls f with the endpoint of a peer's packets. f must neither keep the endpoint nor
// block.
func (n *Node) Look(peer netip.AddrPort, f func(now int64, e *uetcc.Endpoint)) error {
	s, err := n.shardOf(&Op{Peer: peer})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f(n.now(), s.ep)
	return nil
}

// Contexts calls f with the peer and the state of each congestion control context that has a PDC, shard by
// shard. f must not block, nor call methods of the node.
func (n *Node) Contexts(f func(peer netip.AddrPort, s ccc.Snapshot)) {
	for _, s := range n.shards {
		s.contexts(f)
	}
}

func (s *shard) contexts(f func(peer netip.AddrPort, s ccc.Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var view ccc.View
	seen := map[ccc.Handle]bool{0: true} // a target without sent data has none
	for h := range s.ep.PDS().All() {
		p, _ := s.ep.PDS().PDC(h)
		if !seen[p.Context] && s.ep.CC().Refresh(p.Context, &view) {
			seen[p.Context] = true
			f(s.node.scheme.peer(p.Peer), view.Snapshot())
		}
	}
}
