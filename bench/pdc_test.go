// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// pdcEnd is an endpoint with n PDCs to or from another one.
type pdcEnd struct {
	m    *pdc.Manager
	h    []pdc.Handle
	peer []pdc.Addr
	self pdc.Addr
	in   pdc.In

	ev  pdc.Event
	res pdc.Result
	buf [192]byte
	out pdc.Out
}

func newPDCEnd(b *testing.B, n int) *pdcEnd {
	p, err := pdc.NewParams(pdc.Config{KnownSources: true}) // else many peers at once are a flood
	require.NoError(b, err)
	// A window that never ends: it is the path that is measured.
	cp, err := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 100_000_000_000, BaseRTT: 12_000, MTU: 4200}})
	require.NoError(b, err)
	cc, err := ccc.NewManager(ccc.ManagerConfig{Params: &cp, Contexts: n + 1, PDCs: n + 1, Seed: 1})
	require.NoError(b, err)
	ctxs, err := ccc.NewTable(n, true, 1)
	require.NoError(b, err)
	tab, err := pdc.NewTable(pdc.TableConfig{General: n, Initiators: n, FirstID: 1, Seed: 1})
	require.NoError(b, err)
	m, err := pdc.NewManager(pdc.ManagerConfig{Params: &p, Table: tab, CC: cc, Contexts: ctxs, Seed: 1,
		Memory: pdc.MemoryConfig{Chunks: 8 * n, Responses: 16}})
	require.NoError(b, err)
	e := &pdcEnd{m: m, h: make([]pdc.Handle, n), self: pdc.AddrFrom(benchSelf)}
	for i := range n {
		e.peer = append(e.peer, pdc.AddrFrom(benchPeer(i)))
	}
	return e
}

// benchPeer is the address of the i-th peer.
func benchPeer(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

var benchSelf = netip.AddrFrom4([4]byte{11, 0, 0, 1})

// openInitiators opens all PDCs; the PDCID of the i-th peer is i+1.
func (e *pdcEnd) openInitiators(b *testing.B) {
	for i := range e.h {
		h, err := e.m.Open(0, &pdc.InitiatorKey{Source: benchSelf, Destination: benchPeer(i), TC: 1}, 0)
		require.NoError(b, err)
		require.True(b, e.m.SetStartPSN(h, 0))
		require.NoError(b, e.m.Begin(h))
		require.NoError(b, e.m.Announce(0, h, 1<<40))
		e.h[i] = h
		require.True(b, e.send(0, i))
		e.ack(6000, i, 0)
		require.NoError(b, e.res.Err)
		e.drain()
	}
}

// send queues a packet on the i-th PDC and sends it, and before it the probes that
// new contexts ask for.
func (e *pdcEnd) send(now int64, i int) bool {
	_, err := e.m.Submit(now, e.h[i], pdc.Packet{Handle: uint64(i), Size: 4160, Next: pds.NextRequestStd})
	for err == nil && e.m.Transmit(now, e.buf[:], &e.out) {
		if !e.out.Control {
			return true
		}
	}
	return false
}

// ack receives an ACK_CC of everything up to psn on the i-th PDC.
func (e *pdcEnd) ack(now int64, i int, psn pds.PSN) {
	a := pds.AckCC{Ack: pds.Ack{SPDCID: pds.PDCID(i + 1), DPDCID: e.h[i].ID(), CACK: psn}, SACK: pds.SACK{MPR: 8, SACKOffset: 1}}
	a.AppendTo(e.buf[:0])
	e.in.Packet, e.in.Src, e.in.Dst = e.buf[:pds.AckCCLen], e.peer[i], e.self
	e.m.Receive(now, &e.in, e.buf[64:], &e.res)
}

func (e *pdcEnd) drain() {
	for e.m.Event(&e.ev) {
	}
}

// request receives a request on the i-th PDC and answers it.
func (e *pdcEnd) request(now int64, i int, psn pds.PSN, syn bool) bool {
	q := pds.Request{Type: pds.TypeRUDReq, Next: pds.NextRequestStd, PSN: psn, ClearOffset: -1, SPDCID: pds.PDCID(i + 1)}
	if syn {
		q.Flags = pds.FlagSYN
	} else {
		q.DPDCID = e.h[i].ID()
		q.Flags = pds.FlagAR
	}
	q.AppendTo(e.buf[:0])
	e.in.Packet, e.in.Src, e.in.Dst, e.in.Size = e.buf[:60], e.peer[i], e.self, 4160
	e.m.Receive(now, &e.in, e.buf[64:], &e.res)
	if e.res.Verdict != pdc.VerdictRequest {
		return false
	}
	n, err := e.m.Respond(now, e.res.ID, &pdc.Response{}, e.buf[64:])
	return err == nil && n == pds.AckCCLen
}

// pdcOrder is the order in which the PDCs' packets come.
func pdcOrder(n int) []int {
	r := rand.New(rand.NewPCG(1, 5))
	o := make([]int, 1<<16)
	for i := range o {
		o[i] = r.IntN(n)
	}
	return o
}

// BenchmarkPDCPath takes packets of n PDCs in random order through the manager.
// Its peers are FloorPath/pdcs=N/target, /source and /send. Here the headers of
// the arriving packets are written inside the loop too.
func BenchmarkPDCPath(b *testing.B) {
	for _, n := range []int{1, 1 << 10, 65000} {
		order := pdcOrder(n)
		b.Run(fmt.Sprintf("op=target/pdcs=%d", n), func(b *testing.B) {
			e := newPDCEnd(b, n)
			next := make([]pds.PSN, n)
			for i := range n {
				require.True(b, e.request(0, i, 0, true))
				e.h[i], next[i] = e.res.ID.PDC, 1
			}
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				i := order[k&65535]
				if !e.request(int64(k), i, next[i], false) {
					b.Fatal(e.res)
				}
				next[i]++
				k++
			}
		})
		for _, c := range []struct {
			name string
			rest pds.PSN // an acknowledgement comes for a PSN with none of these bits
		}{{"op=send+source", 0}, {"op=send", 15}} {
			b.Run(fmt.Sprintf("%s/pdcs=%d", c.name, n), func(b *testing.B) {
				e := newPDCEnd(b, n)
				e.openInitiators(b)
				next := make([]pds.PSN, n)
				b.ReportAllocs()
				k, now := 0, int64(10_000)
				for b.Loop() {
					i := order[k&65535]
					next[i]++
					if !e.send(now, i) {
						b.Fatal("not sent")
					}
					if next[i]&c.rest == 0 {
						e.ack(now+12_000, i, next[i])
						if e.res.Verdict != pdc.VerdictDone {
							b.Fatal(e.res)
						}
						e.drain()
					}
					now += 80
					k++
				}
			})
		}
	}
}
