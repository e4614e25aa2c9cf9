// SPDX-License-Identifier: Apache-2.0

package uetcc

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/internal/view"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/ses"
)

// A sourceTwin is one of two endpoints that write the same messages: one may take the
// short ways, the other has only the general ones.
type sourceTwin struct {
	twin
	out [8]Datagram
}

func newSourceTwin(t *testing.T, edit func(*Config)) *sourceTwin {
	c := Config{Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), MTU: nextMTU, Seed: 1, Contexts: 8, Messages: 16, Answers: 2, PDCs: pdc.TableConfig{General: 8, Initiators: 8, FirstID: 1, Quarantine: 1},
		PDS: pdc.Config{RTOInit: 200_000, MaxRTORetx: 15, MaxNackRetx: 31}, Memory: pdc.MemoryConfig{Chunks: 48, Responses: 8, Events: 16},
		CC: ccc.Config{NSCC: nscc.Config{LinkRate: 16e10, BaseRTT: 100, Trimming: true, Tuning: nscc.Tuning{TargetQdelay: 1e6, QAThreshold: 1e9}}}, Target: ses.TargetConfig{Messages: 4, Regions: 1}}
	edit(&c)
	e, err := NewEndpoint(c)
	require.NoError(t, err)
	w := &sourceTwin{twin: twin{e: e, reply: Datagram{Packet: make([]byte, 0, HeaderMax)}}}
	for i := range w.out {
		w.out[i].Packet = make([]byte, 0, HeaderMax)
	}
	return w
}

// sourcePeer makes up what the target of each PDC says.
type sourcePeer struct {
	rng  *rand.Rand
	sent [9]map[pds.PSN]ses.MessageID // by PDCID: the highest packets
	next [9]pds.PSN
	cack [9]pds.PSN
	addr [9]pdc.Addr
	came [9]map[pds.PSN]bool // above cack, with sprayed

	lends   bool      // most acknowledgements bring credit
	granted [9]uint32 // quanta
}

// tells makes n the state of an acknowledgement, or more credit.
func (s *sourcePeer) tells(a *pds.AckCC, n pds.NSCCState) {
	a.SetNSCC(&n)
	if s.lends && s.rng.IntN(8) != 0 {
		s.granted[a.DPDCID%9] += s.rng.Uint32N(30)
		a.SetCredit(&pds.CreditState{Credit: s.granted[a.DPDCID%9], OOOCount: n.OOOCount})
	}
}

func sourceAddr(id int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 2, byte(id)}) }

// A quota is an algorithm that allows so many bytes in flight, and counts what it hears.
type quota struct{ window, sent, acked, lost int64 }

func (q *quota) OnSend(_, size int64, _ bool)               { q.sent += size }
func (q *quota) OnACK(_ int64, a ccc.Ack)                   { q.acked += a.Bytes }
func (q *quota) OnNACK(_ int64, n ccc.Nack)                 { q.lost += n.Size }
func (q *quota) OnInferredLoss(_ int64, l ccc.Loss)         { q.lost += l.Size }
func (q *quota) Allow(_ int64, s ccc.Standing) (_, _ int64) { return q.window - s.Inflight, 0 }

// sees notes what has been sent.
func (s *sourcePeer) sees(d *Datagram) {
	if t, _ := pds.PeekType(d.Packet); !t.IsRequest() {
		return
	}
	var q pds.Request
	n, _ := q.Decode(d.Packet)
	id := q.SPDCID
	if s.sent[id] == nil || s.addr[id] != d.Dst || q.Flags&pds.FlagSYN != 0 && q.PSN == q.StartPSN() && q.Flags&pds.FlagRetx == 0 {
		s.sent[id], s.came[id] = map[pds.PSN]ses.MessageID{}, map[pds.PSN]bool{}
		s.next[id], s.cack[id], s.addr[id], s.granted[id] = q.PSN, q.PSN-1, d.Dst, 0
	}
	var h ses.Request
	_, _ = h.Decode(q.Next, d.Packet[n:])
	s.sent[id][q.PSN] = h.MessageID
	if !s.next[id].After(q.PSN) {
		s.next[id] = q.PSN + 1
	}
}

// answer acknowledges some of what PDC id has sent, or says something else.
func (s *sourcePeer) answer(id int) Datagram {
	rng := s.rng
	in := Datagram{Src: s.addr[id], Size: 116}
	open := uint32(s.next[id] - 1 - s.cack[id])
	k := min(open, rng.Uint32N(6))
	s.cack[id] += pds.PSN(k)
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: pds.PDCID(id + 100), DPDCID: pds.PDCID(id), CACK: s.cack[id]}, SACK: pds.SACK{MPR: 8}}
	st := pds.NSCCState{ServiceTime: uint16(rng.Uint32N(20)), OOOCount: s.overtaken(4)}
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1}
	switch ahead := open - k; rng.IntN(40) {
	case 0, 1, 2: // another packet, and what has arrived besides
		a.Offset = int16(rng.Uint32N(ahead + 2))
		a.SACKOffset, a.Bitmap = int16(rng.IntN(5)), rng.Uint64()&rng.Uint64()&(1<<min(ahead, 64)-1)
	case 3, 4, 5:
		a.Flags = pds.FlagM
	case 6:
		a.MPR = uint8(rng.IntN(5))
	case 7:
		st.CwndPend, st.Restore = uint8(rng.IntN(128)), rng.IntN(2) == 0
	case 8:
		a.Flags = []pds.Flags{pds.FlagRetx, pds.FlagP, 2}[rng.IntN(3)]
	case 9:
		a.Next = pds.NextNone
	case 10:
		y.ReturnCode = []ses.ReturnCode{ses.RCNull, ses.RCUncor, ses.RCBadGeneration}[rng.IntN(3)]
	case 11:
		y.JobID++
	case 12:
		in.Src.Lo++
	case 13:
		a.SPDCID = []pds.PDCID{0, a.SPDCID + 1}[rng.IntN(2)]
		if k == 0 {
			a.DPDCID = []pds.PDCID{9, 0xffff}[id%2] // there are 8
		}
	case 14:
		a.CACK += pds.PSN(rng.IntN(40)) // of what was never sent
	case 15:
		a.CACK -= pds.PSN(rng.IntN(40)) // an old one
	case 16:
		in.Trimmed = pds.NackTrimmed
	case 17, 18:
		n := pds.Nack{Code: pds.NackTrimmed, PSN: s.cack[id] + 1, SPDCID: a.SPDCID, DPDCID: a.DPDCID}
		in.Packet = n.AppendTo(nil)
		return in
	}
	y.MessageID = s.sent[id][a.AckPSN()]
	s.tells(&a, st)
	in.Packet = y.AppendTo(a.AppendTo(nil))
	if rng.IntN(60) == 0 {
		in.Packet = in.Packet[:rng.IntN(len(in.Packet))]
	}
	return in
}

// overtaken is an ooo_count, of so many one that may begin a recovery, or is not known.
func (s *sourcePeer) overtaken(most int) uint16 {
	switch n := s.rng.IntN(2 * most); n {
	case 0:
		return uint16(s.rng.IntN(40))
	case 1:
		return pds.OOOUnknown
	default:
		return uint16(n % 5)
	}
}

// sprayed acknowledges one of the next packets of PDC id, which overtake each other;
// now and then an acknowledgement has been lost.
func (s *sourcePeer) sprayed(id int) Datagram {
	rng, came := s.rng, s.came[id]
	open := uint32(s.next[id] - 1 - s.cack[id])
	if open == 0 {
		return s.answer(id)
	}
	psn := s.cack[id] + 1 + pds.PSN(rng.Uint32N(min(open, 12)))
	came[psn] = true
	if rng.IntN(8) == 0 {
		came[s.cack[id]+1+pds.PSN(rng.Uint32N(open))] = true
	}
	for came[s.cack[id]+1] {
		s.cack[id]++
	}
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: pds.PDCID(id + 100), DPDCID: pds.PDCID(id), CACK: s.cack[id]}, SACK: pds.SACK{MPR: 8}}
	a.Offset, a.SACKOffset = int16(psn-s.cack[id]), int16(rng.IntN(30)-20)
	for i := range pds.PSN(64) {
		if q := a.SACKBase() + i; came[q] {
			a.Bitmap |= 1 << i
		}
	}
	if rng.IntN(8) == 0 {
		a.Flags = pds.FlagM
	}
	switch rng.IntN(40) {
	case 0:
		a.Bitmap |= 1 << rng.IntN(64) // a lie, perhaps of what was never sent
	case 1:
		a.Bitmap = 0
	case 2:
		a.CACK -= pds.PSN(rng.IntN(4)) // overtaken, or of others
	case 3:
		a.CACK++
	case 4:
		a.MPR = uint8(rng.IntN(5))
	}
	a.SetNSCC(&pds.NSCCState{ServiceTime: uint16(rng.Uint32N(20)), OOOCount: s.overtaken(4)})
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, JobID: 1, MessageID: s.sent[id][psn]}
	if rng.IntN(60) == 0 {
		y.ReturnCode = ses.RCUncor
	}
	return Datagram{Src: s.addr[id], Size: 116, Packet: y.AppendTo(a.AppendTo(nil))}
}

// The short ways of a source, for the packets of long messages and for plain
// acknowledgements, send, count, tell and keep what the general ones do.
func TestSourceShortWaysAreTheGeneralOnes(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"defaults":     func(*Config) {},
		"infer losses": func(c *Config) { c.PDS.InferLoss = true },
		"unknown network": func(c *Config) {
			c.CC.NSCC.Trimming, c.CC.NSCC.InitialCwnd = false, 24_000
		},
		"bitmap":    func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeBitmap },
		"reps":      func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeREPS },
		"mixed":     func(c *Config) { c.CC.Entropy.Scheme = ccc.SchemeMixed },
		"adaptive":  func(c *Config) { c.CC.NSCC.Profile = nscc.ProfileAdaptive },
		"only full": func(c *Config) { c.CC.NSCC.GrowOnlyFull = true },
		"algorithm": func(c *Config) {
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &quota{window: 26_000} }
		},
		"algorithm alone": func(c *Config) {
			c.CC.Control = ccc.ControlNone
			c.Algorithm = func(ccc.Key) ccc.Algorithm { return &quota{window: 26_000} }
		},
		"observe": func(c *Config) { c.CC.Mode = ccc.ModeObserve },
		"one PDC": func(c *Config) { c.CC.NSCC.LinkRate = 8e10 },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 6))
			a, b := newSourceTwin(t, edit), newSourceTwin(t, edit)
			a.e.loader.prefetched = 0 // as with many PDCs
			peer := sourcePeer{rng: rng}
			acks, ones, sends, ids := 0, 0, 0, 4
			if name == "one PDC" {
				ids = 1
			}
			for now, step := int64(1000), 0; step < 16_000; step++ {
				now += int64(rng.IntN(400))
				if rng.IntN(8) == 0 && a.e.source.sender.Messages() < 10 {
					id := rng.IntN(ids) + 1
					m := Message{To: Destination{Address: sourceAddr(id), Job: 1}, Length: rng.Uint32N(1 << uint(8+rng.IntN(13))), Cookie: rng.Uint64()}
					if rng.IntN(8) == 0 {
						m.Mode = ses.ModeROD
					}
					ha, errA := a.e.Write(now, &m)
					hb, errB := b.e.Write(now, &m)
					require.Equal(t, errB, errA)
					require.Equal(t, hb, ha)
				}
				a.e.out.Header = -1
				most := rng.IntN(6)
				n := a.e.TransmitBatch(now, a.out[:most])
				if a.e.out.Header == -1 {
					sends += n
				}
				for i := range most {
					ok := b.e.transmitAny(now, &b.out[i], b.out[i].Packet[:cap(b.out[i].Packet)])
					require.Equal(t, ok, i < n)
					if !ok {
						break
					}
					require.Equal(t, b.out[i], a.out[i])
					peer.sees(&a.out[i])
				}
				say, id := peer.answer, rng.IntN(8)+1
				if step%1000 < 500 {
					say, id = peer.sprayed, rng.IntN(ids)+1
				}
				if peer.sent[id] != nil {
					in := say(id)
					a.e.recv.res.Verdict = pdc.VerdictDropped
					a.e.Receive(now, &in, &a.reply, &a.r)
					b.e.recv.receiveGeneral(now, &in, &b.reply, &b.r)
					if a.r.Payload != 0 && a.e.recv.res.Verdict == pdc.VerdictDropped {
						if (*view.AckCC)(in.Packet).Cumulative() {
							acks++
						} else {
							ones++
						}
					}
					require.Equal(t, b.r, a.r)
					require.Equal(t, b.reply, a.reply)
				}
				if rng.IntN(20) == 0 {
					a.e.Tick(now)
					b.e.Tick(now)
				}
				requireSources(t, a.e, b.e, step%256 == 0)
			}
			require.Greater(t, acks, 200, "the test must reach what it is about")
			if name != "one PDC" { // whose window is too small for packets to overtake each other
				require.Greater(t, ones, 400, "the test must reach what it is about")
			}
			require.Equal(t, name == "infer losses" || name == "unknown network", a.e.PDS().Stats().Inferred > 20, "recoveries are part of it")
			require.Greater(t, sends, 400, "the test must reach what it is about")
		})
	}
}

// requireSources compares all that two sources keep.
func requireSources(t *testing.T, a, b *Endpoint, all bool) {
	t.Helper()
	for more := true; more; {
		x, okA := a.Poll()
		y, okB := b.Poll()
		if more = okA; x != y || okA != okB {
			require.Equal(t, y, x)
			require.Equal(t, okB, okA)
		}
	}
	if x, y := a.pds.Stats(), b.pds.Stats(); x != y {
		require.Equal(t, y, x)
	}
	if all {
		for _, f := range [][]string{{"pdc"}, {"timer", "wheel"}, {"sched", "ctl"}, {"start", "draw"}, {"life", "open"}} {
			require.Equal(t, fieldOf(b.pds, f...), fieldOf(a.pds, f...), f)
		}
		require.Equal(t, queueOf(b.pds), queueOf(a.pds))
		for _, f := range []string{"row", "ring", "chunk", "freeRow", "free"} {
			require.Equal(t, fieldOf(b.pds, "mem", f), fieldOf(a.pds, "mem", f), f)
		}
		for _, f := range []string{"seats", "ledgers", "side", "pdcs", "homes", "busy", "revision", "stale"} {
			require.Equal(t, fieldOf(b.cc, f), fieldOf(a.cc, f), f)
		}
		require.Equal(t, b.source.sender, a.source.sender)
		require.Equal(t, b.flows, a.flows)
		require.Equal(t, b.source.leads, a.source.leads)
		require.Equal(t, b.source.messages, a.source.messages)
	}
}

// queueOf returns the PDCs that have a turn, wherever in the ring they lie: a run takes
// one turn, and its packets one each otherwise.
func queueOf(m *pdc.Manager) (ids []uint64) {
	q := reflect.ValueOf(m).Elem().FieldByName("sched").FieldByName("data")
	ring := q.FieldByName("ring")
	for at := q.FieldByName("head").Uint(); at != q.FieldByName("tail").Uint(); at++ {
		ids = append(ids, ring.Index(int(at)%ring.Len()).Uint())
	}
	return ids
}

// fieldOf prints a field of a struct of another package: its events, which only the
// general ways have, are no field to compare.
func fieldOf(of any, path ...string) string {
	v := reflect.ValueOf(of)
	for _, name := range path {
		v = reflect.Indirect(v).FieldByName(name)
	}
	return fmt.Sprint(reflect.Indirect(v))
}

// longWrite has a source write a long message, its packets from PSN 0 on, and returns an
// acknowledgement of them, but for its CACK.
func longWrite(t *testing.T, edit func(*Config)) (w *sourceTwin, in Datagram) {
	w = newSourceTwin(t, edit)
	m := Message{To: Destination{Address: sourceAddr(1), Job: 1}, Length: ses.MaxMessage}
	h, err := w.e.Connect(0, &m)
	require.NoError(t, err)
	require.True(t, w.e.pds.SetStartPSN(h, 0))
	_, err = w.e.Write(0, &m)
	require.NoError(t, err)
	a := pds.AckCC{Ack: pds.Ack{Next: pds.NextResponse, SPDCID: 9, DPDCID: h.ID()}, SACK: pds.SACK{MPR: 8}}
	y := ses.Response{Verdict: ses.Verdict{ReturnCode: ses.RCOK}, MessageID: 1, JobID: 1}
	in = Datagram{Packet: y.AppendTo(a.AppendTo(nil)), Size: 116, Src: pdc.AddrFrom(sourceAddr(1))}
	return w, in
}

// A batch of packets and the acknowledgement of them, by the short ways.
func TestSourceShortWaysAllocateNothing(t *testing.T) {
	w, in := longWrite(t, func(*Config) {})
	sent, now := uint32(0), int64(0)
	alloctest.Zero(t, "batch", func() {
		for i := range w.e.TransmitBatch(now, w.out[:1+sent%8]) {
			if pds.Type(w.out[i].Packet[0] >> 3).IsRequest() {
				sent++
			}
		}
		binary.BigEndian.PutUint32(in.Packet[4:], sent-1)
		now += 100
		w.e.Receive(now, &in, &w.reply, &w.r)
		if w.r.Err != nil {
			panic(w.r.Err)
		}
	})
	require.Greater(t, sent, uint32(2000))
}

// The last of as many answers as there may be is alone in its run: nothing is behind its slot.
func TestAnswersOfTheLastSlot(t *testing.T) {
	var a answers
	a.init(65535, 1, 0)
	a.free.head = 65535 // every other one is taken
	_, id := a.take(pdc.RxID{})
	var waiting chain
	a.push(&waiting, uint16(id))
	require.Equal(t, 1, a.alike(uint16(id), 64))
}

// A PDC that has no answer and finds none free gets one when the request comes again, although those that have
// some ask for others all the time; the rest of the time nothing is kept free.
func TestAnswersInTurn(t *testing.T) {
	const pause = 1000
	var a answers
	a.init(1, 3, pause)
	served := map[pdc.Handle]int{}
	again := map[pdc.Handle]int64{1: 0, 2: 0, 3: 0}
	for now := int64(0); now < 40*pause; now += 10 { // an answer takes as long
		if a.live != 0 {
			a.release(a.slot[0].id(0), 1)
		}
		for h := pdc.Handle(1); h <= 3; h++ {
			switch {
			case now < again[h]:
			case a.shares(now, h):
				a.take(pdc.RxID{PDC: h})
				served[h]++
			default:
				again[h] = now + pause
			}
		}
	}
	for h, n := range served {
		require.Greater(t, n, 1000, "%d: of 4,000, in turns of a pause", h)
	}
	require.Len(t, served, 3)
}

// A packet needs one cache line of each.
func TestLayoutOfMessagesAndFlows(t *testing.T) {
	require.Zero(t, 64%unsafe.Sizeof(flow{}))
	require.LessOrEqual(t, unsafe.Sizeof(message{}), uintptr(64))
}
