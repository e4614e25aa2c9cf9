// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

const (
	keyLen   = 32
	nonceLen = 12
	blockLen = aes.BlockSize
)

// derivedBits is the length of the KDF's output: a key and a mask for nonces.
const derivedBits = (keyLen + nonceLen) * 8

const (
	derivedBlocks = (keyLen + nonceLen + blockLen - 1) / blockLen
	maxInput      = 48 // bytes for the input of a block, with a context of the longest
)

// A cmac is AES-256-CMAC under a key (SP 800-38B). Safe for concurrent use.
type cmac struct {
	block cipher.Block
	whole [blockLen]byte // K1: added to a full last block
	part  [blockLen]byte // K2: added to a padded last block
}

func newCMAC(key *[keyLen]byte) (*cmac, error) {
	b, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	m := &cmac{block: b}
	b.Encrypt(m.whole[:], m.whole[:])
	double(&m.whole)
	m.part = m.whole
	double(&m.part)
	return m, nil
}

// double multiplies b by x in GF(2^128).
func double(b *[blockLen]byte) {
	hi, lo := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	carry := hi >> 63
	binary.BigEndian.PutUint64(b[:], hi<<1|lo>>63)
	binary.BigEndian.PutUint64(b[8:], lo<<1^carry*0x87)
}

// sum returns the code of msg.
func (m *cmac) sum(msg []byte) (x [blockLen]byte) {
	for len(msg) > blockLen {
		xor(x[:], msg[:blockLen])
		m.block.Encrypt(x[:], x[:])
		msg = msg[blockLen:]
	}
	xor(x[:], msg)
	if len(msg) == blockLen {
		xor(x[:], m.whole[:])
	} else {
		x[len(msg)] ^= 0x80
		xor(x[:], m.part[:])
	}
	m.block.Encrypt(x[:], x[:])
	return x
}

func xor(dst, src []byte) {
	for i, v := range src {
		dst[i] ^= v
	}
}

// A label of the KDF says whose identity the context holds.
type label [2]byte

var (
	labelCluster = label{'U', '1'} // the sender's
	labelServer  = label{'U', '2'} // the client's
)

// An identity is the purpose of a derived key: the KDF's context, without the order of the
// parts.
type identity struct {
	addr  [16]byte // IPv6 address; IPv4 or SSI in the last four bytes
	epoch uint16
	v6    bool
	rekey uint32
}

// context appends the context of the KDF.
func (id *identity) context(b []byte) []byte {
	from := 12
	if id.v6 {
		b, from = append(b, 0, 0, 0, 0), 0
	}
	b = binary.BigEndian.AppendUint16(b, id.epoch)
	b = binary.BigEndian.AppendUint32(b, id.rekey)
	return append(b, id.addr[from:]...)
}

// derive is the KDF: counter mode of SP 800-108 with m as the function. Each block is
// CMAC(i, label, 0, context, length in bits).
func (m *cmac) derive(l label, id *identity) (key [keyLen]byte, mask [nonceLen]byte) {
	var in [maxInput]byte
	msg := id.context(append(in[:1], l[0], l[1], 0))
	msg = binary.BigEndian.AppendUint16(msg, derivedBits)
	var out [derivedBlocks * blockLen]byte
	for i := range derivedBlocks {
		msg[0] = byte(i + 1)
		block := m.sum(msg)
		copy(out[i*blockLen:], block[:])
	}
	return [keyLen]byte(out[:]), [nonceLen]byte(out[keyLen:])
}
