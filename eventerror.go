// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"errors"
	"fmt"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

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
	ErrRejected  = errors.New("uetcc: the peer has refused the message")
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
	s := fmt.Sprintf("uetcc: message %s %v (cookie %#x): ", way, ev.Peer, ev.Cookie)
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
		return "", ErrPeerGone
	}
	code := ev.Nack
	if code == 0 && ev.Cause < 0x100 { // the cause is a code itself, where the peer is gone
		code = pds.NackCode(ev.Cause)
	}
	return refusal(code)
}

// rejected is why for a message the peer's semantic layer has refused.
func rejected(c ses.ReturnCode) (helps string, kind error) {
	switch c {
	case ses.RCCancelled:
		return "", ErrCancelled
	case ses.RCNoMatch, ses.RCDisabledGen:
		return "Retries and Backoff, and the buffers that the peer posts", ErrRejected
	case ses.RCOpViolation:
		return "the MTU of both ends", ErrRejected
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
		return "", ErrPeerGone
	case pds.NackNewStartPSN:
		return "PDS.Start and PDS.NewPDCTime of the peer", ErrProtocol
	}
	return "", ErrProtocol
}
