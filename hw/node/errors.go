// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Errors of operations, besides the context's errors, errors of [uetcc.Event.Err], such as
// [uetcc.ErrNoAnswer] and [uetcc.ErrPeerGone], and errors of package port. Each is wrapped by an
// [*Error].
var (
	ErrClosed  = net.ErrClosed                                                     // the node was closed
	ErrPeer    = errors.New("node: not a peer")                                    // the address cannot be a peer's
	ErrAnyPeer = errors.New("node: with several shards a Recv has to name a peer") // see Options.Shards
	ErrRange   = errors.New("node: too long")                                      // of Data
)

// An Error is why an operation with a peer failed.
type Error struct {
	Op   Kind
	Peer netip.AddrPort
	Err  error
}

func (e *Error) Error() string {
	if e.Op == OpRecv && !e.Peer.IsValid() {
		return fmt.Sprintf("node: %v from anybody: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("node: %v with %v: %v", e.Op, e.Peer, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
