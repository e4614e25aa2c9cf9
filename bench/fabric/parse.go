// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/uetcc/uetcc/hw/link"
)

// A ParseError is a mistake in a line of a file, with the reason. All text
// formats report mistakes as ParseErrors.
type ParseError struct {
	File string
	Line int // from 1
	Msg  string
	Err  error // the kind of mistake, for errors.Is; nil: none that has a name
}

// Unwrap returns e.Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Error is FILE:LINE: message, as compilers write errors. Control characters in
// the file are escaped.
func (e *ParseError) Error() string {
	return printable(fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg))
}

// printable is s with escapes in place of unprintable characters.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// maxNumber bounds every number of all formats, so no later product of two
// numbers can overflow by accident.
const maxNumber = 1 << 40

// maxNodes bounds the hosts of a fabric.
const maxNodes = 1 << 20

// lines reads a text of blank-separated words line by line. Comments start at a
// '#', empty lines are skipped.
type lines struct {
	file  string
	sc    *bufio.Scanner
	line  int // of words
	words []string
	next  int             // of the words not taken yet
	seen  map[string]bool // fields of the line that may stand only once
}

func newLines(file string, r io.Reader) *lines {
	return &lines{file: file, sc: bufio.NewScanner(r), seen: map[string]bool{}}
}

// each calls item for each line with words on it, up to the first error.
func (l *lines) each(item func() error) error {
	for l.sc.Scan() {
		l.line++
		text, _, _ := strings.Cut(l.sc.Text(), "#")
		l.words, l.next = strings.Fields(text), 0
		if len(l.words) == 0 {
			continue
		}
		clear(l.seen)
		if err := item(); err != nil {
			return err
		}
	}
	switch err := l.sc.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return &ParseError{File: l.file, Line: l.line + 1, Msg: "line is longer than 64 KiB"}
	default:
		return err
	}
}

func (l *lines) errorf(format string, a ...any) error { return l.errorAt(l.line, format, a...) }

func (l *lines) errorAt(line int, format string, a ...any) error {
	return &ParseError{File: l.file, Line: line, Msg: fmt.Sprintf(format, a...)}
}

// word takes the next word of the line, false at the end.
func (l *lines) word() (string, bool) {
	if l.next == len(l.words) {
		return "", false
	}
	l.next++
	return l.words[l.next-1], true
}

// number takes the value of a field: a whole number from least to maxNumber.
func (l *lines) number(field string, least int64) (int64, error) {
	w, ok := l.word()
	if !ok {
		return 0, l.errorf("%s needs a number", field)
	}
	return l.parse(field, w, least)
}

func (l *lines) parse(field, w string, least int64) (int64, error) {
	if whole, decimals, ok := strings.Cut(w, "."); ok && strings.Trim(decimals, "0") == "" {
		w = whole
	}
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		return 0, l.errorf("%s %q is not a whole number", field, w)
	}
	if n < least || n > maxNumber {
		return 0, l.errorf("%s %d is not between %d and %d", field, n, least, int64(maxNumber))
	}
	return n, nil
}

// microseconds takes a time, maybe with decimals, and rounds the time to
// picoseconds.
func (l *lines) microseconds(field string) (link.Ps, error) {
	w, ok := l.word()
	if !ok {
		return 0, l.errorf("%s needs a number", field)
	}
	if us, err := strconv.ParseInt(w, 10, 64); err == nil && us >= 0 && us <= maxNumber {
		return link.Ps(us) * link.Microsecond, nil
	}
	us, err := strconv.ParseFloat(w, 64)
	if err != nil || !(us >= 0 && us <= maxNumber) {
		return 0, l.errorf("%s %q is not a time", field, w)
	}
	return link.Ps(math.Round(us * float64(link.Microsecond))), nil
}

// end reports words left over.
func (l *lines) end() error {
	if w, ok := l.word(); ok {
		return l.errorf("unknown field %q", w)
	}
	return nil
}

// once notes a field allowed only once in a line.
func (l *lines) once(field string) error {
	if l.seen[field] {
		return l.errorf("%s is given twice", field)
	}
	l.seen[field] = true
	return nil
}
