package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// A party is what has sockets and something to do from time to time.
type party interface {
	sockets() []*socket // that it receives on
	step(now int64) error
	deadline() (at int64, ok bool) // of the next step, if nothing comes before
}

// A loop steps parties in turn, on one thread.
type loop struct {
	began   time.Time
	parties []party
	polls   []unix.PollFd
	stall   int64 // the longest that this process was late, ns
}

func newLoop(parties ...party) *loop {
	l := &loop{began: time.Now(), parties: parties}
	for _, p := range parties {
		for _, s := range p.sockets() {
			l.polls = append(l.polls, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
		}
	}
	return l
}

func (l *loop) now() int64 { return int64(time.Since(l.began)) }

// run steps until done says so. It asks at least ten times a second.
func (l *loop) run(done func(now int64) bool) error {
	for {
		began := l.now()
		for _, p := range l.parties {
			if err := p.step(l.now()); err != nil {
				return err
			}
		}
		now := l.now()
		l.stall = max(l.stall, now-began)
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
	rest = max(rest, 0)
	timeout := unix.NsecToTimespec(rest)
	_, err := unix.Ppoll(l.polls, &timeout, nil)
	l.stall = max(l.stall, l.now()-now-rest)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}
