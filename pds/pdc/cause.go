// SPDX-License-Identifier: Apache-2.0

package pdc

import (
	"errors"

	"github.com/uetcc/uetcc/pds"
)

// Cause is the reason that a packet or a PDC failed: a [pds.NackCode], or a Cause
// below.
type Cause uint16

const (
	CauseNone    Cause = 0            // no failure
	CauseRTO     Cause = 0x100 + iota // retransmission timeouts exhausted
	CauseNack                         // resends caused by NACKs exhausted
	CausePending                      // no PDC became free in Pend_Timeout
	CauseClosed                       // the PDC closed before the packet was sent
	CauseAborted                      // the caller gave the PDC up

	// Of the layer above, for messages without progress for too long.
	CauseMessageTimeout // the awaited event has not come
	CauseNoCredit       // one end has not granted the other credit: maybe under a different congestion control
)

// String returns the cause in words.
func (c Cause) String() string {
	switch c {
	case CauseNone:
		return "none"
	case CauseRTO:
		return "timeouts exhausted"
	case CauseNack:
		return "NACK resends exhausted"
	case CausePending:
		return "no PDC in time"
	case CauseClosed:
		return "PDC closed"
	case CauseAborted:
		return "aborted"
	case CauseMessageTimeout:
		return "no progress in MessageTimeout"
	case CauseNoCredit:
		return "no credit between the two"
	default:
		return pds.NackCode(c).String()
	}
}

// Errors of the work with packets and messages.
var (
	// ErrConfig is wrapped by every error about a configuration; the text names the field and
	// the limit.
	ErrConfig = errors.New("pdc: invalid configuration")

	ErrDuplicate = errors.New("pdc: packet has arrived before")
	ErrOrder     = errors.New("pdc: packet of an ordered PDC ahead of a gap")
	ErrTrimmed   = errors.New("pdc: packet was trimmed") // by a switch
	ErrStale     = errors.New("pdc: speaks of something that is over")

	// ErrPaused: as many messages wait for a PDC as may (pds_pause).
	ErrPaused = errors.New("pdc: no PDC, and too many messages wait for one")

	// ErrShortBuffer: too little room for a reply.
	ErrShortBuffer = errors.New("pdc: buffer shorter than ReplyMax")

	// ErrEvents: there is no room for the events of one more packet; fetch completions first.
	ErrEvents = errors.New("pdc: events not drained")
)
