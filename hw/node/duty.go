// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"sync/atomic"
	"time"
)

// A duty names the taker of a shard's turns: the shard's goroutine, or a caller blocking alone. Such
// a caller waits at the port directly, so no goroutine has to wake a second between packet and
// answer. The goroutine hands the turns to a caller served twice in a row with nothing else under
// way. Between two operations of the caller nobody has the turns: until grace is over, packets wait
// for the next operation.
type duty struct {
	holder  atomic.Int32  // holderShard, holderNobody or holderCaller
	blocked atomic.Int32  // callers that wait
	flights atomic.Uint64 // turns taken by callers in a row, each until the end of an operation
	back    chan struct{} // the goroutine is needed

	// The goroutine's own.
	timer *time.Timer
	ended int64 // when somebody's operation was over, and left nothing under way
	skip  int   // offers not to make: a wait was in vain
}

const (
	holderShard int32 = iota
	holderNobody
	holderCaller
)

const (
	grace     = int64(500 * time.Microsecond)
	flightMax = int64(20 * time.Millisecond) // of one caller; a longer wait ends with a wake-up
	skipMost  = 64
)

// offer gives the turns away after a caller was told, if sensible, and reports whether.
func (s *shard) offer() bool {
	d := &s.duty
	if len(s.places) > 0 {
		return false
	}
	now := s.node.now()
	brisk := now-d.ended < grace
	d.ended = now
	if brisk && d.skip > 0 {
		d.skip--
		return false
	}
	if !brisk {
		return false
	}
	s.mu.Lock()
	s.waits = false
	s.mu.Unlock()
	d.holder.Store(holderNobody)
	return len(s.places) == 0 || !d.holder.CompareAndSwap(holderNobody, holderShard) // a caller was faster
}

// rest leaves the turns to callers for a while, and takes the turns back when no caller has come.
func (s *shard) rest() {
	d := &s.duty
	flights := d.flights.Load()
	d.timer.Reset(time.Duration(grace))
	select {
	case <-d.back:
	case <-d.timer.C:
		if d.flights.Load() != flights {
			return
		}
	}
	if d.holder.CompareAndSwap(holderNobody, holderShard) && len(s.places) > 0 {
		d.skip = skipMost
	}
}

// fly takes the turns for a caller until op is over, and reports whether op is over. If not, the
// caller has to wait for the end.
func (s *shard) fly(ctx context.Context, op *Op) (over bool) {
	d := &s.duty
	if d.blocked.Add(1) > 1 || !d.holder.CompareAndSwap(holderNobody, holderCaller) {
		return false
	}
	if over = s.turns(ctx, op); over {
		d.blocked.Add(-1)
	}
	s.mu.Lock()
	s.waits = false
	s.mu.Unlock()
	d.flights.Add(1)
	d.holder.Store(holderNobody)
	if !over || d.blocked.Load() > 0 || len(s.places) > 0 || s.node.closed.Load() {
		select {
		case d.back <- struct{}{}:
		default:
		}
	}
	return over
}

// turns takes turns until op is over, ctx is, or flightMax has passed.
func (s *shard) turns(ctx context.Context, op *Op) bool {
	s.mu.Lock()
	now, err := s.node.now(), error(nil)
	if s.held > 0 {
		err = s.flush(now)
	}
	timeout, room := s.arm(now), len(s.waiting) > 0
	s.waits = timeout != 0
	s.mu.Unlock()
	for began := now; ; now = s.node.now() {
		select {
		case <-op.over:
			return true
		default:
		}
		if ctx.Err() != nil || now-began > flightMax {
			return false
		}
		if timeout < 0 || timeout > lingerTime {
			timeout = lingerTime
		}
		if !s.wait(timeout, room, err) {
			return false
		}
		timeout, room, _, err = s.work()
	}
}
