//go:build unix

package hw

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The test binary doubles as a device: with softDeviceFile set to a file, it maps
// the file and steps a software device over it until it is killed.
const (
	softDeviceFile = "UETCC_TEST_SOFT_DEVICE"
	hostBytes      = 1 << 16 // of event rings, behind the registers
)

func TestMain(m *testing.M) {
	if path := os.Getenv(softDeviceFile); path != "" {
		runDevice(path)
		return
	}
	os.Exit(m.Run())
}

// mapDevice maps the registers and the host memory of a device.
func mapDevice(path string) (regs, host *Memory, close func() error, err error) {
	size := softConfig().SpaceSize()
	m, err := Map(path, size+hostBytes)
	if err != nil {
		return nil, nil, nil, err
	}
	if regs, err = WrapMemory(m.Bytes()[:size]); err == nil {
		host, err = WrapMemory(m.Bytes()[size:])
	}
	return regs, host, m.Close, err
}

// runDevice is the other process. Each step it acknowledges what it sent in the
// step before and posts the cumulative totals, the second word the complement of
// the first.
func runDevice(path string) {
	regs, host, _, err := mapDevice(path)
	if err != nil {
		panic(err)
	}
	soft, err := NewSoftDevice(softConfig(), regs, host)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	begin := time.Now()
	var acked [4]uint64
	for {
		soft.Step(int64(time.Since(begin)))
		for i := range soft.contexts {
			c := &soft.contexts[i]
			if c.acked == c.sent && acked[i] == c.acked {
				continue
			}
			soft.Ack(i, int64(c.sent-c.acked))
			acked[i] = c.acked
			total := uint32(c.acked >> 8)
			soft.Post(Event{Type: EventACKCC, Context: uint32(i), Words: [3]uint32{total, ^total, uint32(c.cwnd)}})
		}
		runtime.Gosched()
	}
}

// startDevice starts the other process and opens the device.
func startDevice(t *testing.T) (*Device, *Memory, *exec.Cmd) {
	path := filepath.Join(t.TempDir(), "device")
	require.NoError(t, os.WriteFile(path, make([]byte, int(softConfig().SpaceSize())+hostBytes), 0o600))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), softDeviceFile+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)

	regs, host, unmap, err := mapDevice(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unmap() })
	dev, err := Open(regs)
	require.NoError(t, err)
	require.NoError(t, dev.Enable(allFeatures))
	return dev, host, cmd
}

// await polls until the condition holds; the deadline only ends a hung test.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for begin := time.Now(); !cond(); runtime.Gosched() {
		require.Less(t, time.Since(begin), 30*time.Second, what)
	}
}

// TestProcess drives a device in another process through many lives of a
// context: what the engine writes is read there, what is posted there is drained
// here, and no value is torn or of another life.
func TestProcess(t *testing.T) {
	dev, host, _ := startDevice(t)
	ring, err := dev.Ring(0, host, 0, 8)
	require.NoError(t, err)
	c, err := dev.Context(0)
	require.NoError(t, err)
	bell, err := dev.Doorbell(0)
	require.NoError(t, err)
	var buf [64]Event
	const packets = 20
	before, cwnd := int64(0), int64(0)
	for life := 1; life <= 100; life++ {
		gen := uint8(life)
		before, cwnd = cwnd, int64(4096*(1+life%7))
		c.Commit(Control{Enable: true, Generation: gen})
		await(t, "commit", func() bool { return c.State().Generation == gen })
		base := c.Sent()
		c.SetCwnd(cwnd)
		bell.Ring(&c, gen, packets)
		want := base + packets*4096
		done := false
		await(t, "all acknowledged", func() bool {
			for _, e := range buf[:ring.Drain(buf[:])] {
				require.Contains(t, []uint8{gen, gen - 1}, e.Generation)
				if e.Type == EventACKCC {
					require.Equal(t, e.Words[0], ^e.Words[1], "torn")
					require.Contains(t, []uint32{uint32(before), uint32(cwnd)}, e.Words[2], "a window of another life")
				}
				if e.Generation == gen && e.Type == EventACKCC && e.Words[2] != 0 {
					done = done || e.Words[0] == uint32(want>>8)
				}
			}
			return done || c.Acked() == want && ring.Lost() > 0
		})
		require.Equal(t, want, c.Sent(), "each packet once")
	}
	require.Zero(t, dev.Counter(CounterStaleDoorbells))
}

// TestDeadDevice kills the device in the middle of its work. The engine notices
// that its clock stands still and can still read how far it came.
func TestDeadDevice(t *testing.T) {
	dev, _, cmd := startDevice(t)
	c, _ := dev.Context(0)
	bell, _ := dev.Doorbell(0)
	c.Commit(Control{Enable: true, Generation: 1})
	await(t, "commit", func() bool { return c.State().Generation == 1 })
	c.SetCwnd(4096)
	const packets = 30_000
	bell.Ring(&c, 1, packets)
	await(t, "some sent", func() bool { return c.Sent() > 10*4096 })

	begin := time.Now()
	watch := NewWatch(dev.Clock(), 0, int64(20*time.Millisecond))
	require.True(t, watch.Alive(dev.Clock(), int64(time.Since(begin))))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	await(t, "death", func() bool { return !watch.Alive(dev.Clock(), int64(time.Since(begin))) })

	byDevice := c.Sent() / 4096
	require.Zero(t, c.Sent()%4096)
	require.LessOrEqual(t, byDevice, uint64(packets))
	require.LessOrEqual(t, c.Acked(), c.Sent())
	require.False(t, watch.Alive(dev.Clock(), int64(time.Since(begin))))
}
