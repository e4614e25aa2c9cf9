// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEnginesBesideTheDevice: engines on a context, doorbell page and ring each, and the
// device in a goroutine of its own.
func TestEnginesBesideTheDevice(t *testing.T) {
	cfg := softConfig()
	cfg.Owners = cfg.Contexts
	dev, soft, host := newSoft(t, cfg)
	var stop atomic.Bool
	var device, engines sync.WaitGroup
	device.Add(1)
	go func() {
		defer device.Done()
		for now := int64(0); !stop.Load(); now += 10_000 {
			soft.Step(now)
			for i := range soft.contexts {
				soft.Ack(i, 1<<20)
			}
			runtime.Gosched()
		}
	}()
	for i := range cfg.Contexts {
		ring, err := dev.Ring(i, host, uint32(i)*4096, 6)
		require.NoError(t, err)
		c, err := dev.Context(i)
		require.NoError(t, err)
		bell, err := dev.Doorbell(i)
		require.NoError(t, err)
		engines.Add(1)
		go func() {
			defer engines.Done()
			drive(t, &c, &bell, &ring)
		}()
	}
	engines.Wait()
	stop.Store(true)
	device.Wait()
}

// drive sends 500 packets through a device and takes its events.
func drive(t *testing.T, c *Context, bell *Doorbell, ring *Ring) {
	const packets = 500
	c.Commit(Control{Enable: true, Generation: 1})
	for c.State().Generation != 1 {
		runtime.Gosched()
	}
	c.SetCwnd(64 << 10)
	var buf [16]Event
	serial := uint32(0)
	for index := uint16(0); c.Sent() < packets*4096; runtime.Gosched() {
		if index < packets {
			index++
			bell.Ring(c, 1, index)
		}
		for _, e := range buf[:ring.Drain(buf[:])] {
			if e.Context != c.index || e.Serial < serial {
				t.Errorf("event of context %d, serial %d after %d", e.Context, e.Serial, serial)
			}
			serial = e.Serial
		}
	}
}
