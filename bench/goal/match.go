// SPDX-License-Identifier: Apache-2.0

package goal

import "slices"

// send has a message leave.
func (m *Machine) send(op uint32, o *Op) {
	b := m.box(boxKey{uint32(m.Rank(op)), o.Peer, o.Tag})
	b.sent = append(b.sent, op)
	if int(o.Peer) != m.Rank(op) {
		m.host.Send(op)
		return
	}
	m.ops[op].flags |= opAcknowledged
	m.deliver(op)
	m.endSend(op)
}

// box is where messages keep their order: by tag, unless a receive may leave the tag open.
func (m *Machine) box(k boxKey) *box {
	if m.any[k.dst].tag {
		k.tag = Any
	}
	b := m.boxes[k]
	if b == nil {
		b = &box{}
		m.boxes[k] = b
	}
	return b
}

// meeting is the box in which the messages of k meet receives: the box of k, or a common
// box for all sources.
func (m *Machine) meeting(k boxKey) *box {
	if w := m.any[k.dst]; w.source {
		k.src = Any
		if !w.tag {
			k.tag = Any
		}
	}
	return m.box(k)
}

// deliver takes in a message, and later messages that waited for the message.
func (m *Machine) deliver(op uint32) {
	m.ops[op].flags |= opDelivered
	o := m.Op(op)
	k := boxKey{uint32(m.Rank(op)), o.Peer, o.Tag}
	for b := m.box(k); len(b.sent) > 0 && m.ops[b.sent[0]].flags&opDelivered != 0; {
		first := b.sent[0]
		b.sent = b.sent[1:]
		m.arrived(first, m.meeting(k))
	}
}

// arrived gives a message to the first matching receive.
func (m *Machine) arrived(send uint32, b *box) {
	i := slices.IndexFunc(b.posted, func(recv uint32) bool { return m.takes(recv, send) })
	if i < 0 {
		b.here = append(b.here, send)
		return
	}
	recv := b.posted[i]
	b.posted = drop(b.posted, i)
	m.match(recv, send)
}

// post gives a receive the first matching message.
func (m *Machine) post(recv uint32) {
	o := m.Op(recv)
	b := m.meeting(boxKey{o.Peer, uint32(m.Rank(recv)), o.Tag})
	i := slices.IndexFunc(b.here, func(send uint32) bool { return m.takes(recv, send) })
	if i < 0 {
		b.posted = append(b.posted, recv)
		return
	}
	send := b.here[i]
	b.here = drop(b.here, i)
	m.match(recv, send)
}

// drop takes element i, as a rule the first, out of a list.
func drop(l []uint32, i int) []uint32 {
	if i == 0 {
		return l[1:]
	}
	return slices.Delete(l, i, i+1)
}

// takes reports whether a receive takes a message to the rank.
func (m *Machine) takes(recv, send uint32) bool {
	r, s := m.Op(recv), m.Op(send)
	return (r.Peer == Any || int(r.Peer) == m.Rank(send)) && (r.Tag == Any || r.Tag == s.Tag)
}

func (m *Machine) match(recv, send uint32) {
	m.ops[recv].other, m.ops[send].other = send, recv
	m.ops[recv].flags |= opMatched
	m.ops[send].flags |= opMatched
	m.ready = append(m.ready, recv)
}
