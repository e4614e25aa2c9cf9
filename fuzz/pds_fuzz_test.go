// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/frame"
)

// fuzzPDS checks of any bytes: a header that decodes takes no more bytes than
// there are, ignores reserved bits and nothing else (what it encodes to decodes
// to itself, and encodes to the same bytes over a dirty buffer), and formats
// itself on one line; a header that does not decode is left as it was.
func fuzzPDS[T comparable, P interface {
	*T
	header
}](f *testing.F, kinds ...string) {
	addSeeds(f, kinds...)
	f.Fuzz(func(t *testing.T, in []byte) {
		var first, again, untouched T
		h := P(&first)
		n, err := h.Decode(in)
		if err != nil {
			if n != 0 || first != untouched || err != pds.ErrTruncated && err != pds.ErrType {
				t.Fatalf("%x: n = %d, %v, %+v", in, n, err, first)
			}
			return
		}
		_ = h.Validate()
		if s := h.String(); s == "" || strings.ContainsAny(s, "\n%") {
			t.Fatalf("%x prints as %q", in, s)
		}
		out := bytes.Repeat([]byte{0xa5}, len(in))
		if m := len(h.AppendTo(out[:0])); m != n {
			t.Fatalf("%x: %d bytes decoded, %d encoded", in, n, m)
		}
		if m, err := P(&again).Decode(out); err != nil || m != n || again != first {
			t.Fatalf("%x decodes to %+v, which encodes to %x, which decodes to %+v", in, first, out[:n], again)
		}
		if twice := P(&again).AppendTo(nil); !bytes.Equal(twice, out[:n]) {
			t.Fatalf("%+v encodes to %x and %x", first, out[:n], twice)
		}
		if _, err := h.Decode(in[:n-1]); err != pds.ErrTruncated || first != again {
			t.Fatalf("%x: one byte less gives %v", in[:n-1], err)
		}
	})
}

// addSeeds adds the vectors of the kinds, and what is wrong with them.
func addSeeds(f *testing.F, kinds ...string) {
	of := map[string]bool{}
	for _, kind := range kinds {
		of[kind] = true
	}
	for i, v := range readVectors[vector](f, "pds.jsonl") {
		if of[v.Name] && i%6 == 0 {
			f.Add(unhex(f, v.Hex))
		}
	}
	for _, v := range readVectors[malformedVector](f, "malformed.jsonl") {
		if of[v.Name] && v.Class != "truncated" {
			f.Add(unhex(f, v.Hex))
		}
	}
	f.Add([]byte{})
}

func FuzzPDSEntropy(f *testing.F)  { fuzzPDS[pds.Entropy](f, "entropy") }
func FuzzPDSPrologue(f *testing.F) { fuzzPDS[pds.Prologue](f, "prologue") }
func FuzzPDSRequest(f *testing.F) {
	fuzzPDS[pds.Request](f, "rud_req", "rud_req_syn", "rod_req", "rod_req_syn", "rud_cc_req", "rud_cc_req_syn", "rod_cc_req", "rod_cc_req_syn")
}
func FuzzPDSRUDI(f *testing.F)   { fuzzPDS[pds.RUDI](f, "rudi_req", "rudi_resp") }
func FuzzPDSUUD(f *testing.F)    { fuzzPDS[pds.UUD](f, "uud_req") }
func FuzzPDSAck(f *testing.F)    { fuzzPDS[pds.Ack](f, "ack", "ack_probe") }
func FuzzPDSAckCC(f *testing.F)  { fuzzPDS[pds.AckCC](f, "ack_cc_nscc", "ack_cc_credit") }
func FuzzPDSAckCCX(f *testing.F) { fuzzPDS[pds.AckCCX](f, "ack_ccx") }
func FuzzPDSAckExpected(f *testing.F) {
	f.Add((&pds.AckExpected{Ack: pds.Ack{SPDCID: 1, DPDCID: 2, CACK: 7}, Expected: 8}).AppendTo(nil))
	fuzzPDS[pds.AckExpected](f, "ack", "ack_cc_nscc")
}
func FuzzPDSNack(f *testing.F)    { fuzzPDS[pds.Nack](f, "nack", "nack_rudi") }
func FuzzPDSNackCCX(f *testing.F) { fuzzPDS[pds.NackCCX](f, "nack_ccx") }
func FuzzPDSTSS(f *testing.F)     { fuzzPDS[pds.TSS](f, "tss", "tss_ssi") }
func FuzzPDSControl(f *testing.F) {
	fuzzPDS[pds.Control](f, "cp_noop", "cp_noop_syn", "cp_ack_req", "cp_clear_cmd", "cp_clear_req", "cp_close_cmd", "cp_close_req",
		"cp_probe", "cp_credit", "cp_credit_req", "cp_negotiation", "cp_negotiation_syn")
}

// FuzzPDSCCState checks the two congestion states of an ACK_CC: what one reads,
// it writes, and the other type's state is not mistaken for it.
func FuzzPDSCCState(f *testing.F) {
	f.Add([]byte("\x00\x01\xc0\x00\x00\x10\x00\x02")) // rc set, penalty 64
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 8 {
			return
		}
		var n, n2 pds.NSCCState
		var c, c2 pds.CreditState
		a := pds.AckCC{SACK: pds.SACK{CCType: pds.CCNSCC}, State: [8]byte(in)}
		if !a.NSCC(&n) {
			t.Fatal("the state is for NSCC")
		}
		a.SetNSCC(&n)
		if !a.NSCC(&n2) || a.Credit(&c2) || n2 != n || !bytes.Equal(a.State[:], in[:8]) {
			t.Fatalf("%x: %+v, %+v, %x", in, n, n2, a.State)
		}
		if a.CCType = pds.CCCredit; !a.Credit(&c) {
			t.Fatal("the state is for credit")
		}
		a.SetCredit(&c)
		if a.NSCC(&n2) || !a.Credit(&c2) || c2 != c {
			t.Fatalf("%x: %+v, %+v, %x", in, c, c2, a.State)
		}
	})
}

// FuzzPDSOffsets checks the offsets against 64-bit arithmetic.
func FuzzPDSOffsets(f *testing.F) {
	for _, pair := range [][2]uint32{{0, 0}, {0, 0xffffffff}, {32768, 0}, {32769, 0}, {0, 32767}, {1 << 31, 0}, {3, 0xfffffffe}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, x, y uint32) {
		a, b := pds.PSN(x), pds.PSN(y)
		d := int64(a.Diff(b))
		if uint32(int64(y)+d) != x || d < -1<<31 || d >= 1<<31 || b.Add(int32(d)) != a || a.After(b) != (d > 0) {
			t.Fatalf("diff(%d, %d) = %d", x, y, d)
		}
		if off, ok := pds.ClearOffset(b, a); ok != (d <= 0 && d >= -32768) || ok && int64(off) != d {
			t.Fatalf("clear(%d, %d) = %d, %t", y, x, off, ok)
		}
		if off, ok := pds.AckOffset(b, a); ok != (d <= 32767 && d >= -32768) || ok && int64(off) != d {
			t.Fatalf("ack(%d, %d) = %d, %t", y, x, off, ok)
		}
		if off, ok := pds.StartOffset(a, b); ok != (d >= 0 && d <= 4095) || ok && int64(off) != d {
			t.Fatalf("start(%d, %d) = %d, %t", x, y, off, ok)
		}
	})
}

// fuzzParser checks of any bytes that what parse reads lies inside them in
// order, writes itself as it was read but for reserved bits, and prints; and
// that what it refuses leaves the packet as it was.
func fuzzParser(t *testing.T, in []byte, p *frame.Packet, parse func() error) {
	before := *p
	if err := parse(); err != nil {
		if !reflect.DeepEqual(before, *p) {
			t.Fatalf("%x is refused with %v, but %+v", in, err, p)
		}
		return
	}
	if p.PDS < 0 || p.SES < p.PDS || p.Payload < p.SES || p.End < p.Payload || p.End > len(in) {
		t.Fatalf("%x: %d %d %d %d", in, p.PDS, p.SES, p.Payload, p.End)
	}
	_ = p.Validate()
	if s := p.String(); s == "" || strings.ContainsAny(s, "\n%") {
		t.Fatalf("%x prints as %q", in, s)
	}
	out := p.AppendTo(nil)
	if len(out) != p.Payload-p.PDS {
		t.Fatalf("%x: %d bytes of headers read, %d written", in, p.Payload-p.PDS, len(out))
	}
	again := *p
	if err := new(frame.Parser).UDP(append(out, in[p.Payload:]...), &again); err != nil {
		t.Fatalf("%x reads as %v, writes as %x: %v", in, p, out, err)
	}
	if twice := again.AppendTo(nil); !bytes.Equal(out, twice) {
		t.Fatalf("%x writes as %x, then as %x", in, out, twice)
	}
}

func addPackets(f *testing.F, encap string) {
	for _, v := range readVectors[packetVector](f, "packets.jsonl") {
		if v.Encap == encap {
			f.Add(unhex(f, v.Hex))
		}
	}
	for _, v := range readVectors[malformedVector](f, "malformed.jsonl") {
		if v.Name == "packet/"+encap && v.Class != "truncated" {
			f.Add(unhex(f, v.Hex))
		}
	}
}

func FuzzPacketUDP(f *testing.F) {
	addPackets(f, "udp")
	f.Fuzz(func(t *testing.T, in []byte) {
		p := new(frame.Packet)
		fuzzParser(t, in, p, func() error { return new(frame.Parser).UDP(in, p) })
	})
}

func FuzzPacketNative(f *testing.F) {
	addPackets(f, "ip")
	f.Fuzz(func(t *testing.T, in []byte) {
		p := new(frame.Packet)
		fuzzParser(t, in, p, func() error { return new(frame.Parser).Native(in, p) })
	})
}

// FuzzFrame parses any frame, with and without trailer and trimming, and checks
// that a frame which is read writes itself as a frame that is read the same.
func FuzzFrame(f *testing.F) {
	for i, v := range readVectors[packetVector](f, "packets.jsonl") {
		fr := &frame.Frame{TOS: uint8(i), Native: v.Encap == "ip"}
		fr.Src, fr.Dst = [16]byte{10: 0xff, 11: 0xff, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 15: 2}
		if i%2 == 0 {
			fr.Src[0], fr.Dst[0] = 0xfd, 0xfd
		}
		wire := unhex(f, v.Hex)
		if parsePacket(new(frame.Parser), v.Encap, wire, &fr.Packet) == nil {
			f.Add(fr.AppendTo(nil, wire[fr.Payload:]), i%4 == 0, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, crc bool, trimmed uint8) {
		ps := &frame.Parser{CRC: crc, DSCPs: pds.DSCPs{Trimmed: pds.DSCP(trimmed & 63)}}
		fr := new(frame.Frame)
		if err := ps.Ethernet(in, fr); err != nil {
			if *fr != (frame.Frame{}) {
				t.Fatalf("%x is refused with %v, but %+v", in, err, fr)
			}
			return
		}
		if fr.PDS < 0 || fr.SES < fr.PDS || fr.Payload < fr.SES || fr.End < fr.Payload || fr.End > len(in) {
			t.Fatalf("%x: %d %d %d %d", in, fr.PDS, fr.SES, fr.Payload, fr.End)
		}
		_, _ = fr.Validate(), fr.String()
		checkFrame(t, fr, fr.AppendTo(nil, in[fr.Payload:fr.End]))
	})
}

// checkFrame checks that the frame wire is read as fr, which wrote it.
func checkFrame(t *testing.T, fr *frame.Frame, wire []byte) {
	if fr.Type == pds.TypeTSS || fr.Trimmed != 0 {
		return // the tag, or a part of the packet, is not written
	}
	again := *fr
	if err := new(frame.Parser).Ethernet(wire, &again); err != nil {
		t.Fatalf("%v writes as %x: %v", fr, wire, err)
	}
	again.PDS, again.SES, again.Payload, again.End, again.TransportLen = fr.PDS, fr.SES, fr.Payload, fr.End, fr.TransportLen
	if again != *fr {
		t.Fatalf("%+v writes as %x, which reads as %+v", fr, wire, again)
	}
}
