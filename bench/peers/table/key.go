// SPDX-License-Identifier: Apache-2.0

// Package table finds a context by a 40-byte key or by a 16-bit id: in the maps
// a Go program would pick, and in the simplest arrays that do the job.
package table

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"unsafe"
)

// Key is two addresses and eight more bytes. Without padding.
type Key struct {
	Src, Dst [16]byte
	ID, Peer uint16
	Job      uint32
}

// Ctx stands for the result of a look-up.
type Ctx struct {
	Word uint64
	_    [56]byte
}

// MakeKeys returns n distinct keys: IPv4-mapped sources in a /12, one target.
// Keys of different seeds differ.
func MakeKeys(n int, seed uint64) []Key {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	ks := make([]Key, n)
	for i := range ks {
		k := &ks[i]
		k.Src[10], k.Src[11] = 0xff, 0xff
		binary.BigEndian.PutUint32(k.Src[12:], 0x0a000000|r.Uint32()&0x000fffff)
		k.Dst[10], k.Dst[11] = 0xff, 0xff
		binary.BigEndian.PutUint32(k.Dst[12:], 0x0a800001)
		k.ID, k.Peer, k.Job = uint16(i), uint16(seed), uint32(i>>16)
	}
	r.Shuffle(n, func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
	return ks
}

// MakeOrder returns the order of look-ups: a permutation of 0..n-1.
func MakeOrder(n int) []int { return rand.New(rand.NewPCG(7, 11)).Perm(n) }

func (k *Key) words() *[5]uint64 { return (*[5]uint64)(unsafe.Pointer(k)) }

// hash mixes the words of a key with three wide multiplications.
func (k *Key) hash() uint64 {
	w := k.words()
	h1, l1 := bits.Mul64(w[0]^0xa0761d6478bd642f, w[1]^0xe7037ed1a0b428db)
	h2, l2 := bits.Mul64(w[2]^0x8ebc6af09c88c6e3, w[3]^0x589965cc75374cc3)
	h3, l3 := bits.Mul64(h1^l1^w[4], h2^l2^0x1d8e4e27c47d124f)
	return h3 ^ l3
}
