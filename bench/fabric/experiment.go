// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"io"
	"strings"

	"github.com/uetcc/uetcc/hw/link"
)

// An Experiment is one entry of htsim's own validation files: a workload, the options of the
// simulator, and the time by which the last transfer has to be finished.
type Experiment struct {
	File   string // that it is from, as errors name it
	Line   int    // where it begins
	Matrix string // path of the connection matrix
	Name   string
	Binary string // path of the program that it is for
	Params []Param
	Tail   link.Ps // time from the start of the run; 0: no bar
	Flows  []FlowBar
}

// A Param is a word of the command line of an [Experiment].
type Param struct {
	Text string
	Line int
}

// A FlowBar is the time by which a transfer has to be finished.
type FlowBar struct {
	Name string // Uec_SRC_DST
	Tail link.Ps
}

// ParseExperiments reads a file of experiments; file is the name in errors of type
// [*ParseError]; errors of the reader are returned unchanged. An experiment is a line with
// the path of a matrix, and lines that begin with an exclamation mark:
//
//	connection_matrices/one.cm
//	!Experiment Single Connection
//	!Binary ./htsim_uec
//	!Param -end 1000
//	!tailFCT 180
//
// !tailFCT US is the bar, !FCT Uec_SRC_DST US the bar of one transfer, !continue means
// nothing, and # begins a comment. [Experiment.Config] interprets the parameters.
func ParseExperiments(file string, r io.Reader) ([]Experiment, error) {
	p := experimentParser{lines: newLines(file, r)}
	if err := p.each(p.item); err != nil {
		return nil, err
	}
	if len(p.list) == 0 {
		return nil, p.errorAt(max(p.line, 1), "no experiment: it begins with the path of a connection matrix")
	}
	return p.list, nil
}

type experimentParser struct {
	*lines
	list []Experiment
}

func (p *experimentParser) item() error {
	first, _ := p.word()
	if !strings.HasPrefix(first, "!") {
		p.list = append(p.list, Experiment{File: p.file, Line: p.line, Matrix: first})
		return p.end()
	}
	if len(p.list) == 0 {
		return p.errorf("%s before the path of a connection matrix", first)
	}
	e := &p.list[len(p.list)-1]
	switch first {
	case "!Experiment":
		e.Name = strings.Join(p.rest(), " ")
	case "!Binary":
		e.Binary = strings.Join(p.rest(), " ")
	case "!Param":
		for _, w := range p.rest() {
			e.Params = append(e.Params, Param{w, p.line})
		}
	case "!tailFCT":
		return p.bar(first, &e.Tail)
	case "!FCT":
		name, _ := p.word()
		e.Flows = append(e.Flows, FlowBar{Name: name})
		return p.bar(first, &e.Flows[len(e.Flows)-1].Tail)
	case "!continue":
		return p.end()
	default:
		return p.errorf("unknown item %q, want !Experiment, !Binary, !Param, !tailFCT, !FCT or !continue", first)
	}
	return nil
}

// rest takes the words left of the line.
func (l *lines) rest() []string {
	w := l.words[l.next:]
	l.next = len(l.words)
	return w
}

func (p *experimentParser) bar(field string, to *link.Ps) (err error) {
	if *to, err = p.microseconds(field); err != nil {
		return err
	}
	if *to == 0 {
		return p.errorf("%s is 0, want microseconds", field)
	}
	return p.end()
}
