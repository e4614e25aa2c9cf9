// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// endpointSetting is one kind of run with whole endpoints: what goes wrong in the
// network and at the ends as for a [faultSetting], and what the hosts above do.
type endpointSetting struct {
	faultSetting
	control ccc.Control
	ordered float64 // share of ROD among what is reliable
	large   bool    // messages up to 1 MiB

	open, messages, records, answers, waiting int // 0: enough for all
	ackData, places                           int // read data in acknowledgements: how much, and how many at a time

	// For each packet: the host does not take the data, or answers later. For each
	// turn of an end: everything else.
	fail, late float64

	// Ends that differ, and clocks that go back, by up to so much, us.
	unlikeMTU, unlikeControl, unlikeRange bool
	back                                  int64

	hungry, renew, withdraw, cancel, closing, abort, short float64
	connect                                                float64
	mayFail                                                bool // messages may fail for want of a PDC
}

// endpointSettings are the kinds; a seed takes the one of its number.
var endpointSettings = []endpointSetting{
	{faultSetting: faultSetting{name: "standard", loss: .1, dup: .05, long: .01, overtaken: .05, corrupt: .01, mark: .05, replay: .02, forge: .05,
		jitter: 35, tail: 800, window: 16, budget: 40}, ordered: .15, late: .1, closing: .002, connect: .1},
	{faultSetting: faultSetting{name: "receiver credit", loss: .05, dup: .05, overtaken: .05, mark: .1, replay: .02, forge: .05,
		jitter: 35, tail: 100, window: 64, budget: 40}, control: ccc.ControlRCCC, ordered: .05, late: .05, closing: .01,
		ackData: endpointMTU, places: 1},
	{faultSetting: faultSetting{name: "both controls", loss: .03, dup: .05, trim: .1, mark: .2, replay: .01, forge: .03,
		jitter: 35, tail: 100, window: 64, budget: 40}, control: ccc.ControlBoth, ordered: .05, late: .05, closing: .01},
	{faultSetting: faultSetting{name: "wide window", loss: .02, dup: .05, long: .001, overtaken: .02, mark: .1, replay: .01, forge: .02,
		jitter: 35, tail: 800, window: 1024, budget: 25}, large: true},
	{faultSetting: faultSetting{name: "short and late", loss: .1, dup: .2, long: .2, replay: .05, forge: .02,
		jitter: 100, tail: 900, window: 16, budget: 50, pdcs: 40, start: pdc.StartExpected0RTT},
		ordered: .05, closing: .3, ackData: 400, places: 8},
	{faultSetting: faultSetting{name: "ordered", loss: .03, dup: .05, replay: .01, forge: .02,
		jitter: 2, tail: 100, window: 32, budget: 50}, ordered: 1, late: .1, hungry: .01, closing: .01},
	{faultSetting: faultSetting{name: "ordered, buffering", loss: .05, dup: .05, long: .005, overtaken: .1, replay: .01, forge: .02,
		jitter: 35, tail: 200, window: 64, budget: 60, buffer: true}, ordered: .9, late: .1, hungry: .01, closing: .01},
	{faultSetting: faultSetting{name: "scarce", loss: .05, dup: .05, overtaken: .05, replay: .01, forge: .02,
		jitter: 35, tail: 100, window: 64, budget: 60, pdcs: 2, responses: 1, chunks: 4, retries: 8}, ordered: .1, late: .3, closing: .005,
		open: 12, messages: 8, records: 2, answers: 2, waiting: 2, mayFail: true},
	{faultSetting: faultSetting{name: "contrary hosts", loss: .05, dup: .05, overtaken: .05, replay: .01, forge: .02,
		jitter: 35, tail: 100, window: 32, budget: 60}, ordered: .1, late: .2, fail: .05, hungry: .02, renew: .005, withdraw: .003,
		cancel: .01, abort: .3, closing: .01, short: .3, mayFail: true,
		ackData: endpointMTU, places: 2},
	{faultSetting: faultSetting{name: "restarts", loss: .05, dup: .05, long: .01, replay: .02,
		jitter: 35, tail: 400, window: 16, budget: 50, retries: 5, restarts: 4, pdcs: 250}, ordered: .1, late: .1, closing: .01},
	{faultSetting: faultSetting{name: "dark", loss: .05, dup: .05, blackhole: .005, partition: .002, dark: 60_000, forge: .02,
		jitter: 35, tail: 100, window: 32, budget: 40, retries: 5, jumps: 2}, control: ccc.ControlBoth, ordered: .1, late: .05},
	{faultSetting: faultSetting{name: "mangled", loss: .05, dup: .05, mangle: .03, replay: .02, replayLate: .02,
		jitter: 35, tail: 400, window: 16, budget: 50, retries: 5, weak: true}, control: ccc.ControlBoth, ordered: .1, late: .1, closing: .02},
	{faultSetting: faultSetting{name: "hostile peer", loss: .03, dup: .03, replay: .01, forge: .05,
		jitter: 35, tail: 100, window: 32, budget: 40, retries: 8, liar: true}, ordered: .1, late: .1, closing: .01, ackData: endpointMTU, places: 1},
	{faultSetting: faultSetting{name: "trimming", loss: .02, dup: .05, trim: .15, mark: .3, replay: .01, forge: .01,
		jitter: 35, tail: 100, window: 64, budget: 40, start: pdc.StartRandom1RTT}, ordered: .05, ackData: endpointMTU, places: 3},
	{faultSetting: faultSetting{name: "inferring", loss: .05, dup: .02, long: .005, overtaken: .02, forge: .02,
		jitter: 25, tail: 400, window: 256, budget: 40, infer: true}, large: true},
	{faultSetting: faultSetting{name: "plain ACK", loss: .1, dup: .1, long: .01, forge: .05,
		jitter: 35, tail: 400, window: 16, budget: 40, plain: true}, ordered: .1},
}

// oddSettings are kinds of ends that are not configured alike, or whose clocks go back. Every
// fifth row of seeds takes them, so that the others stay what they were.
var oddSettings = []endpointSetting{
	{faultSetting: faultSetting{name: "unlike MTU", loss: .05, dup: .05, overtaken: .05, replay: .02, forge: .02,
		jitter: 35, tail: 100, window: 64, budget: 40}, ordered: .15, late: .1, closing: .01, unlikeMTU: true},
	{faultSetting: faultSetting{name: "unlike control", loss: .02, dup: .05, overtaken: .05, mark: .1, replay: .02,
		jitter: 35, tail: 100, window: 64, budget: 30, retries: 5}, ordered: .1, unlikeControl: true},
	{faultSetting: faultSetting{name: "unlike ranges", loss: .05, dup: .05, overtaken: .05, replay: .02, forge: .02,
		jitter: 35, tail: 100, window: 128, budget: 40, retries: 8}, ordered: .1, late: .05, closing: .01, unlikeRange: true},
	{faultSetting: faultSetting{name: "clock back", loss: .05, dup: .05, long: .01, replay: .01, forge: .02,
		jitter: 35, tail: 400, window: 32, budget: 40, retries: 8, jumps: 8}, ordered: .1, late: .05, closing: .01, renew: .002, back: 50_000},
	{faultSetting: faultSetting{name: "two ids", loss: .05, dup: .05, overtaken: .05, replay: .01, forge: .02,
		jitter: 35, tail: 100, window: 64, budget: 40, pdcs: 2, retries: 8}, ordered: .3, late: .1, closing: .005, waiting: 2, mayFail: true},
	{faultSetting: faultSetting{name: "mangled more", loss: .02, dup: .02, mangle: .1, replay: .02, replayLate: .02,
		jitter: 35, tail: 400, window: 32, budget: 40, retries: 5, weak: true}, ordered: .1, late: .1},
	{faultSetting: faultSetting{name: "mangled beside", loss: .02, dup: .02, mangle: .1, replay: .02,
		jitter: 35, tail: 400, window: 32, budget: 60, retries: 8, weak: true, among: 2}, ordered: .1, late: .1, closing: .01},
	{faultSetting: faultSetting{name: "mangled, CRC", loss: .02, dup: .02, corrupt: .1, replay: .02,
		jitter: 35, tail: 400, window: 32, budget: 40, retries: 8}, ordered: .1, late: .1, closing: .02},
}

// endpointSettingOf is the kind of run that a seed takes.
func endpointSettingOf(seed uint64) *endpointSetting {
	if n := uint64(len(endpointSettings)); seed/n%5 != 1 {
		return &endpointSettings[seed%n]
	}
	return &oddSettings[seed%uint64(len(oddSettings))]
}

// endpointPlaces is how many honest endpoints a world has.
const endpointPlaces = 3

// config is what an end of a world with setting s is made of.
func (e *endpointEnd) config() uetcc.Config {
	s, w := e.w.s, e.w
	r := w.net.Rand
	or := func(n, def int) int {
		if n != 0 {
			return n
		}
		return def
	}
	ids := or(s.pdcs, 24)
	c := uetcc.Config{
		Address: faultAddr(e.place), MTU: endpointMTU, Seed: r.Uint64() | 1, Now: e.clock.now, ControlTC: 1,
		Contexts: 8, Messages: or(s.messages, 32), Answers: or(s.answers, 32), Waiting: or(s.waiting, 32), RUDI: 8,
		PDS: pdc.Config{Range: s.window, RTOInit: 200 * us, NackRetxTime: 60 * us, ClearTime: 60 * us, CloseReqTime: 2000 * us,
			MaxRTORetx: or(s.retries, 15), MaxNackRetx: 31, IdleTime: 20_000_000 * us, InferLoss: s.infer, NoAckCC: s.plain,
			MaxAckData: s.ackData, Start: s.start, BufferROD: s.buffer || r.IntN(2) == 0},
		PDCs:    pdc.TableConfig{General: ids, Quarantine: w.quarantine(), Seed: 1},
		CC:      ccc.Config{Control: s.control, NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 40 * us, Trimming: s.trim > 0}},
		Memory:  pdc.MemoryConfig{Responses: s.responses, Chunks: or(s.chunks, 16*ids), LongResponses: s.places, Buffers: []int{4, 40, 1024}[r.IntN(3)]},
		Target:  ses.TargetConfig{Messages: or(s.records, 256), Receives: 64, AtomicOps: 1<<ses.AtomicSum | 1<<ses.AtomicSwapEqual, AtomicTypes: 1 << ses.TypeUint64},
		Retries: 50, Backoff: 200 * us,
	}
	if s.window > 256 {
		c.Memory.Chunks = 80 * ids
	}
	if s.control != ccc.ControlNSCC {
		c.CC.RCCC = rccc.Config{InitialCredit: []int64{2048, 20_000, 0}[r.IntN(3)]}
	} else {
		c.CC.NSCC.InitialCwnd = []int64{0, 4400, 100_000}[r.IntN(3)]
	}
	if s.retries != 0 {
		c.PDS.MaxNackRetx, c.PDS.IdleTime, c.MessageTimeout = 20, 2_000_000*us, endpointTimeout
	}
	e.differ(&c)
	if s.strict() { // who is asked to close may take its time
		c.PDS.CloseReqTime = 60_000_000 * us
	}
	if s.liar {
		c.PDCs.PerSource = 6
	}
	// Ids of an earlier life come late in this one, as in [pdcEnd.start].
	c.PDCs.FirstID = 1
	if s.restarts > 0 {
		c.PDCs.FirstID += pdcID(int(e.life) * ids / (s.restarts + 1))
	}
	return c
}

// differ makes the configuration of an end another one than those of the others.
func (e *endpointEnd) differ(c *uetcc.Config) {
	s, r := e.w.s, e.w.net.Rand
	if s.unlikeMTU {
		c.MTU, c.CC.NSCC.InitialCwnd = endpointMTU<<r.IntN(4), 0
	}
	if s.unlikeControl {
		c.CC.Control = []ccc.Control{ccc.ControlNSCC, ccc.ControlRCCC, ccc.ControlBoth, ccc.ControlNone}[r.IntN(4)]
	}
	if s.unlikeRange {
		c.PDS.Range, c.PDS.DefaultMPR, c.PDS.OverrideMPRZero = 8<<r.IntN(6), 1+r.IntN(8), 1+r.IntN(1024)
	}
}

// quarantine is longer than a packet lives, by as much as a clock may jump.
func (w *endpointWorld) quarantine() int64 {
	q := 2*w.net.Plan.Life() + 500*us
	if w.s.jumps > 0 {
		q += 50_000 * us
	}
	if w.s.abort > 0 { // a target that gives up says nothing: SYN packets come again for long
		q += 5_000 * us
	}
	return q
}

// strict reports whether every message must succeed.
func (s *endpointSetting) strict() bool { return s.retries == 0 && !s.mayFail && !s.liar && !s.weak }

// A trouble is what a host does to its endpoint, beyond the faults of a network.
type trouble uint8

const (
	troubleFail      trouble = iota // the memory does not take or give the data
	troubleNoMatch                  // no receive buffer
	troubleShort                    // one that is too short
	troubleRenew                    // the resource index gets another generation
	troubleWithdraw                 // memory closed while it is in use
	troubleCancel                   // the initiator gives a message up
	troubleClose                    // a PDC closed in order
	troubleAbort                    // and not in order
	troubleEmptyPDC                 // opened, and nothing sent on it
	troubleNoSlot                   // all records of messages in use
	troubleNoAnswer                 // all answers in use
	troubleNoMessage                // all messages of an initiator in use
	troubleBroken                   // a message of a peer is left half way
	troubleBuffered                 // a packet waits for its turn
	troubleNoBuffer                 // all buffers in use
	numTroubles
)

var troubleNames = [numTroubles]string{"host-failure", "no-match", "short-buffer", "renewed", "withdrawn", "cancelled", "closed", "aborted",
	"empty-pdc", "no-record", "no-answer", "no-message", "broken", "buffered", "no-buffer"}

func (t trouble) String() string { return troubleNames[t] }

// endpointFaults are the faults of a network that whole endpoints must meet: all
// but those that only the harness of managers makes itself.
func endpointFaults() (all []faultnet.Fault) {
	for f := range faultnet.Hostile + 1 {
		if f != faultnet.NoSlot {
			all = append(all, f)
		}
	}
	return all
}
