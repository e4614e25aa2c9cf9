// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

const (
	matchedMTU  = 1024
	matchedSlot = 1 << 16 // bytes of address space that each message has to itself

	matchedTimeout  = 5_000_000 * us // MessageTimeout where PDCIDs are few
	matchedPatience = 4 * matchedTimeout
)

// matchedMessage is the truth about a message: how often each of its fragments was
// placed, and how it ended.
type matchedMessage struct {
	length   uint32
	begun    int64
	placed   []uint8
	ended    bool
	ok       bool
	pulled   bool // its receiver was told of the end
	unposted bool // its receive buffer is to be posted
}

// matchedWorld is a run with whole endpoints.
type matchedWorld struct {
	faultWorld
	messages []matchedMessage
	mayFail  bool
	fewIDs   bool
	lies     bool // a peer
	restless bool // the hosts close PDCs in order, and have more than Close_Thresh
	renews   bool // and give their memory another generation
	unlike   bool // they have different MTUs
	again    bool // for one or the other reason what was half way begins again
	ends     []*matchedEnd
}

type matchedEnd struct {
	w      *matchedWorld
	place  int
	e      *uetcc.Endpoint
	budget int
	open   int
	retry  int64      // when to try to begin again
	late   []latePost // in the order of their times

	renewals int // of the memory's generation
	buf      [8*matchedMTU + 256]byte
}

// latePost is a receive buffer that is posted after its message has begun.
type latePost struct {
	at      int64
	message uint64
}

func newMatchedWorld(s *faultSetting, seed uint64) *matchedWorld {
	places := 3
	if s.liar {
		places++
	}
	w := &matchedWorld{faultWorld: newFaultWorld(places, seed, s.plan), mayFail: s.liar || s.pdcs > 0, fewIDs: s.pdcs > 0, lies: s.liar}
	w.restless = !w.mayFail && w.net.Chance(.5)
	w.renews = w.restless && w.net.Chance(.5)
	w.unlike = seed%3 == 2
	w.again = w.renews || w.unlike
	for i := range 3 {
		c := uetcc.Config{Address: faultAddr(i), MTU: matchedMTU, Seed: w.net.Rand.Uint64(), Contexts: 8, Messages: 16, Answers: 16,
			PDS: pdc.Config{Range: max(s.window, 16), RTOInit: 200 * us, NackRetxTime: 60 * us, ClearTime: 60 * us, MaxRTORetx: 15, MaxNackRetx: 31,
				IdleTime: 20_000_000 * us, InferLoss: s.infer},
			PDCs:   pdc.TableConfig{General: 24, Quarantine: 2*w.net.Plan.Life() + 500*us, FirstID: 1, Seed: 1},
			CC:     ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 40 * us, Trimming: s.trim > 0}},
			Memory: pdc.MemoryConfig{Chunks: 128}, Target: ses.TargetConfig{Receives: 256}, Retries: 50}
		if w.restless {
			c.PDS.CloseThresh, c.PDS.CloseReqTime, c.PDS.PendTimeout, c.PDCs.General = 2, 60_000_000*us, 60_000_000*us, 250
		}
		if s.pdcs > 0 {
			c.PDCs.General, c.MessageTimeout = s.pdcs, matchedTimeout
			c.PDS.MaxRTORetx, c.PDS.MaxNackRetx, c.PDS.IdleTime = 8, 20, 2_000_000*us
		}
		if s.liar {
			c.PDS.MaxRTORetx, c.PDS.MaxNackRetx, c.PDS.IdleTime, c.PDCs.PerSource = 8, 20, 2_000_000*us, 6
		}
		if w.unlike {
			c.MTU = matchedMTU << w.net.Rand.IntN(4)
		}
		e := &matchedEnd{w: w, place: i, e: must(uetcc.NewEndpoint(c)), budget: 40}
		e.openMemory()
		w.ends = append(w.ends, e)
		w.parties = append(w.parties, e)
	}
	if s.liar {
		w.addLiar()
	}
	return w
}

// openMemory lets peers read and write a large region. The engine never touches
// it, so there is none.
func (e *matchedEnd) openMemory() {
	t := e.e.Target()
	process := must(t.AddProcess(ses.Process{Job: 1}))
	must(t.OpenIndex(0, process, 0, ses.Index{}))
	must(t.OpenIndex(0, process, 1, ses.Index{Kind: ses.IndexQueue, Job: ses.AnyJob}))
	must(t.Register(process, 0, ses.Region{Length: 1 << 40, Key: 1, Job: ses.AnyJob, Rights: ses.RightRead | ses.RightWrite}))
}

func (e *matchedEnd) deadline() int64 {
	at, ok := e.e.NextDeadline()
	if !ok {
		at = math.MaxInt64
	}
	if len(e.late) > 0 {
		at = min(at, e.late[0].at)
	}
	if e.budget > 0 && e.open == 0 { // what it could not begin was refused, and all before that has ended
		at = min(at, e.retry)
	}
	return at
}

func (e *matchedEnd) tick() { e.e.Tick(e.w.net.Now) }

func (e *matchedEnd) quiet() bool {
	st := e.e.PDS().Stats()
	return e.open == 0 && len(e.late) == 0 && st.Opened == st.Closed && (e.w.mayFail || e.e.Usage().Pending == 0)
}

// act starts messages, sends, and takes completions.
func (e *matchedEnd) act() {
	w := e.w
	for e.budget > 0 && e.open < 8 && e.begin() {
		e.budget--
	}
	e.retry = w.net.Now + 50*us
	if w.restless && !w.net.Healed() {
		e.disturb()
	}
	for len(e.late) > 0 && e.late[0].at <= w.net.Now {
		e.post(e.late[0].message)
		e.late = e.late[1:]
	}
	out := uetcc.Datagram{Packet: make([]byte, 0, 256)}
	for e.e.Transmit(w.net.Now, &out) {
		w.send(e.place, int(out.Dst.Lo&0xff)-1, out.Packet, len(out.Packet)+int(out.Payload.Length), out.Size)
	}
	for ev, ok := e.e.Poll(); ok; ev, ok = e.e.Poll() {
		if ev.Unpaused {
			continue
		}
		m := &w.messages[ev.Cookie]
		if ev.Received {
			ok := ev.Outcome.Status == ses.StatusOK && ev.Outcome.Length == m.length
			// A send that somebody replays when all that knew it has gone begins anew. It ends
			// where what it wants to read is asked for.
			if m.pulled && ok || !w.mayFail && (m.pulled || !ok) {
				w.failf("E1: message %d was received: %+v", ev.Cookie, ev)
			}
			m.pulled = m.pulled || ok
			continue
		}
		if m.ended {
			w.failf("E1: message %d ends twice", ev.Cookie)
		}
		m.ended, m.ok = true, ev.Outcome.Status == ses.StatusOK
		if !m.ok && !w.mayFail {
			w.failf("E1: message %d ends with %+v", ev.Cookie, ev)
		}
		if took := w.net.Now - m.begun; w.fewIDs && took > matchedPatience {
			w.failf("E1: message %d took %d ms", ev.Cookie, took/1e6)
		}
		e.open--
		w.net.Note(ev.Cookie)
	}
}

// disturb is what a restless host does now and then. None of it may fail a message.
func (e *matchedEnd) disturb() {
	w := e.w
	if w.net.Chance(.01) {
		for h := range e.e.PDS().All() {
			if w.net.Chance(.3) {
				_ = e.e.PDS().Close(w.net.Now, h)
			}
		}
	}
	if w.renews && e.renewals < 10 && w.net.Chance(.002) { // in vain if that was a moment ago
		_, _ = e.e.Target().Renew(w.net.Now, 1<<16, 0)
		e.renewals++
	}
}

func (e *matchedEnd) begin() bool {
	w, r := e.w, e.w.net.Rand
	n := uint64(len(w.messages))
	to := r.IntN(2)
	if to >= e.place {
		to++
	}
	m := uetcc.Message{To: uetcc.Destination{Address: faultAddr(to), Job: 1, Context: uint16(r.IntN(3))}, Key: 1, Offset: n * matchedSlot, Cookie: n,
		Length: [...]uint32{0, 1, matchedMTU - 1, matchedMTU, matchedMTU + 1, 16 << 10, 50_000}[r.IntN(7)]}
	start, rec := e.e.Write, matchedMessage{length: m.Length, begun: w.net.Now, placed: make([]uint8, (m.Length+matchedMTU-1)/matchedMTU)}
	switch r.IntN(5) {
	case 0:
		start = e.e.Read
	case 1:
		start, rec.unposted, m.Deferrable = e.e.Send, true, true
	case 2:
		start, rec.unposted, m.Rendezvous = e.e.Send, true, true
		m.Eager, m.Source = min(m.Length, uint32(r.IntN(4))*matchedMTU), uetcc.Source{Process: 1 << 16, Base: n * matchedSlot}
	}
	if rec.unposted {
		m.To.Index, m.Tagged, m.Key, m.Offset = 1, true, n, 0
	}
	if _, err := start(w.net.Now, &m); err != nil {
		return false
	}
	e.open++
	w.messages = append(w.messages, rec)
	if rec.unposted && r.IntN(2) == 0 {
		w.ends[to].post(n)
	} else if rec.unposted {
		w.ends[to].late = append(w.ends[to].late, latePost{w.net.Now + 2000*us, n})
	}
	return true
}

// post gives a message its receive buffer.
func (e *matchedEnd) post(n uint64) {
	m := &e.w.messages[n]
	must(e.e.Target().PostReceive(1<<16, 1, ses.Receive{Base: n * matchedSlot, Length: m.length, Match: n, Cookie: n}))
	m.unposted = false
}

// arrive gives a packet to the endpoint and does what it says.
func (e *matchedEnd) arrive(p *faultnet.Packet) {
	w := e.w
	n := copy(e.buf[:], p.Head)
	in := uetcc.Datagram{Packet: e.buf[:max(p.Len, n)], Src: pdc.AddrFrom(faultAddr(p.From)), Dst: pdc.AddrFrom(faultAddr(e.place)), CE: p.CE, Trimmed: p.Trim}
	if p.Trim != 0 {
		in.Packet = e.buf[:min(n, pds.RequestLen)]
	}
	reply := uetcc.Datagram{Packet: make([]byte, 0, 256)}
	var r uetcc.Received
	e.e.Receive(w.net.Now, &in, &reply, &r)
	switch {
	case r.Action == ses.ActionPlace && r.Message != 0:
		e.placed(r.Cookie, r.Offset, r.Length)
	case r.Action == ses.ActionPlace && !p.Fabled:
		e.placed(r.Address/matchedSlot, r.Offset, r.Length)
	case r.Action == ses.ActionRead && r.Answer != 0:
		if err := e.e.Answer(w.net.Now, r.Answer, e.buf[:r.Length], &reply); err != nil {
			w.failf("Answer: %v", err)
		}
	}
	if len(reply.Packet) > 0 {
		w.send(e.place, p.From, reply.Packet, len(reply.Packet), 64)
	}
}

// placed counts the bytes of a message: each comes once, at its place.
func (e *matchedEnd) placed(message uint64, offset, length uint32) {
	w := e.w
	if message >= uint64(len(w.messages)) {
		w.failf("E6: bytes of message %d, which there is not", message)
	}
	m := &w.messages[message]
	if length == 0 { // all of an empty message, or what goes with a rendezvous send
		return
	}
	if offset%matchedMTU != 0 || offset >= m.length || length > m.length-offset || length%matchedMTU != 0 && length != m.length-offset {
		w.failf("message %d of %d bytes: %d at %d", message, m.length, length, offset)
	}
	for i := offset / matchedMTU; i*matchedMTU < offset+length; i++ {
		if m.placed[i]++; m.placed[i] > 1 && !w.again {
			w.failf("E2: bytes of message %d at %d placed twice", message, offset)
		}
	}
}

// working reports whether there is a message to begin or to end.
func (w *matchedWorld) working() bool {
	return slices.ContainsFunc(w.ends, func(e *matchedEnd) bool { return e.budget+e.open > 0 })
}

func (w *matchedWorld) run() {
	start := w.net.Now
	w.actAll()
	for steps := 0; w.working() || !w.quiet(); steps++ {
		if !w.net.Healed() && (!w.working() || w.net.Now-start > 20_000_000*us) {
			w.net.Heal()
		}
		if !w.step() || steps > faultSteps || w.net.Now-start > 300_000_000*us {
			w.failf("E1: not over, at %d\n%s", w.net.Now, w.state())
		}
	}
	for i := range w.messages {
		m := &w.messages[i]
		if !m.ended || !m.ok && !w.mayFail {
			w.failf("E1: message %d: ended %v, OK %v", i, m.ended, m.ok)
		}
		for k, n := range m.placed {
			if m.ok && (n == 0 || n > 1 && !w.again && !w.mayFail) && !w.lies { // who lies may claim what has not arrived
				w.failf("E2: message %d is done, and %d bytes at %d are there %d times", i, matchedMTU, k*matchedMTU, n)
			}
		}
	}
}

// state tells people where a run stands.
func (w *matchedWorld) state() (s string) {
	for _, e := range w.ends {
		at, ok := e.e.NextDeadline()
		s += fmt.Sprintf("end %d: deadline %d %v, %d to begin, %d open, %d buffers to post, %d pending, %v\n", e.place, at, ok, e.budget, e.open, len(e.late), e.e.Usage().Pending, e.e.Usage())
		for h := range e.e.PDS().All() {
			info, _ := e.e.PDS().PDC(h)
			s += fmt.Sprintf("  %#x %+v\n", uint32(h), info)
		}
	}
	return s
}

// matchedSettings are the settings that whole endpoints run in.
var matchedSettings = []string{"standard", "none guaranteed", "wide window", "hostile peer", "trimming", "inferring"}

// fewIDs are worlds whose ends have hardly a PDCID for what they start: sends that wait for each
// other end, and those that end well have done so.
var fewIDs = []faultSetting{
	{name: "one id", loss: .03, dup: .05, overtaken: .05, replay: .01, jitter: 35, tail: 100, window: 16, pdcs: 1},
	{name: "two ids", loss: .03, dup: .05, overtaken: .05, replay: .01, jitter: 35, tail: 100, window: 16, pdcs: 2},
	{name: "three ids", loss: .03, dup: .05, overtaken: .05, replay: .01, jitter: 35, tail: 100, window: 16, pdcs: 3},
}

// runMatchedSeed is runFaultSeed for whole endpoints.
func runMatchedSeed(s *faultSetting, seed uint64) (res faultResult) {
	res.test, res.seed, res.name = "TestFaultsMatched", seed, s.name
	w := newMatchedWorld(s, seed)
	defer func() {
		res.caught(recover(), w.log.tail)
		res.sent, res.hash = w.net.Sent, w.net.Hash()
	}()
	w.run()
	return res
}

// Whole endpoints move messages while everything goes wrong: every byte is placed
// once, every message ends once, and afterwards nothing is left open.
func TestFaultsMatched(t *testing.T) {
	first, n := *faultFrom, 12
	if *faultSeeds > 0 {
		n = *faultSeeds / 10
	}
	if *faultSeed >= 0 {
		first, n = uint64(*faultSeed), 1
	}
	tally := faultTally{}
	for i, s := range slices.Concat(faultSettings, fewIDs) {
		if i < len(faultSettings) && !slices.Contains(matchedSettings, s.name) {
			continue
		}
		onAllCores(first, n, func(seed uint64) faultResult {
			r := runMatchedSeed(&s, seed)
			if seed%16 == 0 && r.err == nil {
				if again := runMatchedSeed(&s, seed); again.hash != r.hash {
					r.err = fmt.Errorf("E5: hash %#x, and again %#x", r.hash, again.hash)
				}
			}
			return r
		}, func(r faultResult) { tally.count(t, &r) })
	}
	t.Log(tally)
}
