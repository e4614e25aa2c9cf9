// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"testing"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/tss"
)

// BenchmarkTSS seals and opens a packet of 4 KiB, and beside it what AES-GCM of the standard
// library takes for the same bytes under a key at hand.
func BenchmarkTSS(b *testing.B) {
	const secret = 20 + pds.EntropyLen + pds.TSSLen
	packet := make([]byte, secret+4096+pds.TSSTagLen)
	packet[0], packet[9] = 0x45, pds.IPProtocol
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))

	block, _ := aes.NewCipher(make([]byte, 32))
	gcm, _ := cipher.NewGCM(block)
	nonce := make([]byte, gcm.NonceSize())
	b.Run("gcm/seal", func(b *testing.B) {
		b.SetBytes(4096)
		b.ReportAllocs()
		for b.Loop() {
			gcm.Seal(packet[secret:secret], nonce, packet[secret:secret+4096], packet[12:secret])
		}
	})
	domain := func() *tss.Domain {
		d, err := tss.New(tss.Config{Mode: tss.ModeCluster})
		if err == nil {
			err = d.Load(0, tss.Key{})
		}
		if err == nil {
			err = d.Use(0)
		}
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	sender, receiver := domain(), domain()
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(4096)
		b.ReportAllocs()
		for b.Loop() {
			if sender.Seal(packet, 0) != nil {
				b.Fatal("not sealed")
			}
		}
	})
	if err := sender.Seal(packet, 0); err != nil {
		b.Fatal(err)
	}
	in := make([]byte, len(packet))
	b.Run("open", func(b *testing.B) {
		var h pds.TSS
		b.SetBytes(4096)
		b.ReportAllocs()
		for b.Loop() {
			copy(in, packet)
			if receiver.Open(in, &h) != nil {
				b.Fatal("not opened")
			}
		}
	})
}
