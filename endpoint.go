// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/counters"
	"github.com/uetcc/uetcc/internal/list"
	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/timerwheel"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// HeaderMax is the room the headers of any packet need, bytes: a request
// with a credit target and a compare-and-swap.
const HeaderMax = pds.RequestCCLen + ses.StandardLen + ses.CompareSwapLen

// An Endpoint is one fabric endpoint: the semantic sublayer, the PDS manager and
// congestion control put together. An Endpoint does no I/O, reads no clock, never touches
// payload memory, and allocates nothing after [NewEndpoint]. See the package comment for the
// loop around the Endpoint.
//
// now is nanoseconds of a monotonic clock in every call, 0 or more and below 2^62. Single
// writer, and not to be copied.
type Endpoint struct {
	pds      *pdc.Manager
	cc       *ccc.Manager
	contexts *ccc.Table
	credit   *creditor // nil: no receiver credit
	target   *msg.Target
	flows    []flow // by PDCID; 0 is for all RUDI packets

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
}

// A source is the half of an Endpoint that sends: local messages, and the data asked for by
// peers, on the way into the manager of the PDCs and until the end.
type source struct {
	pds    *pdc.Manager
	target *msg.Target
	credit *creditor
	flows  []flow
	leads  []lead // by PDCID
	stats  *Stats
	local  pdc.Addr
	mtu    int64

	sender      *msg.Initiator
	messages    []message // by the slot of their handle
	asking      []asking  // by PDCID
	unanswered  []asked   // by the slot of a message, see asks
	key         pdc.InitiatorKey
	overhead    int64                // nominal size of a packet without semantic header and payload
	submitAhead int16                // see submitLow
	queued      list.Links[uint16]   // messages, by entry: in flow.messages or unsent
	unsent      list.List[uint16]    // datagrams
	starving    list.Links[uint16]   // by PDCID, in starved
	starved     [3]list.List[uint16] // flows waiting for the manager's memory
	starves     int                  // in starved
	retries     *timerwheel.Wheel    // messages to be sent again later
	hand        hand                 // ends messages without progress
	answers     answers              // reads and atomics being answered
	events      completions          // for Poll
	pause       pause
	want        [16]pdc.Addr       // see wanting
	fetching    list.Links[uint16] // in flow.fetches
	reading     list.Links[uint16] // in flow.readers
	tx          msg.TxReq
	op          msg.Operation
	batch       pdc.Batch

	// Rendezvous and deferrable sends, continued later by the two sides.
	lendTag  uint64     // upper half of the keys of lent regions
	lending  int        // messages with a lent region
	answerTC uint8      // traffic class of errands
	errand   msg.Errand // the errand in hand

	errands, errandRoom int // errands in progress, and the most allowed
}

// A receiver is the half of an Endpoint that takes packets in: judging requests of peers,
// and answering.
type receiver struct {
	pds    *pdc.Manager
	target *msg.Target
	credit *creditor
	flows  []flow
	stats  *Stats
	mtu    int64
	source *source

	ackData   uint32 // the most data in an acknowledgement
	controlTC uint8
	tells     bool // acknowledgements say more than the host does by itself
	backlog   backlog

	// The packet in hand.
	in       pdc.In
	res      pdc.Result
	request  ses.Request
	decision msg.Decision
	expected msg.Expected
	ack      ses.Reply
	response pdc.Response
	bytes    [pdc.ResponseMax]byte
}

// Stats counts the events of an endpoint since creation. The manager has further counters,
// see [pdc.Stats].
type Stats struct {
	Broken    uint64 // messages of peers cut off by the end of the PDC, each an [Event]
	StrayData uint64 // packets of read data without a waiting message
	Refused   uint64 // requests put off: too many answers under way, or too many completions not polled
	Shortages uint64 // local requests put off by a peer for want of memory, see Config.Answers

	Mismatched uint64 // responses with a message_id or JobID other than the answered packet's
}

// Stats returns the counters.
func (e *Endpoint) Stats() Stats {
	s := e.stats
	s.Mismatched = e.source.sender.Mismatched()
	return s
}

// String names the counters other than 0.
func (s Stats) String() string { return counters.String(s) }

// Usage is the memory of an endpoint in use now. All fields are 0 when nothing
// is under way, the PDCs have closed, and all completions have been polled.
type Usage struct {
	Messages int // started here and in progress
	Events   int // completions to be polled
	Arriving int // messages of peers, of several packets, not whole yet
	Pending  int // rendezvous and deferrable sends of peers that await their data
	Answers  int // reads and fetching atomics of peers being answered
	Buffered int // packets waiting for a turn, see [Endpoint.Replay]
	PDCs     int
	Waiting  int // messages waiting for a PDC
	RUDI     int // RUDI packets waiting for a response
	Contexts int // of congestion control
	Senders  int // peers' contexts with scheduled credit
}

// String names the counts other than 0.
func (u Usage) String() string { return counters.String(u) }

// Usage counts, in time proportional to the number of contexts.
func (e *Endpoint) Usage() Usage {
	s := e.pds.Stats()
	contexts, _ := e.contexts.Stats()
	u := Usage{
		Messages: e.source.sender.Messages(), Events: e.source.events.Len(),
		Arriving: e.target.Messages(), Pending: e.target.Pending(), Answers: e.source.answers.live, Buffered: e.pds.Buffered(),
		PDCs: int(s.Opened - s.Closed), Waiting: e.pds.Waiting(), RUDI: e.pds.RUDI(), Contexts: contexts,
	}
	if e.credit != nil {
		u.Senders = e.credit.recv.Senders().Count()
	}
	return u
}

// ReplyMax returns the capacity needed by the Packet of a reply, bytes: [HeaderMax], or more
// if PDS.MaxAckData of the [Config] is above the default.
func (e *Endpoint) ReplyMax() int { return e.replyMax }

// CC returns the manager of the congestion control contexts: to take snapshots, to plug in
// an algorithm, to change a mode. The context of a PDC is in its [pdc.Info]. Only the
// endpoint opens contexts and reports events.
//
// Other goroutines may call [ccc.Manager.Refresh] once the endpoint's own has called
// [ccc.Manager.TryOwn], with success, and calls [ccc.Manager.Drain] in its loop.
func (e *Endpoint) CC() *ccc.Manager { return e.cc }
