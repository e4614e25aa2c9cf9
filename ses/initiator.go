package ses

import (
	"fmt"
	"math"
	"math/bits"
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

	// Mismatched counts responses whose message_id or JobID was not that of the
	// packet they answered. They are matched by handle all the same.
	Mismatched uint64
}

// A messageState says what is to be sent next.
type messageState uint8

const (
	messageSending  messageState = iota // the next packet, not before notBefore
	messageFailing                      // nothing: waits for what is in flight
	messageGivingUp                     // the notice that no more packets come
	messageGivenUp                      // nothing: the notice is in flight
)

// A message is in progress.
//
//	sent <= packets; outstanding <= sent + 1; received <= op.Length
type message struct {
	op          Operation
	notBefore   int64
	sent        uint32 // packets handed to the PDS
	packets     uint32
	outstanding uint32 // packets not yet answered
	received    uint32 // bytes of a read
	delivered   uint32 // bytes that the target took, at most op.Length
	id          MessageID
	state       messageState
	attempt     uint8
	unmatched   uint8 // retries for want of a match
	stale       uint8 // retries for the generation
	fail        failure
	code        ReturnCode
	cause       uint8
	nextGen     Generation // failRetryNow: what the target asks for
}

// A failure is what went wrong with a message so far. The first fatal one stays,
// and comes before any that can be repaired.
type failure uint8

const (
	failNone       failure = iota
	failRetryNow           // the generation was old
	failRetryLater         // no match, or not now
	failFatal              // the target refused
	failPDS                // the PDC is of no use any more
)

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
		ids: newIndex(c.Messages, c.Seed), slots: newSlots(c.Messages), messages: make([]message, c.Messages),
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
	*m = message{op: *o, packets: o.Packets(in.mtu), delivered: o.Length, notBefore: math.MinInt64}
	in.name(m, i)
	return in.slots.handle(i), nil
}

// name gives m the next message_id that is not in use; 0 is not an id, and is
// the one of datagrams and of forms without the field. Fewer messages than ids
// can live, so there is one.
func (in *Initiator) name(m *message, slot uint32) {
	if m.op.Mode == ModeUUD || m.op.Form == FormSmall || m.op.Form == FormMedium {
		return
	}
	for {
		in.lastID++
		if in.lastID == 0 {
			continue
		}
		if _, live := in.ids.find(pair{b: uint64(in.lastID)}); !live {
			break
		}
	}
	m.id = in.lastID
	in.ids.insert(pair{b: uint64(m.id)}, slot)
}

func (in *Initiator) unname(m *message) {
	if m.id != 0 {
		in.ids.remove(pair{b: uint64(m.id)})
		m.id = 0
	}
}

// Next fills q with the next packet of a message and reports whether there is
// one. If not, ask again not before at, or, when at is math.MaxInt64, after an
// [EventReady]. All packets of a message go to one PDC in this order, and the
// next message of that PDC follows the packet with EOM.
func (in *Initiator) Next(now int64, h Handle, q *TxReq) (ok bool, at int64) {
	i, ok := in.slots.at(h)
	if !ok {
		return false, math.MaxInt64
	}
	m := &in.messages[i]
	switch {
	case m.state == messageSending && m.sent < m.packets:
		if m.notBefore > now {
			return false, m.notBefore
		}
		in.packet(m, h, q)
	case m.state == messageGivingUp:
		in.notice(m, h, q)
	default:
		return false, math.MaxInt64
	}
	m.outstanding++
	return true, now
}

func (in *Initiator) packet(m *message, h Handle, q *TxReq) {
	q.Packet, q.Cookie, q.Mode = packetHandle(h, m.attempt, m.sent), m.op.Cookie, m.op.Mode
	q.Offset, q.Length = m.op.Packet(in.mtu, m.sent, m.id, &q.Request)
	if !m.op.bringsPayload() {
		q.Length = 0
	}
	m.sent++
}

// Packet fills q again with a packet that [Initiator.Next] has given and that is
// not answered yet: for whoever keeps only the handles of what is in flight. It
// reports whether there is such a packet.
func (in *Initiator) Packet(p PacketHandle, q *TxReq) bool {
	i, ok := in.slots.at(p.Message())
	if !ok {
		return false
	}
	m := &in.messages[i]
	if m.attempt != p.attempt() {
		return false
	}
	q.Packet, q.Cookie, q.Mode = p, m.op.Cookie, m.op.Mode
	switch {
	case m.state == messageGivenUp && p.packet() == m.packets:
		in.fillNotice(m, q)
	case p.packet() < m.sent:
		q.Offset, q.Length = m.op.Packet(in.mtu, p.packet(), m.id, &q.Request)
		if !m.op.bringsPayload() {
			q.Length = 0
		}
	default:
		return false
	}
	return true
}

// notice fills q with UET_MSG_ERROR: the rest of the message will not come. It
// goes out when nothing else of the message is in flight, so that no packet can
// arrive after it and begin the message again.
func (in *Initiator) notice(m *message, h Handle, q *TxReq) {
	q.Packet, q.Cookie, q.Mode = packetHandle(h, m.attempt, m.packets), m.op.Cookie, m.op.Mode
	in.fillNotice(m, q)
	m.state = messageGivenUp
}

func (in *Initiator) fillNotice(m *message, q *TxReq) {
	_, _ = m.op.Packet(in.mtu, m.packets-1, m.id, &q.Request)
	q.Request.Opcode = OpcodeMsgError
	q.Request.Flags |= FlagIE
	q.Request.PayloadLength, q.Offset, q.Length = 0, 0, 0
}
