// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"io"
	"slices"
	"strings"

	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/internal/enum"
)

// A Matrix is a workload: senders, receivers, sizes and start times, as in a *.cm or
// *.tm file of the simulator htsim.
type Matrix struct {
	Nodes    int
	Flows    []Flow // one for each line SRC->DST, in their order
	Triggers []Trigger
	Failures []Failure
}

// A Flow is one transfer, or one message of a connection used again.
type Flow struct {
	Src, Dst int
	ID       int64 // 0: none given
	Message  bool  // flows with this ID are messages of one connection
	Size     int64 // payload bytes
	Start    link.Ps
	Trigger  int64 // starts when this trigger fires instead of at Start; 0: none
	SendDone int64 // trigger to pull when all is acknowledged; 0: none
	RecvDone int64 // trigger to pull when all has arrived; 0: none
	Line     int   // of the file
}

// TriggerKind is the number of pulls for a trigger to fire, with the flows started
// then.
type TriggerKind uint8

// The kinds.
const (
	TriggerOneshot   TriggerKind = iota // at the first pull all
	TriggerMultishot                    // at each pull the next one, in the order of the file
	TriggerBarrier                      // at the pull number Count all
)

var triggerNames = [...]string{"oneshot", "multishot", "barrier"}

// String is the word of the file format.
func (k TriggerKind) String() string { return enum.Name(triggerNames[:], k) }

// A Trigger starts the flows naming the trigger.
type Trigger struct {
	ID    int64
	Kind  TriggerKind
	Count int64 // of a barrier; of no meaning otherwise
	Line  int
}

// A Failure is one dead link: an uplink of a switch, in both directions.
type Failure struct {
	Tier   int // 0 leaf (TOR), 1 spine or aggregation (AGG), 2 core (CORE)
	Switch int // number within the tier
	Link   int // number of the uplink
	Line   int
}

// ParseMatrix reads a connection matrix; file is the name in errors of type
// [*ParseError]; errors of the reader are returned unchanged. The format is htsim's: a
// header of counts, matched by the rest, and then a line each of
//
//	SRC->DST [id N] [msg] start US | trigger N  size BYTES  [send_done_trigger N] [recv_done_trigger N] [prio N]
//	trigger id N oneshot | multishot | barrier count N
//	failure switch_type TOR | AGG | CORE  switch_id N  link_id N
//
// The smallest useful matrix:
//
//	Nodes 3
//	Connections 2
//	0->2 start 0 size 2000000
//	1->2 start 50 size 2000000
//
// Times are microseconds, as in htsim's code, unlike htsim's comments; Triggers and
// Failures are further counts; # begins a comment. [Flow] explains the fields.
func ParseMatrix(file string, r io.Reader) (*Matrix, error) {
	p := matrixParser{lines: newLines(file, r), m: &Matrix{}}
	if err := p.each(p.item); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.m, nil
}

type matrixParser struct {
	*lines
	m      *Matrix
	header [4]struct { // in the order of headerNames
		line  int
		count int64
	}
	body bool
}

var headerNames = [...]string{"Nodes", "Connections", "Triggers", "Failures"}

func (p *matrixParser) item() error {
	first, _ := p.word()
	for i, name := range headerNames {
		if first == name {
			return p.headerLine(i)
		}
	}
	p.body = true
	switch {
	case strings.Contains(first, "->"):
		return p.flow(first)
	case first == "trigger":
		return p.trigger()
	case first == "failure":
		return p.failure()
	default:
		return p.errorf("unknown item %q, want SRC->DST, trigger or failure", first)
	}
}

func (p *matrixParser) headerLine(i int) error {
	name, h := headerNames[i], &p.header[i]
	if p.body {
		return p.errorf("header field %s after the first item", name)
	}
	if h.line != 0 {
		return p.errorf("%s is given twice, first in line %d", name, h.line)
	}
	n, err := p.number(name, 0)
	if err != nil {
		return err
	}
	h.line, h.count = p.line, n
	return p.end()
}

func (p *matrixParser) flow(ends string) error {
	f := Flow{Line: p.line}
	if err := p.ends(&f, ends); err != nil {
		return err
	}
	for w, ok := p.word(); ok; w, ok = p.word() {
		if err := p.flowField(w, &f); err != nil {
			return err
		}
	}
	switch start, trigger := p.seen["start"], p.seen["trigger"]; {
	case start && trigger:
		return p.errorf("flow %s has both a start and a trigger", ends)
	case !start && !trigger:
		return p.errorf("flow %s has neither a start nor a trigger", ends)
	case !p.seen["size"]:
		return p.errorf("flow %s has no size", ends)
	case f.Message && !p.seen["id"]:
		return p.errorf("msg of flow %s needs the id of its connection", ends)
	}
	p.m.Flows = append(p.m.Flows, f)
	return nil
}

func (p *matrixParser) flowField(name string, f *Flow) error {
	switch name {
	case "id":
		return p.field(name, 1, &f.ID)
	case "msg":
		f.Message = true
		return p.message()
	case "start":
		return p.start(&f.Start)
	case "trigger":
		return p.field(name, 1, &f.Trigger)
	case "size":
		return p.field(name, 1, &f.Size)
	case "send_done_trigger":
		return p.field(name, 1, &f.SendDone)
	case "recv_done_trigger":
		return p.field(name, 1, &f.RecvDone)
	case "prio":
		return p.field(name, 0, new(int64)) // nothing here has priorities
	default:
		return p.errorf("unknown field %q of a flow", name)
	}
}

func (p *matrixParser) start(to *link.Ps) (err error) {
	if err = p.once("start"); err == nil {
		*to, err = p.microseconds("start")
	}
	return err
}

func (p *matrixParser) ends(f *Flow, word string) error {
	a, b, _ := strings.Cut(word, "->")
	src, err := p.parse("source", a, 0)
	if err != nil {
		return err
	}
	dst, err := p.parse("destination", b, 0)
	if err != nil {
		return err
	}
	if nodes := p.header[0].count; src >= nodes || dst >= nodes {
		return p.errorf("flow %s: node out of range, the header says Nodes %d", word, nodes)
	}
	if src == dst {
		return p.errorf("flow %s goes nowhere", word)
	}
	f.Src, f.Dst = int(src), int(dst)
	return nil
}

// field takes the number of a field allowed only once.
func (p *matrixParser) field(name string, least int64, to *int64) error {
	if err := p.once(name); err != nil {
		return err
	}
	n, err := p.number(name, least)
	*to = n
	return err
}

// message takes the number that may follow msg, redundant to the order of lines.
func (p *matrixParser) message() error {
	if err := p.once("msg"); err != nil {
		return err
	}
	if p.next < len(p.words) && p.words[p.next][0] >= '0' && p.words[p.next][0] <= '9' {
		_, err := p.number("msg", 1)
		return err
	}
	return nil
}

func (p *matrixParser) trigger() error {
	const kind = "the kind of the trigger"
	t := Trigger{Line: p.line}
	for w, ok := p.word(); ok; w, ok = p.word() {
		var err error
		switch w {
		case "id":
			err = p.field(w, 1, &t.ID)
		case "count":
			err = p.field(w, 1, &t.Count)
		case "oneshot", "multishot", "barrier":
			err = p.once(kind)
			t.Kind = TriggerKind(slices.Index(triggerNames[:], w))
		default:
			err = p.errorf("unknown field %q of a trigger", w)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case !p.seen["id"]:
		return p.errorf("trigger without id")
	case !p.seen[kind]:
		return p.errorf("trigger %d is neither oneshot, multishot nor barrier", t.ID)
	case t.Kind == TriggerBarrier && t.Count == 0:
		return p.errorf("trigger %d: a barrier needs a count", t.ID)
	}
	p.m.Triggers = append(p.m.Triggers, t)
	return nil
}

func (p *matrixParser) failure() error {
	f := Failure{Line: p.line}
	var sw, uplink int64
	for w, ok := p.word(); ok; w, ok = p.word() {
		var err error
		switch w {
		case "switch_type":
			err = p.tier(&f.Tier)
		case "switch_id":
			err = p.field(w, 0, &sw)
		case "link_id":
			err = p.field(w, 0, &uplink)
		default:
			err = p.errorf("unknown field %q of a failure", w)
		}
		if err != nil {
			return err
		}
	}
	if !p.seen["switch_type"] || !p.seen["switch_id"] || !p.seen["link_id"] {
		return p.errorf("failure needs switch_type, switch_id and link_id")
	}
	f.Switch, f.Link = int(sw), int(uplink)
	p.m.Failures = append(p.m.Failures, f)
	return nil
}

// tierWords are the tiers in the words of the file format.
var tierWords = [...]string{"TOR", "AGG", "CORE"}

func (p *matrixParser) tier(to *int) error {
	if err := p.once("switch_type"); err != nil {
		return err
	}
	w, _ := p.word()
	for i, name := range tierWords {
		if w == name {
			*to = i
			return nil
		}
	}
	return p.errorf("switch_type %q is none of TOR, AGG, CORE", w)
}

// check compares the header's counts with the contents, and resolves
// every reference.
func (p *matrixParser) check() error {
	if n := p.header[0]; n.count == 0 || n.count > maxNodes {
		return p.errorAt(max(n.line, 1), "the header says Nodes %d, want 1 to %d", n.count, maxNodes)
	}
	p.m.Nodes = int(p.header[0].count)
	for i, have := range [...]int{1: len(p.m.Flows), 2: len(p.m.Triggers), 3: len(p.m.Failures)} {
		if h := p.header[i]; i > 0 && h.count != int64(have) {
			return p.errorAt(max(h.line, 1), "the header says %s %d, the file holds %d", headerNames[i], h.count, have)
		}
	}
	if err := p.checkTriggers(); err != nil {
		return err
	}
	return p.checkConnections()
}

func (p *matrixParser) checkTriggers() error {
	byID := make(map[int64]int, len(p.m.Triggers))
	for _, t := range p.m.Triggers {
		if first := byID[t.ID]; first != 0 {
			return p.errorAt(t.Line, "trigger %d is given twice, first in line %d", t.ID, first)
		}
		byID[t.ID] = t.Line
	}
	for _, f := range p.m.Flows {
		for _, id := range [...]int64{f.Trigger, f.SendDone, f.RecvDone} {
			if id != 0 && byID[id] == 0 {
				return p.errorAt(f.Line, "trigger %d is not in the file", id)
			}
		}
	}
	return nil
}

func (p *matrixParser) checkConnections() error {
	byID := make(map[int64]Flow, len(p.m.Flows))
	for _, f := range p.m.Flows {
		first, again := byID[f.ID]
		switch {
		case f.ID == 0:
		case !again:
			byID[f.ID] = f
		case !f.Message || !first.Message:
			return p.errorAt(f.Line, "id %d is given twice, first in line %d; messages of one connection say msg",
				f.ID, first.Line)
		case f.Src != first.Src || f.Dst != first.Dst:
			return p.errorAt(f.Line, "messages of connection %d have different ends, see line %d", f.ID, first.Line)
		}
	}
	return nil
}
