package uetcc

import (
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A roll lists the messages that wait for something to come on one PDC, by their entry,
// oldest first. When the PDC ends, they are found without searching all messages. Unlike a
// chain it gives up any of them in the same time.
type roll struct{ head, tail uint16 }

// places links the rolls of one kind, by message.entry: a message is in one of them at most.
type places []place

type place struct{ prev, next uint16 }

func newPlaces(messages int) places { return slab.Make[place](messages + 1) }

// enter puts message i, which is in no roll of this kind, last in l.
func (s places) enter(l *roll, i uint16) {
	s[i] = place{prev: l.tail}
	if l.tail == 0 {
		l.head = i
	} else {
		s[l.tail].next = i
	}
	l.tail = i
}

// strike takes message i out of l, if it is there.
func (s places) strike(l *roll, i uint16) {
	p := s[i]
	if p.prev == 0 && l.head != i {
		return
	}
	if p.prev == 0 {
		l.head = p.next
	} else {
		s[p.prev].next = p.next
	}
	if p.next == 0 {
		l.tail = p.prev
	} else {
		s[p.next].prev = p.prev
	}
	s[i] = place{}
}

// entry is what rolls and chains know a message by: its slot plus 1, as 0 ends them.
func (rec *message) entry() uint16 { return uint16(rec.handle) + 1 }

// giveUp fails the messages of a roll: nothing more comes for them.
func (s *source) giveUp(now int64, all places, l *roll, c pdc.Cause, n pds.NackCode) {
	for l.head != 0 {
		rec := &s.messages[l.head-1]
		all.strike(l, l.head)
		rec.blame(c, n)
		_ = s.cancel(now, rec.handle)
	}
}
