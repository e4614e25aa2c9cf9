// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"net/netip"
	"sync"

	"github.com/uetcc/uetcc/internal/enum"
	"github.com/uetcc/uetcc/ses"
)

// A Kind is the kind of an Op.
type Kind uint8

// The kinds.
const (
	OpWrite  Kind = iota // Data to At of the peer
	OpRead               // from At of the peer to Data
	OpSend               // Data to a Recv of the peer with the same Tag
	OpRecv               // a message with the same Tag to Data
	OpAtomic             // on the 8 bytes at At of the peer
)

// String returns the name.
func (k Kind) String() string {
	return enum.Name([]string{"write", "read", "send", "recv", "atomic"}, k)
}

// At is a place in a peer's exposed memory.
type At struct {
	Region Region
	Offset uint64
}

// An Op is one operation. The caller sets the fields marked in; the fields marked out are set at the
// end. Between, the memory of Data and the Op belong to the node. An ended Op may be used again.
type Op struct {
	Kind Kind           // in
	Peer netip.AddrPort // in; OpRecv: the sender, or anybody with the zero AddrPort; out: the actual sender
	At   At             // in: OpWrite, OpRead, OpAtomic
	Tag  uint32         // in: OpSend, OpRecv
	Data []byte         // in: up to ses.MaxMessage bytes

	// In: OpAtomic on an unsigned number of 64 bits. A compare and swap stores Operand where the
	// opcode's relation holds between Compare and the old value.
	Atomic           ses.AtomicOpcode
	Operand, Compare uint64

	// Done, if not nil, is called when the operation is over, by a goroutine of the node or of a
	// blocking caller, and must not block. Done may start operations, the same Op too; operations so
	// started are sent together.
	Done func(*Op)

	N   int    // out: bytes received
	Old uint64 // out: OpAtomic: the old value
	Err error  // out

	sh   *shard
	slot uint32
	gen  uint32
	over chan struct{}
	old  [8]byte
}

// Write writes data to a peer's exposed memory. Write returns when all of data has arrived.
func (n *Node) Write(ctx context.Context, peer netip.AddrPort, at At, data []byte) error {
	_, err := n.do(ctx, Op{Kind: OpWrite, Peer: peer, At: at, Data: data})
	return err
}

// Read reads a peer's exposed memory into data.
func (n *Node) Read(ctx context.Context, peer netip.AddrPort, at At, data []byte) error {
	_, err := n.do(ctx, Op{Kind: OpRead, Peer: peer, At: at, Data: data})
	return err
}

// Send sends data to a Recv of the peer with the same tag, from the node or from anybody. Send
// returns when data is in the receiver's buffer, however late the Recv comes, with [uetcc.ErrCancelled]
// when the receiver gives the Recv up half way. Several messages with the same tag may arrive in any
// order.
func (n *Node) Send(ctx context.Context, peer netip.AddrPort, tag uint32, data []byte) error {
	_, err := n.do(ctx, Op{Kind: OpSend, Peer: peer, Tag: tag, Data: data})
	return err
}

// Recv receives a message with the given tag into data, from a peer, or from anybody if peer is the
// zero AddrPort. Results are the bytes received and the sender. The error is [uetcc.ErrCancelled] when
// the sender gives the message up half way.
func (n *Node) Recv(ctx context.Context, peer netip.AddrPort, tag uint32, data []byte) (int, netip.AddrPort, error) {
	op, err := n.do(ctx, Op{Kind: OpRecv, Peer: peer, Tag: tag, Data: data})
	return op.N, op.Peer, err
}

// Atomic does an operation on 8 bytes of a peer's exposed memory, an unsigned number in the byte
// order of the peer's machine, and returns the old value. compare is for compare and swap alone.
func (n *Node) Atomic(ctx context.Context, peer netip.AddrPort, at At, code ses.AtomicOpcode, operand, compare uint64) (uint64, error) {
	op, err := n.do(ctx, Op{Kind: OpAtomic, Peer: peer, At: at, Atomic: code, Operand: operand, Compare: compare})
	return op.Old, err
}

// ops are Ops between two calls.
var ops = sync.Pool{New: func() any { return &Op{over: make(chan struct{}, 1)} }}

// do is Do for o in one of them, and returns o as it is then.
func (n *Node) do(ctx context.Context, o Op) (Op, error) {
	op := ops.Get().(*Op)
	o.over = op.over
	*op = o
	err := n.Do(ctx, op)
	o, *op = *op, Op{over: op.over}
	ops.Put(op)
	return o, err
}

// Do begins op, whose Done is nil, and waits for the end. When ctx ends first, so does op: the memory
// is the caller's again, with unknown effect at the peer: some of Data, all or none may have arrived.
// The error is also in op.Err.
func (n *Node) Do(ctx context.Context, op *Op) error {
	if op.over == nil {
		op.over = make(chan struct{}, 1)
	}
	op.Done = nil
	if err := n.Start(ctx, op); err != nil {
		return err
	}
	if op.sh.fly(ctx, op) {
		return op.Err
	}
	select {
	case <-op.over:
	case <-ctx.Done():
		op.Cancel(ctx.Err())
		<-op.over
	}
	op.sh.duty.blocked.Add(-1)
	return op.Err
}

// Start begins op, unless ctx has ended. While too many operations are under way Start waits, at most until the end of
// ctx. With an error, found also in op.Err, nothing has begun, and Done is not called.
func (n *Node) Start(ctx context.Context, op *Op) error {
	op.N, op.Old, op.Err = 0, 0, nil
	s, err := n.shardOf(op)
	if err == nil {
		err = s.enter(ctx)
	}
	if err == nil {
		if err = s.begin(op); err == nil {
			return nil
		}
		s.leave()
	}
	op.Err = &Error{op.Kind, op.Peer, err}
	return op.Err
}

// Cancel ends op with an error of the caller's, unless op is over. Never call Cancel before Start.
func (op *Op) Cancel(err error) {
	if op.sh != nil { // else Start has returned an error
		op.sh.cancel(op, err)
	}
}
