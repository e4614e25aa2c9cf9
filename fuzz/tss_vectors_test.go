// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/pds/tss"
)

// A tssVector is a line of tss.jsonl: a packet that another implementation has sealed, with all
// that went into it.
type tssVector struct {
	Name, Mode, Role string
	Family           int
	SP               bool
	AN               uint8
	SDI, SSI         uint32
	Epoch            uint16
	TSC              uint64
	Mask             string `json:"rekey_mask"`
	Shift            uint8  `json:"rekey_shift"`
	Rekey            uint32
	Src, Dst         netip.Addr
	Entropy          uint16
	Offset           int `json:"conf_offset"`
	SDK              string
	Label, Context   string
	Key              string
	KeyMask          string `json:"iv_mask"`
	IV, TSS, AAD     string
	Plaintext        string
	Ciphertext, Tag  string
	Packet           string
	Changed          string
	Open             string
}

// domain makes the domain of the end that seals the packet, or of the one that opens it.
func (v *tssVector) domain(t *testing.T, sealing bool) *tss.Domain {
	mask, err := strconv.ParseUint(v.Mask, 16, 64)
	require.NoError(t, err)
	c := tss.Config{SDI: v.SDI, SSI: v.SP, Offset: v.Offset, RekeyMask: mask, RekeyShift: v.Shift, Keys: 1}
	k := tss.Key{Epoch: v.Epoch, First: v.TSC, Limit: 1<<48 - 1}
	copy(k.Secret[:], unhex(t, v.SDK))
	switch {
	case v.Mode == "direct":
		c.Mode = tss.ModeDirect
	case v.Mode == "cluster":
		c.Mode = tss.ModeCluster
	case (v.Role == "server") == sealing:
		c.Mode = tss.ModeServer
	default:
		c.Mode = tss.ModeClient
		copy(k.Secret[:], unhex(t, v.Key))
		copy(k.Mask[:], unhex(t, v.KeyMask))
	}
	d, err := tss.New(c)
	require.NoError(t, err)
	require.NoError(t, d.Load(v.AN, k))
	require.NoError(t, d.Use(v.AN))
	return d
}

// replay seals and opens the packet, and opens it with each bit changed that is authenticated.
func (v *tssVector) replay(t *testing.T) {
	packet := unhex(t, v.Packet)
	clear := v.clear(t, packet)
	if v.Open == "fail" {
		err := v.domain(t, false).Open(slices.Clone(packet), new(pds.TSS))
		require.True(t, err == tss.ErrAuth || v.Changed == "epoch" && err == tss.ErrLate, "%s: %v", v.Name, err)
		return
	}
	require.Equal(t, "ok", v.Open)
	sealed := slices.Clone(clear)
	require.NoError(t, v.domain(t, true).Seal(sealed, v.SSI), v.Name)
	require.Equal(t, v.Packet, hex.EncodeToString(sealed), v.Name)

	d, h := v.domain(t, false), pds.TSS{}
	require.NoError(t, d.Open(sealed, &h), v.Name)
	require.Equal(t, pds.TSS{SP: v.SP, AN: v.AN, Epoch: v.Epoch, SDI: v.SDI, SSI: v.SSI, TSC: v.TSC}, h, v.Name)
	secret := len(packet) - pds.TSSTagLen - len(v.Plaintext)/2
	require.Equal(t, v.Plaintext, hex.EncodeToString(sealed[secret:len(sealed)-pds.TSSTagLen]), v.Name)

	aad := secret - len(v.AAD)/2
	for i := aad * 8; i < len(packet)*8; i++ {
		forged := slices.Clone(packet)
		forged[i/8] ^= 1 << (i % 8)
		require.Error(t, d.Open(forged, &h), "%s: bit %d", v.Name, i)
	}
	marked := slices.Clone(packet) // DSCP, ECN and hop limit, which the network may change
	marked[1] ^= 0x30
	if v.Family == 4 {
		marked[8]--
	} else {
		marked[7]--
	}
	require.NoError(t, d.Open(marked, &h), v.Name)
	for n := range len(packet) {
		require.Error(t, d.Open(slices.Clone(packet[:n]), &h), "%s: cut to %d", v.Name, n)
	}
}

// clear is the packet before it was sealed: room for header and tag.
func (v *tssVector) clear(t *testing.T, packet []byte) []byte {
	clear := slices.Clone(packet)
	plain, header := unhex(t, v.Plaintext), unhex(t, v.TSS)
	at := bytes.Index(packet, header)
	require.Positive(t, at)
	for i := range header {
		clear[at+i] = 0
	}
	copy(clear[len(clear)-pds.TSSTagLen-len(plain):], plain)
	for i := len(clear) - pds.TSSTagLen; i < len(clear); i++ {
		clear[i] = 0
	}
	return clear
}
