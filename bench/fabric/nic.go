// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/nscc"
)

// A nic is the sending side of a host: answers, and the connections with data to send, in turn. A
// nic has no queue of data: a connection is asked when the link is
// free.
type nic struct {
	answers list
	ready   list  // connections
	turn    uint8 // answers sent ahead of waiting data

	// ghosts are turns that htsim gives to connections once more when packets time out; without
	// other connections they last until the link is idle.
	ghosts uint32
}

// HostQueue is the host's choice while both answers and data wait.
type HostQueue uint8

// The orders. Connections take turns in each.
const (
	HostFair     HostQueue = iota // ten answers and a packet of data, as in htsim's NIC
	HostPriority                  // answers, however many
)

var hostQueueNames = [...]string{"fair", "priority"}

// String is fair or priority.
func (q HostQueue) String() string { return enum.Name(hostQueueNames[:], q) }

// answersPerData is the number of answers ahead of a packet of data with [HostFair].
const answersPerData = 10

// mayAnswer reports whether an answer goes ahead of waiting data, after turn answers.
func (q HostQueue) mayAnswer(turn uint8) bool { return q == HostPriority || turn < answersPerData }

// ready puts a connection into its host's turn unless it is there.
func (s *light) ready(conn uint32) {
	c := &s.senders[conn]
	s.settle(conn, c)
	if c.queued || !s.maySend(conn, c) {
		return
	}
	c.queued = true
	host := s.hostOf[source(conn)]
	s.lineUp(host, conn)
	s.kick(host)
}

// answer hands a packet of control to a host.
func (s *light) answer(host, pkt uint32) {
	l := &s.nics[host].answers
	l.add(pkt, &s.pool.pkts[l.last].at)
	s.kick(host)
}

// kick has a host send, now or when the link is free.
func (s *wires) kick(host uint32) {
	if s.idle(host) {
		s.ask(host)
	}
}

// ask asks a host whose link is free for the next packet.
func (s *wires) ask(host uint32) {
	paused, until := false, int64(0)
	if s.pfc != nil {
		paused, until = s.pfc.dataPaused(host, s.now)
	}
	if s.equipment.serve(host, paused) {
		if busy := s.ports[host].busy; busy > s.now {
			until = busy
		}
		s.wakeAt(host, until)
	}
}

// send puts a packet of a host on the link.
func (s *wires) send(host, pkt uint32) {
	s.tell(PacketSent, pkt)
	s.transmit(&s.ports[host], host, pkt, &s.pool.pkts[pkt])
}

// idle reports whether the link of a host is free; a busy link wakes the host later.
func (s *wires) idle(host uint32) bool {
	p := &s.ports[host]
	if p.wake {
		return false
	}
	if p.busy > s.now {
		s.wakeAt(host, p.busy)
		return false
	}
	return true
}

// serve is for the network.
func (s *light) serve(host uint32, paused bool) bool {
	n := &s.nics[host]
	for sent := false; !sent; {
		data := n.ready.n > 0 && !paused
		switch {
		case n.answers.n > 0 && (!data || s.cfg.HostQueue.mayAnswer(n.turn)):
			n.turn = min(n.turn+1, answersPerData)
			pkt := n.answers.first
			n.answers.take(s.pool.pkts[pkt].at)
			s.sendAnswer(host, pkt)
			sent = true
		case data:
			n.turn = 0
			if n.ghosts > 0 && n.ready.n > 1 {
				n.ghosts--
			}
			conn := n.ready.first
			n.ready.take(s.senders[conn].after)
			sent = s.sendTurn(host, conn)
		default:
			return n.ready.n > 0
		}
	}
	return n.answers.n > 0 || n.ready.n > 0
}

// sendTurn gives a connection its turn and puts it back in line if it has more.
func (s *light) sendTurn(host, conn uint32) bool {
	c := &s.senders[conn]
	c.queued = false
	if !s.maySend(conn, c) {
		return false
	}
	s.sendData(host, conn, c)
	s.settle(conn, c)
	if s.maySend(conn, c) {
		c.queued = true
		s.lineUp(host, conn)
	}
	return true
}

func (s *light) lineUp(host, conn uint32) {
	l := &s.nics[host].ready
	l.add(conn, &s.senders[l.last].after)
}

// sendAnswer sends an answer and stamps it with the time it was kept.
func (s *light) sendAnswer(host, pkt uint32) {
	d := &s.pool.details[pkt]
	if s.pool.pkts[pkt].flags&flagCredit == 0 {
		d.service = nscc.ServiceTimeOf((s.now - d.at) / 1000)
		s.count.Answers++
		if s.infer != nil {
			d.at = int64(s.receivers[s.pool.pkts[pkt].to.conn()].gaps) // ooo_count
		}
	}
	s.send(host, pkt)
}
