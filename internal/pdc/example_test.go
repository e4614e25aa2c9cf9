// SPDX-License-Identifier: Apache-2.0

package pdc_test

import (
	"fmt"
	"net/netip"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
)

// newManager is an endpoint with all defaults, on a fabric of 100 Gb/s and 12 us.
func newManager() *pdc.Manager {
	p, _ := pdc.NewParams(pdc.Config{})
	cp, _ := ccc.NewParams(ccc.Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 12_000, MTU: 4200}})
	cc, _ := ccc.NewManager(ccc.ManagerConfig{Params: &cp, Contexts: 17, PDCs: 17})
	contexts, _ := ccc.NewTable(16, true, 0)
	table, _ := pdc.NewTable(pdc.TableConfig{General: 16, FirstID: 1, Quarantine: 2_000_000_000})
	m, err := pdc.NewManager(pdc.ManagerConfig{Params: &p, Table: table, CC: cc, Contexts: contexts})
	if err != nil {
		panic(err)
	}
	return m
}

// A message of two packets from one endpoint to another. The caller carries the
// bytes; here that is a function call.
func Example() {
	source, target := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	a, b := newManager(), newManager()

	h, err := a.Open(0, &pdc.InitiatorKey{Source: source, Destination: target, JobID: 101}, 0)
	if err != nil {
		panic(err)
	}
	a.SetStartPSN(h, 0x12000) // only to have the same numbers in each run
	a.Begin(h)
	a.Submit(0, h, pdc.Packet{Handle: 1, Size: 4160, Next: pds.NextRequestStd})
	a.Submit(0, h, pdc.Packet{Handle: 2, Size: 4160, Next: pds.NextRequestStd, EOM: true})

	var header, reply [pdc.ReplyMax]byte
	var out pdc.Out
	var res pdc.Result
	for a.Transmit(0, header[:], &out) {
		packet := append(header[:out.Header:out.Header], make([]byte, 44+4096)...) // the semantic header and the payload
		b.Receive(6_000, &pdc.In{Packet: packet, Src: pdc.AddrFrom(source), Dst: pdc.AddrFrom(target), Size: out.Size}, reply[:], &res)
		if res.Verdict != pdc.VerdictRequest {
			continue
		}
		n, _ := b.Respond(6_000, res.ID, &pdc.Response{Kind: pdc.RespondDefault}, reply[:])
		fmt.Printf("PSN %#x: %v, answer of %d bytes\n", uint32(res.ID.PSN), res.Verdict, n)
		a.Receive(12_000, &pdc.In{Packet: reply[:n], Src: pdc.AddrFrom(target), Dst: pdc.AddrFrom(source), Size: 72}, header[:], &res)
	}
	var e pdc.Event
	for a.Event(&e) {
		fmt.Println(e.Kind, e.Handle)
	}
	// Output:
	// PSN 0x12000: request, answer of 32 bytes
	// PSN 0x12001: request, answer of 32 bytes
	// response 1
	// response 2
}

// A NOOP opens a PDC before there is anything to send on it: later data needs no
// SYN, and a message can be sent at full speed from its first packet on.
func ExampleManager_Noop() {
	source, target := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	a, b := newManager(), newManager()
	h, err := a.Open(0, &pdc.InitiatorKey{Source: source, Destination: target, JobID: 101}, 0)
	if err != nil {
		panic(err)
	}
	if err := a.Noop(h); err != nil {
		panic(err)
	}

	var header, reply [pdc.ReplyMax]byte
	var out pdc.Out
	var res pdc.Result
	for a.Transmit(0, header[:], &out) {
		fmt.Println("control packet:", out.Control)
		b.Receive(6_000, &pdc.In{Packet: header[:out.Header], Src: pdc.AddrFrom(source), Dst: pdc.AddrFrom(target), Size: 64}, reply[:], &res)
		a.Receive(12_000, &pdc.In{Packet: reply[:res.Reply], Src: pdc.AddrFrom(target), Dst: pdc.AddrFrom(source), Size: 72}, header[:], &res)
	}
	info, _ := a.PDC(h)
	for e := (pdc.Event{}); a.Event(&e); {
		fmt.Println(e.Kind, info.State, info.PeerID)
	}
	// Output:
	// control packet: true
	// room ESTABLISHED 1
}
