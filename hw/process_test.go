// SPDX-License-Identifier: Apache-2.0

//go:build unix

package hw

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The test binary doubles as the other end: with one of these set to a file, it maps the
// file, and steps a software device over it, or drives one, until it is killed.
const (
	softDeviceFile = "UETCC_TEST_SOFT_DEVICE"
	engineFile     = "UETCC_TEST_ENGINE"
	hostBytes      = 1 << 16 // of event rings, behind the registers
)

func TestMain(m *testing.M) {
	if path := os.Getenv(softDeviceFile); path != "" {
		go endWithParent()
		runDevice(path)
		return
	}
	if path := os.Getenv(engineFile); path != "" {
		go endWithParent()
		runEngine(path)
		return
	}
	os.Exit(m.Run())
}

// endWithParent ends this process when the one that spawned it is gone, however it went: a
// test that takes too long ends without its cleanup.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// mapDevice maps the registers and the host memory of a device.
func mapDevice(path string) (regs, host *Memory, close func() error, err error) {
	size := softConfig().SpaceSize()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close() // the mapping outlives the descriptor
	b, err := unix.Mmap(int(f.Fd()), 0, int(size+hostBytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, nil, err
	}
	if regs, err = WrapMemory(b[:size]); err == nil {
		host, err = WrapMemory(b[size:])
	}
	return regs, host, func() error { return unix.Munmap(b) }, err
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

// newFile makes the file that both ends map.
func newFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "device")
	require.NoError(t, os.WriteFile(path, make([]byte, int(softConfig().SpaceSize())+hostBytes), 0o600))
	return path
}

// spawn starts another process as the end that variable names, and waits until it is ready.
func spawn(t *testing.T, variable, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+path)
	_, err := cmd.StdinPipe() // for endWithParent
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd
}

// startDevice starts the other process and opens the device.
func startDevice(t *testing.T, path string) (*Device, *Memory, *exec.Cmd) {
	cmd := spawn(t, softDeviceFile, path)
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

// TestDeviceInAnotherProcessTearsNothing drives a device in another process through many lives of a
// context: what the engine writes is read there, what is posted there is drained
// here, and no value is torn or of another life.
func TestDeviceInAnotherProcessTearsNothing(t *testing.T) {
	dev, host, _ := startDevice(t, newFile(t))
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
	require.Zero(t, dev.Counters().StaleDoorbells)
}

// TestDeadDevice kills the device in the middle of its work. The engine notices
// that its clock stands still and can still read how far it came.
func TestDeadDevice(t *testing.T) {
	dev, _, cmd := startDevice(t, newFile(t))
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

// A driven is a context and its ring in the hands of an engine that keeps the device busy.
type driven struct {
	c      Context
	bell   Doorbell
	ring   Ring
	gen    uint8
	index  uint16
	serial uint32 // of the next event
}

// newDriven programs context 0 and ring 0 of a device that has forgotten everything.
func newDriven(dev *Device, host *Memory, gen uint8) (d driven, err error) {
	if err = dev.Enable(allFeatures); err != nil {
		return d, err
	}
	d.gen = gen
	if d.ring, err = dev.Ring(0, host, 0, 4); err != nil { // small, so that it wraps and overflows
		return d, err
	}
	if d.bell, err = dev.Doorbell(0); err != nil {
		return d, err
	}
	if d.c, err = dev.Context(0); err != nil {
		return d, err
	}
	d.c.Commit(Control{Enable: true, Generation: gen})
	return d, nil
}

// turn queues packets and drains some events, which have to be whole and of this life.
func (d *driven) turn(packets uint16) error {
	if d.c.State().Generation != d.gen {
		return nil
	}
	d.c.SetCwnd(64 << 10)
	if uint64(d.index)*4096 <= d.c.Acked() && d.index < 1<<15 {
		d.index += packets
		d.bell.Ring(&d.c, d.gen, d.index)
	}
	var buf [5]Event
	for _, e := range buf[:d.ring.Drain(buf[:])] {
		if e.Generation != d.gen || e.Context != 0 || e.Serial != d.serial || e.Type == EventACKCC && e.Words[0] != ^e.Words[1] {
			return fmt.Errorf("%+v in life %d, want serial %d", e, d.gen, d.serial)
		}
		d.serial++
	}
	return nil
}

// runEngine is an engine in another process: it takes the device over and keeps it busy.
func runEngine(path string) {
	regs, host, _, err := mapDevice(path)
	if err != nil {
		panic(err)
	}
	dev, err := Open(regs)
	if err != nil {
		panic(err)
	}
	dev.Reset()
	for !dev.ResetDone() {
		runtime.Gosched()
	}
	d, err := newDriven(dev, host, 1)
	if err != nil {
		panic(err)
	}
	for ready := false; ; runtime.Gosched() {
		if err := d.turn(20); err != nil {
			panic(err)
		}
		if !ready && d.serial > 100 {
			fmt.Println("ready")
			ready = true
		}
	}
}

// TestDeviceStartsAnew kills the device while it posts, starts another one over the same registers,
// and goes on with it: the engine learns that it has to program anew, and then nothing of the old
// life is left, be it in the middle of a batch of events.
func TestDeviceStartsAnew(t *testing.T) {
	path := newFile(t)
	dev, host, cmd := startDevice(t, path)
	for life := uint8(1); life <= 12; life++ {
		d, err := newDriven(dev, host, life)
		require.NoError(t, err)
		await(t, "work", func() bool {
			require.NoError(t, d.turn(20))
			return d.serial > 100+uint32(life)*7
		})
		require.False(t, dev.ResetDone(), "it lives")
		dev.Reset() // which this one may do, or the next one has done
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		cmd = spawn(t, softDeviceFile, path)
		await(t, "reset", dev.ResetDone)
		dev, err = Open(dev.space)
		require.NoError(t, err)
	}
}

// TestEngineStartsAnew kills an engine that holds ring positions and has doorbells under way. The next
// one, in this process, resets the device and works with it.
func TestEngineStartsAnew(t *testing.T) {
	path := newFile(t)
	dev, host, _ := startDevice(t, path)
	for life := uint8(2); life <= 8; life++ {
		engine := spawn(t, engineFile, path)
		require.NoError(t, engine.Process.Kill())
		_ = engine.Wait()

		require.NoError(t, dev.Enable(allFeatures))
		_, err := dev.Ring(0, host, 0, 4)
		require.ErrorIs(t, err, ErrRing, "the dead engine's is on")
		dev.Reset()
		await(t, "reset", dev.ResetDone)
		d, err := newDriven(dev, host, life)
		require.NoError(t, err)
		await(t, "work", func() bool {
			require.NoError(t, d.turn(20))
			return d.serial > 100
		})
		require.Zero(t, dev.Faults())
	}
}
