package uetcc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/counters"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// HeaderMax is the room that the headers of any packet need, bytes: a request
// with a credit target and a compare-and-swap.
const HeaderMax = pds.RequestCCLen + ses.StandardLen + ses.CompareSwapLen

// An Endpoint is one fabric endpoint: the semantic sublayer, the PDS manager and
// congestion control put together. It does no I/O, reads no clock, never touches
// payload memory, and allocates nothing after [NewEndpoint]. See the package
// comment for the loop around it.
//
// now is nanoseconds of a monotonic clock in every call, 0 or more and below 2^62. Single
// writer, and not to be copied.
type Endpoint struct {
	pds      *pdc.Manager
	cc       *ccc.Manager
	contexts *ccc.Table
	credit   *creditor // nil: no receiver credit
	target   *ses.Target
	flows    []flow // by PDCID; 0 is that of all RUDI packets

	source source
	recv   receiver
	loader loader

	clock    clock
	tap      func(now int64, sent bool, d Datagram)
	local    pdc.Addr
	mtu      int64
	replyMax int
	stats    Stats
	out      pdc.Out
	run      pdc.Run
}

// A source is the half of an Endpoint that sends: messages of this side, and the data that
// peers have asked for, on their way into the manager of the PDCs and until they have ended.
type source struct {
	pds    *pdc.Manager
	cc     *ccc.Manager
	target *ses.Target
	credit *creditor
	flows  []flow
	stats  *Stats
	local  pdc.Addr
	mtu    int64

	sender      *ses.Initiator
	messages    []message // by the slot of their handle
	asking      []asking  // by PDCID
	unanswered  []uint32  // by the slot of a message, see asks
	key         pdc.InitiatorKey
	overhead    int64             // nominal size of a packet beyond its semantic header and payload
	submitAhead int16             // see submitLow
	starved     chain             // flows that wait for the manager's memory
	unsent      chain             // datagrams
	retries     *timerwheel.Wheel // messages that are to be sent again at a later time
	hand        hand              // ends messages that do not get on
	answers     answers           // reads and atomics that are being answered
	events      completions       // for Poll
	pause       pause
	fetching    places // in flow.fetches
	reading     places // in flow.readers
	tx          ses.TxReq
	op          ses.Operation

	// Rendezvous and deferrable sends, which the two sides come back to.
	lendTag  uint64     // upper half of the keys of lent regions
	lending  int        // messages with a lent region
	answerTC uint8      // traffic class of errands
	errand   ses.Errand // the one in hand

	errands, errandRoom int // messages in progress that are errands, and how many may be
}

// A receiver is the half of an Endpoint that takes packets in: it judges what peers ask for,
// and answers.
type receiver struct {
	pds    *pdc.Manager
	target *ses.Target
	credit *creditor
	flows  []flow
	stats  *Stats
	mtu    int64
	source *source

	ackData   uint32 // the most that an acknowledgement brings
	controlTC uint8
	tells     bool // acknowledgements say more than the host does by itself
	backlog   backlog

	// The packet in hand.
	in       pdc.In
	res      pdc.Result
	request  ses.Request
	decision ses.Decision
	expected ses.Expected
	ack      ses.Reply
	response pdc.Response
	bytes    [pdc.ResponseMax]byte
}

// Stats counts what an endpoint has seen since it was made. Its manager has counters of
// its own, see [pdc.Stats].
type Stats struct {
	Broken    uint64 // messages of peers whose PDC ended before they were whole, each an [Event]
	StrayData uint64 // packets of read data that no message waited for
	Refused   uint64 // requests put off: too many answers under way, or too many completions not polled
	Shortages uint64 // requests of this side that a peer has put off so, see Config.Answers

	Mismatched uint64 // responses with another message_id or JobID than the packet that they answered
}

// Stats returns the counters.
func (e *Endpoint) Stats() Stats {
	s := e.stats
	s.Mismatched = e.source.sender.Mismatched()
	return s
}

// String names the counters that are not 0.
func (s Stats) String() string { return counters.String(s) }

// Usage is how much of its memory an endpoint uses now. Everything is 0 when nothing
// is under way, the PDCs have closed, and all completions have been polled.
type Usage struct {
	Messages int // started here and in progress
	Events   int // completions to be polled
	Arriving int // messages of peers, of several packets, that are not whole yet
	Answers  int // reads and fetching atomics of peers being answered
	Buffered int // packets that wait for their turn, see [Endpoint.Replay]
	PDCs     int
	Waiting  int // messages that wait for a PDC
	RUDI     int // RUDI packets that wait for their response
	Contexts int // of congestion control
	Senders  int // peers' contexts that credit is scheduled for
}

// String names the counts that are not 0.
func (u Usage) String() string { return counters.String(u) }

// Usage counts, in time proportional to the number of contexts.
func (e *Endpoint) Usage() Usage {
	s := e.pds.Stats()
	u := Usage{
		Messages: e.source.sender.Messages(), Events: e.source.events.len(),
		Arriving: e.target.Messages(), Answers: e.source.answers.live, Buffered: e.pds.Buffered(),
		PDCs: int(s.Opened - s.Closed), Waiting: e.pds.Waiting(), RUDI: e.pds.RUDI(), Contexts: e.contexts.Stats().Live,
	}
	if e.credit != nil {
		u.Senders = e.credit.recv.Senders().Count()
	}
	return u
}

// ReplyMax returns the capacity that the Packet of a reply needs, bytes: [HeaderMax], or
// more if PDS.MaxAckData of the [Config] is above its default.
func (e *Endpoint) ReplyMax() int { return e.replyMax }

// PDS returns the manager of the PDCs, to look at one or to close it. What closing does to
// messages comes with the next Tick, which is then due at once.
func (e *Endpoint) PDS() *pdc.Manager { return e.pds }

// CC returns the manager of the congestion control contexts: to take snapshots, to plug in
// an algorithm, to change a mode. The context of a PDC is in its [pdc.Info]. Leave it to
// the endpoint to open contexts and to tell them events.
//
// Other goroutines may call [ccc.Manager.Refresh] once the endpoint's own has called
// [ccc.Manager.TryOwn], which succeeds, and calls [ccc.Manager.Drain] in its loop.
func (e *Endpoint) CC() *ccc.Manager { return e.cc }

// Target returns the side that peers' requests arrive at: to open memory and queues to them.
// Leave it to the endpoint to tell it of packets and errands.
func (e *Endpoint) Target() *ses.Target { return e.target }
