// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/bench/internal/stream"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/node"
	"github.com/uetcc/uetcc/internal/meter"
)

// Tags of -ask.
const (
	askTag    = 1
	answerTag = 2
)

// options of a node, from the command line's.
func (o *options) node() node.Options {
	return node.Options{
		MTU: int(o.mtu), Paths: o.paths, Shards: o.shards, Peers: 256,
		Endpoint: func(c *uetcc.Config) {
			if o.capture != nil {
				c.Tap = o.capture.now
			}
			control := controls[o.cc]
			c.CC.Control, c.CC.Mode = control.control, control.mode
			if o.rate > 0 {
				c.CC.NSCC.LinkRate = o.bytesPerSecond()
			}
			if o.rtt > 0 {
				c.CC.NSCC.BaseRTT = int64(o.rtt)
			}
			if o.cwnd > 0 {
				c.CC.NSCC.InitialCwnd = o.cwnd
			}
		},
	}
}

// withPort puts -port to an address, or a name, without a port.
func (o *options) withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(address, strconv.Itoa(int(o.port)))
}

// serve is the far end, until stopped.
func (o *options) serve(r *report, stop <-chan struct{}) error {
	if o.proto == "tcp" {
		return o.serveTCP(r, stop)
	}
	n, err := node.Listen(o.withPort(o.listen), o.node())
	if err != nil {
		return fmt.Errorf("-listen %s: %w", o.listen, err)
	}
	defer n.Close()
	if _, err := n.Expose(make([]byte, int64(o.depth)*o.message)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.shards <= 1 {
		for range 64 {
			if err := o.answer(ctx, n); err != nil {
				return err
			}
		}
	}
	r.listening(n.Addr())
	r.watch(o, stop, func() int64 { return int64(n.Stats().ReceivedBytes) })
	r.node(n)
	return nil
}

// answer answers requests in turn with as many bytes.
func (o *options) answer(ctx context.Context, n *node.Node) error {
	buffer := make([]byte, min(o.message, askMax))
	question, answer := &node.Op{}, &node.Op{}
	again := func(*node.Op) {
		*question = node.Op{Kind: node.OpRecv, Tag: askTag, Data: buffer, Done: question.Done}
		_ = n.Start(ctx, question) // after Close it ends at once
	}
	question.Done = func(q *node.Op) {
		if errors.Is(q.Err, node.ErrClosed) {
			return
		}
		if q.Err != nil { // such as a request longer than the buffer
			again(nil)
			return
		}
		*answer = node.Op{Kind: node.OpSend, Peer: q.Peer, Tag: answerTag, Data: buffer[:q.N], Done: again}
		if n.Start(ctx, answer) != nil {
			again(nil)
		}
	}
	*question = node.Op{Kind: node.OpRecv, Tag: askTag, Data: buffer, Done: question.Done}
	return n.Start(ctx, question)
}

// drive is the near end: as many flows as -P says, each with a separate node.
func (o *options) drive(r *report, stop <-chan struct{}) error {
	var moved atomic.Int64
	flows := make([]flow, o.flows)
	for i := range flows {
		f := &flows[i]
		if err := f.open(o, i); err != nil {
			return err
		}
		defer f.close()
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	for i := range flows {
		all.Go(func() { flows[i].run(o, &moved, stop) })
	}
	go func() {
		all.Wait()
		close(over)
	}()
	r.watch(o, over, moved.Load)
	for i := range flows {
		r.flow(&flows[i])
	}
	return nil
}

// A flow is a node, or a connection, and the outcome of the job.
type flow struct {
	node   *node.Node
	conn   net.Conn
	peer   netip.AddrPort
	local  string
	result stream.Result
	err    error
}

func (f *flow) open(o *options, i int) (err error) {
	if o.proto == "tcp" {
		if f.conn, err = net.Dial("tcp", o.withPort(o.connect)); err == nil {
			f.local = f.conn.LocalAddr().String()
		}
		return err
	}
	to, err := net.ResolveUDPAddr("udp", o.withPort(o.connect))
	if err != nil {
		return fmt.Errorf("-connect %s: %w", o.connect, err)
	}
	f.peer = netip.AddrPortFrom(to.AddrPort().Addr().Unmap(), uint16(to.Port))
	from, err := o.localAddress(f.peer, i)
	if err != nil {
		return err
	}
	if f.node, err = node.Listen(from.String(), o.node()); err != nil {
		return err
	}
	f.local = f.node.Addr().String()
	_, err = f.node.Peer(f.peer.String())
	return err
}

func (f *flow) close() {
	if f.conn != nil {
		_ = f.conn.Close()
	}
	if f.node != nil {
		_ = f.node.Close()
	}
}

// held is the time that data of the flow waited, us by reason, nil if none.
func (f *flow) held() (us map[string]float64) {
	meter.New(f.node).Read(func(p meter.Point) {
		if p.Name == "held" && p.Is != ccc.ReasonBacklog.String() && p.Value > 0 {
			if us == nil {
				us = map[string]float64{}
			}
			us[p.Is] = p.Value * 1e6
		}
	})
	return us
}

// localAddress is the source address of packets to peer. For a peer at UET's port the local port is
// the same, with a different address.
func (o *options) localAddress(peer netip.AddrPort, i int) (netip.AddrPort, error) {
	port := uint16(0)
	if peer.Port() == uetPort || o.paths > 1 {
		port = peer.Port()
		if i > 0 {
			return netip.AddrPort{}, fmt.Errorf("-P %d: at port %d one address is one flow; set another -port, and -paths 1", o.flows, port)
		}
	}
	if o.from != "" {
		a, err := netip.ParseAddr(o.from)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("-from %q, want an IP address of this machine", o.from)
		}
		return netip.AddrPortFrom(a, port), nil
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(peer)) // sends nothing
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer c.Close()
	a := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if a == peer.Addr() && port == peer.Port() {
		return netip.AddrPort{}, fmt.Errorf("-connect %v is where this end would be, too: set -from to another address", peer)
	}
	return netip.AddrPortFrom(a, port), nil
}

// job is the work of each flow.
func (o *options) job() stream.Job {
	j := stream.Job{Message: o.message, Depth: o.depth, Ask: o.ask, Bytes: o.bytes}
	if o.seconds > 0 {
		j.Bytes, j.Time = 0, time.Duration(o.seconds*1e9)
	}
	return j
}

// run does the flow's job.
func (f *flow) run(o *options, moved *atomic.Int64, stop <-chan struct{}) {
	if f.conn != nil {
		f.result, f.err = stream.Drive(f.conn, o.job(), moved, stop)
		return
	}
	j, began := o.job(), time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.ask {
		f.err = f.askAll(ctx, j, moved, stop)
	} else {
		f.err = f.writeAll(ctx, o, j, moved, stop)
	}
	f.result.Took = time.Since(began)
}

// askMax is the longest message of -ask, bytes: what the far end has room for.
const askMax = 1 << 20

// answerWait is how long an answer may take.
const answerWait = 10 * time.Second

// askAll sends requests and waits for the answers, but no longer than for the request's failure, or for
// stop.
func (f *flow) askAll(ctx context.Context, j stream.Job, moved *atomic.Int64, stop <-chan struct{}) error {
	began, data, back := time.Now(), make([]byte, j.Message), make([]byte, j.Message)
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	go func() {
		select {
		case <-stop:
			giveUp()
		case <-ctx.Done():
		}
	}()
	late := time.AfterFunc(answerWait, giveUp)
	defer late.Stop()
	asked := make(chan error, 1)
	question, answer := &node.Op{}, &node.Op{}
	for !j.Over(began, f.result.Bytes, stop) {
		at := time.Now()
		late.Reset(answerWait)
		*question = node.Op{Kind: node.OpSend, Peer: f.peer, Tag: askTag, Data: data, Done: func(q *node.Op) {
			if asked <- q.Err; q.Err != nil {
				giveUp()
			}
		}}
		if err := f.node.Start(ctx, question); err != nil {
			return err
		}
		answer.Kind, answer.Peer, answer.Tag, answer.Data = node.OpRecv, f.peer, answerTag, back
		err := f.node.Do(ctx, answer)
		select {
		case <-stop:
			return nil // the last answer is not worth a wait
		default:
		}
		if err == nil {
			err = <-asked
		} else if len(asked) > 0 {
			err = cmp.Or(<-asked, fmt.Errorf("no answer within %v: %w", answerWait, err))
		}
		if err != nil {
			return err
		}
		f.result.Note(j.Message, time.Since(at))
		moved.Add(j.Message)
	}
	return nil
}

// writeAll writes or reads messages, some at a time.
func (f *flow) writeAll(ctx context.Context, o *options, j stream.Job, moved *atomic.Int64, stop <-chan struct{}) error {
	type slot struct {
		node.Op
		at time.Time
	}
	slots, ended := make([]slot, j.Depth), make(chan struct{})
	began, next, left := time.Now(), int64(0), j.Depth
	var mu sync.Mutex // guards all below: the first operations begin beside the ends of others
	var failed error
	begin := func(s *slot) bool {
		if failed != nil || next > 0 && j.Over(began, next, stop) {
			return false
		}
		s.at = time.Now()
		next += j.Message
		failed = f.node.Start(ctx, &s.Op)
		return failed == nil
	}
	done := func() {
		if left--; left == 0 {
			close(ended)
		}
	}
	for i := range slots {
		s := &slots[i]
		s.Op = node.Op{Kind: node.OpWrite, Peer: f.peer, At: node.At{Offset: uint64(int64(i) * j.Message)}, Data: pattern(j.Message, i)}
		if o.reverse {
			s.Kind = node.OpRead
		}
		s.Done = func(*node.Op) {
			mu.Lock()
			defer mu.Unlock()
			if s.Err == nil {
				f.result.Note(j.Message, time.Since(s.at))
				moved.Add(j.Message)
			} else {
				failed = s.Err
			}
			if !begin(s) {
				done()
			}
		}
	}
	for i := range slots {
		mu.Lock()
		if !begin(&slots[i]) {
			done()
		}
		mu.Unlock()
	}
	<-ended
	return failed
}

// pattern is message i: no two packets are alike.
func pattern(n int64, i int) []byte {
	b, x := make([]byte, n), uint32(i)
	for j := range b {
		x = x*1664525 + 1013904223
		b[j] = byte(x >> 24)
	}
	return b
}

// serveTCP is the far end of kernel TCP.
func (o *options) serveTCP(r *report, stop <-chan struct{}) error {
	l, err := net.Listen("tcp", o.withPort(o.listen))
	if err != nil {
		return fmt.Errorf("-listen %s: %w", o.listen, err)
	}
	defer l.Close()
	var moved atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = stream.Serve(counted{c, &moved})
			}()
		}
	}()
	r.listening(l.Addr())
	r.watch(o, stop, moved.Load)
	return nil
}

// counted is a connection that counts the bytes read.
type counted struct {
	net.Conn
	moved *atomic.Int64
}

func (c counted) Read(b []byte) (n int, err error) {
	n, err = c.Conn.Read(b)
	c.moved.Add(int64(n))
	return n, err
}
