// SPDX-License-Identifier: Apache-2.0

package ccc_test

import (
	"fmt"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
)

// One context sends what its window allows, and learns what stops it.
func Example() {
	p, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{
		LinkRate: 12_500_000_000, // bytes a second: 100 Gb/s
		BaseRTT:  6_000,          // ns
		MTU:      4_160,
		Trimming: true,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var c ccc.Context
	c.Init(&p, 0, 0)
	c.Bind(&p, 0)

	c.OnNewData(&p, 0, 256_000_000)
	sent := 0
	for c.State() == ccc.StateReady {
		c.OnSend(&p, 0, 4_160, false)
		sent++
	}
	fmt.Println(sent, "packets,", c.Inflight(), "of", c.Cwnd(), "bytes:", c.State(), c.Decide(&p, 0).Reason)

	c.OnACK(&p, 6_000, ccc.Ack{Ack: nscc.Ack{Bytes: 8_192, RTT: 6_000}, Packets: 2})
	fmt.Println("may send", c.Decide(&p, 6_000).Bytes, "more:", c.State())
	// Output:
	// 27 packets, 112320 of 112500 bytes: ACTIVE window
	// may send 8372 more: READY
}

// A manager drives many PDCs over a few contexts: while the context is READY one of
// its PDCs sends, here each in turn. Figure 6-11 of the UET congestion chapters: five ranks on three PDCs of one
// context.
func ExampleManager() {
	p, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6_000, MTU: 4_096, Trimming: true}})
	m, err := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 1, PDCs: 0x4004})
	if err != nil {
		fmt.Println(err)
		return
	}
	context := ccc.NewHandle(0, 1)
	_ = m.Open(context, 0, 0)
	pdcs := []ccc.Handle{ccc.NewHandle(0x4001, 1), ccc.NewHandle(0x4002, 1), ccc.NewHandle(0x4003, 1)}
	for i, ranks := range []int64{2, 1, 2} {
		_ = m.Bind(pdcs[i], context, 0, false)
		m.OnNewData(pdcs[i], 0, ranks*4_096<<10)
	}
	c := m.Context(context)
	fmt.Println("backlog", c.Backlog())

	packets := 0
	for c.State() == ccc.StateReady {
		m.OnSend(pdcs[packets%3], 0, ccc.Sent{Size: 4_096})
		packets++
	}
	fmt.Println(packets, "packets sent, held by", c.Reason())
	// Output:
	// backlog 20971520
	// 27 packets sent, held by window
}

// A source sends what its window allows in one step, and learns which packets ask for an
// acknowledgement. In another it takes acknowledgements in and sends what these let go.
func ExampleManager_Exchange() {
	p, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{
		LinkRate: 12_500_000_000, BaseRTT: 6_000, MTU: 4_096, Trimming: true, InitialCwnd: 4 * 4_096}})
	m, _ := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 1, PDCs: 1})
	context, pdc := ccc.NewHandle(0, 1), ccc.NewHandle(0, 1)
	_ = m.Open(context, 0, 0)
	_ = m.Bind(pdc, context, 0, false)

	m.OnNewData(pdc, 0, 100*4_096)
	run := ccc.Run{Most: ccc.RunMax, Size: 4_096}
	m.Exchange(pdc, 0, &run)
	fmt.Println(run.Sent, "sent, held by", run.Held, "the last one asks for an answer:", run.AckLast)

	*m.Waiters(context) = ccc.Waiters{Head: pdc.Index(), Tail: pdc.Index()} // the one that waits for room
	ack := ccc.PlainAck{PlainAck: nscc.MakePlainAck(4_096, 6_000, false), Packets: 1, Entropy: run.Paths[0]}
	run.Acks, run.News[0], run.News[1] = 2, ack, ack
	m.Exchange(pdc, 6_000, &run)
	fmt.Println(run.Sent, "sent, held by", run.Held)
	// Output:
	// 4 sent, held by window the last one asks for an answer: true
	// 2 sent, held by window
}

// halfWindow is a congestion control of one's own: never more than half of what
// NSCC would allow.
type halfWindow struct{}

func (halfWindow) OnSend(now, size int64, rtx bool)     {}
func (halfWindow) OnACK(now int64, a ccc.Ack)           {}
func (halfWindow) OnNACK(now int64, n ccc.Nack)         {}
func (halfWindow) OnInferredLoss(now int64, l ccc.Loss) {}
func (halfWindow) Allow(now int64, s ccc.Standing) (bytes, notBefore int64) {
	if room := s.Cwnd/2 - s.Inflight; room >= s.MTU {
		return room, 0
	}
	return 0, 0
}

// An algorithm of one's own runs beside NSCC. Observing shows what would have
// held data back, while nothing does.
func ExampleAlgorithm() {
	p, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6_000, MTU: 4_096, Trimming: true}})
	m, _ := ccc.NewManager(ccc.ManagerConfig{Params: &p, Contexts: 1, PDCs: 1})
	context, pdc := ccc.NewHandle(0, 1), ccc.NewHandle(0, 1)
	_ = m.Open(context, 0, 0)
	_ = m.Bind(pdc, context, 0, false)
	m.SetAlgorithm(context, 0, halfWindow{})

	m.OnNewData(pdc, 0, 100*4_096)
	c := m.Context(context)
	for c.State() == ccc.StateReady {
		m.OnSend(pdc, 0, ccc.Sent{Size: 4_096})
	}
	fmt.Println(c.InflightPackets(), "packets in flight:", c.State(), c.Reason())

	m.SetMode(context, 0, ccc.ModeObserve)
	fmt.Println("observing:", c.State(), c.Decide(&p, 0).Bytes, "bytes may go, enforcing would say", c.Reason())
	// Output:
	// 13 packets in flight: ACTIVE algorithm
	// observing: READY 356352 bytes may go, enforcing would say algorithm
}

// Packets of a full window leave one by one over the round trip.
func ExampleNewPacer() {
	pacer := ccc.NewPacer(100)
	now := int64(0)
	for range 3 {
		_, notBefore := pacer.Allow(now, ccc.Standing{Cwnd: 60_000, BaseRTT: 6_000, MTU: 4_000})
		now = max(now, notBefore)
		fmt.Println(now, "ns")
		pacer.OnSend(now, 4_000, false)
	}
	// Output:
	// 0 ns
	// 400 ns
	// 800 ns
}

// A path that marks is skipped in the rounds after.
func ExampleEntropy() {
	p, err := ccc.NewEntropyParams(ccc.EntropyConfig{Scheme: ccc.SchemeBitmap, Values: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	var e ccc.Entropy
	e.Init(&p, 1)
	side := make([]uint64, p.Words())
	marked := e.Next(&p, side, ccc.Progress{})
	e.OnACK(&p, side, 0, &ccc.Ack{Ack: nscc.Ack{ECN: true}, Entropy: marked})
	for range 3 {
		e.Next(&p, side, ccc.Progress{}) // the rest of the first round
	}
	others := 0
	for range 3 {
		if e.Next(&p, side, ccc.Progress{}) != marked {
			others++
		}
	}
	fmt.Println(others, "packets on other paths")
	// Output: 3 packets on other paths
}
