// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"net/netip"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/ses"
)

// readWindow is the window of the side that answers, packets.
const readWindow = 2 * pathSlice

// readSteps is a side that answers reads, whose window is full: an acknowledgement of data in
// and a packet of data out. The reader is an endpoint too, and what it does is not timed.
type readSteps struct {
	b         testing.TB
	e, reader *uetcc.Endpoint
	now       int64
	batch     int
	acks      []uetcc.Datagram // of data, on their way to e
	spare     []uetcc.Datagram // room for more of them
	request   uetcc.Datagram
	answer    uetcc.Datagram // to a request
	data      []byte
	out       [4 * pathSlice]uetcc.Datagram
	reply     [pathBatch]uetcc.Datagram
	got       [pathBatch]uetcc.Received
	clock     stopwatch
}

func newReadSteps(b testing.TB, batch int) *readSteps {
	s := &readSteps{b: b, batch: batch, spare: make([]uetcc.Datagram, 4*readWindow), data: make([]byte, uetcc.HeaderMax+pathMTU)}
	const rate = readWindow * (pathMTU + 200) * 1e9 / 100 * 2 / 3 // as of bareSource
	s.e = pathEndpoint(b, 1, func(c *uetcc.Config) {
		c.CC.NSCC.BaseRTT, c.CC.NSCC.LinkRate = 100, rate
		c.CC.NSCC.Tuning = nscc.Tuning{TargetQdelay: 16 * pathRTT, QAThreshold: 1e12}
		c.PDS.Range, c.Answers, c.Contexts = 1024, 1<<14, 2
	})
	s.reader = pathEndpoint(b, 1, func(c *uetcc.Config) {
		c.Address = pathPeer(0)
		c.CC.NSCC.LinkRate = rate
		c.PDS.Range, c.PDS.AckTrigger, c.Memory.Chunks = 1024, 1, 256 // each packet of data has its acknowledgement
	})
	t := s.e.Target()
	process, _ := t.AddProcess(ses.Process{Job: 1})
	if _, err := t.OpenIndex(0, process, 0, ses.Index{}); err != nil {
		b.Fatal(err)
	}
	if _, err := t.Register(process, 0, ses.Region{Length: 1 << 40, Key: 0, Job: 1, Rights: ses.RightRead}); err != nil {
		b.Fatal(err)
	}
	s.request.Packet, s.answer.Packet = make([]byte, 0, uetcc.HeaderMax), make([]byte, 0, uetcc.HeaderMax)
	for _, set := range [][]uetcc.Datagram{s.out[:], s.reply[:], s.spare} {
		for i := range set {
			set[i].Packet = make([]byte, 0, uetcc.HeaderMax)
		}
	}
	for len(s.acks) < readWindow/2 { // the window fills, and requests pile up behind it
		s.ask()
		s.deliver(s.e.TransmitBatch(s.now, s.out[:]))
		s.now += pathRTT
	}
	return s
}

// ask has the reader send what it may, and e take that in; the answers wait.
func (s *readSteps) ask() {
	for {
		if ev, ok := s.reader.Poll(); ok && ev.Outcome.Status != ses.StatusOK {
			s.b.Fatalf("%+v", ev)
		}
		m := uetcc.Message{To: uetcc.Destination{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Job: 1}, Length: 64 << 20}
		if s.reader.Usage().Messages < 2 {
			if _, err := s.reader.Read(s.now, &m); err != nil {
				s.b.Fatal(err)
			}
		}
		if !s.reader.Transmit(s.now, &s.request) {
			return
		}
		var r uetcc.Received
		s.e.Receive(s.now, &s.request, &s.answer, &r)
		if len(s.answer.Packet) != 0 {
			d := s.answer
			s.reader.Receive(s.now, &d, &s.request, &r)
		}
	}
}

// deliver gives the reader the first n packets of out, and keeps its acknowledgements.
func (s *readSteps) deliver(n int) {
	for i := range s.out[:n] {
		d := s.out[i]
		header := copy(s.data, d.Packet)
		d.Packet = s.data[:header+int(d.Payload.Length)]
		var r uetcc.Received
		ack := s.spare[len(s.spare)-1]
		if s.reader.Receive(s.now, &d, &ack, &r); len(ack.Packet) != 0 {
			s.spare = s.spare[:len(s.spare)-1]
			s.acks = append(s.acks, ack)
		}
	}
}

// step takes a slice of acknowledgements in.
func (s *readSteps) step() {
	s.ask()
	n := min(len(s.acks), pathSlice) / s.batch * s.batch
	if n == 0 {
		s.b.Fatalf("no acknowledgements: %v", s.e.Usage())
	}
	in, sent := s.acks[:n], 0
	s.clock.time(0, func() {
		for ; len(in) > 0; in = in[s.batch:] {
			s.now += pathRTT * int64(s.batch) / readWindow
			if s.batch == 1 {
				sent += s.e.Exchange(s.now, &in[0], &s.reply[0], &s.got[0], s.out[sent:])
			} else {
				sent += s.e.ExchangeBatch(s.now, in[:s.batch], s.reply[:s.batch], s.got[:s.batch], s.out[sent:])
			}
		}
	})
	s.spare = append(s.spare, s.acks[:n]...)
	s.acks = s.acks[:copy(s.acks, s.acks[n:])]
	s.clock.packets += sent
	s.deliver(sent)
}

// check checks that every acknowledgement was taken.
func (s *readSteps) check() {
	if d := s.e.PDS().Stats(); d.Malformed+d.Unknown+d.BadACK+d.RTOs > 0 || pdc.Stats.String(d) == "" {
		s.b.Errorf("%v", d)
	}
}
