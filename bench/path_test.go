// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/ses"
)

// The whole paths through an Endpoint; the floors are FloorPath/pdcs=N/... of the
// peers. Each PDC has a peer and a congestion control context of its own, and packets
// are of PDCs in random order. The packets that come in are written a slice at a time,
// by the other end as it were, and only what the endpoint does with them is timed: to
// write one and to count what it caused would be a tenth of the path, and is not it.

const (
	pathMTU   = 4096
	pathBatch = 32
	pathSlice = 64        // packets that are written at a time: more than the clock costs
	pathMost  = 1<<16 - 2 // PDCs of an endpoint: all PDCIDs but 0 and one to spare
	pathRTT   = 10_000    // ns between a packet and its acknowledgement
)

func pathEndpoint(b testing.TB, n int, edit func(*uetcc.Config)) *uetcc.Endpoint {
	c := uetcc.Config{
		Address: netip.AddrFrom4([4]byte{10, 0, 0, 1}), MTU: pathMTU, Seed: 1,
		PDS:      pdc.Config{RTOInit: 8e9, IdleTime: 1e15},
		CC:       ccc.Config{NSCC: nscc.Config{LinkRate: 100e9 / 8, BaseRTT: 12_000, Trimming: true}}, // windows that are full from the start
		PDCs:     pdc.TableConfig{General: n + 1, Initiators: n + 1, FirstID: 1, Quarantine: 1},
		Contexts: n, Messages: max(n, 32), Answers: 1, Memory: pdc.MemoryConfig{Responses: 64},
		Target: ses.TargetConfig{Messages: max(n, 16)},
	}
	if edit != nil {
		edit(&c)
	}
	e, err := uetcc.NewEndpoint(c)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func pathPeer(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)})
}

func pathOrder(n int) []uint16 {
	r := rand.New(rand.NewPCG(1, 5))
	order := make([]uint16, 1<<16)
	for i := range order {
		order[i] = uint16(r.IntN(n))
	}
	return order
}

// A stopwatch is the time that an endpoint took for packets.
type stopwatch struct {
	taken   time.Duration
	packets int
}

// time adds the time of f, which is for so many packets.
func (w *stopwatch) time(packets int, f func()) {
	start := time.Now()
	f()
	w.taken += time.Since(start)
	w.packets += packets
}

// report gives the time of a packet, which is the operation here whatever one iteration
// does, and what it means.
func (w *stopwatch) report(b *testing.B) {
	ns := float64(w.taken) / float64(w.packets)
	b.ReportMetric(ns, "ns/op")
	b.ReportMetric(ns, "ns/packet")
	b.ReportMetric(1e9/ns, "packets/s")
	b.ReportMetric(pathMTU*8/ns, "Gb/s")
}

// Offsets of what differs from one packet of a benchmark to the next: a packet is
// written whole once and patched afterwards, as the floors do.
const (
	atFlags, atPSN, atSPDCID, atDPDCID = 1, 4, 8, 10
	atACKOffset, atBitmap              = 2, 16
	atCCC                              = 12    // of a request with congestion state: ccc_id and credit_target
	atMessageID, atMessageOffset       = 2, 36 // of the semantic header
	atRequestLength                    = 40
	atModifiedLength                   = 8 // of a response
)

// pathSource is the first of the addresses that packets come from.
const pathSource = 0xffff_0b00_0000

// setPDC makes a packet one of the PDC that has the same number at both ends.
func setPDC(in *uetcc.Datagram, id uint16) {
	binary.BigEndian.PutUint16(in.Packet[atSPDCID:], id)
	binary.BigEndian.PutUint16(in.Packet[atDPDCID:], id)
	in.Src = pdc.Addr{Lo: pathSource | uint64(id-1)}
}
