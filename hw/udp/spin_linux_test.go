// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/hw/port"
)

// A thread that spins in vain leaves longer and longer pauses, and a packet ends them.
func TestSpinPauses(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	p, err := Open(Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	require.NoError(t, err)
	defer func() {
		require.NoError(t, p.Close())
		require.Error(t, p.Wait(0, false))
	}()
	require.NoError(t, p.Wait(0, false)) // names the events
	for want := spinPause; p.pause < spinPauseMost; want *= 2 {
		require.False(t, p.spin())
		require.Equal(t, want, p.pause)
		p.spinAt = time.Time{}
	}
	require.False(t, p.spin())
	require.Equal(t, spinPauseMost, p.pause)

	_, err = p.Send([]port.Packet{{Peer: p.Local(), Data: []byte("x")}})
	require.NoError(t, err)
	p.spinAt = time.Now().Add(time.Hour)
	require.False(t, p.spin(), "a pause is on")
	p.spinAt = time.Time{}
	require.True(t, p.spin())
	require.Zero(t, p.pause)
}

// With a single processor the goroutine waited for may have no other.
func TestSpinNeedsProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p, err := Open(Config{Local: netip.MustParseAddrPort("127.0.0.1:0")})
	require.NoError(t, err)
	defer p.release()
	_, err = p.Send([]port.Packet{{Peer: p.Local(), Data: []byte("x")}})
	require.NoError(t, err)
	require.False(t, p.spin())
	require.NoError(t, p.Wait(-1, false))
}
