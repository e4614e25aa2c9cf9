// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
)

const (
	mtu = 4000
	rtt = 10_000 // ns

	firstNSCC = 10 * mtu
)

// A driver plays a context that always has data to send.
type driver struct {
	ccc.Algorithm
	now, inflight int64
}

func drive(a ccc.Algorithm) *driver {
	d := &driver{Algorithm: a}
	d.fill()
	return d
}

// fill sends what is allowed.
func (d *driver) fill() (packets int) {
	for {
		bytes, at := d.Allow(d.now, ccc.Standing{Inflight: d.inflight, MTU: mtu, BaseRTT: rtt, Cwnd: firstNSCC})
		if bytes < mtu || at > d.now {
			return packets
		}
		d.OnSend(d.now, mtu, false)
		d.inflight += mtu
		packets++
	}
}

// ack acknowledges packets, of which the last is marked or not.
func (d *driver) ack(packets, rtt int64, marked bool) {
	d.inflight -= packets * mtu
	a := ccc.Ack{Packets: int(packets)}
	a.Bytes, a.RTT, a.ECN = packets*mtu, rtt, marked
	d.OnACK(d.now, a)
}

// round is a round trip in which all that is in flight is acknowledged packet by packet, the
// first marked ones with a mark.
func (d *driver) round(marked int64, rtt int64) {
	d.now += rtt
	for i := range d.inflight / mtu {
		d.ack(1, rtt, i < marked)
		d.fill()
	}
}

func (d *driver) nack() {
	d.inflight -= mtu
	d.OnNACK(d.now, ccc.Nack{Nack: nscc.Nack{Size: mtu, Reason: nscc.ReasonTrimmed}})
}

func (d *driver) loss() {
	d.inflight -= mtu
	d.OnInferredLoss(d.now, ccc.Loss{Size: mtu})
}

// RFC 8257: alpha begins with 1 and follows the share of marked bytes with a gain of 1/16; a mark
// takes alpha/2 off the window once a round trip; without marks it doubles, and after one grows
// by a packet, each round trip.
func TestDCTCPFollowsTheShareOfMarks(t *testing.T) {
	a := &DCTCP{}
	d := drive(a)
	require.EqualValues(t, 10*mtu, a.Cwnd())
	require.EqualValues(t, 10*mtu, d.inflight)
	d.round(0, rtt)
	require.EqualValues(t, 20*mtu, a.Cwnd())
	require.InDelta(t, 1, a.alpha(), 0.07)

	alpha := a.alpha()
	cwnd := float64(a.Cwnd())
	d.now += rtt
	d.ack(1, rtt, true)
	require.InDelta(t, cwnd*(1-a.alpha()/2), a.Cwnd(), 1)
	require.InDelta(t, alpha*15/16, a.alpha(), 0.01)
	after := a.Cwnd()
	d.ack(1, rtt, true)
	require.InDelta(t, after, a.Cwnd(), mtu, "once a round trip")

	for range 3 {
		d.round(0, rtt)
	}
	before := a.Cwnd()
	for range 4 {
		d.round(0, rtt)
	}
	require.InDelta(t, before+4*mtu, a.Cwnd(), mtu, "a packet each round trip")
	require.Less(t, a.alpha(), 0.75)
}

// With half of the bytes marked, round after round, alpha comes to a half.
func TestDCTCPAlphaConverges(t *testing.T) {
	a := &DCTCP{InitialCwnd: 40 * mtu}
	d := drive(a)
	for range 100 {
		d.round(d.inflight/mtu/2, rtt)
	}
	require.InDelta(t, 0.5, a.alpha(), 0.1)
	for range 100 {
		d.round(0, rtt)
	}
	require.InDelta(t, 0, a.alpha(), 0.01)
	cwnd := a.Cwnd()
	d.nack()
	d.loss()
	require.EqualValues(t, cwnd/2, a.Cwnd(), "a loss halves, and the next of the same round trip does nothing")
}

// RFC 9438: from 0.7 of the window before the loss the way back is a cubic function of time,
// which is flat where the loss was and steep again behind it.
func TestCubicGrowsByTime(t *testing.T) {
	const long = 100_000_000 // ns; Reno's window does not matter there
	a := &Cubic{InitialCwnd: 200 * mtu}
	d := drive(a)
	d.round(0, long)
	d.loss()
	w := 400.
	require.InDelta(t, 0.7*w, a.Cwnd()/mtu, 1)
	k := math.Cbrt(w * (1 - cubicBeta) / cubicScale)
	var begin int64
	for d.fill(); begin == 0 || float64(d.now-begin)/1e9 < 2*k; {
		d.round(0, long)
		if begin == 0 {
			begin = d.now
		}
		at := float64(d.now-begin) / 1e9
		require.InDelta(t, cubicScale*math.Pow(at+0.05-k, 3)+w, float64(a.Cwnd())/mtu, 4, "after %.1f of %.1f s", at, k)
	}
	require.Greater(t, a.Cwnd()/mtu, int64(500))
}

// Where round trips are short Reno would be faster, and CUBIC is as fast as Reno that decreases by
// as little: 3 (1-0.7)/(1+0.7) packets a round trip, one when it is back (section 4.3).
func TestCubicIsRenoFriendly(t *testing.T) {
	a := &Cubic{InitialCwnd: 50 * mtu}
	d := drive(a)
	d.round(0, rtt)
	d.nack()
	start := float64(a.Cwnd())
	for range 20 {
		d.round(0, rtt)
	}
	require.InDelta(t, start+20*mtu*0.9/1.7, float64(a.Cwnd()), 2*mtu)
}

// A flow that is cut before it is back gives way to others (section 4.7), and slow start ends
// when round trips get longer.
func TestCubicConvergesAndLeavesSlowStart(t *testing.T) {
	a := &Cubic{}
	d := drive(a)
	d.round(0, rtt)
	d.round(0, rtt+rtt/4)
	d.round(0, rtt+rtt/4)
	require.False(t, a.slowStart())
	d.round(1, rtt)
	d.round(1, rtt)
	require.Less(t, a.wMax, a.prior)
	require.InDelta(t, a.prior*1.7/2, a.wMax, 0.01)
}

// Algorithm 1 of the paper: a packet more each round trip below the target delay; beyond it 0.8 of
// the excess less, at most half, once each round trip.
func TestSwiftFollowsTheTarget(t *testing.T) {
	a := &Swift{InitialCwnd: 100 * mtu, Target: 2 * rtt}
	d := drive(a)
	d.round(0, rtt)
	require.InDelta(t, 101*mtu, a.Cwnd(), mtu/50)
	for _, c := range []struct{ delay, factor float64 }{{2.5 * rtt, 1 - 0.8*0.5/2.5}, {10 * rtt, 0.5}} {
		b := *a
		e := &driver{Algorithm: &b, now: d.now + rtt, inflight: d.inflight}
		e.ack(1, int64(c.delay), false)
		require.InDelta(t, 101*c.factor*mtu, b.Cwnd(), mtu/10)
		e.ack(1, int64(c.delay), false)
		require.InDelta(t, 101*c.factor*mtu, b.Cwnd(), mtu/10, "once a round trip")
	}
}

// Small windows have a longer target: fs_range more for a tenth of a packet, none for a hundred
// packets, in proportion to the inverse square root in between (section 3.5).
func TestSwiftScalesTheTarget(t *testing.T) {
	a := &Swift{Target: 20_000, Scaling: 100_000}
	drive(a)
	for packets, want := range map[float64]float64{
		0.05: 120_000, 0.1: 120_000, 100: 20_000, 1000: 20_000, 1: 20_000 + 100_000*(1-0.1)/(math.Sqrt(10)-0.1),
	} {
		require.InDelta(t, want, a.targetOf(packets), 1)
	}
	b := &Swift{Target: 20_000, Scaling: -1}
	drive(b)
	require.InDelta(t, 20_000, b.targetOf(0.1), 0)
}

// Below a packet the window is a pace: one packet each rtt/cwnd. Losses halve it once a round
// trip, and five in a row leave the least there is.
func TestSwiftPacesBelowAPacket(t *testing.T) {
	a := &Swift{InitialCwnd: 2 * mtu, Scaling: -1}
	d := drive(a)
	for range 3 {
		d.now += rtt
		d.ack(1, 50*rtt, false)
		d.fill()
		d.now += 50 * rtt
	}
	require.EqualValues(t, mtu/4, a.Cwnd())
	d.inflight = 0
	_, at := d.Allow(d.now, ccc.Standing{MTU: mtu})
	require.EqualValues(t, a.sentAt+4*50*rtt, at)
	require.Zero(t, d.fill())
	d.now = at
	require.Equal(t, 1, d.fill())

	b := &Swift{InitialCwnd: 64 * mtu}
	d = drive(b)
	for i := range 5 {
		require.EqualValues(t, 64*mtu>>i, b.Cwnd())
		d.loss()
		d.loss()
		d.now += rtt
	}
	require.EqualValues(t, mtu/1000, b.Cwnd())
}

func TestConstant(t *testing.T) {
	require.EqualValues(t, firstNSCC, drive(&Constant{}).inflight)
	d := drive(&Constant{Cwnd: 7 * mtu})
	d.round(7, 9*rtt)
	d.nack()
	require.Equal(t, 1, d.fill())
	require.EqualValues(t, 7*mtu, d.inflight)
}

// Feedback that comes before the first question changes no window.
func TestFeedbackBeforeTheFirstQuestion(t *testing.T) {
	for _, a := range []interface {
		ccc.Algorithm
		Cwnd() int64
	}{&DCTCP{}, &Cubic{}, &Swift{}} {
		d := &driver{Algorithm: a}
		d.ack(1, rtt, true)
		d.nack()
		d.loss()
		d.inflight = 0
		d.fill()
		require.EqualValues(t, 10*mtu, a.Cwnd(), "%T", a)
	}
}

func TestAllocs(t *testing.T) {
	for _, a := range []ccc.Algorithm{&DCTCP{}, &Cubic{}, &Swift{}, &Constant{}} {
		d := drive(a)
		require.Zero(t, testing.AllocsPerRun(100, func() { d.round(1, rtt) }), "%T", a)
	}
}

func BenchmarkOnACK(b *testing.B) {
	for name, a := range map[string]ccc.Algorithm{"dctcp": &DCTCP{}, "cubic": &Cubic{}, "swift": &Swift{}} {
		b.Run("op="+name, func(b *testing.B) {
			b.ReportAllocs()
			d := drive(a)
			for b.Loop() {
				d.now += 100
				d.ack(1, rtt, d.now%3200 == 0)
				d.fill()
			}
		})
	}
}
