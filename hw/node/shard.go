// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/port"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// batch is how many packets go in or out at a time.
const batch = 64

// A shard is an endpoint with a port and the operations with the shard's peers. Any goroutine with
// work takes the lock, does the work and sends the released packets; the shard's goroutine receives.
type shard struct {
	node    *Node
	port    port.Port
	process ses.Handle
	places  chan struct{} // one for each operation under way
	duty    duty
	zeros   []byte

	mu      sync.Mutex // guards all fields below, and the port except Wait
	ep      *uetcc.Endpoint
	slots   []slot
	free    []uint32
	regions []region
	stalled []*Op // operations without room in the endpoint, but for Recvs
	spare   []*Op // memory for stalled
	queued  []*Op // Recvs without a receive buffer, in the order of their buffers
	done    []*Op // over, and not told yet
	armed   int64 // time of the goroutine's next look at the clock; never while waiting for packets alone
	waits   bool  // the goroutine waits
	busy    int64 // when packets have come
	late    int   // steps since the clock was looked at
	over    error // no operation begins any more
	telling bool  // callers are being told of ends: operations begun meanwhile go together
	begun   bool  // callers have begun operations

	in, replies, out []uetcc.Datagram
	got              []uetcc.Received
	packets          []port.Packet
	waiting          []port.Packet // built, but without room to send
	held             int           // replies waiting for the next flush
	orphans          int           // slots of Recvs given up half way
	more             bool          // may go than has gone
	silent           silence
	narrow           silence // peers that packets were too long for, the latest
	faults           [16]port.Fault
	request          ses.Request
	word             [8]byte
	counts           counts
}

// counts are the counters of Stats besides the port's and the endpoint's.
type counts struct{ begun, ended, failed, sentBytes, receivedBytes, turns uint64 }

const never = int64(1) << 62

// lateMost is the number of steps that due work may wait for arrived packets: more packets than a
// socket keeps are a flood.
const lateMost = 1000

// patience is the wait for an answer beyond eight round trips: a late packet is more often due to a
// process waiting for the CPU than to a loss.
const patience = int64(100 * time.Millisecond)

// config is the configuration of the endpoint.
func (s *shard) config() uetcc.Config {
	n, rtt := s.node, int64(500*time.Microsecond)
	c := uetcc.Config{
		Address: n.scheme.fep(n.local).Netip(),
		MTU:     uint32(n.options.MTU),
		PDS:     pdc.Config{RTOInit: patience + 8*rtt, PendTimeout: int64(time.Minute)}, // the context of an operation bounds the wait
		CC: ccc.Config{
			NSCC: nscc.Config{
				LinkRate: 100e9 / 8, BaseRTT: rtt, InitialCwnd: 256 << 10,
				HostDelay: rtt, // wake-ups and batches of 64 packets, some 100 us at each end
			},
			Entropy: ccc.EntropyConfig{Values: n.options.Paths},
		},
		ControlTC: controlDSCP,
		Contexts:  n.options.Peers, Messages: n.options.Operations, PDCs: pdc.TableConfig{General: max(2*n.options.Peers, 64)},
		Target: ses.TargetConfig{
			Indices: 2, Regions: n.options.Regions, Receives: n.options.Receives,
			Pending:   min(2*n.options.Operations, 65536), // half of it for one peer
			AtomicOps: atomicOps, AtomicTypes: 1 << ses.TypeUint64,
		},
	}
	if n.options.Endpoint != nil {
		n.options.Endpoint(&c)
	}
	return c
}

// controlDSCP is the code point of acknowledgements and control packets: expedited forwarding.
const controlDSCP = 46

func newShard(n *Node, p port.Port) (s *shard, err error) {
	s = &shard{
		node: n, port: p, places: make(chan struct{}, n.options.Operations), zeros: make([]byte, 8192), armed: never,
		slots: make([]slot, n.options.Operations), packets: make([]port.Packet, 0, 2*batch),
	}
	s.duty.back, s.duty.timer = make(chan struct{}, 1), time.NewTimer(time.Hour)
	for i := len(s.slots); i > 0; i-- {
		s.free = append(s.free, uint32(i-1))
	}
	if s.ep, err = uetcc.NewEndpoint(s.config()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	t := s.ep.Target()
	if s.process, err = t.AddProcess(ses.Process{Job: job}); err == nil {
		_, err = t.OpenIndex(0, s.process, memoryIndex, ses.Index{Kind: ses.IndexMemory})
	}
	if err == nil {
		_, err = t.OpenIndex(0, s.process, queueIndex, ses.Index{Kind: ses.IndexQueue, Job: job})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s.in, s.replies, s.out = make([]uetcc.Datagram, batch), make([]uetcc.Datagram, batch), make([]uetcc.Datagram, batch)
	s.got = make([]uetcc.Received, batch)
	for i := range batch {
		s.replies[i].Packet = make([]byte, 0, s.ep.ReplyMax())
		s.out[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	return s, nil
}

// enter waits for a place.
func (s *shard) enter(ctx context.Context) error {
	if s.node.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.places <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shard) leave() { <-s.places }

// run receives, until the node or its port is closed, except while a caller has the turns.
func (s *shard) run() {
	defer s.node.ended.Done()
	for on := true; on; {
		if s.duty.holder.Load() == holderShard {
			on = s.turn()
		} else {
			s.rest()
		}
	}
	s.end()
}

// turn does the present work, and waits for more.
func (s *shard) turn() bool {
	timeout, room, waited, err := s.work()
	if waited {
		if err == nil && s.offer() {
			return true
		}
		runtime.Gosched() // the waiting caller begins the next, on the same processor
	}
	return s.wait(timeout, room, s.release(err))
}

// wait waits as work says, and ends everything if something is broken.
func (s *shard) wait(timeout int64, room bool, err error) bool {
	if err == nil && s.node.closed.Load() {
		err = ErrClosed
	}
	if err == nil && timeout != 0 {
		err = s.port.Wait(timeout, room)
	}
	if err != nil {
		s.fail(err)
	}
	return err == nil
}

// work does the present work, and returns the time until more is due, and whether goroutines waited
// for an ended operation.
func (s *shard) work() (timeout int64, room, waited bool, err error) {
	s.mu.Lock()
	s.counts.turns++
	came, err := s.step()
	now := s.node.now()
	timeout, room = s.linger(now, s.arm(now), came), len(s.waiting) > 0
	if s.port.More() && !room { // some packets are not taken in yet
		timeout = 0
	}
	s.waits = timeout != 0
	s.mu.Unlock()
	return timeout, room, s.tell(), err
}

// While something happens the goroutine looks at the clock every now and then: an operation beginning
// meanwhile, without earlier work, need not wake the goroutine.
const (
	lingerTime = int64(2 * time.Millisecond)
	lingerFor  = int64(20 * time.Millisecond)
)

// linger shortens a wait where something has happened shortly before.
func (s *shard) linger(now, timeout int64, came int) int64 {
	if came > 0 {
		s.busy = now
	}
	if now-s.busy > lingerFor || timeout >= 0 && timeout <= lingerTime {
		return timeout
	}
	s.armed = now + lingerTime
	return lingerTime
}

// arm says how long there is nothing to do.
func (s *shard) arm(now int64) (timeout int64) {
	s.armed = never
	if at, ok := s.ep.NextDeadline(); ok {
		s.armed = at
	}
	for i := range s.silent {
		s.armed = min(s.armed, s.silent[i].since+silentFor)
	}
	switch {
	case len(s.waiting) > 0:
		s.armed = min(s.armed, now+int64(time.Second))
	case s.more:
		s.armed = 0
	}
	if s.armed == never {
		return -1
	}
	return max(s.armed-now, 0)
}

// release sends answers held back for operations that callers might begin.
func (s *shard) release(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == 0 || err != nil {
		return err
	}
	err = s.flush(s.node.now())
	s.arm(s.node.now())
	return err
}

// step receives, does due work, and sends. Only a single batch is received, since the answer to a
// sent packet must find a later time. Due work is left to a later step where more packets may have
// come: an acknowledgement waiting for the process must not count as missing.
func (s *shard) step() (came int, err error) {
	if len(s.waiting) > 0 {
		if err := s.send(s.waiting); err != nil || len(s.waiting) > 0 {
			return 0, err
		}
	}
	if s.held > 0 {
		if err := s.flush(s.node.now()); err != nil || len(s.waiting) > 0 {
			return 0, err
		}
	}
	packets := s.packets[:batch]
	n, err := s.port.Receive(packets)
	if err != nil {
		return 0, err
	}
	now := s.node.now()
	if n > 0 {
		err = s.exchange(now, packets[:n])
	}
	if s.late++; s.late > lateMost || !s.port.More() {
		s.late = 0
		s.ep.Tick(now)
		s.hear(now)
	}
	s.poll(now)
	if err == nil && (s.held == 0 || len(s.done) == 0) {
		err = s.flush(now)
	}
	return n, err
}

// exchange takes packets in. If nothing is released at once the answers wait for the next flush:
// operations begun by callers of ended operations can go along.
func (s *shard) exchange(now int64, packets []port.Packet) error {
	self := s.node.scheme.fep(s.node.local)
	for i := range packets {
		p := &packets[i]
		s.in[i] = uetcc.Datagram{Packet: p.Data, Src: s.node.scheme.fep(p.Peer), Dst: self, CE: p.TOS&3 == 3}
		s.silent.heard(s.in[i].Src)
	}
	n, out, run := len(packets), 0, len(packets)
	if s.orphans > 0 { // Fail is for a PDC's last request in a batch
		run = 1
	}
	for i := 0; i < n; i += run {
		out += s.ep.ExchangeBatch(now, s.in[i:i+run], s.replies[i:i+run], s.got[i:i+run], s.out[out:])
		for j := i; j < i+run; j++ {
			if s.isOrphan(&s.got[j]) {
				s.got[j].Code = ses.RCHostUnsuccessCmpl
				_ = s.ep.Fail(now, &s.in[j], &s.replies[j], &s.got[j])
			}
			s.do(now, &s.in[j], &s.replies[j], &s.got[j])
		}
	}
	if s.held = n; out == 0 {
		return nil
	}
	return s.transmit(now, s.out[:out])
}

// flush sends all that may go, but no more at a time than peers can take from a socket.
func (s *shard) flush(now int64) error {
	if len(s.waiting) > 0 {
		return nil
	}
	n := s.ep.TransmitBatch(now, s.out)
	s.more = n == len(s.out)
	return s.transmit(now, s.out[:n])
}

// transmit sends the waiting answers, and packets with data. The packets of a batch take the path of
// the first: so the order stays, and segmentation offload works.
func (s *shard) transmit(now int64, out []uetcc.Datagram) error {
	packets, path := s.packets[:0], uint16(0)
	for i := range s.replies[:s.held] {
		packets = s.build(now, packets, &s.replies[i], 0)
	}
	s.held = 0
	for i := range out {
		if i == 0 {
			path = out[i].Entropy
		}
		packets = s.build(now, packets, &out[i], path)
	}
	if len(packets) == 0 {
		return nil
	}
	return s.send(packets)
}

// build appends a packet, unless empty.
func (s *shard) build(now int64, packets []port.Packet, d *uetcc.Datagram, path uint16) []port.Packet {
	if len(d.Packet) == 0 {
		return packets
	}
	var tail []byte
	if d.Payload.Length > 0 {
		tail = s.payload(now, d)
		s.counts.sentBytes += uint64(len(tail))
	}
	return append(packets, port.Packet{Peer: s.node.scheme.peer(d.Dst), Data: d.Packet, Tail: tail, TOS: d.TC<<2 | 2, Path: path})
}

// send gives packets to the port, and keeps the rest for lack of room.
func (s *shard) send(packets []port.Packet) error {
	n, err := s.port.Send(packets)
	s.waiting = packets[n:]
	return err
}

// forget drops waiting packets, whose memory is the caller's again, as lost.
func (s *shard) forget() { s.waiting = nil }

// fail ends all operations, and lets no more begin.
func (s *shard) fail(err error) {
	s.mu.Lock()
	s.over = err
	for i := range s.slots {
		if x := &s.slots[i]; x.op != nil {
			if !x.recv {
				_ = s.ep.Cancel(s.node.now(), x.handle)
			}
			s.finish(x, err)
		}
	}
	for _, op := range slices.Concat(s.stalled, s.queued) {
		s.settle(op, err)
	}
	s.stalled, s.queued = nil, nil
	s.forget()
	s.mu.Unlock()
	s.tell()
}

// farewell is how long peers are told a node ends.
const farewell = 20 * time.Millisecond

// end tells peers of the end, and closes the port.
func (s *shard) end() {
	defer func() {
		_ = s.port.Close()
		_ = s.port.Wait(0, false)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.ep.PDS().All() {
		_ = s.ep.PDS().Close(s.node.now(), h)
	}
	for until := time.Now().Add(farewell); s.ep.Usage().PDCs > 0 && time.Now().Before(until); {
		if _, err := s.step(); err != nil {
			return
		}
		if err := s.port.Wait(int64(time.Millisecond), false); err != nil {
			return
		}
	}
}

// A silence is a set of peers unreachable according to the network, and not heard since.
type silence []silentPeer

type silentPeer struct {
	peer  pdc.Addr // without zone, and port where a peer's packets come from several
	fault port.Fault
	since int64
}

const (
	silentFor  = int64(time.Second)      // then operations to the peer end
	narrowFor  = 10 * int64(time.Second) // longer than a packet waits to be sent again while others get through
	silentMost = 64
)

func (q *silence) heard(peer pdc.Addr) {
	*q = slices.DeleteFunc(*q, func(x silentPeer) bool { return x.peer == peer })
}

// of is what is known of a peer, nil if nothing.
func (q silence) of(peer pdc.Addr) *silentPeer {
	for i := range q {
		if q[i].peer == peer {
			return &q[i]
		}
	}
	return nil
}

// hear takes the port's faults in, and gives up peers that have been silent for long.
func (s *shard) hear(now int64) {
	for n := s.port.Faults(s.faults[:]); n > 0; n = s.port.Faults(s.faults[:]) {
		for _, f := range s.faults[:n] {
			s.note(now, f)
		}
	}
	for i := 0; i < len(s.silent); i++ {
		if q := s.silent[i]; now >= q.since+silentFor {
			s.silent.heard(q.peer)
			err := q.fault.Err
			if errors.Is(err, port.ErrUnreachable) {
				err = fmt.Errorf("%w from %v", err, s.node.local)
			}
			s.abandon(q.peer, err)
			i--
		}
	}
}

func (s *shard) note(now int64, f port.Fault) {
	peer := s.node.scheme.fep(f.Peer)
	if errors.Is(f.Err, port.ErrTooLong) {
		most := "how long a packet may be is not known"
		if f.MTU > 0 {
			most = fmt.Sprintf("IP packets may have up to %d bytes", f.MTU)
		}
		s.abandon(peer, fmt.Errorf("%w: %s, and packets have %d bytes of payload: set Options.MTU to less, at both ends", f.Err, most, s.node.options.MTU))
		s.narrow.heard(peer)
		if len(s.narrow) == silentMost {
			s.narrow = slices.Delete(s.narrow, 0, 1)
		}
		s.narrow = append(s.narrow, silentPeer{peer, f, now})
		return
	}
	if s.silent.of(peer) == nil && len(s.silent) < silentMost {
		s.silent = append(s.silent, silentPeer{peer, f, now})
	}
}

// isNarrow reports whether the path to the peer does not take a packet of read data.
func (s *shard) isNarrow(now int64, d *uetcc.Datagram) bool {
	q := s.narrow.of(d.Dst)
	if q == nil || now-q.since >= narrowFor || q.fault.MTU == 0 {
		return false
	}
	length := 20 + 8 + len(d.Packet) + int(d.Payload.Length)
	if s.node.local.Addr().Is6() {
		length += 20
	}
	return length > q.fault.MTU
}

// abandon ends all operations with a peer.
func (s *shard) abandon(peer pdc.Addr, err error) {
	for i := range s.slots {
		if x := &s.slots[i]; x.op != nil && x.op.Kind != OpRecv && s.node.scheme.fep(x.op.Peer) == peer {
			_ = s.ep.Cancel(s.node.now(), x.handle)
			s.finish(x, err)
		}
	}
}
