// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/pds"
)

// RUDI packets and unreliable datagrams beside the PDCs (U1 to U3).

// Handles of RUDI packets and of datagrams, plus a place in the world's list.
const (
	rudiHandles     = 1 << 40
	datagramHandles = 1 << 41
	rudiLoad        = .02 // of the steps of an end begin one of each
)

// faultRUDI is the truth about a RUDI packet.
type faultRUDI struct {
	src, to int8
	life    int16
	execs   int
	ended   bool // once: by a response, or an error
	gone    bool // its sender has lost its memory
}

// beginRUDI sends a RUDI packet and a datagram now and then.
func (e *pdcEnd) beginRUDI() {
	w := e.w
	if w.net.Healed() || !w.net.Chance(rudiLoad) {
		return
	}
	to := w.net.Rand.IntN(len(w.parties) - 1)
	if to >= e.place {
		to++
	}
	handle := rudiHandles + uint64(len(w.rudi))
	_, err := e.m.SubmitRUDI(e.clock.now, e.self, pdc.AddrFrom(faultAddr(to)), pdc.Packet{Handle: handle, Size: 200, Next: pds.NextRequestSmall})
	if err == nil {
		w.rudi = append(w.rudi, faultRUDI{src: int8(e.place), to: int8(to), life: e.life})
		e.rudiOpen++
		w.net.Counts[faultnet.RUDI]++
	} else if err != pdc.ErrRUDIFull {
		w.failf("SubmitRUDI: %v", err)
	}
	n := len((&pds.UUD{Next: pds.NextRequestSmall}).AppendTo(e.buf[:0]))
	binary.BigEndian.PutUint64(e.buf[n:], datagramHandles)
	binary.BigEndian.PutUint64(e.buf[n+8:], faultCheck(datagramHandles))
	w.net.Counts[faultnet.UUD]++
	e.w.send(e.place, to, e.buf[:n+faultHeaderBytes], 200, 200)
}

// rudiOf finds the packet that a body speaks of, nil if it was mangled or made up.
func (e *pdcEnd) rudiOf(from int, handle uint64, err error, fabled bool) *faultRUDI {
	i := int(handle - rudiHandles)
	if err == nil && handle >= rudiHandles && i < len(e.w.rudi) {
		return &e.w.rudi[i]
	}
	if !fabled && from != e.w.drop {
		e.w.failf("a RUDI packet of nobody")
	}
	return nil
}

// rudiRequest executes a RUDI request, each time that it comes, or refuses it.
func (e *pdcEnd) rudiRequest(p *faultnet.Packet, body, out []byte) int {
	w := e.w
	handle, err := faultHandle(body)
	a := pdc.Response{Next: pds.NextResponse, Bytes: make([]byte, 0, faultHeaderBytes)}
	if x := e.rudiOf(p.From, handle, err, p.Fabled); x != nil {
		if int(x.to) != e.place && !p.Fabled {
			w.failf("E6: RUDI packet for %d came to %d", x.to, e.place)
		}
		if !w.net.Healed() && w.net.Chance(.1) {
			a.Kind, a.Code = pdc.RespondRefuse, pds.NackNoResource
			w.net.Counts[faultnet.RefuseRUDI]++
		} else if x.execs++; x.execs > 1 {
			w.net.Counts[faultnet.AgainRUDI]++
		}
	}
	a.Bytes = binary.BigEndian.AppendUint64(a.Bytes, handle)
	a.Bytes = binary.BigEndian.AppendUint64(a.Bytes, faultCheck(handle))
	var q pds.RUDI
	_, _ = q.Decode(p.Head)
	n, err := e.m.RespondRUDI(&q, &a, out)
	if err != nil {
		w.failf("RespondRUDI: %v", err)
	}
	return n
}

// rudiEnds takes the outcome of a RUDI packet: there is one, at its sender.
func (e *pdcEnd) rudiEnds(handle uint64, cause pdc.Cause) {
	w := e.w
	x := &w.rudi[handle-rudiHandles]
	if x.ended || int(x.src) != e.place || x.life != e.life {
		w.failf("U1: second or strange outcome of RUDI packet %d: %+v", handle-rudiHandles, x)
	}
	if cause != pdc.CauseNone && w.s.retries == 0 && !w.s.weak {
		w.failf("RUDI packet %d failed: %v", handle-rudiHandles, cause)
	}
	x.ended = true
	e.rudiOpen--
}

// rudiResponse is a response: to what was executed, and unaltered.
func (e *pdcEnd) rudiResponse(p *faultnet.Packet, r *pdc.Result, body []byte) {
	e.rudiEnds(r.Handle, pdc.CauseNone)
	if e.w.s.weak || p.Fabled {
		return
	}
	if x := &e.w.rudi[r.Handle-rudiHandles]; x.execs == 0 {
		e.w.failf("U1: a response to RUDI packet %d, which was not executed", r.Handle-rudiHandles)
	}
	if handle, err := faultHandle(body); err != nil || handle != r.Handle {
		e.w.failf("U1: response altered: %x", body[:faultHeaderBytes])
	}
}

// datagram is one that has arrived, however often.
func (e *pdcEnd) datagram(p *faultnet.Packet, body []byte, reply int) {
	handle, err := faultHandle(body)
	if reply != 0 || !p.Fabled && p.From != e.w.drop && (err != nil || handle != datagramHandles) {
		e.w.failf("U3: datagram altered or answered")
	}
	e.w.net.Counts[faultnet.GotUUD]++
}

// loseRUDI is the restart of an end.
func (e *pdcEnd) loseRUDI() {
	for i := range e.w.rudi {
		if x := &e.w.rudi[i]; int(x.src) == e.place && x.life == e.life {
			x.gone = true
		}
	}
	e.rudiOpen = 0
}

// finishRUDI holds that each RUDI packet came to an end.
func (w *pdcWorld) finishRUDI() {
	for i := range w.rudi {
		if x := &w.rudi[i]; !x.ended && !x.gone {
			w.failf("E1: RUDI packet %d has no outcome", i)
		}
	}
}
