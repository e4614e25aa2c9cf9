// SPDX-License-Identifier: Apache-2.0

package llr

import (
	"cmp"
	"errors"
	"math"

	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/internal/deadline"
	"github.com/uetcc/uetcc/internal/enum"
)

// A Behavior says the fate of new frames while a link does not replay, in INIT and
// FLUSH.
type Behavior uint8

const (
	BehaviorBestEffort Behavior = iota // frames go unnumbered and are lost if damaged
	BehaviorBlock                      // frames wait
	BehaviorDiscard                    // frames are dropped
)

// String returns the name.
func (b Behavior) String() string { return enum.Name([]string{"BEST_EFFORT", "BLOCK", "DISCARD"}, b) }

// ErrConfig is wrapped by errors of the constructors and names the field.
var ErrConfig = errors.New("llr: invalid configuration")

// A Config describes a transmitter.
type Config struct {
	OutstandingFrames int   // outstanding_frames_max: most frames without acknowledgement, up to 2^19 (0: 2,047)
	OutstandingBytes  int64 // outstanding_data_max, bytes: link round trip x rate at least (0: no limit)
	ReplayTimer       int64 // replay_timer_max: ns without progress until a replay, and between two LLR_INIT: above a round trip and the spacing of ACKs
	ReplayMax         uint8 // replay_ct_max: replays without progress before the link gives up; 255: no limit (0: 1)
	DataAge           int64 // data_age_timer_max: ns a frame may wait for acknowledgement before the link gives up (0: no limit)

	Init, Flush     Behavior // init_behavior and flush_behavior: in stateInit and stateFlush
	ReInitOnDiscard bool     // re_init_on_discard: leave stateFlush unasked
}

func (c *Config) fill() {
	c.OutstandingFrames = cmp.Or(c.OutstandingFrames, 2047)
	c.OutstandingBytes = cmp.Or(c.OutstandingBytes, math.MaxInt64)
	c.ReplayMax = cmp.Or(c.ReplayMax, 1)
	c.DataAge = cmp.Or(c.DataAge, math.MaxInt64)
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Range(ErrConfig, "OutstandingFrames", c.OutstandingFrames, 1, half),
		check.AtLeast(ErrConfig, "OutstandingBytes", c.OutstandingBytes, 1),
		check.AtLeast(ErrConfig, "ReplayTimer", c.ReplayTimer, 1),
		check.AtLeast(ErrConfig, "DataAge", c.DataAge, 1),
		check.Range(ErrConfig, "Init", c.Init, 0, BehaviorDiscard),
		check.Range(ErrConfig, "Flush", c.Flush, 0, BehaviorDiscard),
	)
}

// state is the state of a transmitter.
type state uint8

const (
	stateOff     state = iota // nothing is numbered
	stateInit                 // LLR_INIT is repeated until echoed
	stateAdvance              // frames go out with numbers
	stateReplay               // frames sent before go first
	stateFlush                // given up: waiting frames are dropped
)

// String returns the name.
func (s state) String() string {
	return enum.Name([]string{"OFF", "INIT", "ADVANCE", "REPLAY", "FLUSH"}, s)
}

// A Frame is a frame waiting for acknowledgement: the caller's handle and the size in bytes.
type Frame struct {
	Handle uint64
	Size   int64
}

// kept is a frame in the replay buffer.
type kept struct {
	Frame
	first int64 // time of the first transmission
}

// A Verdict is the fate of an offered frame.
type Verdict uint8

const (
	VerdictNumbered Verdict = iota // send the frame with the number, and keep the bytes until Freed hands the frame back
	VerdictPlain                   // send the frame without a number
	VerdictWait                    // offer the frame again later
	VerdictDrop                    // do not send the frame
)

// String returns a short name.
func (v Verdict) String() string { return enum.Name([]string{"numbered", "plain", "wait", "drop"}, v) }

// TransmitterStats counts the acts of a transmitter.
type TransmitterStats struct {
	Frames   uint64 // numbered, first transmissions
	Replayed uint64 // sent again
	Replays  uint64 // begins of replays
	SeqError uint64 // acknowledgements of frames not outstanding, echoes of an older INIT
	Dropped  uint64 // frames lost with a flush
	Flushes  uint64
}

// A Transmitter is the sending side of a link. Single writer.
type Transmitter struct {
	c     Config
	state state

	ring  []kept // by number; the size is a power of two
	next  Seq    // tx_seq: of the next new frame
	acked Seq    // acked_seq: of the last acknowledged frame
	again Seq    // in stateReplay: of the next frame to go again
	freed Seq    // of the last frame handed back by Freed
	bytes int64  // outstanding

	replays uint8 // without progress
	timer   int64 // replay timer; in stateInit when to repeat LLR_INIT
	stats   TransmitterStats
}

const never = math.MaxInt64

// NewTransmitter returns a transmitter that is off. The error wraps [ErrConfig].
func NewTransmitter(c Config) (*Transmitter, error) {
	c.fill()
	if err := c.validate(); err != nil {
		return nil, err
	}
	n := 1
	for n < 2*c.OutstandingFrames { // outstanding frames, and frames not handed back by Freed
		n *= 2
	}
	return &Transmitter{c: c, ring: make([]kept, n), acked: seqMask, freed: seqMask, timer: never}, nil
}

// Stats returns the counters.
func (t *Transmitter) Stats() TransmitterStats { return t.stats }

// outstanding returns how many frames wait for their acknowledgement.
func (t *Transmitter) outstanding() int { return t.acked.to(t.next.add(-1)) }

func (t *Transmitter) at(s Seq) *kept { return &t.ring[int(s)&(len(t.ring)-1)] }

// Start begins to number frames as soon as the receiver has echoed an LLR_INIT. Outstanding frames
// are dropped: from then on the receiver acknowledges later frames alone.
func (t *Transmitter) Start(now int64) {
	t.drop()
	t.state, t.timer, t.replays = stateInit, now, 0
}

// Stop turns link level retry off and drops all outstanding frames.
func (t *Transmitter) Stop() {
	t.drop()
	t.state, t.timer = stateOff, never
}

// Offer offers a new frame. With VerdictNumbered the frame goes out as number s. Frames that
// go again come first: see [Transmitter.Again].
func (t *Transmitter) Offer(now int64, f Frame) (s Seq, v Verdict) {
	switch t.state {
	case stateOff:
		return 0, VerdictPlain
	case stateInit:
		return 0, t.c.Init.verdict()
	case stateFlush:
		return 0, t.c.Flush.verdict()
	case stateReplay:
		return 0, VerdictWait
	}
	n := t.outstanding()
	full := t.freed.to(t.next.add(-1)) == min(len(t.ring), seqMask)
	if full || n == t.c.OutstandingFrames || n > 0 && f.Size > t.c.OutstandingBytes-t.bytes {
		return 0, VerdictWait
	}
	if n == 0 {
		t.timer = deadline.After(now, t.c.ReplayTimer)
	}
	s = t.next
	*t.at(s) = kept{f, now}
	t.next, t.bytes = t.next.add(1), t.bytes+f.Size
	t.stats.Frames++
	return s, VerdictNumbered
}

func (b Behavior) verdict() Verdict {
	return [...]Verdict{BehaviorBestEffort: VerdictPlain, BehaviorBlock: VerdictWait, BehaviorDiscard: VerdictDrop}[b]
}

// Again hands out the next frame to be sent again, with the frame's number, or false.
// Retransmissions precede new frames.
func (t *Transmitter) Again(now int64) (s Seq, f Frame, ok bool) {
	if t.state != stateReplay {
		return 0, Frame{}, false
	}
	s = t.again
	t.again = s.add(1)
	t.stats.Replayed++
	if t.again == t.next {
		t.state, t.timer = stateAdvance, deadline.After(now, t.c.ReplayTimer)
	}
	return s, t.at(s).Frame, true
}

// Freed hands back the oldest frame whose bytes are no longer needed, or false. Frames dropped
// by a flush are handed back too.
func (t *Transmitter) Freed() (handle uint64, ok bool) {
	if t.freed == t.acked {
		return 0, false
	}
	t.freed = t.freed.add(1)
	return t.at(t.freed).Handle, true
}

// Receive takes an ordered set of the receiver. Sets of other types change nothing.
func (t *Transmitter) Receive(now int64, x *Set) {
	switch {
	case x.Type == TypeInitEcho && t.state == stateInit:
		if x.Seq != t.next {
			t.stats.SeqError++
			return
		}
		t.state, t.timer, t.replays = stateAdvance, never, 0
	case x.Type == TypeACK || x.Type == TypeNACK:
		if t.state == stateAdvance || t.state == stateReplay {
			t.confirm(now, x.Seq, x.Type == TypeNACK)
		}
	}
}

// confirm frees acknowledged frames, and with a NACK begins to send the rest again.
func (t *Transmitter) confirm(now int64, s Seq, nack bool) {
	n, gone := t.acked.to(s), t.acked.to(t.again)
	if n > t.outstanding() {
		t.stats.SeqError++
		return
	}
	for range n { // not until s, which may have more bits than a number
		t.acked = t.acked.add(1)
		t.bytes -= t.at(t.acked).Size
	}
	if n > 0 {
		t.replays = 0
		t.timer = deadline.After(now, t.c.ReplayTimer)
	}
	switch {
	case t.outstanding() == 0:
		t.state, t.timer = stateAdvance, never
	case nack:
		t.replay(now)
	case t.state == stateReplay && gone <= n:
		t.again = t.acked.add(1)
	}
}

// replay sends all outstanding frames again, or gives up.
func (t *Transmitter) replay(now int64) {
	if t.replays == t.c.ReplayMax && t.c.ReplayMax != math.MaxUint8 {
		t.flush(now)
		return
	}
	t.replays = min(t.replays+1, math.MaxUint8-1)
	t.state, t.again, t.timer = stateReplay, t.acked.add(1), deadline.After(now, t.c.ReplayTimer)
	t.stats.Replays++
}

// flush drops all outstanding frames.
func (t *Transmitter) flush(now int64) {
	t.stats.Flushes++
	t.drop()
	t.state, t.timer = stateFlush, never
	if t.c.ReInitOnDiscard {
		t.Start(now)
	}
}

// drop frees all frames.
func (t *Transmitter) drop() {
	t.stats.Dropped += uint64(t.outstanding())
	t.acked, t.bytes = t.next.add(-1), 0
}

// Set returns the ordered set due, or false: LLR_INIT until echoed.
func (t *Transmitter) Set(now int64) (Set, bool) {
	if t.state != stateInit || now < t.timer {
		return Set{}, false
	}
	t.timer = deadline.After(now, t.c.ReplayTimer)
	return Set{Type: TypeInit, Seq: t.next}, true
}

// Tick does the work due at now: frames without an acknowledgement go again, and too old ones
// have the link give up.
func (t *Transmitter) Tick(now int64) {
	if t.state != stateAdvance && t.state != stateReplay || t.outstanding() == 0 {
		return
	}
	switch {
	case now >= t.aged():
		t.flush(now)
	case now >= t.timer && t.state == stateAdvance:
		t.replay(now)
	}
}

// aged is when the oldest frame has waited for too long.
func (t *Transmitter) aged() int64 { return deadline.After(t.at(t.acked.add(1)).first, t.c.DataAge) }

// Deadline returns when Set or Tick have something to do next, math.MaxInt64 for never.
func (t *Transmitter) Deadline() int64 {
	switch {
	case t.state == stateInit:
		return t.timer
	case t.state != stateAdvance && t.state != stateReplay || t.outstanding() == 0:
		return never
	case t.state == stateReplay:
		return t.aged()
	}
	return min(t.timer, t.aged())
}
