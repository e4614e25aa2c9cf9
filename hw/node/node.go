// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/hw/udp"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// A Node is one end of any number of transfers. Any goroutine may call its methods.
type Node struct {
	options Options
	scheme  scheme
	local   netip.AddrPort
	began   time.Time
	udp     udp.Config
	shards  []*shard
	closed  atomic.Bool
	ended   sync.WaitGroup

	mu      sync.Mutex // guards regions
	regions int
	odd     sync.Mutex // held during atomics on memory that is not aligned
}

// Listen opens a node at an address of this machine: "192.0.2.1", or with a port, "192.0.2.1:5000";
// port 0 is chosen by the system. The errors wrap ErrConfig, or are the system's.
func Listen(address string, o Options) (*Node, error) {
	local, err := parse(address, pds.UDPPort, "ip")
	if err != nil {
		return nil, err
	}
	o.fill(local)
	if err := o.check(); err != nil {
		return nil, err
	}
	n := &Node{options: o, began: time.Now()}
	n.udp = udp.Config{Local: local, Paths: o.Paths, Buffer: o.Buffer}
	n.udp.ByPort = newScheme(local, o.Paths).byPort
	ports, err := n.open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	n.local = ports[0].Local()
	n.scheme = newScheme(netip.AddrPortFrom(n.local.Addr().WithZone(local.Addr().Zone()), n.local.Port()), o.Paths)
	if n.options.MTU == 0 {
		n.options.MTU = int(mtuFor(ports[0].LinkMTU()))
	}
	for i, p := range ports {
		s, err := newShard(n, p)
		if err != nil {
			for _, p := range ports[i:] {
				_ = p.Close()
				_ = p.Wait(0, false)
			}
			_ = n.Close()
			return nil, err
		}
		n.shards = append(n.shards, s)
		n.ended.Add(1)
		go s.run()
	}
	return n, nil
}

// open opens the ports of all shards.
func (n *Node) open() (ports []port.Port, err error) {
	if n.options.Port != nil {
		return []port.Port{n.options.Port}, nil
	}
	group, err := udp.OpenGroup(n.udp, n.options.Shards)
	for _, p := range group {
		ports = append(ports, p)
	}
	return ports, err
}

// Addr is where peers reach the node.
func (n *Node) Addr() netip.AddrPort { return n.local }

// Peer reads the address of a peer: an IP address or a name, with a port unless equal to the node's.
// Of a name's addresses Peer takes one of the node's IP version.
func (n *Node) Peer(address string) (netip.AddrPort, error) {
	network := "ip6"
	if n.local.Addr().Is4() {
		network = "ip4"
	}
	a, err := parse(address, n.local.Port(), network)
	if err == nil {
		err = n.scheme.check(n.local, a)
	}
	return a, err
}

// MTU is the payload of a full packet, bytes.
func (n *Node) MTU() int { return n.options.MTU }

// shardOf is whose the peer of an operation is.
func (n *Node) shardOf(op *Op) (*shard, error) {
	if uint64(len(op.Data)) > ses.MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrRange, len(op.Data), uint64(ses.MaxMessage))
	}
	if op.Kind == OpRecv && op.Peer == (netip.AddrPort{}) {
		if len(n.shards) > 1 {
			return nil, ErrAnyPeer
		}
		return n.shards[0], nil
	}
	if op.Kind > OpAtomic {
		return nil, fmt.Errorf("%w: Kind is %v", ErrConfig, op.Kind)
	}
	op.Peer = netip.AddrPortFrom(op.Peer.Addr().Unmap(), op.Peer.Port())
	if err := n.scheme.check(n.local, op.Peer); err != nil {
		return nil, err
	}
	return n.shards[n.udp.Shard(op.Peer, len(n.shards))], nil
}

// now is the time, ns.
func (n *Node) now() int64 { return int64(time.Since(n.began)) }

// match is the tag on the wire of a message from a node: a number made of the node's address (FNV-1a)
// before the tag.
func match(from netip.AddrPort, tag uint32) uint64 {
	address, h := from.Addr().As16(), fnv.New32a()
	_, _ = h.Write(address[:])
	_, _ = h.Write([]byte{byte(from.Port() >> 8), byte(from.Port())})
	return uint64(h.Sum32())<<32 | uint64(tag)
}

// Close ends operations under way, with ErrClosed, and tells the peers that hear within a few
// milliseconds. Later calls wait for the first call.
func (n *Node) Close() error {
	n.closed.Store(true)
	for _, s := range n.shards {
		s.port.Wake()
	}
	n.ended.Wait()
	return nil
}

// Errors of operations, besides the context's errors, errors of [uetcc.Event.Err], such as
// [uetcc.ErrNoAnswer] and [uetcc.ErrPeerGone], and errors of package port. Each is wrapped by an
// [*Error].
var (
	ErrClosed  = net.ErrClosed                                                     // the node was closed
	ErrPeer    = errors.New("node: not a peer")                                    // the address cannot be a peer's
	ErrAnyPeer = errors.New("node: with several shards a Recv has to name a peer") // see Options.Shards
	ErrRange   = errors.New("node: too long")                                      // of Data
)

// An Error is why an operation with a peer failed.
type Error struct {
	Op   Kind
	Peer netip.AddrPort
	Err  error
}

func (e *Error) Error() string {
	if e.Op == OpRecv && !e.Peer.IsValid() {
		return fmt.Sprintf("node: %v from anybody: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("node: %v with %v: %v", e.Op, e.Peer, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

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
