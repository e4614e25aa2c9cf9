// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/uetcc/uetcc/fuzz/internal/faultnet"
	"github.com/uetcc/uetcc/pds"
)

// A faultParty is somebody at a place of the network.
type faultParty interface {
	arrive(p *faultnet.Packet) // takes a packet in
	act()                      // hands down work, sends what may be sent, checks itself
	tick()                     // time has passed
	deadline() int64           // when to tick, in the time of the network
	quiet() bool               // nothing is open here
}

// faultStuck is how many steps at one point of time mean that time stands still.
const faultStuck = 200_000

// faultWorld runs parties over a faultnet. Everything happens in one goroutine and
// follows from the seed.
type faultWorld struct {
	net     *faultnet.Net
	parties []faultParty
	log     faultLog
	drop    int // place of the peer whose traffic is checked for nothing but safety, -1 none
	lastAt  int64
	stuck   int
}

// newFaultWorld is a network of places that goes wrong as plan says.
func newFaultWorld(places int, seed uint64, plan func(*rand.Rand) faultnet.Plan) faultWorld {
	net := faultnet.New(places, seed, faultnet.Plan{})
	net.Plan = plan(net.Rand)
	return faultWorld{net: net, drop: -1}
}

// beginAnywhere begins the time of the world at one of faultClocks.
func (w *faultWorld) beginAnywhere() {
	w.net.Now = faultClocks[w.net.Rand.IntN(len(faultClocks))]
	if w.net.Now > math.MaxInt64/2 {
		w.net.Counts[faultnet.ClockEnd]++
	}
}

// addLiar takes in a peer that lies, at the next place.
func (w *faultWorld) addLiar() {
	w.drop = len(w.parties)
	w.parties = append(w.parties, newFaultLiar(w, w.drop))
}

// actAll lets everybody act.
func (w *faultWorld) actAll() {
	for _, p := range w.parties {
		p.act()
	}
}

// quiet reports whether nothing is open anywhere.
func (w *faultWorld) quiet() bool {
	for _, p := range w.parties {
		if !p.quiet() {
			return false
		}
	}
	return w.net.Len() == 0
}

// faultFailure is what a broken invariant panics with; the runner of the seed turns
// it into an error.
type faultFailure string

func (w *faultWorld) failf(format string, args ...any) {
	panic(faultFailure(fmt.Sprintf(format, args...)))
}

// step moves time to what comes next and lets everybody act. It reports false when
// nothing waits for time to pass.
func (w *faultWorld) step() bool {
	at := w.net.Next()
	for _, p := range w.parties {
		at = min(at, p.deadline())
	}
	if at == math.MaxInt64 {
		return false
	}
	w.moveTo(at)
	for {
		p, ok := w.net.Take()
		if !ok {
			break
		}
		to := w.parties[p.To] // what arrive sends may take the place of p
		w.log.add(w.net.Now, p.To, logArrive, p.Head)
		to.arrive(p)
		to.act()
	}
	for _, p := range w.parties {
		if p.deadline() <= w.net.Now {
			p.tick()
			p.act()
		}
	}
	return true
}

func (w *faultWorld) moveTo(at int64) {
	w.net.Now = max(w.net.Now, at)
	if w.stuck++; w.net.Now != w.lastAt {
		w.lastAt, w.stuck = w.net.Now, 0
	}
	if w.stuck > faultStuck {
		w.failf("E1: time stands still at %d", w.net.Now)
	}
}

// faultLog keeps the last of what happened, cheaply, and tells it on demand.
type faultLog struct {
	ring [512]logEntry
	n    int
}

type logKind uint8

const (
	logArrive logKind = iota
	logSend
	logTell // text in aux
)

type logEntry struct {
	at    int64
	aux   uint64
	text  string
	head  [40]byte
	len   uint8
	place int8
	kind  logKind
}

func (l *faultLog) next(at int64, place int, k logKind) *logEntry {
	e := &l.ring[l.n%len(l.ring)]
	l.n++
	e.at, e.place, e.kind = at, int8(place), k
	return e
}

func (l *faultLog) add(at int64, place int, k logKind, head []byte) {
	e := l.next(at, place, k)
	e.len = uint8(copy(e.head[:], head))
}

func (l *faultLog) tell(at int64, place int, text string, aux uint64) {
	e := l.next(at, place, logTell)
	e.text, e.aux = text, aux
}

// tail prints the last lines.
func (l *faultLog) tail(lines int) string {
	var s strings.Builder
	for i := max(0, l.n-min(lines, len(l.ring))); i < l.n; i++ {
		e := &l.ring[i%len(l.ring)]
		fmt.Fprintf(&s, "%d %d ", e.at, e.place)
		switch e.kind {
		case logArrive:
			fmt.Fprintf(&s, "<- %s\n", headText(e.head[:e.len]))
		case logSend:
			fmt.Fprintf(&s, "-> %s\n", headText(e.head[:e.len]))
		case logTell:
			fmt.Fprintf(&s, "%s %d\n", e.text, e.aux)
		}
	}
	return s.String()
}

// headText is a packet in words.
func headText(b []byte) string {
	t, err := pds.PeekType(b)
	if err != nil {
		return fmt.Sprintf("%v %x", err, b)
	}
	var q pds.Request
	var a pds.AckCC
	var k pds.Nack
	var c pds.Control
	switch {
	case t.IsRequest():
		if _, err = q.Decode(b); err == nil {
			return q.String()
		}
	case t == pds.TypeACKCC:
		if _, err = a.Decode(b); err == nil {
			return a.String()
		}
	case t == pds.TypeACK:
		if _, err = a.Ack.Decode(b); err == nil {
			return a.Ack.String()
		}
	case t == pds.TypeNACK:
		if _, err = k.Decode(b); err == nil {
			return k.String()
		}
	case t == pds.TypeCP:
		if _, err = c.Decode(b); err == nil {
			return c.String()
		}
	}
	return fmt.Sprintf("%v %x", t, b)
}
