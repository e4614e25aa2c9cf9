// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"math/bits"

	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/ses"
)

// messageIDs finds the live messages by message_id: lists by the lower bits of the id. Ids are given
// in order, so a list is longer than a single message only beside messages of an earlier round.
type messageIDs struct {
	first []uint16 // a power of two: slot of a message plus 1, 0 for none
	next  []uint16 // by slot: the same
}

func newMessageIDs(messages int) messageIDs {
	return messageIDs{first: slab.Make[uint16](1 << bits.Len(uint(messages-1))), next: slab.Make[uint16](messages)}
}

// list is where the list of an id begins.
func (x *messageIDs) list(id ses.MessageID) *uint16 { return &x.first[int(id)&(len(x.first)-1)] }

// enter puts the message of a slot into the list of the id.
func (x *messageIDs) enter(id ses.MessageID, slot uint16) {
	l := x.list(id)
	x.next[slot], *l = *l, slot+1
}

// strike takes the message of a slot out of the list of the id, where there is such a message.
func (x *messageIDs) strike(id ses.MessageID, slot uint16) {
	for l := x.list(id); *l != 0; l = &x.next[*l-1] {
		if *l == slot+1 {
			*l = x.next[slot]
			return
		}
	}
}
