// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/uetcc/uetcc/internal/fifo"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// An Event is the end of a message started by the endpoint: exactly one for each.
//
// With Unpaused the Event says only that messages may be started again after
// [pdc.ErrPaused].
//
// With Received the Event is the end of a peer's message without further [Received]. Cookie
// is the receive buffer's or region's. Either the rest of a rendezvous send has been read,
// and Outcome.Length is the bytes in the buffer; or the PDC ended before the message was
// whole, and Outcome.Status is ses.StatusPDS.
//
// Of a failed read Outcome.Length is the number of bytes arrived and placed.
type Event struct {
	Message ses.Handle // 0 with Received
	Cookie  uint64
	Peer    netip.Addr // the peer; none with Unpaused
	Outcome ses.Outcome

	// Cause is the reason, with ses.StatusPDS; with Received CauseNone, if the peer closed
	// the PDC. Outcome.Cause has only the low eight bits, too few to tell the causes apart.
	Cause pdc.Cause

	// Nack is the peer's code, with CauseNack or a Cause that is such a code; 0: none.
	Nack pds.NackCode

	Unpaused   bool
	Received   bool
	HasData    bool // with Received: HeaderData is for the local completion
	HeaderData uint64
}

// Poll takes the oldest completion, or false. The end of a pause comes last, after all other
// completions.
func (e *Endpoint) Poll() (ev Event, ok bool) {
	s := &e.source
	if c := s.events.First(); c != nil {
		ev.Message, ev.Cookie, ev.Outcome, ev.Cause, ev.Nack = c.message, c.cookie, c.outcome, c.cause, c.nack
		ev.Received, ev.HasData, ev.HeaderData = c.received, c.hasData, c.headerData
		if c.peer != (pdc.Addr{}) {
			ev.Peer = c.peer.Netip()
		}
		s.events.Drop()
		return ev, true
	}
	if s.pause != pauseOver {
		return ev, false
	}
	s.pause, ev.Unpaused = pauseNone, true
	return ev, true
}

// pause says whether messages are kept from beginning because too many wait for a PDC:
// pds_pause of specification table 3-27.
type pause uint8

const (
	pauseNone pause = iota
	pauseOn         // a message was refused
	pauseOver       // and would not be now: Poll has to say so
)

// unpause notes that one message fewer waits for a PDC.
func (s *source) unpause() {
	if s.pause == pauseOn {
		s.pause = pauseOver
	}
}

// A completion is an [Event] without a pointer.
type completion struct {
	message    ses.Handle
	cookie     uint64
	headerData uint64
	peer       pdc.Addr
	outcome    ses.Outcome
	cause      pdc.Cause
	nack       pds.NackCode
	received   bool
	hasData    bool
}

// completions is a ring with room for the end of each message that can be in progress on both
// sides, and for half as many at least that have ended: a message begins only while no more wait.
type completions struct {
	fifo.Queue[completion]
	most int // that may wait when a message begins
}

func (r *completions) room() bool { return r.Len() < r.most }

// Errors wrapped by [Event.Err], by remedy.
var (
	ErrNoAnswer  = errors.New("uetcc: the peer does not answer")
	ErrPeerGone  = errors.New("uetcc: the peer has closed the PDC or begun again; the message may be sent again")
	ErrShortage  = errors.New("uetcc: the peer is short of memory")
	ErrNetwork   = errors.New("uetcc: the network loses the packets")
	ErrProtocol  = errors.New("uetcc: the peer takes the packets for wrong")
	ErrNoPDC     = errors.New("uetcc: no PDC or context was free")
	ErrAborted   = errors.New("uetcc: this side has given the PDC up")
	ErrCancelled = errors.New("uetcc: the message was cancelled")
	ErrRejected  = errors.New("uetcc: the message was refused")
	ErrTruncated = errors.New("uetcc: the receive buffer was shorter than the message")
)

// Err is nil if the message has ended well. Otherwise the text names the peer, the cause and the
// limiting setting, and the error wraps one of the errors above. Success allocates nothing.
func (ev *Event) Err() error {
	if ev.Outcome.Status <= ses.StatusOK {
		return nil
	}
	return &eventError{*ev}
}

// An eventError is the failure an [Event] tells of.
type eventError struct{ ev Event }

func (e *eventError) Error() string { return e.ev.String() }

func (e *eventError) Unwrap() error {
	_, kind := e.ev.why()
	return kind
}

// String tells of ev in a line.
func (ev Event) String() string {
	switch {
	case ev.Unpaused:
		return "uetcc: messages may be started again"
	case ev.Outcome.Status == ses.StatusNone:
		return "uetcc: no event"
	}
	way := "to"
	if ev.Received {
		way = "from"
	}
	s := fmt.Sprintf("uetcc: message %s %v", way, ev.Peer)
	if ev.Cookie != 0 {
		s += fmt.Sprintf(" (cookie %#x)", ev.Cookie)
	}
	s += ": "
	if ev.Outcome.Status == ses.StatusOK {
		return s + fmt.Sprintf("%d bytes", ev.Outcome.Length)
	}
	helps, kind := ev.why()
	s += fmt.Sprintf("%s after %d bytes: %s", ev.Outcome.Status, ev.Outcome.Length, kind.Error()[len("uetcc: "):])
	switch ev.Outcome.Status {
	case ses.StatusFailed:
		s += fmt.Sprintf(" (%v)", ev.Outcome.Code)
	case ses.StatusPDS:
		s += fmt.Sprintf(" (%v", ev.Cause)
		if ev.Cause == pdc.CauseNack {
			s += fmt.Sprintf(", %v", ev.Nack)
		}
		s += ")"
	}
	if helps != "" {
		s += "; see " + helps
	}
	return s
}

// helpsGone are the settings for a PDC that a peer has closed, other than by beginning again.
const helpsGone = "the peer's PDCs.General and PDS.IdleTime"

// why returns the kind of ev's failure, and the limiting settings.
func (ev *Event) why() (helps string, kind error) {
	switch ev.Outcome.Status {
	case ses.StatusTruncated:
		return "", ErrTruncated
	case ses.StatusFailed:
		return rejected(ev.Outcome.Code)
	}
	switch ev.Cause {
	case pdc.CauseRTO:
		return "PDS.RTOInit and PDS.MaxRTORetx", ErrNoAnswer
	case pdc.CauseMessageTimeout:
		return "MessageTimeout", ErrNoAnswer
	case pdc.CauseNoCredit:
		return "CC.Control and CC.TFC of both ends, which have to be alike", ErrNoAnswer
	case pdc.CausePending:
		return "PDCs.General, Contexts and PDS.PendTimeout", ErrNoPDC
	case pdc.CauseAborted:
		return "", ErrAborted
	case pdc.CauseNone, pdc.CauseClosed:
		return helpsGone, ErrPeerGone
	}
	code := ev.Nack
	if code == 0 && ev.Cause < 0x100 { // the cause is a code itself, where the peer is gone
		code = pds.NackCode(ev.Cause)
	}
	return refusal(code)
}

// rejected is why for a message the peer's semantic layer has refused, or the host whose memory holds the data.
func rejected(c ses.ReturnCode) (helps string, kind error) {
	switch c {
	case ses.RCCancelled:
		return "", ErrCancelled
	case ses.RCNoMatch, ses.RCDisabledGen:
		return "Retries and Backoff, and the buffers that the peer posts", ErrRejected
	case ses.RCHostPoisoned, ses.RCHostUnsuccessCmpl:
		return "Endpoint.Fail and Endpoint.Refuse, of the peer or here", ErrRejected
	case ses.RCOpViolation:
		return "the MTU of both ends and, with RUDI, Idempotent of the peer's region", ErrRejected
	case ses.RCUnsupportedOp, ses.RCAMOUnsupportedOp, ses.RCAMOUnsupportedDT:
		return "the peer's Target.Profile, Target.AtomicOps and Target.AtomicTypes", ErrRejected
	case ses.RCUnsupportedSize, ses.RCBadAddr, ses.RCPermViolation, ses.RCBadMKey:
		return "the region that the peer has registered", ErrRejected
	}
	return "", ErrRejected
}

// refusal is why for a NACK.
func refusal(c pds.NackCode) (helps string, kind error) {
	switch c {
	case pds.NackNoSESMsgAvail:
		return "the peer's Answers, Target.Messages and completions not polled, and PDS.MaxNackRetx here", ErrShortage
	case pds.NackNoGtdDelAvail:
		return "the peer's Memory.Responses, and PDS.MaxNackRetx here", ErrShortage
	case pds.NackNoPktBuffer:
		return "the peer's Memory.Buffers, and PDS.MaxNackRetx here", ErrShortage
	case pds.NackNoResource:
		return "PDS.MaxNackRetx", ErrShortage
	case pds.NackNoPDCAvail, pds.NackNoBitmap:
		return "the peer's PDCs.General, and PDS.MaxNackRetx here", ErrShortage
	case pds.NackNoCCCAvail:
		return "the peer's Contexts, and PDS.MaxNackRetx here", ErrShortage
	case pds.NackPSNOORWindow:
		return "PDS.DefaultMPR here, which is beyond the peer's PDS.Range", ErrShortage
	case pds.NackTrimmed, pds.NackTrimmedLastHop, pds.NackTrimmedACK, pds.NackRODOOO, pds.NackRcvrInferLoss, pds.NackPktNotRcvd:
		return "PDS.MaxNackRetx", ErrNetwork
	case pds.NackInvDPDCID, pds.NackPDCHdrMismatch, pds.NackClosing, pds.NackClosingInErr:
		return helpsGone, ErrPeerGone
	case pds.NackNewStartPSN:
		return "PDS.Start and PDS.NewPDCTime of the peer", ErrProtocol
	}
	return "", ErrProtocol
}

// LogValue is ev for package log/slog: a group of those attributes that say something. The text of
// [Event.Err] is err, so that a handler may file an event by its peer, status and cause.
func (ev Event) LogValue() slog.Value {
	if ev.Unpaused {
		return slog.GroupValue(slog.Bool("unpaused", true))
	}
	attrs := []slog.Attr{
		slog.String("peer", ev.Peer.String()), slog.Bool("received", ev.Received), slog.Uint64("cookie", ev.Cookie),
		slog.String("status", ev.Outcome.Status.String()), slog.Uint64("bytes", uint64(ev.Outcome.Length)),
	}
	if ev.Message != 0 {
		attrs = append(attrs, slog.Uint64("message", uint64(ev.Message)))
	}
	if ev.HasData {
		attrs = append(attrs, slog.Uint64("header_data", ev.HeaderData))
	}
	if ev.Outcome.Status == ses.StatusFailed {
		attrs = append(attrs, slog.String("code", ev.Outcome.Code.String()))
	}
	if ev.Cause != pdc.CauseNone {
		attrs = append(attrs, slog.String("cause", ev.Cause.String()))
	}
	if ev.Nack != 0 {
		attrs = append(attrs, slog.String("nack", ev.Nack.String()))
	}
	if err := ev.Err(); err != nil {
		attrs = append(attrs, slog.String("err", err.Error()))
	}
	return slog.GroupValue(attrs...)
}
