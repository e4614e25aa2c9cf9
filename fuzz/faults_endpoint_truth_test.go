// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/uetcc/uetcc/ses"
)

// endpointOp is what a message asks for.
type endpointOp uint8

const (
	opWrite endpointOp = iota
	opRead
	opSend
	opTagged
	opAtomic // adds its own number to a cell
	opFetch  // the same, and brings the value before
	opSwap   // compare and swap, and brings the value before
	opDatagram
	numEndpointOps
)

var endpointOpNames = [numEndpointOps]string{"write", "read", "send", "tagged-send", "atomic", "fetching-atomic", "compare-and-swap", "datagram"}

// endpointKind is an operation in a delivery mode.
type endpointKind struct {
	op   endpointOp
	mode ses.Mode
}

// endpointKinds are all that there are.
var endpointKinds = [...]endpointKind{
	{opWrite, ses.ModeRUD}, {opRead, ses.ModeRUD}, {opSend, ses.ModeRUD}, {opTagged, ses.ModeRUD},
	{opAtomic, ses.ModeRUD}, {opFetch, ses.ModeRUD}, {opSwap, ses.ModeRUD},
	{opWrite, ses.ModeROD}, {opRead, ses.ModeROD}, {opSend, ses.ModeROD}, {opTagged, ses.ModeROD},
	{opAtomic, ses.ModeROD}, {opFetch, ses.ModeROD}, {opSwap, ses.ModeROD},
	{opWrite, ses.ModeRUDI}, {opRead, ses.ModeRUDI}, {opDatagram, ses.ModeUUD},
}

func (k endpointKind) String() string { return fmt.Sprintf("%v %s", k.mode, endpointOpNames[k.op]) }

// opCounts says how the messages of each kind ended, by [ses.Status]; those that
// lost their initiator are in the place of StatusNone.
type opCounts [len(endpointKinds)][ses.StatusPDS + 1]uint64

func (c *opCounts) add(o *opCounts) {
	for i := range c {
		for j := range c[i] {
			c[i][j] += o[i][j]
		}
	}
}

func (c *opCounts) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%-24s%10s%10s%10s%10s%10s\n", "", "ok", "truncated", "refused", "pds-error", "orphaned")
	for i, n := range c {
		fmt.Fprintf(&s, "%-24v%10d%10d%10d%10d%10d\n", endpointKinds[i], n[ses.StatusOK], n[ses.StatusTruncated], n[ses.StatusFailed], n[ses.StatusPDS], n[ses.StatusNone])
	}
	return s.String()
}

// endpointMessage is the truth about a message: what was asked, what happened at the
// target in its present life and in the present attempt, and how it ended.
type endpointMessage struct {
	kind     uint8 // in endpointKinds
	from, to int8
	life     int16 // of the initiator
	toLife   int16 // of the target when it began
	length   uint32
	cell     uint8 // of atomics; the tag of a tagged send
	data     bool  // brings header data
	begun    int64 // in the time of the network
	handle   ses.Handle

	rxLife   int16 // of the target that the rest is about
	met      bool  // the target has heard of it
	id       ses.MessageID
	attempts int
	got      []uint8 // how often each fragment was placed, or an atomic executed
	whole    uint8   // how often the target was told that all is there
	buffer   int32   // receive buffer, plus 1
	before   uint64  // value that an atomic found
	refused  uint64  // codes that the target has answered with, a bit for each

	fetched   []uint8 // how often each fragment came to the initiator
	ended     bool
	gone      bool // its initiator has lost its memory
	cancelled bool
	status    ses.Status
}

func (m *endpointMessage) op() endpointOp { return endpointKinds[m.kind].op }
func (m *endpointMessage) mode() ses.Mode { return endpointKinds[m.kind].mode }
func (m *endpointMessage) reliable() bool { return m.mode() <= ses.ModeROD }
func (m *endpointMessage) fetches() bool {
	o := m.op()
	return o == opRead || o == opFetch || o == opSwap
}
func (m *endpointMessage) queued() bool {
	o := m.op()
	return o == opSend || o == opTagged || o == opDatagram
}
func (m *endpointMessage) fragments() int         { return max(1, int(m.length+endpointMTU-1)/endpointMTU) }
func (m *endpointMessage) part(off uint32) uint32 { return min(endpointMTU, m.length-off) }

// part is how many bytes a packet about message m has at off; length is what it says itself, for
// ends with an MTU of their own.
func (w *endpointWorld) part(m *endpointMessage, off, length uint32) uint32 {
	if w.s.unlikeMTU && length >= endpointMTU && length <= 8*endpointMTU && length&(length-1) == 0 {
		return min(length, m.length-off)
	}
	if w.s.unlikeMTU {
		return min(8*endpointMTU, m.length-off)
	}
	return m.part(off)
}

// pattern is what stands at the beginning of each fragment of message n, in memory
// and on the wire.
func pattern(n uint64, off uint32) (p [16]byte) {
	x := (n<<32 | uint64(off) | 1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	binary.LittleEndian.PutUint64(p[:], x)
	binary.LittleEndian.PutUint64(p[8:], ^x)
	return p
}

func appendPattern(b []byte, n uint64, off, length uint32) []byte {
	p := pattern(n, off)
	return append(b, p[:min(length, 16)]...)
}

func hasPattern(b []byte, n uint64, off, length uint32) bool {
	p := pattern(n, off)
	k := min(length, 16)
	return len(b) >= int(k) && string(b[:k]) == string(p[:k])
}

// headerData is what message n says to the completion of its target.
func headerData(n uint64) uint64 { return n*0xd6e8feb86659fd93 ^ 0x5a5a }

// meet follows what the target hears of a message: another life of the target, or
// another attempt, begins from nothing. An attempt that is over never comes back.
func (w *endpointWorld) meet(m *endpointMessage, life int16, id ses.MessageID) {
	if !m.met || m.rxLife != life {
		m.met, m.rxLife, m.attempts, m.before = true, life, 0, 0
		m.fresh(id)
	} else if m.id != id && m.reliable() {
		m.fresh(id)
	}
}

func (m *endpointMessage) fresh(id ses.MessageID) {
	m.id, m.whole, m.buffer = id, 0, 0
	m.attempts++
	if len(m.got) == 0 {
		m.got = make([]uint8, m.fragments())
	}
	clear(m.got)
}

// place counts a fragment at the target.
func (w *endpointWorld) place(n uint64, off, length uint32) {
	for length > endpointMTU { // of an end with a larger MTU
		w.place(n, off, endpointMTU)
		off, length = off+endpointMTU, length-endpointMTU
	}
	m := &w.messages[n]
	if off%endpointMTU != 0 || off >= m.length && off != 0 {
		w.failf("message %d of %d bytes: a fragment at %d", n, m.length, off)
	}
	c := &m.got[off/endpointMTU]
	*c = min(*c+1, 200)
	if !m.reliable() {
		return
	}
	if *c > 1 {
		w.failf("E2: message %d (%v): fragment at %d delivered twice", n, endpointKinds[m.kind], off)
	}
	if m.ended && m.status <= ses.StatusTruncated && !m.gone && m.rxLife == m.toLife {
		w.failf("E2: message %d (%v) ended well, and then its fragment at %d was delivered", n, endpointKinds[m.kind], off)
	}
}

// complete is the target's word that a message is whole.
func (w *endpointWorld) complete(n uint64, hasData bool, data uint64) {
	m := &w.messages[n]
	if hasData != m.data || hasData && data != headerData(n) {
		w.failf("message %d: header data %v %#x", n, hasData, data)
	}
	if m.whole = min(m.whole+1, 200); !m.reliable() {
		return
	}
	if m.whole > 1 {
		w.failf("E2: message %d (%v) completes twice at its target", n, endpointKinds[m.kind])
	}
	for i, c := range m.got {
		if c != 1 {
			w.failf("message %d (%v) is whole at its target, and fragment %d came %d times", n, endpointKinds[m.kind], i, c)
		}
	}
}

// delivered holds what must be true when the initiator is told that all is well.
func (w *endpointWorld) delivered(n uint64, o ses.Outcome) {
	m := &w.messages[n]
	if m.mode() == ses.ModeUUD {
		return
	}
	if m.reliable() && m.whole != 1 {
		w.failf("E2: message %d (%v) ended %v, and its target has completed it %d times", n, endpointKinds[m.kind], o, m.whole)
	}
	if m.reliable() && m.attempts > int(o.Retries)+1 {
		w.failf("message %d (%v): %d attempts met, %d retries", n, endpointKinds[m.kind], m.attempts, o.Retries)
	}
	for i, c := range m.got {
		if c == 0 {
			w.failf("E2: message %d (%v) ended %v, and fragment %d has not come", n, endpointKinds[m.kind], o, i)
		}
	}
	for i, c := range m.fetched {
		if c == 0 || int(c) > int(o.Retries)+1 {
			w.failf("E2: message %d (%v) ended %v, and fragment %d was fetched %d times", n, endpointKinds[m.kind], o, i, c)
		}
	}
	want := m.length
	if m.queued() && m.buffer != 0 {
		want = min(want, w.ends[m.to].buffers[m.buffer-1].length)
	}
	if o.Length != want || (o.Status == ses.StatusTruncated) != (want < m.length) {
		w.failf("message %d (%v) ended %+v, want %d of %d bytes", n, endpointKinds[m.kind], o, want, m.length)
	}
}
