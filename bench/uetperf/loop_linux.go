// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/uetcc/uetcc/hw/udp"
)

// A party is an owner of ports with work from time to time.
type party interface {
	openings() []*opening // that it receives at
	step(now int64) error
	deadline() (at int64, ok bool) // of the next step, if nothing comes before
}

// A loop steps parties in turn, on one thread. Single writer.
type loop struct {
	parties []party
	ports   []*udp.Port
	polls   []unix.PollFd // by port
	began   time.Time

	// With steady, time stands still while the machine runs other processes: events inside
	// the process then do not depend on the machine's load. Time is the time passed, ns.
	steady     bool
	time, seen int64
	stall      int64 // without steady, the longest that this process was late, ns
}

// stepTime is the most that counts of the time between two looks at a steady clock: during a
// longer step the processor was elsewhere.
const stepTime = int64(50 * time.Microsecond)

func newLoop(parties ...party) *loop {
	l := &loop{began: time.Now(), parties: parties}
	for _, p := range parties {
		for _, o := range p.openings() {
			packets, _ := o.Descriptors() // nobody rings
			l.ports = append(l.ports, o.Port)
			l.polls = append(l.polls, unix.PollFd{Fd: int32(packets), Events: unix.POLLIN})
		}
	}
	return l
}

// now is the time, ns.
func (l *loop) now() int64 { return l.pass(stepTime) }

// pass lets the time since the last call pass, but with steady no more than most.
func (l *loop) pass(most int64) int64 {
	t := int64(time.Since(l.began))
	d := t - l.seen
	if l.steady {
		d = min(d, most)
	} else {
		l.stall = max(l.stall, d-most)
	}
	l.seen = t
	l.time += d
	return l.time
}

// run steps until done reports true. done is called at least ten times a second.
func (l *loop) run(done func(now int64) bool) error {
	for {
		for _, p := range l.parties {
			if err := p.step(l.now()); err != nil {
				return err
			}
		}
		now := l.now()
		if done(now) {
			return nil
		}
		if err := l.wait(now); err != nil {
			return err
		}
	}
}

// wait returns when a packet has come or something is due. The kernel's clock, unlike the
// runtime's timers, has much less than a millisecond for a tick.
func (l *loop) wait(now int64) error {
	rest := int64(100 * time.Millisecond)
	for _, p := range l.parties {
		if at, ok := p.deadline(); ok {
			rest = min(rest, at-now)
		}
	}
	for _, p := range l.ports {
		if p.More() {
			rest = 0
		}
	}
	rest = max(rest, 0)
	timeout := unix.NsecToTimespec(rest)
	n, err := unix.Ppoll(l.polls, &timeout, nil)
	if n > 0 && l.steady {
		rest = 0 // what has come was sent before the wait
	}
	l.pass(rest)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	for i := range l.polls {
		if err == nil && n > 0 && l.polls[i].Revents&^unix.POLLIN != 0 {
			err = l.ports[i].Wait(0, false)
		}
	}
	return err
}
