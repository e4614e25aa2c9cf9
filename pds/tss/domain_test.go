// SPDX-License-Identifier: Apache-2.0

package tss

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/pds"
)

// packet4 is an IPv4 packet from 10.0.0.src to 10.0.0.dst with room for header, n bytes and tag.
func packet4(src, dst byte, header, n int) []byte {
	b := make([]byte, ip4Len+pds.EntropyLen+header+n+pds.TSSTagLen)
	b[0], b[8], b[9] = 0x45, 64, pds.IPProtocol
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], []byte{10, 0, 0, src, 10, 0, 0, dst})
	for i := range n {
		b[ip4Len+pds.EntropyLen+header+i] = byte(i)
	}
	return b
}

// packet6 is the same over IPv6.
func packet6(src, dst byte, header, n int) []byte {
	b := make([]byte, ip6Len+pds.EntropyLen+header+n+pds.TSSTagLen)
	b[0], b[6], b[7] = 0x60, pds.IPProtocol, 64
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-ip6Len))
	b[8], b[23], b[24], b[39] = 0xfd, src, 0xfd, dst
	for i := range n {
		b[ip6Len+pds.EntropyLen+header+i] = byte(i)
	}
	return b
}

// member makes a domain with one key in slot 0, which it seals with.
func member(t testing.TB, c Config, k Key) *Domain {
	t.Helper()
	d, err := New(c)
	require.NoError(t, err)
	require.NoError(t, d.Load(0, k))
	require.NoError(t, d.Use(0))
	return d
}

var secret = [keyLen]byte{1, 2, 3}

func TestSealOpensWithEveryLength(t *testing.T) {
	for _, ssi := range []bool{false, true} {
		for _, clear := range []int{0, 12} {
			c := Config{SDI: 7, Mode: ModeCluster, SSI: ssi}
			c.Offset = c.headerLen() + clear
			a, b := member(t, c, Key{Secret: secret}), member(t, c, Key{Secret: secret})
			for n := clear; n <= 4200; n++ {
				p := packet4(1, 2, c.headerLen(), n)
				want := slices.Clone(p)
				require.NoError(t, a.Seal(p, 9))
				var h pds.TSS
				require.NoError(t, b.Open(p, &h))
				from, to := ip4Len+pds.EntropyLen+c.headerLen(), len(p)-pds.TSSTagLen
				require.Equal(t, want[from:to], p[from:to])
				require.EqualValues(t, n-clear, h.TSC)
			}
		}
	}
}

// With a source identifier client and server have one key and one prefix of nonces: the
// reference provider counts both from 0 and uses each nonce twice.
func TestClientAndServerNeverShareANonce(t *testing.T) {
	c := Config{SDI: 1, Mode: ModeServer, SSI: true}
	server := member(t, c, Key{Secret: secret})
	m, err := newCMAC(&secret)
	require.NoError(t, err)
	id := identity{addr: [16]byte{15: 5}}
	k, mask := m.derive(labelServer, &id)
	c.Mode = ModeClient
	client := member(t, c, Key{Secret: k, Mask: mask})
	require.ErrorIs(t, client.Load(1, Key{First: 1 << 47}), ErrConfig, "the default limit of a client is below")

	seen := map[[nonceLen]byte]bool{}
	for range 1000 {
		up, down := packet4(1, 2, 16, 40), packet4(2, 1, 16, 40)
		require.NoError(t, client.Seal(up, 5))
		require.NoError(t, server.Seal(down, 5))
		require.False(t, seen[client.nonce] || seen[server.nonce] || client.nonce == server.nonce)
		seen[client.nonce], seen[server.nonce] = true, true
		var h pds.TSS
		require.NoError(t, server.Open(up, &h))
		require.NoError(t, client.Open(down, &h))
	}
}

// A server opens what each client has sealed, and no client what is another's.
func TestClientsAreKeptApart(t *testing.T) {
	server := member(t, Config{Mode: ModeServer}, Key{Secret: secret})
	m, _ := newCMAC(&secret)
	var clients [3]*Domain
	for i := range clients {
		id := identity{addr: [16]byte{12: 10, 15: byte(i + 1)}}
		k, mask := m.derive(labelServer, &id)
		clients[i] = member(t, Config{Mode: ModeClient}, Key{Secret: k, Mask: mask})
	}
	var h pds.TSS
	for i, c := range clients {
		p := packet4(byte(i+1), 9, 12, 30)
		require.NoError(t, c.Seal(p, 0))
		require.NoError(t, server.Open(slices.Clone(p), &h))
		p = packet4(byte((i+1)%3+1), 9, 12, 30) // as if it were the next client
		require.NoError(t, c.Seal(p, 0))
		require.ErrorIs(t, server.Open(p, &h), ErrAuth)
		p = packet4(9, byte(i+1), 12, 30)
		require.NoError(t, server.Seal(p, 0))
		require.ErrorIs(t, clients[(i+1)%3].Open(slices.Clone(p), &h), ErrAuth)
		require.NoError(t, c.Open(p, &h))
	}
}

// The key changes while packets are on the way: none is lost as long as the old slot stays.
func TestRekeyUnderLoadLosesNothing(t *testing.T) {
	c := Config{Mode: ModeCluster, RekeyMask: 0xff00, RekeyShift: 8}
	a, b := member(t, c, Key{Secret: secret}), member(t, c, Key{Secret: secret})
	var flight [][]byte
	var h pds.TSS
	for i := range 5000 {
		if i%1000 == 500 { // all members load the slot that is not in use, then switch
			an, epoch := uint8(i/1000+1)&1, uint16(i/1000+1)
			next := Key{Secret: [keyLen]byte{byte(i), 7}, Epoch: epoch}
			require.NoError(t, b.Load(an, next))
			require.NoError(t, a.Load(an, next))
			require.NoError(t, a.Use(an))
		}
		p := packet4(1, 2, 12, i%100)
		require.NoError(t, a.Seal(p, 0))
		if flight = append(flight, p); len(flight) > 64 {
			require.NoError(t, b.Open(flight[0], &h), i)
			flight = flight[1:]
		}
	}
	require.EqualValues(t, b.Stats().InAuth, 5000-len(flight))
	require.Less(t, b.Stats().Derivations, uint64(64), "once for 256 packets")
}

func TestLoadRefusesAKeyBelowItsCounter(t *testing.T) {
	d := member(t, Config{Mode: ModeCluster}, Key{Secret: secret, First: 100})
	for range 5 {
		require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
	}
	require.EqualValues(t, 105, d.Counter(0))
	require.ErrorIs(t, d.Load(1, Key{Secret: secret, First: 104}), ErrReuse)
	require.ErrorIs(t, d.Load(0, Key{Secret: secret}), ErrReuse)
	require.NoError(t, d.Load(0, Key{Secret: secret, First: 105}))
	require.NoError(t, d.Load(1, Key{Secret: secret, Epoch: 1}), "another epoch makes other nonces")
}

// A key that has left its slot, dropped or replaced, has sealed all the same. (Before: a key that was dropped and
// loaded sealed with each counter twice.)
func TestLoadRemembersKeysOfNoSlot(t *testing.T) {
	for name, leave := range map[string]func(*Domain){
		"dropped":  func(d *Domain) { d.Drop(0) },
		"replaced": func(d *Domain) { require.NoError(t, d.Load(0, Key{Secret: [keyLen]byte{1}})) },
		"dropped after many": func(d *Domain) {
			for i := range spentMost {
				require.NoError(t, d.Load(0, Key{Secret: [keyLen]byte{1, byte(i)}}))
				require.NoError(t, d.Use(0))
				require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
			}
		},
		"dropped twice": func(d *Domain) {
			d.Drop(0)
			require.NoError(t, d.Load(1, Key{Secret: secret, First: 8}))
			require.NoError(t, d.Use(1))
			require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
			d.Drop(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := member(t, Config{Mode: ModeCluster}, Key{Secret: secret})
			for range 5 {
				require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
			}
			leave(d)
			for an := range uint8(2) {
				require.ErrorIs(t, d.Load(an, Key{Secret: secret}), ErrReuse)
				require.ErrorIs(t, d.Load(an, Key{Secret: secret, First: 4}), ErrReuse)
			}
			require.NoError(t, d.Load(1, Key{Secret: secret, Epoch: 1}), "another epoch makes other nonces")
			require.NoError(t, d.Load(0, Key{Secret: secret, First: 9}))
			require.LessOrEqual(t, len(d.spent), spentMost)
		})
	}
	d := member(t, Config{Mode: ModeCluster}, Key{Secret: secret})
	d.Drop(0)
	require.NoError(t, d.Load(0, Key{Secret: secret}), "a key that has sealed nothing")
}

// One key in both slots sealed with each counter twice: the slot is no part of the nonce.
func TestUseRefusesCountersOfTheOtherSlot(t *testing.T) {
	seal := func(d *Domain, n int) {
		for range n {
			require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
		}
	}
	for _, first := range []uint64{0, 2} {
		d := member(t, Config{Mode: ModeDirect}, Key{Secret: secret})
		require.NoError(t, d.Load(1, Key{Secret: secret, First: first}))
		seal(d, 3)
		require.ErrorIs(t, d.Use(1), ErrReuse)
		seal(d, 1) // as before
		require.EqualValues(t, 4, d.Counter(0))
	}
	d := member(t, Config{Mode: ModeDirect}, Key{Secret: secret, Limit: 9})
	require.NoError(t, d.Load(1, Key{Secret: secret, First: 10}))
	seal(d, 3)
	require.NoError(t, d.Use(1))
	seal(d, 3)
	require.NoError(t, d.Use(0), "the ranges have no counter in common")
	seal(d, 3)
}

// Nor with those of a key that the other slot has had.
func TestUseRefusesCountersOfAKeyOfNoSlot(t *testing.T) {
	for _, limit := range []uint64{0, 9} {
		d := member(t, Config{Mode: ModeDirect}, Key{Secret: secret, Limit: limit})
		require.NoError(t, d.Load(1, Key{Secret: secret, First: 10}))
		require.NoError(t, d.Use(1))
		require.NoError(t, d.Seal(packet4(1, 2, 12, 9), 0))
		d.Drop(1)
		if limit == 0 {
			require.ErrorIs(t, d.Use(0), ErrReuse)
			require.ErrorIs(t, d.Seal(packet4(1, 2, 12, 9), 0), ErrKey)
		} else {
			require.NoError(t, d.Use(0), "the ranges have no counter in common")
		}
	}
}

// A key is derived once for each sender, also of neighbouring addresses. (Before: the senders of an IPv4 network
// shared one place, so their packets derived a key each.)
func TestOpenKeepsTheKeysOfManySenders(t *testing.T) {
	for _, ssi := range []bool{false, true} {
		c := Config{Mode: ModeCluster, SSI: ssi}
		a, b := member(t, c, Key{Secret: secret}), member(t, c, Key{Secret: secret})
		for range 2 {
			for src := range 200 {
				p := packet4(byte(src), 2, c.headerLen(), 9)
				require.NoError(t, a.Seal(p, uint32(src)))
				require.NoError(t, b.Open(p, new(pds.TSS)))
			}
		}
		require.EqualValues(t, 200, b.Stats().Derivations)
		b.Drop(0)
		require.Equal(t, make([]sender, len(b.peers)), b.peers, "a dropped slot leaves no secret")
	}
}

func TestCountersEnd(t *testing.T) {
	d := member(t, Config{Mode: ModeCluster}, Key{Secret: secret, First: 1<<48 - 2})
	p := packet4(1, 2, 12, 9)
	require.NoError(t, d.Seal(slices.Clone(p), 0))
	require.NoError(t, d.Seal(slices.Clone(p), 0))
	was := slices.Clone(p)
	require.ErrorIs(t, d.Seal(p, 0), ErrLimit)
	require.Equal(t, was, p)
	require.Equal(t, Stats{OutAuth: 2, OutFail: 1, Derivations: 1}, d.Stats())
}

// A slot loaded anew forgets all that was derived from its former key, and the other slot nothing.
func TestLoadForgetsDerivedKeys(t *testing.T) {
	c := Config{Mode: ModeCluster}
	was, next := Key{Secret: secret}, Key{Secret: [keyLen]byte{9}}
	a, b := member(t, c, was), member(t, c, was)
	pass := func(from, to *Domain) {
		t.Helper()
		p := packet4(1, 2, 12, 9)
		require.NoError(t, from.Seal(p, 0))
		require.NoError(t, to.Open(p, new(pds.TSS)))
	}
	pass(a, b)
	require.NoError(t, b.Load(1, next))
	pass(a, b)
	require.EqualValues(t, 1, b.Stats().Derivations, "the key of slot 0 is still known")
	require.NoError(t, a.Load(0, next))
	require.NoError(t, b.Load(0, next))
	pass(a, member(t, c, next))
	pass(member(t, c, next), b)
}

// Epochs are serial numbers: 16 behind is taken, 17 is late, newer ones are taken.
func TestEpochs(t *testing.T) {
	c := Config{Mode: ModeDirect}
	b := member(t, c, Key{Secret: secret, Epoch: 5})
	for _, x := range []struct {
		epoch uint16
		err   error
	}{{5, nil}, {6, nil}, {0xfff5, nil}, {0xfff4, ErrLate}} {
		a := member(t, c, Key{Secret: secret, Epoch: x.epoch})
		p := packet4(1, 2, 12, 9)
		require.NoError(t, a.Seal(p, 0))
		require.Equal(t, x.err, b.Open(p, new(pds.TSS)), x.epoch)
	}
	require.EqualValues(t, 1, b.Stats().InLate)
}

// Whatever is refused changes no key that is kept and no header, however much of it comes.
func TestForgedPacketsChangeNothing(t *testing.T) {
	c := Config{SDI: 3, Mode: ModeCluster, SSI: true, Keys: 4}
	a, b := member(t, c, Key{Secret: secret}), member(t, c, Key{Secret: secret})
	var h pds.TSS
	for ssi := range uint32(4) {
		p := packet4(1, 2, 16, 50)
		require.NoError(t, a.Seal(p, ssi))
		require.NoError(t, b.Open(p, &h))
	}
	kept, header := slices.Clone(b.peers), h
	for i := range 10_000 {
		p := packet4(1, 2, 16, 50)
		require.NoError(t, a.Seal(p, uint32(i)))
		p[len(p)-1-i%(16+50)] ^= 1 << (i % 8)
		require.ErrorIs(t, b.Open(p, &h), ErrAuth)
	}
	require.Equal(t, kept, b.peers)
	require.Equal(t, header, h)
	require.EqualValues(t, 10_000, b.Stats().InAuthFail)
	p := packet4(1, 2, 16, 50)
	require.NoError(t, a.Seal(p, 2))
	require.NoError(t, b.Open(p, &h), "no number of forged packets shuts the domain")
}

func TestOpenRefuses(t *testing.T) {
	d := member(t, Config{SDI: 3, Mode: ModeCluster}, Key{Secret: secret})
	sealed := func(c Config, an uint8) []byte {
		a, err := New(c)
		require.NoError(t, err)
		require.NoError(t, a.Load(an, Key{Secret: secret}))
		require.NoError(t, a.Use(an))
		p := packet4(1, 2, c.headerLen(), 20)
		require.NoError(t, a.Seal(p, 1))
		return p
	}
	clear := packet4(1, 2, 12, 20)
	clear[ip4Len+pds.EntropyLen] = byte(pds.TypeRUDReq) << 3
	udp := packet4(1, 2, 12, 20)
	udp[9] = protoUDP
	options := packet4(1, 2, 12, 20)
	options[0] = 0x46
	for _, c := range []struct {
		packet []byte
		err    error
	}{
		{sealed(Config{SDI: 4, Mode: ModeCluster}, 0), ErrDomain},
		{sealed(Config{SDI: 3, Mode: ModeCluster}, 1), ErrKey},
		{sealed(Config{SDI: 3, Mode: ModeCluster, SSI: true}, 0), ErrSSI},
		{clear, ErrClear}, {udp, ErrForm}, {options, ErrForm}, {nil, ErrForm},
	} {
		var h pds.TSS
		require.Equal(t, c.err, d.Open(c.packet, &h))
		require.Zero(t, h)
	}
	require.Equal(t, Stats{InInvalid: 3, InBypass: 4}, d.Stats())
	d.Drop(0)
	require.Equal(t, ErrKey, d.Open(sealed(Config{SDI: 3, Mode: ModeCluster}, 0), new(pds.TSS)))
	require.Equal(t, ErrKey, d.Seal(packet4(1, 2, 12, 20), 0))
}

// Over IPv6 without a source identifier the nonce holds nothing of the sender.
func TestIPv6NeedsASourceIdentifier(t *testing.T) {
	for m, want := range map[Mode]error{ModeDirect: ErrSSI, ModeServer: ErrSSI, ModeClient: ErrSSI, ModeCluster: nil} {
		d := member(t, Config{Mode: m}, Key{Secret: secret})
		require.Equal(t, want, d.Seal(packet6(1, 2, 12, 20), 0), m)
	}
}

func TestConfigs(t *testing.T) {
	for _, c := range []Config{
		{SDI: 1 << 24}, {Mode: 4}, {Offset: 11}, {SSI: true, Offset: 12}, {Keys: -1},
		{RekeyMask: 1 << 48}, {RekeyMask: 0xffff_ffff_ff00, RekeyShift: 4},
	} {
		_, err := New(c)
		require.ErrorIs(t, err, ErrConfig, "%+v", c)
	}
	d, err := New(Config{})
	require.NoError(t, err)
	require.ErrorIs(t, d.Load(2, Key{}), ErrConfig)
	require.ErrorIs(t, d.Use(0), ErrKey)
	require.Equal(t, "CLUSTER", ModeCluster.String())
}

func TestAllocs(t *testing.T) {
	c := Config{Mode: ModeCluster}
	a, b := member(t, c, Key{Secret: secret}), member(t, c, Key{Secret: secret})
	p := packet4(1, 2, 12, 4096)
	var h pds.TSS
	alloctest.Zero(t, "Seal and Open", func() {
		if a.Seal(p, 0) != nil || b.Open(p, &h) != nil {
			panic("refused")
		}
	})
	clear := packet4(1, 2, 12, 4096)
	alloctest.Zero(t, "refused", func() {
		if b.Open(clear, &h) == nil {
			panic("taken")
		}
	})
}
