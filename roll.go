// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
)

// A roll lists the messages waiting for data on a PDC, by entry, oldest first. When the PDC
// ends, such messages are found without a search of all messages. Unlike a chain a roll
// gives up any member in constant time.
type roll struct{ head, tail uint16 }

// places links the rolls of one kind, by message.entry: a message is in at most one roll.
type places []place

type place struct{ prev, next uint16 }

func newPlaces(messages int) places { return slab.Make[place](messages + 1) }

// enter puts message i, in no roll of the kind yet, last in l.
func (s places) enter(l *roll, i uint16) {
	s[i] = place{prev: l.tail}
	if l.tail == 0 {
		l.head = i
	} else {
		s[l.tail].next = i
	}
	l.tail = i
}

// strike takes message i out of l, if present.
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

// entry is the name of a message in rolls and chains: the slot plus 1, as 0 is the end.
func (rec *message) entry() uint16 { return uint16(rec.handle) + 1 }

// giveUp fails the messages of a roll: nothing more comes.
func (s *source) giveUp(now int64, all places, l *roll, c pdc.Cause, n pds.NackCode) {
	for l.head != 0 {
		rec := &s.messages[l.head-1]
		all.strike(l, l.head)
		rec.blame(c, n)
		_ = s.cancel(now, rec.handle)
	}
}
