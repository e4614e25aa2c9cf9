// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strconv"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/link"
)

// A streamed is a file written while a run goes on, an event at a time.
type streamed struct {
	*output
	line  []byte
	begun bool
}

// begin starts the file anew with the first event of a run.
func (s *streamed) begin(head string) {
	if !s.begun {
		s.begun = true
		if s.open(); s.err == nil {
			_, s.err = s.buffer.WriteString(head)
		}
	}
	s.line = s.line[:0]
}

// end writes the event at hand.
func (s *streamed) end() {
	if s.err == nil {
		_, s.err = s.buffer.Write(s.line)
	}
}

// add adds text to the event.
func (s *streamed) add(text string) *streamed {
	s.line = append(s.line, text...)
	return s
}

// int adds a number.
func (s *streamed) int(n int64) *streamed {
	s.line = strconv.AppendInt(s.line, n, 10)
	return s
}

// time adds a time in a unit of so many ps, exactly.
func (s *streamed) time(t link.Ps, unit float64) *streamed {
	s.line = strconv.AppendFloat(s.line, float64(t)/unit, 'f', -1, 64)
	return s
}

// name adds a string in quotes; names of flows, ports and reasons need no escapes.
func (s *streamed) name(text string) *streamed {
	s.line = append(append(append(s.line, '"'), text...), '"')
	return s
}

// A closer ends the output of a run at the end of the run.
type closer interface{ over(*fabric.Result) }

// over tells the watchers of a run about the end.
func over(c *fabric.Config, res *fabric.Result) {
	all, _ := c.Watch.(watchers)
	for _, w := range all {
		if x, ok := w.(closer); ok {
			x.over(res)
		}
	}
}
