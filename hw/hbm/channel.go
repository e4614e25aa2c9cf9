// SPDX-License-Identifier: Apache-2.0

package hbm

import (
	"math"

	"github.com/uetcc/uetcc/internal/deadline"
)

// channel is one channel with its waiting requests and the request under transfer.
type channel struct {
	queues []queue // by requester
	banks  []int64 // when each is usable again
	turn   int     // requester after the one served last
	busy   bool
	cur    pending
	who    int
	start  int64
	finish int64
}

// queue is the ring of one requester's requests at one channel.
type queue struct {
	ring    []pending
	head, n int
}

type pending struct {
	tag   uint64
	bytes int64
	bank  int
	at    int64
}

func newChannel(c *Config) channel {
	ch := channel{queues: make([]queue, c.Requesters), banks: make([]int64, c.Banks)}
	for i := range ch.queues {
		ch.queues[i].ring = make([]pending, c.Depth)
	}
	for i := range ch.banks {
		ch.banks[i] = math.MinInt64 // usable whenever the clock begins
	}
	return ch
}

// push adds a request; the queue must not be full.
func (q *queue) push(p pending) {
	q.ring[(q.head+q.n)%len(q.ring)] = p
	q.n++
}

// pop takes the oldest request; the queue must not be empty.
func (q *queue) pop() pending {
	p := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return p
}

// dispatch starts a request on the channel, free at time now, if any request waits.
func (ch *channel) dispatch(c *Config, now int64) {
	who, start := ch.choose(now)
	if who < 0 {
		return
	}
	ch.cur = ch.queues[who].pop()
	ch.busy, ch.who, ch.turn, ch.start = true, who, (who+1)%len(ch.queues), start
	ch.finish = deadline.After(start, transfer(ch.cur.bytes, c.Rate))
	ch.banks[ch.cur.bank] = deadline.After(ch.finish, c.BankBusy)
}

// choose returns the requester served next and the start time that the bank allows,
// or -1. Requests that can start now go before requests whose bank is busy; equals take
// turns.
func (ch *channel) choose(now int64) (who int, start int64) {
	who = -1
	for n := range ch.queues {
		r := (ch.turn + n) % len(ch.queues)
		q := &ch.queues[r]
		if q.n == 0 {
			continue
		}
		p := &q.ring[q.head]
		ready := max(now, ch.banks[p.bank])
		if who < 0 || ready < start {
			who, start = r, ready
		}
	}
	return who, start
}

// transfer returns how long a channel of the given rate is busy with bytes, 1 to maxBytes,
// rounded up.
func transfer(bytes, rate int64) int64 { return (bytes*1e9-1)/rate + 1 }
