// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// sourceEnd is an initiator whose PDCs all write, and what is known of each.
type sourceEnd struct {
	option
	b     testing.TB
	e     *uetcc.Endpoint
	now   int64
	frac  int64 // of now, 1/1024 ns
	tick  int64 // 1/1024 ns a packet
	out   [4 * pathSlice]uetcc.Datagram
	reply [pathBatch]uetcc.Datagram
	got   [pathBatch]uetcc.Received
	psn   *[1 << 16]sourcePSN // by PDCID
	acks  uint32              // written so far

	window uint32 // packets
}

// sourcePSN is what one PDC is to send and to have acknowledged next.
type sourcePSN struct {
	acked, sent uint32
	message     [2]uint16 // ids of those that carry the last even and the last odd 2^20 packets
	ahead       bool      // the packet behind acked is acknowledged already
}

// pathMessagePackets is how many packets a message of a source is.
const pathMessagePackets = (ses.MaxMessage + pathMTU - 1) / pathMTU

// pathShort is up to how many PDCs messages end within a benchmark of hours.
const pathShort = 1 << 10

// bareSource has n PDCs with windows of so many packets.
func bareSource(b testing.TB, n, window int, o option) *sourceEnd {
	s := &sourceEnd{b: b, option: o, window: uint32(window), psn: new([1 << 16]sourcePSN)}
	s.e = pathEndpoint(b, n, func(c *uetcc.Config) {
		// A ceiling of so many packets, which no round trip here shall lower: the
		// window follows the shortest, and the acknowledgements follow the window.
		c.CC.NSCC.BaseRTT = 100
		c.CC.NSCC.LinkRate = int64(window) * (pathMTU + 200) * 1e9 / 100 * 2 / 3
		c.Memory.Chunks = n*(window/16+3) + 64
		if n <= pathShort {
			c.Messages = max(2*n, c.Messages)
		}
		c.CC.NSCC.Tuning = nscc.Tuning{TargetQdelay: 16 * pathRTT, QAThreshold: 1e12}
		if o.edit != nil {
			o.edit(c)
		}
	})
	s.tick = pathRTT * 1024 / int64(n*window)
	for i := range s.reply {
		s.reply[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	for i := range s.out {
		s.out[i].Packet = make([]byte, 0, uetcc.HeaderMax)
	}
	for i := range n {
		h, err := s.e.Connect(0, &uetcc.Message{To: pathDestination(i), Length: ses.MaxMessage, Mode: s.mode})
		if err != nil {
			b.Fatal(err)
		}
		(*pdc.Manager)(s.e.PDS()).SetStartPSN(h, 0)
	}
	return s
}

// newSource is bareSource, all of whose PDCs write.
func newSource(b testing.TB, n, window int, o option) *sourceEnd {
	s := bareSource(b, n, window, o)
	for i := range n {
		s.write(i, ses.MaxMessage)
		if n <= pathShort {
			s.write(i, ses.MaxMessage)
		}
	}
	s.drain()
	// What comes with a first acknowledgement is over with it: then each one lets as many
	// packets of its own PDC go as it covers. PDCs are not to hand packets to the manager
	// all at the same time.
	in := uetcc.Datagram{Packet: append(make([]byte, 0, uetcc.HeaderMax), ackPacket...), Size: 116}
	for i := range n {
		for range 1 + i%16 {
			if s.pass(1); !s.ticks { // then all that is in flight would be late
				s.now += pathRTT
			}
			s.ackOf(&in, uint16(i+1), 1)
			s.e.Receive(s.now, &in, &s.reply[0], &s.got[0])
			s.drain()
		}
	}
	return s
}

func pathDestination(i int) uetcc.Destination {
	return uetcc.Destination{Address: pathPeer(i), Job: 1}
}

// write begins a message to a peer.
func (s *sourceEnd) write(i int, length uint32) {
	m := uetcc.Message{To: pathDestination(i), Length: length, Cookie: uint64(i), Mode: s.option.mode}
	if _, err := s.e.Write(s.now, &m); err != nil {
		s.b.Fatal(err)
	}
}

// drain sends all that may go.
func (s *sourceEnd) drain() {
	for s.send(pathBatch) > 0 {
	}
}

// send sends up to most packets, and returns how many of them are new.
func (s *sourceEnd) send(most uint32) (packets int) {
	n := 1
	if most > 1 {
		n = s.e.TransmitBatch(s.now, s.out[:min(most, pathBatch)])
	} else if !s.e.Transmit(s.now, &s.out[0]) {
		n = 0
	}
	return s.count(n)
}

// count takes note of n packets that have been sent, and returns how many of them are new.
func (s *sourceEnd) count(n int) (packets int) {
	for i := range n {
		d := &s.out[i]
		if b := (*[pds.RequestLen]byte)(d.Packet); pds.Type(b[0]>>3) != pds.TypeCP && !d.Retx {
			c := &s.psn[binary.BigEndian.Uint16(b[atSPDCID:])]
			if c.sent%pathMessagePackets == 0 {
				c.message[c.sent/pathMessagePackets%2] = binary.BigEndian.Uint16(d.Packet[pds.Type(b[0]>>3).HeaderLen()+atMessageID:])
			}
			c.sent++
			packets++
		}
	}
	return packets
}

// ackPacket is an acknowledgement with a response, to be patched.
var ackPacket = func() []byte {
	h := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse}, SACK: pds.SACK{MPR: 8}}
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: 1, JobID: 1, ModifiedLength: ses.MaxMessage}
	return y.AppendTo(h.AppendTo(nil))
}()

// ackOf writes the acknowledgement of the next most packets of a PDC and returns
// how many it covers, 0 if there is none to write.
func (s *sourceEnd) ackOf(in *uetcc.Datagram, id uint16, most uint32) uint32 {
	c := &s.psn[id]
	k := min(most, c.sent-c.acked)
	c.acked += k
	b := (*[pds.AckCCLen + ses.ResponseLen]byte)(in.Packet)
	binary.BigEndian.PutUint32(b[atPSN:], c.acked-1)
	binary.BigEndian.PutUint32(b[atSPDCID:], uint32(id)<<16|uint32(id))
	binary.BigEndian.PutUint16(b[pds.AckCCLen+atMessageID:], c.message[(c.acked-1)/pathMessagePackets%2])
	in.Src = pdc.Addr{Lo: pathSource | uint64(id-1)}
	if s.credit {
		v := (*view.AckCC)(b[:pds.AckCCLen])
		v.SetSACK(pds.CCCredit, 8, 0, 0)
		v.SetCredit(&pds.CreditState{Credit: (c.acked + s.window) * pathQuanta & 0xffffff})
	}
	return k
}

// mixedACKOf is ackOf for a path with trouble: of 16 acknowledgements one has a mark;
// of 64, one shows that a packet has overtaken another, and instead of one a NACK
// says that a packet was trimmed, which is sent again then.
func (s *sourceEnd) mixedACKOf(in *uetcc.Datagram, id uint16, most uint32) uint32 {
	c := &s.psn[id]
	if c.sent == c.acked {
		return 0
	}
	in.Packet, in.Size = append(in.Packet[:0], ackPacket...), 116
	switch s.acks++; s.acks % 64 {
	case 0, 16, 32, 48:
		in.Packet[atFlags] |= byte(pds.FlagM)
	case 7:
		n := pds.Nack{Code: pds.NackTrimmed, PSN: pds.PSN(c.acked)}
		in.Packet, in.Size = n.AppendTo(in.Packet[:0]), 64
		setPDC(in, id)
		return 1
	case 23:
		if c.sent-c.acked > 1 { // the next but one, from CACK
			s.ackOf(in, id, 0)
			binary.BigEndian.PutUint16(in.Packet[atACKOffset:], 2)
			binary.BigEndian.PutUint64(in.Packet[atBitmap:], 1<<2)
			return 1
		}
	}
	return s.ackOf(in, id, most)
}

// sprayedACKOf is ackOf where of each two packets the second arrives first, and each
// is acknowledged by itself.
func (s *sourceEnd) sprayedACKOf(in *uetcc.Datagram, id uint16) uint32 {
	c := &s.psn[id]
	s.acks++
	switch swapped := c.ahead; {
	case swapped:
		s.ackOf(in, id, 2)
		c.ahead = false
		s.place(in, -1, 0)
	case c.sent-c.acked < 2:
		s.place(in, 0, 0)
		return s.ackOf(in, id, 1)
	default:
		s.ackOf(in, id, 0)
		c.ahead = true
		s.place(in, 2, 1<<2)
	}
	return 1
}

// place writes which packet an acknowledgement is of, from CACK, and what has arrived
// besides.
func (s *sourceEnd) place(in *uetcc.Datagram, offset int16, bitmap uint64) {
	binary.BigEndian.PutUint16(in.Packet[atACKOffset:], uint16(offset))
	binary.BigEndian.PutUint64(in.Packet[atBitmap:], bitmap)
}

// receive takes acknowledgements of k packets in, and sends as many as these let go, of
// which there are no more, and returns how many that were.
func (s *sourceEnd) receive(in []uetcc.Datagram, k uint32, out []uetcc.Datagram) int {
	s.pass(k)
	if s.ticks {
		defer s.e.Tick(s.now)
	}
	if len(in) == 1 {
		return s.e.Exchange(s.now, &in[0], &s.reply[0], &s.got[0], out[:k])
	}
	return s.e.ExchangeBatch(s.now, in, s.reply[:len(in)], s.got[:len(in)], out[:k])
}

// checkSent checks that all was sent that might go, and what count has seen.
func (s *sourceEnd) checkSent(b *testing.B) {
	if len((*pdc.Manager)(s.e.PDS()).Fast().Upcoming(1)) > 0 {
		b.Error("packets are left that may go")
	}
	for h := range s.e.PDS().All() {
		if p, _ := s.e.PDS().PDC(h); uint32(p.Next) != s.psn[p.ID].sent {
			b.Fatalf("PDC %d: the next PSN is %d, not %d", p.ID, p.Next, s.psn[p.ID].sent)
		}
	}
}

// pass lets the time of k packets pass.
func (s *sourceEnd) pass(k uint32) {
	s.frac += s.tick * int64(k)
	s.now += s.frac >> 10
	s.frac &= 1023
}

// poll has another message follow each that is complete.
func (s *sourceEnd) poll() {
	for {
		done, ok := s.e.Poll()
		if !ok {
			return
		}
		if done.Outcome.Status != ses.StatusOK {
			s.b.Fatalf("%+v", done)
		}
		s.write(int(done.Cookie), ses.MaxMessage)
	}
}

// BenchmarkSourcePath is the whole step of a source: bytes of an ACK_CC in,
// decoded, its PDC found, packets released, the window updated, and as many new
// packets admitted, with header bytes out. It does what the floor's send+source
// does.
func BenchmarkSourcePath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		for _, per := range []uint32{1, 4} {
			for _, signals := range []string{"clean", "mixed", "sprayed"} {
				for _, batch := range []int{1, pathBatch} {
					if batch > n && (per > 1 || signals != "clean") || signals == "sprayed" && (per > 1 || n != 1<<10) {
						continue // one PDC has no batch of such acknowledgements outstanding, and each of those is of one packet
					}
					b.Run(fmt.Sprintf("pdcs=%d/packets-per-ack=%d/signals=%s/batch=%d", n, per, signals, batch), func(b *testing.B) {
						p := newSourceSteps(b, n, per, signals, batch, option{})
						b.ReportAllocs()
						for b.Loop() {
							p.step()
						}
						p.finish(b)
						p.clock.report(b)
					})
				}
			}
		}
	}
}

// BenchmarkSACKPath is SourcePath with SACK bits in each acknowledgement of a packet that has
// overtaken another one, as on many paths: the "sprayed" one, for all numbers of PDCs.
func BenchmarkSACKPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		for _, batch := range []int{1, pathBatch} {
			b.Run(fmt.Sprintf("pdcs=%d/batch=%d", n, batch), func(b *testing.B) {
				p := newSourceSteps(b, n, 1, "sprayed", batch, option{})
				b.ReportAllocs()
				for b.Loop() {
					p.step()
				}
				p.check(b)
				p.clock.report(b)
			})
		}
	}
}

// BenchmarkSourceTick is SourcePath in batches with the time-outs of the defaults and the clock
// that they need: Tick follows each batch.
func BenchmarkSourceTick(b *testing.B) {
	o := option{ticks: true, edit: func(c *uetcc.Config) { c.PDS.RTOInit, c.PDS.IdleTime = 0, 0 }}
	for _, n := range []int{1, 1 << 10, pathMost} {
		b.Run(fmt.Sprintf("pdcs=%d", n), func(b *testing.B) {
			p := newSourceSteps(b, n, 1, "clean", pathBatch, o)
			b.ReportAllocs()
			for b.Loop() {
				p.step()
			}
			p.check(b)
			p.clock.report(b)
		})
	}
}

// sourceSteps feeds a source with acknowledgements of PDCs in random order, a slice of
// them at a time.
type sourceSteps struct {
	*sourceEnd
	order   *[1 << 16]uint16
	at      int
	per     uint32
	signals string
	batch   int
	in      []uetcc.Datagram
	cover   []uint32 // of how many packets a batch of them is
	clock   stopwatch
}

func newSourceSteps(b testing.TB, n int, per uint32, signals string, batch int, o option) *sourceSteps {
	window := 8
	if n == 1 {
		window = 2 * pathSlice
	}
	acks := max(pathSlice/int(per), batch)
	return &sourceSteps{sourceEnd: newSource(b, n, window, o), order: (*[1 << 16]uint16)(pathOrder(n)), per: per, signals: signals,
		batch: batch, in: ackDatagrams(acks), cover: make([]uint32, acks/batch)}
}

// ackDatagrams makes room for n acknowledgements.
func ackDatagrams(n int) []uetcc.Datagram {
	in := make([]uetcc.Datagram, n)
	for i := range in {
		in[i].Packet, in[i].Size = append(make([]byte, 0, uetcc.HeaderMax), ackPacket...), 116
	}
	return in
}

// step takes one slice.
func (p *sourceSteps) step() {
	if p.at&1023 < len(p.in) {
		p.poll()
	}
	clear(p.cover)
	for i := range p.in {
		p.cover[i/p.batch] += p.next(&p.in[i])
	}
	sent := 0
	p.clock.time(0, func() { sent = p.take() })
	p.clock.packets += p.count(sent)
}

// next writes the next acknowledgement, and returns how many packets it covers.
func (p *sourceSteps) next(in *uetcc.Datagram) (k uint32) {
	for k == 0 {
		id := p.order[p.at&0xffff] + 1
		p.at++
		switch p.signals {
		case "clean":
			k = p.ackOf(in, id, p.per)
		case "mixed":
			k = p.mixedACKOf(in, id, p.per)
		default:
			k = p.sprayedACKOf(in, id)
		}
	}
	return k
}

// take takes the slice in, a batch at a time, and returns how many packets that let go.
func (p *sourceSteps) take() (sent int) {
	for i, k := range p.cover {
		sent += p.receive(p.in[i*p.batch:(i+1)*p.batch], k, p.out[sent:])
	}
	return sent
}

// finish checks that nothing went wrong.
func (p *sourceSteps) finish(b *testing.B) {
	if p.signals == "clean" {
		p.checkSent(b)
	}
	p.check(b)
}

// check checks that every acknowledgement was taken.
func (s *sourceEnd) check(b *testing.B) {
	if d := s.e.PDS().Stats(); d.Malformed+d.Unknown+d.BadACK > 0 {
		b.Errorf("%+v", d)
	}
}

// BenchmarkSourceReceive is the half of SourcePath that takes acknowledgements in,
// one packet each: windows are filled again between slices. It does what the floor's
// source does.
func BenchmarkSourceReceive(b *testing.B) {
	for _, n := range []int{1, 1 << 10, pathMost} {
		for _, batch := range []int{1, pathBatch} {
			if batch > 1 && n < pathMost {
				continue // the caches hold all
			}
			b.Run(fmt.Sprintf("pdcs=%d/batch=%d", n, batch), func(b *testing.B) {
				p := newSourceSlices(b, n)
				b.ReportAllocs()
				var clock stopwatch
				for b.Loop() {
					p.fill()
					clock.time(len(p.in), func() { p.take(batch) })
				}
				p.check(b)
				clock.report(b)
			})
		}
	}
}

// sourceSlices has a source take a slice of acknowledgements at a time, few enough to leave
// most of a window in flight.
type sourceSlices struct {
	*sourceEnd
	order []uint16
	at    int
	in    []uetcc.Datagram
}

func newSourceSlices(b testing.TB, n int) *sourceSlices {
	window := 2 * pathSlice
	if n > 1<<10 {
		window = 8 // the memory of SourcePath
	}
	return &sourceSlices{sourceEnd: newSource(b, n, window, option{}), order: pathOrder(n), in: ackDatagrams(pathSlice)}
}

// fill sends what may go and writes a slice of acknowledgements of PDCs in random
// order.
func (p *sourceSlices) fill() {
	p.drain()
	p.poll()
	for i := range p.in {
		for k := uint32(0); k == 0; p.at++ {
			k = p.ackOf(&p.in[i], p.order[p.at&0xffff]+1, 1)
		}
	}
}

// take takes the slice in, so many acknowledgements at a time.
func (p *sourceSlices) take(batch int) {
	for i := 0; i < len(p.in); i += batch {
		p.pass(uint32(batch))
		if batch == 1 {
			p.e.Receive(p.now, &p.in[i], &p.reply[0], &p.got[0])
		} else {
			p.e.ExchangeBatch(p.now, p.in[i:i+batch], p.reply[:batch], p.got[:batch], nil)
		}
	}
}

// BenchmarkSourcePathCores is SourcePath on several cores at once, each with an
// endpoint of its own; the time is that of a packet on one of them, and quiet-ns/op
// that of a slice, with what writes it, while nothing disturbs the core. Nothing is
// shared, so that should not grow more than the one of the peers' FloorPathCores.
func BenchmarkSourcePathCores(b *testing.B) {
	for n := 1; n <= runtime.GOMAXPROCS(0); n *= 2 {
		b.Run(fmt.Sprintf("cores=%d", n), func(b *testing.B) {
			ends, times := make([]*sourceSteps, n), make([]float64, n)
			for i := range ends {
				ends[i] = newSourceSteps(b, 1<<10, 1, "clean", pathBatch, option{})
			}
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for i, p := range ends {
				all.Go(func() {
					times[i] = quiet(b.N, 64, func(from, to int) {
						for range to - from {
							p.step()
						}
					})
				})
			}
			all.Wait()
			slowest := 0.0
			for i, p := range ends {
				p.finish(b)
				slowest = max(slowest, times[i])
			}
			ends[0].clock.report(b)
			b.ReportMetric(slowest, "quiet-ns/op")
		})
	}
}

// BenchmarkSendPath sends packets whose acknowledgements come for 32 at a time:
// admission, path choice and header bytes.
func BenchmarkSendPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10} {
		b.Run(fmt.Sprintf("pdcs=%d", n), func(b *testing.B) { sendPath(b, n, option{}) })
	}
}

func sendPath(b *testing.B, n int, o option) {
	s := newSource(b, n, 64, o)
	in := ackDatagrams(1)
	b.ReportAllocs()
	at, packets := 0, 0
	for b.Loop() {
		id := uint16(at%n) + 1
		if k := s.ackOf(&in[0], id, 32-s.psn[id].acked%32); k > 0 {
			n := s.receive(in, k, s.out[:])
			if c := &s.psn[id]; (c.sent-1)/pathMessagePackets == (c.sent-1+uint32(n))/pathMessagePackets {
				c.sent += uint32(n)
			} else {
				s.count(n) // a message begins
			}
			packets += n
		}
		if at++; at%1024 == 0 {
			s.poll()
		}
	}
	(&stopwatch{b.Elapsed(), packets}).report(b) // to write an acknowledgement is little of 32 packets
}
