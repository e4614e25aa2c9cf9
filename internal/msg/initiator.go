// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"cmp"
	"encoding/binary"
	"math/bits"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/slab"
	"github.com/uetcc/uetcc/internal/splitmix"
	"github.com/uetcc/uetcc/internal/standard"
	"github.com/uetcc/uetcc/ses"
)

// An InitiatorConfig gives the bounds of an [Initiator].
type InitiatorConfig struct {
	MTU      uint32 // payload bytes of a full packet: 1024, 2048, 4096 or 8192
	Messages int    // messages in progress at a time, at most 65535

	// As in the root package's Config. Retries follow RC_NO_MATCH and RC_DISABLED_GEN, and as many
	// RC_BAD_GENERATION.
	Retries  int
	Backoff  int64
	SwapBoth bool
}

const (
	defaultRetries = 5
	maxRetries     = 50
	defaultBackoff = 50e6
	maxBackoff     = int64(10e9) // doubling ends here
)

// An Initiator is the side of a FEP that starts messages: it cuts them into
// packets, gives each message an id unique among the FEP's live messages, and turns the
// responses into a single completion. Single writer.
type Initiator struct {
	mtu      uint32
	retries  uint8
	whole    messageKind // of a Whole
	swapBoth bool
	backoff  int64
	lastID   ses.MessageID
	free     uint16 // slot plus 1 of the message that ended last; 0 for none
	live     int
	messages []message
	ids      []uint16  // messages by the lower bits of their message_id, see named
	reply    ses.Reply // that is being taken in

	mismatched uint64 // see Mismatched
}

// Mismatched returns how many responses differed in message_id or JobID from the answered
// packet. Such responses are matched by handle all the same.
func (in *Initiator) Mismatched() uint64 { return in.mismatched }

// NewInitiator returns an initiator without messages. Errors wrap [ses.ErrConfig].
func NewInitiator(c InitiatorConfig) (*Initiator, error) {
	err := cmp.Or(
		checkMTU("InitiatorConfig.MTU", c.MTU),
		check.Range(ses.ErrConfig, "InitiatorConfig.Messages", c.Messages, 1, maxSlots-1),
		check.Range(ses.ErrConfig, "InitiatorConfig.Retries", c.Retries, 0, maxRetries),
		check.Range(ses.ErrConfig, "InitiatorConfig.Backoff", c.Backoff, 0, maxBackoff),
	)
	if err != nil {
		return nil, err
	}
	c.Retries = cmp.Or(c.Retries, defaultRetries)
	c.Backoff = cmp.Or(c.Backoff, defaultBackoff)
	in := &Initiator{
		mtu: c.MTU, whole: kindCarries | kindMiddle | kindNamed | mtuKind(c.MTU), retries: uint8(c.Retries), swapBoth: c.SwapBoth, backoff: c.Backoff,
		ids: slab.Make[uint16](buckets(c.Messages)), messages: slab.Make[message](c.Messages),
	}
	for i := c.Messages; i > 0; i-- {
		in.messages[i-1].link, in.free = in.free, uint16(i)
	}
	return in, nil
}

// Messages returns how many messages are in progress.
func (in *Initiator) Messages() int { return in.live }

// Find returns the handle of the message with an id, 0 without such a message: a packet on the
// return direction names the message by id.
func (in *Initiator) Find(id ses.MessageID) ses.Handle {
	if m := in.named(id); m != nil {
		return m.handle
	}
	return 0
}

// named returns the live message with an id, nil if there is none.
func (in *Initiator) named(id ses.MessageID) *message {
	for i := *in.list(id); i != 0; i = in.messages[i-1].link {
		if m := &in.messages[i-1]; m.id() == id {
			return m
		}
	}
	return nil
}

// list is where the messages begin whose message_id has the same lower bits as id. Ids are given in
// order, so a list is longer than a single message only beside messages of an earlier round.
func (in *Initiator) list(id ses.MessageID) *uint16 { return &in.ids[int(id)&(len(in.ids)-1)] }

// Start begins a message; [Initiator.Next] gives its packets.
//
// Errors: [ses.ErrFull], and errors of [Operation.Validate].
func (in *Initiator) Start(o *Operation) (ses.Handle, error) {
	if err := o.Validate(in.mtu); err != nil {
		return 0, err
	}
	m := in.take()
	if m == nil {
		return 0, ses.ErrFull
	}
	m.open(o.Mode, o.Length, o.Cookie)
	m.begin(o, in.mtu)
	if in.swapBoth && o.Opcode.IsAtomic() && o.Swap.Opcode.IsSwap() {
		m.announce(swapBoth)
	}
	if m.is(kindNamed) {
		in.name(m)
	}
	return m.handle, nil
}

// take takes a slot for a message; nil when all are in use.
//
//uetcc:hot inlines nobounds
func (in *Initiator) take() *message {
	i := int(in.free) - 1
	if uint(i) >= uint(len(in.messages)) {
		return nil
	}
	m := &in.messages[i]
	in.free = m.link
	in.live++
	m.gen++
	m.handle = ses.Handle(m.gen)<<16 | ses.Handle(i)
	return m
}

// A Whole is a message of one packet that carries the message's bytes behind a standard header, as
// long as it begins: Address and Place have to follow.
type Whole message

// Whole begins a message that [Operation.Validate] takes, with nothing to come but its packet, which the
// PDS has taken: [Initiator.Start] and [Initiator.Handed] in one. The result is nil for [ses.ErrFull].
//
//uetcc:hot
func (in *Initiator) Whole(mode ses.Mode, length uint32, cookie uint64) *Whole {
	m := in.take()
	if m == nil {
		return nil
	}
	m.open(mode, length, cookie)
	m.sent, m.outstanding, m.size, m.kind = 1, 1, ses.StandardLen, in.whole
	in.name(m)
	return (*Whole)(m)
}

// Handle returns the handle of the message.
func (w *Whole) Handle() ses.Handle { return w.handle }

// Address writes the common fields of the header, with the flags but those of place.
//
//uetcc:hot inlines nobounds
func (w *Whole) Address(op ses.Opcode, f ses.Flags, gen ses.Generation, job ses.JobID, pid ses.PIDonFEP, ri ses.ResourceIndex) {
	w.first = f&ses.FlagHD | ses.FlagSOM
	binary.BigEndian.PutUint16(w.wire[0:], uint16(op)<<8|uint16(f&^ses.FlagHD))
	binary.BigEndian.PutUint32(w.wire[atGeneration:], uint32(gen)<<24|uint32(job))
	binary.BigEndian.PutUint32(w.wire[atGeneration+4:], uint32(pid)<<16|uint32(ri))
}

// Place writes the other fields of the header.
//
//uetcc:hot inlines nobounds
func (w *Whole) Place(offset, key, data uint64, initiator uint32) {
	standard.Put((*[ses.StandardLen]byte)(w.wire[:]), offset, key, data, initiator, w.length)
}

// of returns the message of a handle, nil if over.
//
//uetcc:hot inlines
func (in *Initiator) of(h ses.Handle) *message {
	if i := int(slotOf(h)); i < len(in.messages) {
		if m := &in.messages[i]; m.handle == h && h != 0 {
			return m
		}
	}
	return nil
}

// name gives m the next message_id not in use. 0 is no id: datagrams and forms without the
// field have 0. More ids exist than messages, so an id is free.
//
//uetcc:hot
func (in *Initiator) name(m *message) {
	in.lastID++
	l := in.list(in.lastID)
	if *l != 0 || in.lastID == 0 {
		l = in.skip()
	}
	binary.BigEndian.PutUint16(m.wire[atID:], uint16(in.lastID))
	m.link, *l = *l, uint16(m.handle)+1
}

// skip goes on to the next message_id not in use, from lastID on, and returns its list.
func (in *Initiator) skip() *uint16 {
	for in.lastID == 0 || in.named(in.lastID) != nil {
		in.lastID++
	}
	return in.list(in.lastID)
}

// unname gives the message_id of m back, which has one.
//
//uetcc:hot inlines
func (in *Initiator) unname(m *message) {
	at := uint16(m.handle) + 1
	l := in.list(ses.MessageID(binary.BigEndian.Uint16(m.wire[atID:])))
	for *l != at {
		l = &in.messages[*l-1].link
	}
	*l = m.link
}

// Standing returns a number that changes when a message makes progress, with a probability of
// all but 2^-64: a packet handed over or answered, data received, or a new beginning.
func (in *Initiator) Standing(h ses.Handle) uint64 {
	m := in.of(h)
	if m == nil {
		return 0
	}
	x := splitmix.Mix(uint64(m.sent)<<32 | uint64(m.outstanding))
	x = splitmix.Mix(x ^ (uint64(m.received)<<32 | uint64(m.attempt)<<8 | uint64(m.state)))
	return splitmix.Mix(x ^ uint64(m.handle))
}

// InFlight reports whether packets of a message are with the PDS.
func (in *Initiator) InFlight(h ses.Handle) bool {
	m := in.of(h)
	return m != nil && m.outstanding != 0
}

// Cut has the packets of a message carry mtu bytes of payload, if less than now and before any
// packet was handed over. The result is the bytes carried, 0 if the message is over. A target
// limited to less than the MTU of the [InitiatorConfig] answers with RC_OP_VIOLATION and a
// modified_length, and the message is cut again; Cut spares the next message the refusal.
func (in *Initiator) Cut(h ses.Handle, mtu uint32) uint32 {
	m := in.of(h)
	if m == nil {
		return 0
	}
	if m.sent == 0 && m.state == messageSending && m.takes(mtu) {
		m.cut(mtu)
	}
	return m.mtu()
}

// Next describes in q the next packet of a message for the PDS, and returns the number of
// packets like q at present: of the same payload length, none the last of the message, with
// PacketHandles counting up from q's. After 0, ask again at the time of an [EventReady].
//
// Report with [Initiator.Handed] the number taken by the PDS. All packets of a message go to
// the same PDC in order, and the PDC's next message follows the packet with EOM.
//
//uetcc:hot
func (in *Initiator) Next(now int64, h ses.Handle, q *TxReq) (alike uint32) {
	m := in.of(h)
	switch {
	case m == nil:
		return 0
	case m.state == messageSending && m.sent < m.packets:
		if m.is(kindLate) && m.notBefore > now {
			return 0
		}
		m.describe(m.sent, q)
		return max(m.packets-m.sent-1, 1)
	case m.state == messageGivingUp:
		// The notice goes out when no packet of the message is in flight, so none can arrive
		// later and begin the message again.
		m.describe(m.packets, q)
		return 1
	default:
		return 0
	}
}

// Handed says the PDS has taken n of the packets described by [Initiator.Next]: answers are
// now waited for. The error is [ses.ErrStale], also for a larger n than described; then nothing
// has changed.
//
//uetcc:hot
func (in *Initiator) Handed(h ses.Handle, n uint32) error {
	m := in.of(h)
	switch {
	case m == nil:
		return ses.ErrStale
	case m.state == messageSending && n <= m.packets-m.sent:
		if m.is(kindFetch) {
			for i := m.sent; i < m.sent+n; i++ {
				m.missing += placeSum(i)
			}
		}
		m.sent += n
	case m.state == messageGivingUp && n == 1:
		m.state = messageGivenUp
	default:
		return ses.ErrStale
	}
	m.outstanding += n
	return nil
}

// PutHeader writes to the beginning of b the header of a packet handed to the PDS and not
// answered yet. Results are the header's length and the payload to follow. The length is 0,
// and nothing is written, without such a packet, or with b shorter than [TxReq].Header.
//
//uetcc:hot
func (in *Initiator) PutHeader(b []byte, p PacketHandle) (n int, y Payload) {
	if len(b) >= ses.StandardLen {
		if y, ok := in.PutStandard((*[ses.StandardLen]byte)(b), p); ok {
			return ses.StandardLen, y
		}
	}
	m := in.of(p.Message())
	i := p.packet()
	if m == nil || !m.inFlight(p) || len(b) < int(m.size) && (i < m.packets || len(b) < ses.StandardLen) {
		return 0, Payload{}
	}
	y.Offset, y.Length = m.place(i)
	n = m.otherHeader(b[:min(len(b), int(m.size))], i, uint64(y.Length)<<32|uint64(y.Offset))
	if y.Cookie = m.cookie; !m.is(kindCarries) {
		y.Length = 0
	}
	return n, y
}

// PutStandard is [Initiator.PutHeader] for nearly all packets, those with a standard header; of any
// other ok is false, and nothing is written.
//
//uetcc:hot
func (in *Initiator) PutStandard(b *[ses.StandardLen]byte, p PacketHandle) (y Payload, ok bool) {
	m, i := in.of(p.Message()), p.packet()
	if m == nil || m.size != ses.StandardLen || !m.inFlight(p) {
		return Payload{}, false
	}
	// By words: the compiler calls memmove for arrays that might overlap.
	word := binary.NativeEndian
	u, v, w, place := word.Uint64(m.wire[8:]), word.Uint64(m.wire[16:]), word.Uint64(m.wire[24:]), word.Uint64(m.wire[atPlace:])
	if y.Length = m.length; i != 0 || m.packets != 1 {
		if y.Offset, y.Length = m.place(i); i != 0 { // else header data, which only the first packet has
			at := y.at()
			place = word.Uint64(at[:])
		}
	}
	binary.BigEndian.PutUint64(b[:], m.opening(i))
	word.PutUint64(b[8:], u)
	word.PutUint64(b[16:], v)
	word.PutUint64(b[24:], w)
	word.PutUint64(b[atPlace:], place)
	binary.BigEndian.PutUint32(b[atPlace+8:], m.length)
	if y.Cookie = m.cookie; !m.is(kindCarries) {
		y.Length = 0
	}
	return y, true
}

// at is where the bytes of y are, as in a standard header.
func (y *Payload) at() (b [8]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(y.Length)<<32|uint64(y.Offset))
	return b
}

// A Middle writes the headers of the packets of a message between the first and the last:
// standard headers differing only in the place, each with a full payload.
type Middle message

// Middle returns the writer of the header of p, equal to [Initiator.PutHeader], and the number of
// such packets from p on. x is nil unless p is in the middle of a message, handed to the PDS, and
// not answered yet. x is valid until the next call of another method.
//
//uetcc:hot
func (in *Initiator) Middle(p PacketHandle) (x *Middle, n uint32) {
	m, i := in.of(p.Message()), p.packet()
	if m == nil || m.state != messageSending || m.attempt != p.attempt() || !m.is(kindMiddle) {
		return nil, 0
	}
	if n = min(m.sent, m.packets-1) - i; i == 0 || int32(n) <= 0 {
		return nil, 0
	}
	return (*Middle)(m), n
}

// Passing returns the message in the slot of h, where only the index of h matters, if
// [Initiator.Confirm] may take a response beginning with the eight bytes response, big-endian,
// and the packets in [Middle.Range] suit [Initiator.Middle]. Otherwise Passing returns nil.
//
//uetcc:hot inlines
func (in *Initiator) Passing(h ses.Handle, response uint64) *Middle {
	i := int(slotOf(h))
	if i >= len(in.messages) {
		return nil
	}
	m := &in.messages[i]
	if !m.is(kindMiddle) || !m.expected(response) {
		return nil
	}
	return (*Middle)(m)
}

// Range returns the handle of the first packet, and the handle behind the packets handed to
// the PDS, the last packet of the message not counted.
//
//uetcc:hot inlines nobounds
func (x *Middle) Range() (first, end PacketHandle) {
	first = packetHandle(x.handle, x.attempt, 0)
	return first, first + PacketHandle(min(x.sent, x.packets-1))
}

// Confirmed notes that n packets have been answered, if they are of the message. If not, or without
// others in flight, Confirmed reports false and has changed nothing: the message may end.
//
//uetcc:hot inlines nobounds
func (x *Middle) Confirmed(own bool, n uint32) bool {
	if !own || x.outstanding == n {
		return false
	}
	x.outstanding -= n
	return true
}

// Put writes the header of a packet with length bytes of payload from offset.
//
//uetcc:hot inlines nobounds
func (x *Middle) Put(b *[ses.StandardLen]byte, offset, length uint32) {
	// In halves: the compiler calls memmove for longer arrays that might overlap.
	*(*[16]byte)(b[0:]) = *(*[16]byte)(x.wire[0:])
	*(*[16]byte)(b[16:]) = *(*[16]byte)(x.wire[16:])
	// BigEndian.PutUint64 would take the word to pieces.
	binary.LittleEndian.PutUint64(b[atPlace:], bits.ReverseBytes64(uint64(length)<<32|uint64(offset)))
	binary.BigEndian.PutUint32(b[atPlace+8:], x.length)
}

// MTU returns how many bytes of payload each packet has.
func (x *Middle) MTU() uint32 { return (*message)(x).mtu() }

// Offset returns where in the message the payload of p begins.
//
//uetcc:hot inlines nobounds
func (x *Middle) Offset(p PacketHandle) uint32 { return p.packet() * x.MTU() }

// Cookie returns the message's cookie.
func (x *Middle) Cookie() uint64 { return x.cookie }

// Handle returns the message's handle.
func (x *Middle) Handle() ses.Handle { return x.handle }
