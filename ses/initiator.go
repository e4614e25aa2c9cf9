package ses

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/uetcc/uetcc/internal/slab"
)

// An InitiatorConfig gives the bounds of an [Initiator].
type InitiatorConfig struct {
	MTU      uint32 // payload bytes of a full packet: 1024, 2048, 4096 or 8192
	Messages int    // messages in progress at a time, at most 65535
	// Retries is how often a message is sent again after RC_NO_MATCH or
	// RC_DISABLED_GEN, and how often after RC_BAD_GENERATION. 0 means 5, the
	// most is 50.
	Retries int
	// Backoff is the wait before the first retry of an unmatched message,
	// nanoseconds; each further one doubles it. 0 means 50 ms.
	Backoff int64
	Seed    uint64 // as in [TargetConfig]
}

const (
	defaultRetries = 5
	maxRetries     = 50
	defaultBackoff = 50e6
	maxBackoff     = int64(10e9) // doubling ends here
)

func (c *InitiatorConfig) validate() error {
	switch {
	case c.MTU < 1024 || c.MTU > 8192 || bits.OnesCount32(c.MTU) != 1:
		return fmt.Errorf("ses: InitiatorConfig.MTU is %d, want 1024, 2048, 4096 or 8192", c.MTU)
	case c.Messages < 1 || c.Messages >= maxSlots:
		return fmt.Errorf("ses: InitiatorConfig.Messages is %d, want 1 to 65535", c.Messages)
	case c.Retries < 0 || c.Retries > maxRetries:
		return fmt.Errorf("ses: InitiatorConfig.Retries is %d, want 0 to %d", c.Retries, maxRetries)
	case c.Backoff < 0 || c.Backoff > maxBackoff:
		return fmt.Errorf("ses: InitiatorConfig.Backoff is %d ns, want 0 to %d", c.Backoff, maxBackoff)
	}
	return nil
}

// An Initiator is the side of a FEP that starts messages: it cuts them into
// packets, gives them ids that no other live message of the FEP has, and makes
// of all their responses one completion. It is a single writer's: one goroutine
// at a time.
type Initiator struct {
	mtu      uint32
	retries  uint8
	backoff  int64
	lastID   MessageID
	ids      index // message_id -> slot
	slots    slots
	messages []message
	reply    Reply // that is being taken in

	// Mismatched counts responses whose message_id or JobID was not that of the
	// packet they answered. They are matched by handle all the same.
	Mismatched uint64
}

// NewInitiator returns an initiator without messages. The error names the field.
func NewInitiator(c InitiatorConfig) (*Initiator, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Retries == 0 {
		c.Retries = defaultRetries
	}
	if c.Backoff == 0 {
		c.Backoff = defaultBackoff
	}
	return &Initiator{
		mtu: c.MTU, retries: uint8(c.Retries), backoff: c.Backoff,
		ids: newIndex(c.Messages, c.Seed), slots: newSlots(c.Messages), messages: slab.Make[message](c.Messages),
	}, nil
}

// Messages returns how many messages are in progress.
func (in *Initiator) Messages() int { return in.slots.live }

// Find returns the handle of the message with an id, 0 if there is none: whose
// data a packet on the return direction brings.
func (in *Initiator) Find(id MessageID) Handle {
	if i, ok := in.ids.find(pair{b: uint64(id)}); ok {
		return in.slots.handle(i)
	}
	return 0
}

// Start begins a message; [Initiator.Next] gives its packets.
//
// Errors: [ErrFull], and those of [Operation.Validate].
func (in *Initiator) Start(o *Operation) (Handle, error) {
	if err := o.Validate(in.mtu); err != nil {
		return 0, err
	}
	i, ok := in.slots.take()
	if !ok {
		return 0, ErrFull
	}
	m := &in.messages[i]
	m.begin(o, in.slots.handle(i), o.Packets(in.mtu))
	if m.is(kindNamed) {
		in.name(m)
	}
	return m.handle, nil
}

// live returns the message of a handle, nil if it is over.
func (in *Initiator) live(h Handle) *message {
	if i := int(h.slot()); i < len(in.messages) {
		if m := &in.messages[i]; m.handle == h && h != 0 {
			return m
		}
	}
	return nil
}

// name gives m the next message_id that is not in use; 0 is not an id, and is
// the one of datagrams and of forms without the field. Fewer messages than ids
// can live, so there is one.
func (in *Initiator) name(m *message) {
	for {
		in.lastID++
		if in.lastID == 0 {
			continue
		}
		if _, live := in.ids.find(pair{b: uint64(in.lastID)}); !live {
			break
		}
	}
	m.setID(in.lastID)
	in.ids.insert(pair{b: uint64(in.lastID)}, m.handle.slot())
}

func (in *Initiator) unname(m *message) {
	if id := m.id(); id != 0 {
		in.ids.remove(pair{b: uint64(id)})
		m.setID(0)
	}
}

// Next describes in q the next packet of a message that the PDS has not got, and
// returns how many there are now that are alike: with the same payload length,
// not the last one, and PacketHandles that count up from that of q. If there are
// none, ask again not before at, or, when at is math.MaxInt64, after an
// [EventReady].
//
// Report with [Initiator.Handed] how many the PDS has taken. All packets of a
// message go to one PDC in this order, and the next message of that PDC follows
// the packet with EOM.
func (in *Initiator) Next(now int64, h Handle, q *TxReq) (alike uint32, at int64) {
	m := in.live(h)
	switch {
	case m == nil:
		return 0, math.MaxInt64
	case m.state == messageSending && m.sent < m.packets:
		if m.notBefore > now {
			return 0, m.notBefore
		}
		m.describe(in.mtu, m.sent, q)
		return max(m.packets-m.sent-1, 1), now
	case m.state == messageGivingUp:
		// It goes out when nothing else of the message is in flight, so that no
		// packet can arrive after it and begin the message again.
		m.describe(in.mtu, m.packets, q)
		return 1, now
	default:
		return 0, math.MaxInt64
	}
}

// Handed says that the PDS has taken n of the packets that [Initiator.Next] has
// described: their answers are waited for. The error is [ErrStale], also when
// there are not as many; then nothing has changed.
func (in *Initiator) Handed(h Handle, n uint32) error {
	m := in.live(h)
	switch {
	case m == nil:
		return ErrStale
	case m.state == messageSending && n <= m.packets-m.sent:
		m.sent += n
	case m.state == messageGivingUp && n == 1:
		m.state = messageGivenUp
	default:
		return ErrStale
	}
	m.outstanding += n
	return nil
}

// PutHeader writes the header of a packet that has been handed to the PDS and is
// not answered yet to the beginning of b. It returns the header's length, and
// which bytes follow it. The length is 0, and nothing is written, if there is no
// such packet, or b is shorter than [TxReq].Header.
func (in *Initiator) PutHeader(b []byte, p PacketHandle) (n int, y Payload) {
	m := in.live(p.Message())
	if m == nil || !m.inFlight(p) || len(b) < int(m.size) {
		return 0, Payload{}
	}
	i := p.packet()
	y.Offset, y.Length = m.place(in.mtu, i)
	if place := uint64(y.Length)<<32 | uint64(y.Offset); len(b) >= StandardLen && m.size == StandardLen {
		m.header((*[StandardLen]byte)(b), i, place)
		n = StandardLen
	} else {
		n = m.otherHeader(b[:m.size], i, place)
	}
	if y.Cookie = m.cookie; !m.is(kindCarries) {
		y.Length = 0
	}
	return n, y
}

// PutMiddle is PutHeader for a packet that is neither the first of its message nor the
// last, and has a standard header and a full payload, as most have. It reports false,
// and has written nothing, if it is another one.
func (in *Initiator) PutMiddle(b *[StandardLen]byte, p PacketHandle) (y Payload, ok bool) {
	m, i := in.live(p.Message()), p.packet()
	if m == nil || m.state != messageSending || m.attempt != p.attempt() || m.size != StandardLen || m.kind&kindCarries == 0 ||
		i-1 >= m.sent-1 || i >= m.packets-1 {
		return y, false
	}
	y = Payload{Offset: i * in.mtu, Length: in.mtu, Cookie: m.cookie}
	a, c, d := binary.NativeEndian.Uint64(m.head[8:]), binary.NativeEndian.Uint64(m.head[16:]), binary.NativeEndian.Uint64(m.head[24:])
	binary.NativeEndian.PutUint64(b[:], binary.NativeEndian.Uint64(m.head[:]))
	b[1] = m.head[1] &^ byte(FlagSOM|FlagHD)
	binary.NativeEndian.PutUint64(b[8:], a)
	binary.NativeEndian.PutUint64(b[16:], c)
	binary.NativeEndian.PutUint64(b[24:], d)
	binary.BigEndian.PutUint64(b[atPlace:], uint64(y.Length)<<32|uint64(y.Offset))
	binary.BigEndian.PutUint32(b[atPlace+8:], m.length)
	return y, true
}

// Touch loads what a packet of a message needs that is sent or answered, so that
// the misses of the cache overlap when it is called for several. Of the handle
// only the index matters. The result means nothing.
func (in *Initiator) Touch(h Handle) uint32 {
	if i := int(h.slot()); i < len(in.messages) {
		return in.messages[i].sent
	}
	return 0
}
