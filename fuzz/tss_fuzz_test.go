// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/tss"
)

// FuzzTSSOpen opens any bytes as an IP packet: what is refused changes neither the header that
// was read before nor, but for an authentic form with a wrong tag, the packet; what opens was
// sealed by a member, of which the fuzzer has only whole packets.
func FuzzTSSOpen(f *testing.F) {
	for _, v := range readVectors[tssVector](f, "tss.jsonl") {
		b := make([]byte, len(v.Packet)/2)
		copy(b, unhex(f, v.Packet))
		f.Add(b, v.Offset, v.SP, uint8(len(v.Mode)))
	}
	f.Fuzz(func(t *testing.T, packet []byte, offset int, ssi bool, mode uint8) {
		d, err := tss.New(tss.Config{Mode: tss.Mode(mode % 4), SSI: ssi, Offset: offset, SDI: sdiOf(packet), Keys: 1})
		if err != nil {
			return
		}
		for an := range uint8(2) {
			if err := d.Load(an, tss.Key{Secret: [32]byte{1}, Limit: 9, First: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Use(0); err != nil {
			t.Fatal(err)
		}
		h := pds.TSS{SDI: 1}
		in := bytes.Clone(packet)
		switch err := d.Open(in, &h); {
		case err == nil:
			t.Fatal("opened what no member has sealed")
		case err != tss.ErrAuth && !bytes.Equal(in, packet):
			t.Fatal("changed what was refused: ", err)
		case h != pds.TSS{SDI: 1}:
			t.Fatal("the header changed")
		}
		sealed := bytes.Clone(packet)
		if d.Seal(sealed, 7) != nil {
			if !bytes.Equal(sealed, packet) {
				t.Fatal("changed what was not sealed")
			}
			return
		}
		if d.Stats().OutAuth != 1 || len(sealed) != len(packet) {
			t.Fatal("sealed without a count")
		}
		if mode%4 == uint8(tss.ModeServer) { // another end opens it
			return
		}
		if err := d.Open(sealed, &h); err != nil {
			t.Fatal("does not open what it has sealed: ", err)
		}
	})
}

// sdiOf guesses the secure domain of an IP packet.
func sdiOf(b []byte) uint32 {
	at := 24
	if len(b) > 0 && b[0]>>4 == 6 {
		at = 44
	}
	var h pds.TSS
	if len(b) < at {
		return 0
	}
	if _, err := h.Decode(b[at:]); err != nil {
		return 0
	}
	return h.SDI
}
