// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// The keys that the reference provider publishes for its KDF.
func TestDerivePublishedKeys(t *testing.T) {
	key := [keyLen]byte(unhex(t, "34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca"))
	m, err := newCMAC(&key)
	require.NoError(t, err)
	for _, c := range []struct {
		label     label
		addr      string
		rekey     uint32
		key, mask string
	}{
		{labelCluster, "192.168.42.1", 0x74e5,
			"151b4ddb30112971ddeff3213000ee74d8f18aac2135601f1e5215e505fed449", "a7c6992c26b0bd5dd5c20e0c"},
		{labelCluster, "2001:cb0::fc0:0:0:abc", 0x74e5,
			"55d1ee8647bd53fad0e5325795af18e7559b7d42a895edf70f9c170341e8f767", "9c96a5752fb5669ccd5ded3f"},
		{labelServer, "192.168.42.1", 0,
			"245e67ab286218530edd53c26ea9ec33c96b35192d0a0eb54d08be281c5d304b", "02d5ee33684201990e1629e0"},
		{labelServer, "2001:cb0::fc0:0:0:abc", 0,
			"b59002ad3e6a9ae5864878730070f8916e43e5011acaa4be3504256185f24d97", "209a3d29581028fb0da2749e"},
	} {
		a := netip.MustParseAddr(c.addr)
		id := identity{addr: a.As16(), epoch: 0x1dc0, v6: a.Is6(), rekey: c.rekey}
		got, mask := m.derive(c.label, &id)
		require.Equal(t, c.key, hex.EncodeToString(got[:]))
		require.Equal(t, c.mask, hex.EncodeToString(mask[:]))
	}
}

// CMAC of SP 800-38B, AES-256: messages of no, one, two and a half, and four blocks.
func TestCMACExamples(t *testing.T) {
	key := [keyLen]byte(unhex(t, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
	m, err := newCMAC(&key)
	require.NoError(t, err)
	msg := unhex(t, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"+
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	for n, want := range map[int]string{
		0:  "028962f61b7bf89efc6b551f4667d983",
		16: "28a7023f452e8f82bd4bf28d8c37c35c",
		40: "aaf3d8f1de5640c232f5b169b9c911e6",
		64: "e1992190549f6ed5696a2c056c315410",
	} {
		sum := m.sum(msg[:n])
		require.Equal(t, want, hex.EncodeToString(sum[:]), n)
	}
}
