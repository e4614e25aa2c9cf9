// SPDX-License-Identifier: Apache-2.0

package ccc

import (
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/alloctest"
	"github.com/uetcc/uetcc/nscc"
)

const (
	us  = int64(1000)
	mtu = int64(4096)
)

// chapterFabric is that of the UET congestion chapters: 100 Gb/s, 6.0 us, so a BDP of
// 75,000 and a window of 112,500 bytes.
func chapterFabric() Config {
	return Config{NSCC: nscc.Config{LinkRate: 12_500_000_000, BaseRTT: 6 * us, MTU: mtu, Trimming: true}}
}

func testParams(t testing.TB, c Config) *Params {
	t.Helper()
	p, err := NewParams(c)
	require.NoError(t, err)
	return &p
}

// bound returns a context with one PDC.
func bound(p *Params) *Context {
	c := &Context{}
	c.Init(p, 0, 0)
	c.Bind(p, 0)
	return c
}

// ack is an unmarked acknowledgement of packets of size bytes each.
func ack(packets int, size int64) Ack {
	return Ack{Ack: nscc.Ack{Bytes: int64(packets) * size, RTT: 6 * us}, Packets: packets}
}

// news is ack of one full packet, as a manager takes it.
func news() *Ack {
	a := ack(1, mtu)
	return &a
}

// A plain event touches the last three lines of a seat, and seats are whole
// lines, so that neighbours share none.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 {
		require.EqualValues(t, cacheLine, unsafe.Offsetof(Context{}.window)+8)
		require.EqualValues(t, 3*cacheLine-8, unsafe.Offsetof(Context{}.waits))
		require.Greater(t, unsafe.Offsetof(Context{}.handle), uintptr(cacheLine), "whoever looks a context up reads it")
		require.EqualValues(t, 4*cacheLine, unsafe.Sizeof(seat{}))
		require.EqualValues(t, cacheLine, unsafe.Sizeof(member{}))
		require.EqualValues(t, cacheLine, maxCells*unsafe.Sizeof(cell{}))
	}
	require.LessOrEqual(t, unsafe.Sizeof(Context{}), uintptr(256))
	for _, v := range []any{Context{}, record{}, counts{}, member{}, Entropy{}} {
		requirePointerFree(t, reflect.TypeOf(v))
	}
}

func requirePointerFree(t *testing.T, typ reflect.Type) {
	t.Helper()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			requirePointerFree(t, typ.Field(i).Type)
		}
	case reflect.Array:
		requirePointerFree(t, typ.Elem())
	default:
		require.LessOrEqual(t, typ.Kind(), reflect.Float64, "%s holds a pointer", typ)
	}
}

// The order of the UET congestion chapters: structures, configuration with data
// that waits, authorised to send.
func TestContextSetUp(t *testing.T) {
	p := testParams(t, chapterFabric())
	var c Context
	require.Panics(t, func() { c.Bind(p, 0) }, "before Init")
	require.Equal(t, StateIdle, c.State())
	c.Init(p, 0, 0)
	require.Equal(t, StateIdle, c.State())
	require.EqualValues(t, 112_500, c.Cwnd())
	c.OnNewData(p, 0, mtu)
	require.Equal(t, StateActive, c.State())
	require.Equal(t, Decision{Reason: ReasonUnbound}, c.Decide(p, 0))
	c.Bind(p, 0)
	require.Equal(t, 1, c.PDCs())
	require.Equal(t, StateReady, c.State())
	c.pdcs = math.MaxUint16
	require.Panics(t, func() { c.Bind(p, 0) }, "one PDC too many")
}

// Every transition of the complete set of the run state machine.
func TestContextTransitions(t *testing.T) {
	small := chapterFabric()
	small.NSCC.InitialCwnd = 2 * mtu
	p := testParams(t, small)
	c := bound(p)
	step := func(want State, event func()) {
		t.Helper()
		event()
		require.Equal(t, want, c.State())
	}
	send := func() { c.OnSend(p, 0, mtu, false) }
	resend := func() { c.OnSend(p, 0, mtu, true) }

	step(StateReady, func() { c.OnNewData(p, 0, 4*mtu) }) // IDLE -> READY
	step(StateReady, send)
	step(StateActive, send)                                  // READY -> ACTIVE: the window is full
	step(StateReady, func() { c.OnACK(p, us, ack(1, mtu)) }) // ACTIVE -> READY
	step(StateActive, send)
	step(StateReady, func() { c.OnACK(p, us, ack(2, mtu)) })
	step(StatePending, send)                             // READY -> PENDING: last byte sent
	step(StateReady, func() { c.OnNewData(p, us, mtu) }) // PENDING -> READY
	step(StatePending, send)
	step(StateActive, func() { c.OnNewData(p, us, mtu) })                  // PENDING -> ACTIVE
	step(StateActive, func() { c.OnInferredLoss(p, us, Loss{Size: mtu}) }) // and the window falls
	require.EqualValues(t, mtu, c.Inflight())
	require.EqualValues(t, mtu, c.RtxBacklog())
	step(StateReady, func() { c.OnACK(p, us, ack(1, mtu)) })
	step(StateActive, resend)
	step(StateReady, func() { c.OnACK(p, us, ack(1, mtu)) })
	step(StatePending, send)
	step(StateIdle, func() { c.OnACK(p, us, ack(1, mtu)) }) // PENDING -> IDLE: last ACK

	// READY -> IDLE: what was marked is acknowledged while nothing is in flight.
	c.OnNewData(p, us, mtu)
	send()
	step(StateReady, func() { c.OnInferredLoss(p, us, Loss{Size: mtu}) }) // PENDING -> READY
	late := ack(1, mtu)
	late.RtxPackets, late.RtxBytes = 1, mtu
	step(StateIdle, func() { c.OnACK(p, us, late) })
	require.Zero(t, c.Inflight())
	require.Zero(t, c.InflightPackets())
}

// IDLE -> ACTIVE: an algorithm refuses from the start.
func TestContextIdleToActive(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlRCCC
	f.RCCC.InitialCredit = 1
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, mtu)
	c.OnSend(p, 0, mtu, false)
	c.OnACK(p, 0, ack(1, mtu))
	require.Equal(t, StateIdle, c.State())
	c.OnNewData(p, 0, mtu)
	require.Equal(t, StateActive, c.State())
	require.Equal(t, Decision{Reason: ReasonCredit}, c.Decide(p, 0))
}

// ACTIVE -> IDLE, and -> PENDING while another packet is in flight: what was taken for
// lost, and had no credit to be sent again, is acknowledged after all.
func TestContextActiveToIdle(t *testing.T) {
	for inflight, want := range map[int]State{0: StateIdle, 1: StatePending} {
		f := chapterFabric()
		f.Control = ControlRCCC
		f.RCCC.InitialCredit, f.RCCC.CountInitial = mtu, true
		p := testParams(t, f)
		c := bound(p)
		for range 1 + inflight {
			c.OnNewData(p, 0, mtu)
			c.OnSend(p, 0, mtu, false)
		}
		c.OnInferredLoss(p, us, Loss{Size: mtu})
		require.Equal(t, StateActive, c.State())
		require.Equal(t, ReasonCredit, c.Reason())
		late := ack(1, mtu)
		late.RtxPackets, late.RtxBytes = 1, mtu
		c.OnACK(p, 2*us, late)
		require.Equal(t, want, c.State())
		require.EqualValues(t, int64(inflight)*mtu, c.Inflight())
	}
}

// UET congestion chapter 8: 256 MB are written, 12,500 bytes sent on the initial credit,
// 12,500 more on the next grant.
func TestContextChapterBacklog(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlRCCC
	f.RCCC.InitialCredit, f.RCCC.CountInitial = 12_500, true
	p := testParams(t, f)
	c := bound(p)
	require.Zero(t, c.Backlog())
	c.OnNewData(p, 0, 256_000_000)
	require.EqualValues(t, 256_000_000, c.Backlog())
	send := func() {
		for range 5 {
			require.Equal(t, StateReady, c.State())
			c.OnSend(p, 0, 2500, false)
		}
		require.Equal(t, StateActive, c.State())
	}
	send()
	require.EqualValues(t, 255_987_500, c.Backlog())
	require.EqualValues(t, 12_500, c.OnCreditUpdate(p, 0, 25_000))
	send()
	require.EqualValues(t, 255_975_000, c.Backlog())
}

// UET congestion chapters, figure 6-11: five ranks of 4,096 KB on three PDCs of one context.
func TestContextFigure6_11(t *testing.T) {
	const rank = 4096 << 10
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.Bind(p, 0)
	c.Bind(p, 0)
	for _, ranks := range []int64{2, 1, 2} { // PDC 0x4001, 0x4002, 0x4003
		c.OnNewData(p, 0, ranks*rank)
	}
	require.EqualValues(t, 20_971_520, c.Backlog())
}

// UET congestion chapters, figure 6-14: the penalty of 64 takes 2,048 of 4,096 bytes, and sending stops
// until the excess has drained.
func TestContextPenaltySuspendsSending(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = 75_776
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 1<<20)
	for c.Inflight() < 79_872 {
		c.OnSend(p, 0, 3328, false)
	}
	require.EqualValues(t, 79_872, c.Inflight())
	c.OnACK(p, us, Ack{Ack: nscc.Ack{Bytes: 4096, Pend: 64}, Packets: 1})
	require.EqualValues(t, 75_776, c.Inflight())
	require.EqualValues(t, 73_728, c.Cwnd())
	require.Equal(t, Decision{Reason: ReasonWindow}, c.Decide(p, us))
	require.Equal(t, StateActive, c.State())
	c.OnACK(p, us, Ack{Ack: nscc.Ack{Bytes: 2048 + mtu}, Packets: 2})
	require.Equal(t, StateReady, c.State())
	require.Equal(t, Decision{Bytes: mtu, Reason: ReasonWindow}, c.Decide(p, us))
}

func TestContextBothMustConsent(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlBoth
	f.RCCC.InitialCredit = 3 * mtu
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 1<<20)
	require.Equal(t, Decision{Bytes: 4*mtu - 1, Reason: ReasonCredit}, c.Decide(p, 0))
	for range 3 {
		c.OnSend(p, 0, mtu, false)
	}
	require.Equal(t, Decision{Reason: ReasonCredit}, c.Decide(p, 0))
	c.OnCreditUpdate(p, 0, 100_000)
	require.Equal(t, Decision{Bytes: 112_500 - 3*mtu, Reason: ReasonWindow}, c.Decide(p, 0))
}

// With both algorithms the demand stays within the window and a packet.
func TestContextCreditTargetFollowsWindow(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlBoth
	f.NSCC.InitialCwnd = 2 * mtu
	f.RCCC.InitialCredit, f.RCCC.CountInitial = 1, true
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 1<<20)
	c.OnSend(p, 0, mtu, false) // balance 1 - 4,096; need 3 MTU - balance
	require.EqualValues(t, (1+3*mtu+mtu-1+255)/256*256, c.SendParams(p, 1).CreditTarget)
}

func TestContextAckRequest(t *testing.T) {
	f := chapterFabric()
	f.NSCC.InitialCwnd = 10 * mtu
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 20*mtu)
	for range 9 {
		c.OnSend(p, 0, mtu, false)
		require.False(t, c.SendParams(p, 1).AckRequest)
	}
	c.OnSend(p, 0, mtu, false)
	require.True(t, c.SendParams(p, 1).AckRequest, "no further MTU fits")

	f.Control, f.RCCC.InitialCredit = ControlRCCC, 2*mtu
	p = testParams(t, f)
	c = bound(p)
	c.OnNewData(p, 0, 20*mtu)
	c.OnSend(p, 0, mtu, false)
	require.False(t, c.SendParams(p, 1).AckRequest)
	c.OnSend(p, 0, mtu, false)
	require.True(t, c.SendParams(p, 1).AckRequest, "no credit is left")
}

func TestContextObserveComputesAndNeverRefuses(t *testing.T) {
	f := chapterFabric()
	f.Mode, f.NSCC.InitialCwnd = ModeObserve, 2*mtu
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 10*mtu)
	for range 9 {
		require.Equal(t, StateReady, c.State())
		c.OnSend(p, 0, mtu, false)
	}
	require.Equal(t, Decision{Bytes: mtu, Reason: ReasonWindow}, c.Decide(p, 0))
	c.OnInferredLoss(p, us, Loss{Size: mtu})
	require.EqualValues(t, mtu, c.Cwnd(), "the window moves")
}

func TestContextOffCountsAndNeverRefuses(t *testing.T) {
	f := chapterFabric()
	f.Mode, f.NSCC.InitialCwnd = ModeOff, 2*mtu
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 10*mtu)
	for range 9 {
		c.OnSend(p, 0, mtu, false)
	}
	c.OnInferredLoss(p, us, Loss{Size: mtu})
	c.OnNACK(p, us, Nack{Nack: nscc.Nack{Size: mtu, Reason: nscc.ReasonTrimmed}})
	c.OnACK(p, us, Ack{Ack: nscc.Ack{Bytes: mtu, RTT: 100 * us, ECN: true, Pend: 127}, Packets: 1})
	require.Equal(t, Decision{Bytes: 3 * mtu, Reason: ReasonOff}, c.Decide(p, us))
	require.EqualValues(t, 2*mtu, c.Cwnd(), "the window rests")
	require.EqualValues(t, 6*mtu, c.Inflight())
	require.Equal(t, ModeOff, c.mode)
	c.SetMode(p, us, ModeEnforce)
	require.Equal(t, ModeEnforce, c.mode)
	require.Equal(t, StateActive, c.State(), "enforces a true count at once")
}

// Observing runs up no debt that enforcing would have to pay.
func TestContextObserveChargesNoRefusedCredit(t *testing.T) {
	f := chapterFabric()
	f.Control, f.Mode, f.RCCC.InitialCredit = ControlRCCC, ModeObserve, mtu
	p := testParams(t, f)
	c := bound(p)
	c.OnNewData(p, 0, 100*mtu)
	for range 50 {
		c.OnSend(p, 0, mtu, false)
	}
	require.Zero(t, c.Credit())
}

func TestContextUnbindTakesWhatIsLeft(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.Bind(p, 0)
	c.OnNewData(p, 0, 3*mtu) // one PDC
	c.OnNewData(p, 0, 5*mtu) // the other
	c.OnSend(p, 0, mtu, false)
	c.OnInferredLoss(p, us, Loss{Size: mtu})
	require.False(t, c.Unbind(p, us, Left{Backlog: 2 * mtu, RtxBacklog: mtu, WaitingRtx: 1}))
	require.EqualValues(t, 5*mtu, c.Backlog())
	require.Zero(t, c.RtxBacklog())
	c.OnSend(p, us, 5*mtu, false)
	require.False(t, c.Unbind(p, us, Left{}), "bytes are in flight")
	require.Equal(t, StatePending, c.State())
	c.OnACK(p, us, ack(1, 5*mtu))
	require.Equal(t, StateIdle, c.State())
	require.Zero(t, c.PDCs())
}

func TestContextCachedBaseRTT(t *testing.T) {
	p := testParams(t, chapterFabric())
	var c Context
	c.Init(p, 0, 4*us)
	require.EqualValues(t, 4*us, c.BaseRTT())
	require.EqualValues(t, 75_000, c.Cwnd())
}

func TestNewParamsErrors(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"window without link rate": func(c *Config) { c.NSCC.LinkRate = 0 },
		"another clock":            func(c *Config) { c.NSCC.Picoseconds = true },
		"unknown mode":             func(c *Config) { c.Mode = modes },
		"unknown control":          func(c *Config) { c.Control = controls },
		"unknown scheme":           func(c *Config) { c.Entropy.Scheme = schemes },
		"oblivious over 48 values": func(c *Config) { c.Entropy.Values = 48 },
		"credit below a packet":    func(c *Config) { c.Control, c.RCCC.MaxCredit = ControlRCCC, 100 },
	} {
		f := chapterFabric()
		change(&f)
		_, err := NewParams(f)
		require.ErrorIs(t, err, ErrConfig, name)
	}
}

func TestContextAllocs(t *testing.T) {
	f := chapterFabric()
	f.Control = ControlBoth
	p := testParams(t, f)
	c := bound(p)
	now, credit := int64(0), int64(0)
	alloctest.Zero(t, "life of two packets", func() {
		now += us
		credit += 4 * mtu
		c.OnCreditUpdate(p, now, credit)
		c.OnNewData(p, now, 2*mtu)
		if c.Decide(p, now).Bytes == 0 {
			panic("the path under test did not run")
		}
		c.OnSend(p, now, mtu, false)
		c.OnSend(p, now, mtu, false)
		c.SendParams(p, 1)
		c.OnInferredLoss(p, now, Loss{Size: mtu})
		c.OnSend(p, now, mtu, true)
		c.OnNACK(p, now, Nack{Nack: nscc.Nack{Size: mtu}})
		a := ack(2, mtu)
		a.RtxPackets, a.RtxBytes = 1, mtu
		c.OnACK(p, now, a)
		if c.State() != StateIdle {
			panic("the path under test did not run")
		}
	})
}

func TestContextWithdraw(t *testing.T) {
	p := testParams(t, chapterFabric())
	c := bound(p)
	c.OnNewData(p, 0, 3*mtu)
	c.OnWithdraw(p, 0, 2*mtu)
	require.EqualValues(t, mtu, c.Backlog())
	c.OnWithdraw(p, 0, mtu)
	require.Equal(t, StateIdle, c.State())
	require.Panics(t, func() { c.OnWithdraw(p, 0, 1) }, "more than was added")
}
