// SPDX-License-Identifier: Apache-2.0

package fuzz

import "github.com/uetcc/uetcc/nscc"

// nsccModel is the specification's window written down line by line, slow and
// obvious: one branch for each sentence, real arithmetic, no tables. It is what the
// engine is compared with on random events. Times are nanoseconds.
type nsccModel struct {
	c nscc.Config
	k nscc.Constants

	W, F, B, Wmax, Ws float64
	C, H, K, X, Y     float64
	G, A              float64
	E, tA, tD, tS     int64
	fast, trig        bool
	action            nscc.Action
}

func newNSCCModel(c nscc.Config, k nscc.Constants) *nsccModel {
	return &nsccModel{c: c, k: k, W: float64(k.InitialCwnd), B: float64(c.BaseRTT), Wmax: float64(k.MaxWnd)}
}

func (m *nsccModel) mtu() float64 { return float64(m.c.MTU) }

// 4.4, in the order of the text.
func (m *nsccModel) onACK(now int64, a nscc.Ack) {
	n := float64(a.Bytes)
	m.F -= n
	m.Y += n
	m.C += n
	m.H += n
	m.action = nscc.ActionNone
	penalised := m.penalty(float64(a.Pend), n, a.Restore)
	room := m.W - (m.F + n) // before this acknowledgement
	if a.RTT <= 0 {
		return
	}
	m.lower(float64(a.RTT))
	q := float64(a.RTT) - m.B
	m.updateDelay(now, q, a.ECN)
	if m.quickAdapt(now, false, a.ECN, q) {
		return
	}
	target := float64(m.k.TargetQdelay)
	switch {
	case !a.ECN && (penalised || m.c.GrowOnlyFull && room >= m.mtu()), a.ECN && q < target:
		m.action = nscc.ActionHold
	case !a.ECN && q >= target:
		m.action = nscc.ActionFair
		m.G += m.k.FairIncrease * n
	case !a.ECN:
		m.proportional(n, q)
	default:
		m.decrease(now)
	}
	if now-m.tA >= m.k.AdjustPeriod || m.C > float64(m.k.AdjustBytes) {
		m.fulfil(now)
	}
	m.W = floor(m.W)
}

// 6.4 and 6.5
func (m *nsccModel) proportional(n, q float64) {
	m.action = nscc.ActionProportional
	if q < float64(m.k.FastDelay) {
		m.K += n
		if m.K > m.W || m.fast {
			m.W = min(m.W+m.k.FastScale*n, m.Wmax)
			m.fast = true
			m.action = nscc.ActionFast
			return
		}
	} else {
		m.K = 0
	}
	m.fast = false
	m.G += m.k.Alpha / 1e9 * n * (float64(m.k.TargetQdelay) - q)
}

// 6.2
func (m *nsccModel) decrease(now int64) {
	m.action = nscc.ActionConsidered
	m.fast, m.K = false, 0
	target := float64(m.k.TargetQdelay)
	if m.A > target && float64(now-m.tD) > m.B {
		factor := max(1-m.k.Gamma*(m.A-target)/m.A, m.k.MaxMDJump)
		m.W = max(m.W*factor, m.mtu())
		m.tD = now
		m.action = nscc.ActionDecrease
	}
}

// 6.1
func (m *nsccModel) fulfil(now int64) {
	add := m.G / m.W
	if now-m.tA >= m.k.AdjustPeriod {
		m.tA = now
		add += m.k.Eta
	}
	m.W = min(m.W+add, m.Wmax)
	m.G, m.C = 0, 0
}

// 6.6
func (m *nsccModel) quickAdapt(now int64, loss, marked bool, q float64) bool {
	done := false
	switch {
	case m.c.Tuning.NoQuickAdapt:
		return false
	case m.Y < m.X && marked:
		done = true
		m.action = nscc.ActionIgnore
	case now >= m.E:
		gate := float64(m.snapshot().MaxWnd >> m.gate())
		if m.E != 0 && (m.trig || loss || q > float64(m.k.QAThreshold)) && m.H < gate {
			m.W = max(m.H, m.mtu())
			m.X = max(m.F, 0)
			m.Y = 0
			m.trig = false
			m.action = nscc.ActionQuickAdapt
			done = true
		}
		m.H = 0
		m.E = now + int64(m.B) + m.k.TargetQdelay
	}
	if done {
		m.G, m.C = 0, 0
	}
	return done
}

func (m *nsccModel) gate() int {
	switch g := m.c.Tuning.QAGate; {
	case g < 0:
		return 0
	case g == 0:
		return 3
	default:
		return g
	}
}

// 6.7
func (m *nsccModel) lower(rtt float64) {
	if rtt < m.B {
		m.B = rtt
		bdp := float64(m.c.LinkRate) * rtt / 1e9
		m.Wmax = max(min(m.Wmax, floor(1.5*bdp)), m.mtu())
	}
}

// 6.8
func (m *nsccModel) penalty(pend, n float64, restore bool) bool {
	switch {
	case pend > 0:
		if m.Ws == 0 {
			m.Ws = m.W
		}
		if !m.c.PenaltyShareOnly {
			m.W = min(m.W, m.F)
		}
		m.W = max(m.mtu(), m.W-floor(pend*n/128))
		return true
	case restore && m.Ws > 0:
		m.W, m.Ws = min(m.Ws, m.Wmax), 0
	}
	return false
}

// 6.9
func (m *nsccModel) updateDelay(now int64, q float64, marked bool) {
	if m.c.ForgettingFilter {
		m.A += min(1, max(0, float64(now-m.tS))/m.B) * (q - m.A)
		m.tS = now
		return
	}
	if !marked && q > float64(m.k.TargetQdelay) {
		q = floor(m.B / 4)
	}
	m.A += 0.0125 * (q - m.A)
}

// 4.5
func (m *nsccModel) onNACK(now int64, n nscc.Nack) {
	size := float64(n.Size)
	m.action = nscc.ActionNone
	m.F -= size
	if n.RTT > 0 {
		m.lower(float64(n.RTT))
	}
	if n.Reason == nscc.ReasonOther {
		return
	}
	m.updateDelay(now, float64(m.c.BaseRTT), true)
	m.Y += size
	if n.Reason == nscc.ReasonTrimmedLastHop && m.c.RCCC {
		return
	}
	m.trig = true
	if !m.quickAdapt(now, true, true, 0) {
		m.W = max(m.W-size, m.mtu())
		m.action = nscc.ActionReduce
	}
}

// 4.6
func (m *nsccModel) onInferredLoss(size float64) {
	m.W = max(m.W-size, m.mtu())
	m.Y += size
	m.F -= size
	m.action = nscc.ActionReduce
}

// follow takes over what rounding may have decided differently, so that one
// difference is judged once.
func (m *nsccModel) follow(s nscc.Snapshot) {
	m.W, m.G = float64(s.Cwnd), s.IncBytes
}

func (m *nsccModel) snapshot() nscc.Snapshot {
	return nscc.Snapshot{
		Cwnd: int64(m.W), Inflight: int64(m.F), MaxWnd: int64(m.Wmax), SavedCwnd: int64(m.Ws), BaseRTT: int64(m.B),
		AvgDelay: int64(m.A), Action: m.action, AchievedBytes: int64(m.H), ReceivedBytes: int64(m.C), IncBytes: m.G,
		FastCount: int64(m.K), Fast: m.fast, TriggerQA: m.trig, QAEnd: m.E,
		BytesToIgnore: int64(m.X), BytesIgnored: int64(m.Y), LastAdjust: m.tA, LastDecrease: m.tD,
	}
}

// floor cuts to whole bytes, the window's unit.
func floor(v float64) float64 { return float64(int64(v)) }
