// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uetcc/uetcc/rccc/tfc"
)

// tfcPacket is a packet's life as an observer sees it.
type tfcPacket struct {
	size                     int64
	charged, accepted, freed int
}

// tfcWorld is a source and a destination with a network between them that loses,
// repeats and reorders whatever a script of bytes tells it to.
type tfcWorld struct {
	p       tfc.Params
	limit   int64
	now     int64
	src     tfc.Source
	dst     tfc.Destination
	packets []tfcPacket
	data    []int       // packets under way
	credits []tfc.Cells // credit messages under way
	held    []int       // packets in the destination's buffer

	consumed, received, freed int64 // cells, counted by the observer
	log                       []bool
}

var tfcConfig = tfc.Config{CellSize: 256, PktOverhead: 32, Limit: 40, MTU: 4150, RTT: 1000}

// newTFCWorld starts a context whose counters stand near offset.
func newTFCWorld(t testing.TB, offset int64) *tfcWorld {
	p, err := tfc.NewParams(tfcConfig)
	require.NoError(t, err)
	w := &tfcWorld{p: p, limit: tfcConfig.Limit}
	w.src.Init(&w.p)
	w.dst.Init(&w.p, 0)
	size := w.limit*256 - 32
	for range offset / w.limit {
		w.src.OnSend(&w.p, size)
		w.dst.Accept(&w.p, 0, size)
		w.dst.Release(&w.p, 0, size)
		w.src.OnCreditUpdate(&w.p, tfc.CellsOf(w.dst.Credit(&w.p, 0)).Extend(w.src.Credit()))
	}
	return w
}

// step does what one byte of a script says: three bits for the kind of event,
// five to choose among the possible.
func (w *tfcWorld) step(b byte) {
	w.now += 100
	pick := int(b >> 3)
	switch b & 7 {
	case 0, 1:
		w.send(int64(pick+1) * 140)
	case 2:
		w.deliver(pick)
	case 3:
		w.disturbData(pick)
	case 4:
		w.retransmit(pick)
	case 5:
		w.release(pick)
	case 6:
		w.deliverCredit(pick)
	case 7:
		w.disturbCredit(pick)
	}
	if due, armed := w.dst.Deadline(); armed && w.now >= due {
		w.announce()
	}
}

func (w *tfcWorld) send(size int64) {
	ok := w.src.CanSend(&w.p, size)
	w.log = append(w.log, ok)
	if !ok {
		return
	}
	w.src.OnSend(&w.p, size)
	w.consumed += w.p.Cost(size)
	w.packets = append(w.packets, tfcPacket{size: size, charged: 1})
	w.data = append(w.data, len(w.packets)-1)
}

// take removes the element at pick modulo the length.
func take[T any](list *[]T, pick int) (T, bool) {
	var zero T
	n := len(*list)
	if n == 0 {
		return zero, false
	}
	pick %= n
	v := (*list)[pick]
	*list = append((*list)[:pick], (*list)[pick+1:]...)
	return v, true
}

func (w *tfcWorld) deliver(pick int) {
	i, ok := take(&w.data, pick)
	if !ok || w.packets[i].accepted > 0 {
		return
	}
	accepted := w.dst.Accept(&w.p, w.now, w.packets[i].size)
	w.log = append(w.log, accepted)
	if accepted {
		w.packets[i].accepted++
		w.received += w.p.Cost(w.packets[i].size)
		w.held = append(w.held, i)
	}
}

// disturbData loses or repeats a packet under way.
func (w *tfcWorld) disturbData(pick int) {
	if i, ok := take(&w.data, pick/2); ok && pick%2 == 1 {
		w.data = append(w.data, i, i)
	}
}

// retransmit sends a packet again that was not accepted yet, without a charge.
func (w *tfcWorld) retransmit(pick int) {
	for n := range w.packets {
		i := (n + pick) % len(w.packets)
		if w.packets[i].accepted == 0 {
			w.data = append(w.data, i)
			return
		}
	}
}

func (w *tfcWorld) release(pick int) {
	if i, ok := take(&w.held, pick); ok {
		w.dst.Release(&w.p, w.now, w.packets[i].size)
		w.packets[i].freed++
		w.freed += w.p.Cost(w.packets[i].size)
	}
}

func (w *tfcWorld) announce() {
	w.credits = append(w.credits, tfc.CellsOf(w.dst.Credit(&w.p, w.now)))
}

func (w *tfcWorld) deliverCredit(pick int) {
	if c, ok := take(&w.credits, pick); ok {
		w.log = append(w.log, w.src.OnCreditUpdate(&w.p, c.Extend(w.src.Credit())) > 0)
	}
}

// disturbCredit loses or repeats a message under way, or lets time pass.
func (w *tfcWorld) disturbCredit(pick int) {
	w.now += int64(pick) * 100
	if c, ok := take(&w.credits, pick/2); ok && pick%2 == 1 {
		w.credits = append(w.credits, c, c)
	}
}

// drain brings every packet through and one last credit message home.
func (w *tfcWorld) drain() {
	w.data = nil
	for i := range w.packets {
		if w.packets[i].accepted == 0 {
			w.data = []int{i}
			for len(w.held) > 0 {
				w.release(0)
			}
			w.deliver(0)
		}
	}
	for len(w.held) > 0 {
		w.release(0)
	}
	w.credits = nil
	w.announce()
	w.deliverCredit(0)
}

// tfcInvariants hold after every step.
var tfcInvariants = []struct {
	name  string
	holds func(w *tfcWorld) bool
}{
	{"T1 occupancy stays within the limit", func(w *tfcWorld) bool {
		return w.dst.Occupancy() == w.received-w.freed && w.dst.Occupancy() <= w.limit
	}},
	{"T2 what is outstanding stays within the limit", func(w *tfcWorld) bool {
		return w.src.Allowed() >= 0 && w.src.Allowed() <= w.limit
	}},
	{"T3 freed, received and consumed are in order", func(w *tfcWorld) bool {
		return w.freed <= w.received && w.received <= w.consumed
	}},
	{"T4 charged once, accepted once, freed once", func(w *tfcWorld) bool {
		for _, p := range w.packets {
			if p.charged != 1 || p.accepted > 1 || p.freed > p.accepted {
				return false
			}
		}
		return true
	}},
	{"T6 the newest credit carries everything", func(w *tfcWorld) bool {
		if len(w.credits) == 0 {
			return true
		}
		each, newest := w.src, w.src
		best := w.src.Credit()
		for _, c := range w.credits {
			each.OnCreditUpdate(&w.p, c.Extend(each.Credit()))
			best = max(best, c.Extend(w.src.Credit()))
		}
		newest.OnCreditUpdate(&w.p, best)
		return each == newest
	}},
	{"T8 nothing larger than the limit is sent", func(w *tfcWorld) bool {
		return !w.src.CanSend(&w.p, w.limit*256-31)
	}},
	{"T10 a blocked source is told of free cells", func(w *tfcWorld) bool {
		free := w.dst
		if free.Credit(&w.p, w.now) <= w.src.Credit() {
			return true
		}
		_, armed := w.dst.Deadline()
		return armed || len(w.credits) > 0
	}},
}
