// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/uetcc/uetcc/bench/fabric"
	"github.com/uetcc/uetcc/hw/hbm"
	"github.com/uetcc/uetcc/hw/link"
	"github.com/uetcc/uetcc/nscc"
)

// slowMemory retires 15 GB/s, with eight fourteenths for eight requesters inside the
// node in the first 300 us: six network flows get half of the port's rate, then the
// full rate.
func slowMemory(policy *hbm.PolicyConfig) *fabric.Memory {
	return &fabric.Memory{
		Host: 0,
		Controller: hbm.Config{
			Channels: 1, Banks: 16, Depth: 4096, Rate: 15e9, Interleave: 4096,
		},
		Policy: policy, Internal: 8, InternalEnd: 300 * link.Microsecond,
	}
}

// localConfig is six network senders with a small first window, so the network is at
// ease.
func (o *options) localConfig(policy *hbm.PolicyConfig) fabric.Config {
	c := o.toRankZero(2, 1_000_000)
	c.InitialCwnd = 10_000
	c.Memory = slowMemory(policy)
	return o.with(c, "nscc")
}

// local is figure 6-3: the memory is the bottleneck, and no switch can say so.
func local(o *options) (*report, error) {
	r := o.newReport()
	c := o.localConfig(nil)
	felt := mostDelay(&c, c.Memory.InternalEnd)
	res, err := r.add("NSCC, no flow control", c)
	if err != nil {
		return nil, err
	}
	m := res.Memory
	r.Tables = []table{memoryTable("NSCC, no flow control", m)}
	r.claim(*felt < m.MaxWait/4, "the service time hides the wait from NSCC", "queueing delays below a quarter of the longest wait until 300 us",
		"%.1f of %.1f us", *felt, m.MaxWait)
	firsts, windows := 6*res.Parameters.InitialCwnd, 6*res.Parameters.MaxWnd
	r.claim(m.Peak > 3*firsts, "so the windows grow on, and what they let go waits in memory",
		fmt.Sprintf("more than three times the six first windows, %d bytes", firsts), "%d bytes", m.Peak)
	most := windows + 64*1024 // the requesters of the node
	r.claim(m.Peak <= most, "what waits is bounded by the windows", fmt.Sprintf("at most %d bytes", most), "%d bytes", m.Peak)
	first := lastHopQueue(res).FirstTrim
	r.claim(first < 0 || first > 300, "while the memory is slow the network is not the bottleneck",
		"no trim before 300 us (then all that waited is acknowledged at once)", "first trim at %.1f us", first)
	r.claim(m.Jain > 0.99, "the arbiter serves all alike", "Jain's index of what they wrote above 0.99", "%.3f", m.Jain)
	r.note("the node's own cores are eight requesters beside the six flows, until 300 us")
	return r, nil
}

// mostDelay returns the place for the longest queueing delay measured by NSCC in a
// run of c up to until, us.
func mostDelay(c *fabric.Config, until link.Ps) *float64 {
	most, next := new(float64), c.Context
	c.Context = func(s *fabric.ContextState) {
		if s.Now <= until {
			*most = max(*most, float64(s.Window.QDelay)/1000)
		}
		if next != nil {
			next(s)
		}
	}
	return most
}

// destinationFlowControl is figure 6-14, arithmetic and effect.
func destinationFlowControl(o *options) (*report, error) {
	r := o.newReport()
	free, err := r.add("no flow control", o.localConfig(nil))
	if err != nil {
		return nil, err
	}
	dfc, err := r.add("penalty and restore", o.localConfig(&hbm.PolicyConfig{Low: 75_000, High: 225_000, Resume: 37_500, Max: 127}))
	if err != nil {
		return nil, err
	}
	t := memoryTable("no flow control", free.Memory)
	t.Rows = append(t.Rows, memoryTable("penalty and restore", dfc.Memory).Rows...)
	r.Tables = []table{t}
	if err := r.penaltyWalk(); err != nil {
		return nil, err
	}
	r.claim(dfc.Memory.Peak < free.Memory.Peak*2/3, "the queue moves from the memory to the sources",
		"peak below two thirds", "%d instead of %d bytes", dfc.Memory.Peak, free.Memory.Peak)
	r.claim(dfc.Totals.Trimmed+dfc.Totals.DataDropped+dfc.Memory.Refused == 0, "nothing is dropped", "0", "%d", dfc.Totals.Trimmed+dfc.Totals.DataDropped+dfc.Memory.Refused)
	r.claim(dfc.Memory.Restored > 0, "the restore flag brings the windows back", "in one step", "%d windows", dfc.Memory.Restored)
	r.claim(dfc.FCT.Max < 1.15*free.FCT.Max, "the throughput is the memory's either way", "slowest within 15 %", "%.1f and %.1f us", dfc.FCT.Max, free.FCT.Max)
	return r, nil
}

// penaltyWalk is the arithmetic of figure 6-14, on the real window: 64 on 4,096
// bytes, sending stops, and comes back.
func (r *report) penaltyWalk() error {
	p, err := nscc.NewParams(nscc.Config{
		BaseRTT: 6000, MTU: 4096, LinkRate: 12_500_000_000, Trimming: true, InitialCwnd: 75_776,
	})
	if err != nil {
		return err
	}
	var w nscc.Window
	w.Init(&p, 0, 0)
	w.OnSend(79_872)
	var last nscc.RcvdTracker
	last.Advance(12_288 / 256)
	w.OnACK(&p, 0, nscc.Ack{Bytes: last.Advance(16_384 / 256), Pend: 64})
	r.claim(w.Cwnd() == 73_728 && w.Inflight()-w.Cwnd() == 2_048, "rcvd_bytes 12,288 to 16,384 with penalty 64 cuts 75,776 to 73,728",
		"73,728, and 2,048 more in flight", "%d, and %d more in flight", w.Cwnd(), w.Inflight()-w.Cwnd())
	acks := 0
	for ; !w.CanSend(&p, 4096) && acks < 10; acks++ {
		w.OnACK(&p, 0, nscc.Ack{Bytes: 4096})
	}
	r.claim(acks == 2, "sending stops until inflight + MTU <= CWND", "two more ACKs of 4,096", "%d", acks)
	w.OnACK(&p, 0, nscc.Ack{Restore: true})
	r.claim(w.Cwnd() == 75_776, "the restore flag brings the window back", "75,776", "%d", w.Cwnd())
	return nil
}

func memoryTable(name string, m *fabric.MemoryResult) table {
	t := table{
		Title:   "memory of host 0, 15 GB/s",
		Columns: []string{"peak bytes", "mean wait us", "max wait us", "fairness", "penalties", "strongest", "restored"},
	}
	t.row(name, float64(m.Peak), m.MeanWait, m.MaxWait, m.Jain, float64(m.Penalised), float64(m.MaxPend), float64(m.Restored))
	return t
}
