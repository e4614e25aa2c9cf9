// SPDX-License-Identifier: Apache-2.0

package goal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// keywords cannot be labels.
var keywords = []string{"num_ranks", "rank", "send", "recv", "calc", "to", "from", "tag", "cpu", "nic", "requires", "irequires"}

// ParseText reads the text form; file is the name in errors of type [*Error]; errors of the
// reader are returned unchanged. One statement a line:
//
//	num_ranks 2
//	rank 0 {
//	l1: calc 1000
//	l2: send 4096b to 1 tag 7 cpu 0 nic 0
//	l2 requires l1
//	}
//	rank 1 {
//	recv 4096b from 0 tag 7
//	}
//
// Of calc the number is ns. A label stands before the named operation, above the lines using
// the label, and is valid within the rank; of two equal labels the first counts. tag, cpu and
// nic come in the given order and are 0 if missing. The source of a recv and every tag may be
// -1, meaning [Any]. "a irequires b" is a dependency on the start of b. // begins a comment,
// and /* a comment up to */.
func ParseText(file string, r io.Reader) (*Schedule, error) {
	p := textParser{file: file, s: &Schedule{}, ranks: -1}
	if err := p.parse(r); err != nil {
		return nil, err
	}
	if err := p.s.Check(); err != nil {
		err.(*Error).File = file
		return nil, err
	}
	return p.s, nil
}

type textParser struct {
	file    string
	line    int
	words   []string // of the line that are not taken yet
	comment bool     // one that goes on to the next line
	ranks   int64    // as announced; -1: not yet
	rank    *Rank    // within its braces
	labels  map[string]uint32
	s       *Schedule
}

// maxLine is how long a line may be, bytes.
const maxLine = 1 << 16

func (p *textParser) parse(r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		b, err := in.ReadSlice('\n')
		ended := err == nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			p.line++
			return p.errorf("line is longer than 64 KiB")
		case err != nil && err != io.EOF:
			return err
		case !ended && len(b) == 0:
			return p.atEnd()
		}
		p.line++
		if err := p.statement(b, ended); err != nil {
			return err
		}
	}
}

func (p *textParser) errorf(format string, a ...any) error {
	return &Error{p.file, max(p.line, 1), fmt.Sprintf(format, a...)}
}

func (p *textParser) atEnd() error {
	switch {
	case p.comment:
		return p.errorf("the file ends within a comment")
	case p.rank != nil:
		return p.errorf("the file ends within rank %d, want }", len(p.s.Ranks)-1)
	case p.ranks < 0:
		return p.errorf("the file is empty, want num_ranks")
	case int64(len(p.s.Ranks)) < p.ranks:
		return p.errorf("rank %d is missing: num_ranks is %d", len(p.s.Ranks), p.ranks)
	}
	return nil
}

func (p *textParser) statement(b []byte, ended bool) error {
	var err error
	if p.words, err = p.split(b); err != nil || len(p.words) == 0 {
		return err
	}
	switch {
	case p.ranks < 0:
		err = p.header()
	case p.rank == nil:
		err = p.open()
	case p.words[0] == "}":
		p.words, p.rank = p.words[1:], nil
	case !ended:
		return p.errorf("the file ends within rank %d: want a line end, and }", len(p.s.Ranks)-1)
	default:
		err = p.operation()
	}
	if err == nil && len(p.words) > 0 {
		err = p.errorf("unexpected %q", p.words[0])
	}
	return err
}

// split takes comments out of a line and returns its words: numbers, names, and : { } -
func (p *textParser) split(b []byte) (words []string, err error) {
	for b = bytes.TrimRight(b, "\r\n"); len(b) > 0; {
		switch c := b[0]; {
		case p.comment:
			_, rest, ok := bytes.Cut(b, []byte("*/"))
			p.comment, b = !ok, rest
		case bytes.HasPrefix(b, []byte("//")):
			return words, nil
		case bytes.HasPrefix(b, []byte("/*")):
			p.comment, b = true, b[2:]
		case c == ' ' || c == '\t':
			b = b[1:]
		case strings.IndexByte(":{}-", c) >= 0:
			words, b = append(words, string(b[:1])), b[1:]
		default:
			n := wordLength(b)
			if n == 0 {
				return nil, p.errorf("unexpected character %q", c)
			}
			words, b = append(words, string(b[:n])), b[n:]
		}
	}
	return words, nil
}

// wordLength is how long the number or the name at the beginning of b is.
func wordLength(b []byte) int {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	n := 0
	for ; n < len(b); n++ {
		if c := b[n]; !digit(c) && (digit(b[0]) || !letter(c) && (c != '_' || n == 0)) {
			break
		}
	}
	return n
}

// take takes the next word if equal to w.
func (p *textParser) take(w string) bool {
	if len(p.words) == 0 || p.words[0] != w {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *textParser) want(w string) error {
	switch {
	case p.take(w):
		return nil
	case len(p.words) == 0:
		return p.errorf("want %s at the end of the line", w)
	default:
		return p.errorf("want %s, have %q", w, p.words[0])
	}
}

// number takes a number from 0 to most; what is the noun for errors.
func (p *textParser) number(what string, most uint64) (uint64, error) {
	if len(p.words) == 0 {
		return 0, p.errorf("want %s at the end of the line", what)
	}
	w := p.words[0]
	n, err := strconv.ParseUint(w, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > most:
		return 0, p.errorf("%s %s is larger than %d", what, w, most)
	case err != nil && w == "-":
		return 0, p.errorf("%s cannot be negative", what)
	case err != nil:
		return 0, p.errorf("want %s, have %q", what, w)
	}
	p.words = p.words[1:]
	return n, nil
}

// orAny takes a number of 32 bits or -1.
func (p *textParser) orAny(what string) (uint32, error) {
	if len(p.words) > 1 && p.words[0] == "-" && p.words[1] == "1" {
		p.words = p.words[2:]
		return Any, nil
	}
	n, err := p.number(what, math.MaxUint32-1)
	return uint32(n), err
}

func (p *textParser) header() error {
	if err := p.want("num_ranks"); err != nil {
		return err
	}
	n, err := p.number("the number of ranks", math.MaxInt32)
	if err == nil && n == 0 {
		err = p.errorf("num_ranks 0, want at least 1")
	}
	p.ranks = int64(n)
	return err
}

func (p *textParser) open() error {
	if err := p.want("rank"); err != nil {
		return err
	}
	n, err := p.number("a rank", math.MaxInt32)
	switch {
	case err != nil:
		return err
	case int64(n) >= p.ranks:
		return p.errorf("rank %d is not one of the %d that num_ranks says", n, p.ranks)
	case int(n) != len(p.s.Ranks):
		return p.errorf("rank %d, want rank %d: ranks come in ascending order, all of them", n, len(p.s.Ranks))
	}
	p.s.Ranks = append(p.s.Ranks, Rank{})
	p.rank, p.labels = &p.s.Ranks[n], map[string]uint32{}
	return p.want("{")
}

// label takes a name.
func (p *textParser) label() (string, error) {
	if len(p.words) == 0 {
		return "", p.errorf("want a label at the end of the line")
	}
	w := p.words[0]
	if c := w[0]; c >= '0' && c <= '9' || strings.Contains(":{}-", w) {
		return "", p.errorf("want a label, have %q", w)
	}
	if slices.Contains(keywords, w) {
		return "", p.errorf("%q is a keyword and cannot be a label", w)
	}
	p.words = p.words[1:]
	return w, nil
}

// operation takes a line within a rank: an operation, or a dependency.
func (p *textParser) operation() error {
	if len(p.words) == 1 || p.words[1] != ":" {
		switch p.words[0] {
		case "send", "recv", "calc":
			return p.op("")
		}
	}
	label, err := p.label()
	if err != nil {
		return err
	}
	if p.take(":") {
		return p.op(label)
	}
	started := p.take("irequires")
	if !started && !p.take("requires") {
		return p.errorf("want :, requires or irequires behind the label %q", label)
	}
	on, err := p.label()
	if err != nil {
		return err
	}
	d := Dep{Started: started}
	for _, l := range []struct {
		name string
		to   *uint32
	}{{label, &d.Op}, {on, &d.On}} {
		i, ok := p.labels[l.name]
		if !ok {
			return p.errorf("label %q is not defined above", l.name)
		}
		*l.to = i
	}
	p.rank.Deps = append(p.rank.Deps, d)
	return nil
}

// op takes an operation.
func (p *textParser) op(label string) (err error) {
	o := Op{Line: int32(min(p.line, math.MaxInt32))}
	switch {
	case p.take("calc"):
		o.Kind = KindCalc
		err = p.calc(&o)
	case p.take("send"):
		o.Kind = KindSend
		err = p.message(&o)
	case p.take("recv"):
		o.Kind = KindRecv
		err = p.message(&o)
	default:
		return p.errorf("want send, recv or calc behind the label %q", label)
	}
	if err != nil {
		return err
	}
	i := p.rank.add(o)
	if _, again := p.labels[label]; label != "" && !again {
		p.labels[label] = i
	}
	return nil
}

func (p *textParser) calc(o *Op) error {
	n, err := p.number("the length of a calc in ns", MaxCalc)
	o.Size = int64(n)
	if err == nil {
		err = p.part("cpu", &o.CPU)
	}
	return err
}

func (p *textParser) message(o *Op) error {
	n, err := p.number("the size of a message in bytes", MaxMessage)
	if err != nil {
		return err
	}
	o.Size = int64(n)
	if err := p.want("b"); err != nil {
		return err
	}
	if o.Kind == KindSend {
		if err = p.want("to"); err == nil {
			n, err = p.number("the rank to send to", math.MaxUint32-1)
			o.Peer = uint32(n)
		}
	} else if err = p.want("from"); err == nil {
		o.Peer, err = p.orAny("the rank to receive from")
	}
	if err == nil && p.take("tag") {
		o.Tag, err = p.orAny("a tag")
	}
	if err == nil {
		err = p.part("cpu", &o.CPU)
	}
	if err == nil {
		err = p.part("nic", &o.NIC)
	}
	return err
}

// part takes the number of a CPU or a NIC, if present.
func (p *textParser) part(name string, to *uint8) error {
	if !p.take(name) {
		return nil
	}
	n, err := p.number("the "+name, math.MaxUint8)
	*to = uint8(n)
	return err
}
