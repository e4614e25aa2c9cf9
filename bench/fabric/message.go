// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/ses"
)

// Op is the operation of a message.
type Op uint8

// The operations. All move Size bytes except the atomic, which adds to 8 bytes and fetches
// the old value.
const (
	OpWrite      Op = iota
	OpRead          // brings bytes of Dst to Src
	OpSend          // into whatever buffer comes next
	OpTagged        // into the buffer with its tag
	OpAtomic        // fetching sum
	OpRendezvous    // a send of one packet; the destination reads the rest
)

var opNames = [...]string{"write", "read", "send", "tagged", "atomic", "rendezvous"}

// String is the name in lower case.
func (o Op) String() string { return enum.Name(opNames[:], o) }

// A Message is a message in a [World]. The first fields are for [World.Post], the rest are
// the outcome. Times are -1 for events that have not happened.
type Message struct {
	Src, Dst int // hosts
	Op       Op
	Ordered  bool
	Size     int64  // bytes, up to ses.MaxMessage
	Context  uint16 // messages of others share no PDC with it
	Done     func() // called when it has ended, unless nil
	Here     func() // called when all of it is at its destination, for a read at its source, unless nil

	Started, Arrived, Ended link.Ps

	Err    error       // why it could not be started
	Event  uetcc.Event // how it has ended at its source
	Handle ses.Handle  // at its source; 0: it has not begun
	Before uint64      // of an atomic that ended well: what was there

	land  landing // of what it brings
	lives [2]int  // of its hosts, when it was posted
	id    uint32
}

// OK reports whether the message has ended well.
func (m *Message) OK() bool {
	return m.Err == nil && m.Ended >= 0 && m.Event.Outcome.Status == ses.StatusOK
}

// Placed is the number of the message's bytes in place.
func (m *Message) Placed() int64 { return m.land.placed }

// Check returns the error in the bytes of a successful message: nil if all are in place, or
// if the memory has gone with the host.
func (m *Message) Check(w *World) error {
	here, life := m.Dst, m.lives[1]
	if m.Op == OpRead {
		here, life = m.Src, m.lives[0]
	}
	switch {
	case !m.OK() || m.Op == OpAtomic || w.hosts[here].life != life:
		return nil
	case m.land.wrong > 0:
		return fmt.Errorf("%d packets of wrong bytes", m.land.wrong)
	case m.land.placed != m.Size:
		return fmt.Errorf("%d of %d bytes are in place", m.land.placed, m.Size)
	}
	return nil
}
