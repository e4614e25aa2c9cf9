// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoadAndStoreKeepTheAccessClass: the access class of every register is kept by Load and Store.
func TestLoadAndStoreKeepTheAccessClass(t *testing.T) {
	dev, _, _ := newSoft(t, softConfig())
	for _, r := range []Register{Reg.Features, Reg.Status, Reg.Now, Reg.Sent, Reg.PDC, Reg.Room, Reg.Lost, Reg.Counter} {
		require.ErrorIs(t, dev.Store(r, 0, 1), ErrAccess, r.Name)
	}
	for _, r := range []Register{Reg.Reset, Reg.Commit, Reg.Ring} {
		require.NoError(t, dev.Store(r, 0, 1))
		v, err := dev.Load(r, 0)
		require.NoError(t, err)
		require.Zero(t, v, r.Name)
	}
	_, err := dev.Load(Reg.Cwnd, 4)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(Reg.Cwnd, -1)
	require.ErrorIs(t, err, ErrIndex)
	_, err = dev.Load(Register{Kind: 0x99}, 0)
	require.ErrorIs(t, err, ErrIndex)
	require.ErrorIs(t, dev.Store(Register{Kind: 0x99, access: rw}, 0, 0), ErrIndex)
}

// TestRegisterMap holds the map that engine and device share, which their tests cannot tell from
// another: both take it from the same place.
func TestRegisterMap(t *testing.T) {
	for _, tc := range []struct {
		regs []Register
		want string
	}{
		{
			[]Register{Reg.Type, Reg.Version, Reg.Next, Reg.Geom, Reg.Base},
			"00 TYPE 32 RO, 04 VERSION 32 RO, 08 NEXT 32 RO, 0c GEOM 32 RO, 10 BASE 32 RO",
		},
		{
			[]Register{Reg.DeviceID, Reg.Features, Reg.FeaturesOn, Reg.LineRate, Reg.Limits, Reg.Reset, Reg.Status, Reg.Fault, Reg.FaultClear, Reg.Resets},
			"14 DEV_ID 32 RO, 18 FEATURES 64 RO, 20 FEATURES_ON 64 RW, 28 LINE_RATE 64 RO, 30 LIMITS 64 RO, 38 RESET 32 WO, " +
				"3c STATUS 32 RO, 40 FAULT 32 RO, 44 FAULT_CLEAR 32 RW, 48 RESETS 32 RO",
		},
		{[]Register{Reg.Now, Reg.TickPs, Reg.StampBits}, "18 NOW 64 RO, 28 TICK_PS 32 RO, 2c STAMP_BITS 32 RO"},
		{
			[]Register{
				Reg.Ctl, Reg.Rate, Reg.Cwnd, Reg.Credit, Reg.Backlog, Reg.Burst, Reg.Commit, Reg.Record,
				Reg.State, Reg.LastTX, Reg.Sent, Reg.Acked, Reg.CreditUsed,
			},
			"00 CTL 32 RW, 04 RATE 32 RW 4, 08 CWND 64 RW 1, 10 CREDIT 64 RW 2, 18 BACKLOG 64 RW 2, 20 BURST 32 RW 4, 24 COMMIT 32 WO, " +
				"28 RECORD 64 RW, 40 STATE 32 RO, 44 LAST_TX 32 RO 8, 48 SENT 64 RO, 50 ACKED 64 RO, 58 CREDIT_USED 64 RO 2",
		},
		{
			[]Register{Reg.Bind, Reg.PSNTX, Reg.MPR, Reg.CACK, Reg.PSNRX, Reg.SACK, Reg.Entropy, Reg.Service, Reg.PDC},
			"00 BIND 64 RW, 08 PSN_TX 32 RO, 0c MPR 32 RW, 10 CACK 32 RO, 14 PSN_RX 32 RO, 18 SACK 64 RO, " +
				"20 ENTROPY 32 RW 20000, 24 SERVICE 32 RO 20, 28 PDC_STATE 32 RO",
		},
		{[]Register{Reg.Ring, Reg.Room}, "00 RING 64 WO, 08 ROOM 32 RO 1000"},
		{
			[]Register{Reg.RingAddr, Reg.RingCtl, Reg.Cons, Reg.Prod, Reg.Lost, Reg.RingState},
			"00 RING_ADDR 64 RW, 08 RING_CTL 32 RW, 0c CONS 32 RW, 10 PROD 32 RO, 14 LOST 32 RO, 18 RING_STATE 32 RO",
		},
		{[]Register{Reg.Counter}, "00 COUNTER 64 RO"},
	} {
		var got []string
		for _, r := range tc.regs {
			s := fmt.Sprintf("%02x %s %d %s", r.Offset, r.Name, r.Width, [...]string{"RO", "RW", "WO"}[r.access])
			if r.Feature != 0 {
				s += fmt.Sprintf(" %x", uint64(r.Feature))
			}
			got = append(got, s)
		}
		require.Equal(t, tc.want, strings.Join(got, ", "))
	}
}

// TestWritersHaveLinesOfTheirOwn: what the engine writes and what the device writes lie in different
// cache lines of a context.
func TestWritersHaveLinesOfTheirOwn(t *testing.T) {
	for _, r := range []Register{Reg.Ctl, Reg.Rate, Reg.Cwnd, Reg.Credit, Reg.Backlog, Reg.Burst, Reg.Commit, Reg.Record} {
		require.Less(t, r.Offset+uint32(r.Width)/8, uint32(65), r.Name)
		require.NotEqual(t, ro, r.access, r.Name)
	}
	for _, r := range []Register{Reg.State, Reg.LastTX, Reg.Sent, Reg.Acked, Reg.CreditUsed} {
		require.GreaterOrEqual(t, r.Offset, uint32(64), r.Name)
		require.Equal(t, ro, r.access, r.Name)
	}
}
