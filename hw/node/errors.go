package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/pds/pdc"
	"github.com/uetcc/uetcc/ses"
)

// What an operation may end with, beside the errors of its context. All are wrapped by an [*Error].
var (
	ErrClosed    = net.ErrClosed                                                     // this node was closed
	ErrPeer      = errors.New("node: not a peer")                                    // the address cannot be one
	ErrSilent    = errors.New("node: the peer does not answer")                      // time-outs exhausted
	ErrRestarted = errors.New("node: the peer has started again or given up")        // what was under way is lost
	ErrRefused   = errors.New("node: the peer refuses")                              // wrapped with its reason
	ErrBusy      = errors.New("node: no room to reach the peer")                     // at this end, or at the peer's
	ErrTruncated = errors.New("node: message longer than its receive buffer")        // both ends are told
	ErrAnyPeer   = errors.New("node: with several shards a Recv has to name a peer") // see Options.Shards
	ErrRange     = errors.New("node: too long")                                      // of Data
)

// An Error is why an operation with a peer failed.
type Error struct {
	Op   Kind
	Peer netip.AddrPort
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("node: %v with %v: %v", e.Op, e.Peer, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// outcome is what the end of a message means.
func outcome(ev *uetcc.Event) error {
	switch ev.Outcome.Status {
	case ses.StatusOK:
		return nil
	case ses.StatusTruncated:
		return ErrTruncated
	case ses.StatusFailed:
		return fmt.Errorf("%w: %v", ErrRefused, ev.Outcome.Code)
	}
	switch ev.Cause {
	case pdc.CauseRTO, pdc.CauseMessageTimeout, pdc.CauseNoCredit:
		return fmt.Errorf("%w: %v", ErrSilent, ev.Cause)
	case pdc.CausePending, pdc.CauseNack:
		return fmt.Errorf("%w: %v", ErrBusy, ev.Cause)
	}
	return fmt.Errorf("%w: %v", ErrRestarted, ev.Cause)
}
