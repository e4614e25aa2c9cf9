// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw"
)

// A device that was reset knows nothing of what it was given; its clock goes on.
func TestDeviceResetInFlight(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.c.OnNewData(&r.p, 0, 1000*size)
	r.step()
	require.True(t, r.b.Queue(10)) // so that SENT is not 0 when the next life begins
	for range 40 {
		r.step()
	}
	require.Zero(t, r.b.Unsent())
	r.b.Release()
	r.tick()
	r.bind(2, hw.ModeWindow, size)
	r.step()
	require.Equal(t, Hardware, r.b.state)
	require.True(t, r.b.Queue(300))
	r.step()
	r.b.Collect(&r.c, &r.p, r.now)
	before := r.b.Unsent()
	require.Less(t, before, 300)
	require.Positive(t, before)

	r.dev.Reset()
	r.tick()
	require.Zero(t, r.b.Collect(&r.c, &r.p, r.now), "what it had is not sent")
	require.Equal(t, before, r.b.Unsent())
	require.Equal(t, Software, r.b.Poll(r.now))
	require.Zero(t, r.b.Collect(&r.c, &r.p, r.now))
	require.Equal(t, before, r.b.Unsent())
	require.False(t, r.b.Queue(1))
}

// The generation under which a context is released is not that of its next life, which
// would begin with the index of the last one.
func TestNextGenerationAfterRelease(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.c.OnNewData(&r.p, 0, 1<<40)
	for life := range 600 {
		if life > 0 {
			r.bind(uint8(life+1), hw.ModeWindow, size)
			require.Equal(t, Pending, r.b.Poll(r.now), "the device has not seen it")
		}
		r.step()
		require.Equal(t, Hardware, r.b.state)
		require.True(t, r.b.Queue(5))
		for range 20 {
			r.step()
		}
		require.Zero(t, r.b.Unsent(), "life %d", life)
		r.b.Release()
		r.tick()
		require.Equal(t, Software, r.b.Poll(r.now))
	}
	require.EqualValues(t, 600*5, r.sent())
}

// The window of the last life does not let the next one send.
func TestWindowOfTheLastLife(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.c.OnNewData(&r.p, 0, 1000*size)
	r.step()
	require.Greater(t, r.c.Cwnd(), int64(2*size))
	r.b.Release()
	r.tick()
	r.bind(2, hw.ModeWindow, size)
	window, err := r.dev.Load(hw.Reg.Cwnd, 1)
	require.NoError(t, err)
	require.Zero(t, window)
	r.tick()
	require.Equal(t, Hardware, r.b.Poll(r.now))
	require.True(t, r.b.Queue(20)) // before the first Publish
	for range 20 {
		r.tick()
	}
	require.EqualValues(t, 1, r.sent(), "an empty flight takes a packet of any window")
}

// What the device has spent and nobody has collected is not granted again.
func TestCreditPublishedBeforeCollect(t *testing.T) {
	for _, nominal := range []int64{size, size + 64, size - 64} {
		features := hw.FeatureWindow | hw.FeatureCredit
		r := newRig(t, features, ccc.ControlRCCC, hw.ModeCredit)
		r.b.Release()
		r.tick()
		r.bind(2, hw.ModeCredit, nominal)
		r.c.OnNewData(&r.p, 0, 10_000*nominal)
		r.c.OnCreditUpdate(&r.p, 0, 80*1024)
		credit := r.c.Credit()
		require.Positive(t, credit)
		r.tick()
		require.Equal(t, Hardware, r.b.Poll(r.now))
		require.True(t, r.b.Queue(5000))
		for range 2000 {
			r.b.Publish(&r.c)
			r.tick()
		}
		require.EqualValues(t, credit/nominal, r.sent())
		require.EqualValues(t, credit/nominal, r.b.Collect(&r.c, &r.p, r.now))
		require.GreaterOrEqual(t, r.c.Credit(), int64(0))
	}
}

// Any order of what engine and device do, over many lives, beside a count of what truly
// left: what is reported was sent, what was sent is reported in the end, and no packet
// leaves without window and credit.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(60) {
		w := world{rig: newRig(t, hw.FeatureWindow|hw.FeatureCredit, ccc.ControlBoth, hw.ModeBoth), r: rand.New(rand.NewPCG(7, seed))}
		w.c.OnNewData(&w.p, 0, 1<<40)
		w.c.OnCreditUpdate(&w.p, 0, 0) // no more credit that can be void again
		for range 4000 {
			w.event()
		}
		require.Positive(t, w.resets)
		require.Greater(t, w.lives, 5)
	}
}

// A world counts what is true of the present life.
type world struct {
	*rig
	r             *rand.Rand
	queued        int
	reported      int
	left          int // packets that left the device
	grant         int64
	lives, resets int
	lost          bool // the device was reset
}

func (w *world) event() {
	switch k := w.r.IntN(40); {
	case k < 12:
		w.device()
	case k < 18:
		w.collect()
	case k < 24:
		w.b.Publish(&w.c)
	case k < 28:
		n := w.r.IntN(40)
		if w.b.Queue(n) {
			w.queued += n
		}
	case k < 32:
		if w.b.Poll(w.now) == Hardware {
			require.False(w.t, w.lost, "the device is not ours any more")
		}
	case k < 36:
		w.ack()
	case k < 38:
		w.grant += w.r.Int64N(20 * size)
		w.c.OnCreditUpdate(&w.p, w.now, w.grant)
	case k == 38 && w.r.IntN(8) == 0:
		w.dev.Reset()
		w.device()
		require.NoError(w.t, w.dev.Enable(hw.FeatureWindow|hw.FeatureCredit))
		w.lost = true
		w.resets++
	case k == 39 && w.r.IntN(4) == 0:
		w.rebind()
	}
	require.Equal(w.t, w.queued-w.reported, w.b.Unsent())
}

// device lets the device work.
func (w *world) device() {
	before := w.sent()
	w.tick()
	n := int(w.sent() - before)
	w.left += n
	require.LessOrEqual(w.t, w.left, w.queued)
	if n > 0 {
		require.GreaterOrEqual(w.t, w.c.Credit(), int64(w.left-w.reported)*size, "beyond the credit")
	}
}

func (w *world) collect() {
	n := w.b.Collect(&w.c, &w.p, w.now)
	w.reported += n
	require.LessOrEqual(w.t, w.reported, w.left, "reported and not sent")
	if !w.lost {
		require.Equal(w.t, w.left, w.reported, "sent and not reported")
	}
}

// ack acknowledges a packet that is in flight.
func (w *world) ack() {
	if w.c.InflightPackets() > 0 {
		w.acked()
	}
}

// rebind ends the life as a user would, and begins the next.
func (w *world) rebind() {
	w.b.Release()
	w.device()
	w.collect()
	for w.c.InflightPackets() > 0 {
		w.ack()
	}
	w.queued, w.reported, w.left, w.lost = 0, 0, 0, false
	w.lives++
	w.bind(uint8(w.lives+1), hw.ModeBoth, size)
}

// Whatever a device says it has sent, no more than it was given counts, and nothing twice.
func TestDeviceThatLies(t *testing.T) {
	r := newRig(t, hw.FeatureWindow, ccc.ControlNSCC, hw.ModeWindow)
	r.c.OnNewData(&r.p, 0, 1<<40)
	r.step()
	rnd := rand.New(rand.NewPCG(8, 8))
	sent := uint32(0x180 + 128 + hw.Reg.Sent.Offset) // of context 1, as a software device lays it out
	queued, counted := 0, 0
	for range 20_000 {
		if n := rnd.IntN(50); r.b.Queue(n) {
			queued += n
		}
		r.regs.Store64(sent, []uint64{0, 1, size, 1 << 63, 1<<64 - 1, rnd.Uint64(), rnd.Uint64N(1 << 30)}[rnd.IntN(7)])
		n := r.b.Collect(&r.c, &r.p, r.now)
		require.GreaterOrEqual(t, n, 0)
		counted += n
		require.Equal(t, queued-counted, r.b.Unsent())
		require.GreaterOrEqual(t, r.b.Unsent(), 0)
		require.EqualValues(t, counted, r.c.InflightPackets())
	}
	require.Positive(t, counted)
}
