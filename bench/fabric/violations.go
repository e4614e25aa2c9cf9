// SPDX-License-Identifier: Apache-2.0

package fabric

import "fmt"

// violations checks that nothing was lost or made on the way.
func (s outcome) violations(r *Result) (v []string) {
	expect := func(what string, got, want int64) {
		if got != want {
			v = append(v, fmt.Sprintf("%s: %d, want %d", what, got, want))
		}
	}
	expectAt := func(port int, what string, got int64) {
		if got != 0 {
			expect(what+" at "+s.name(uint32(port)), got, 0)
		}
	}
	for i := range s.ports {
		packets, bytes := s.ports[i].queue.Imbalance()
		expectAt(i, "packets unaccounted for", packets)
		expectAt(i, "bytes unaccounted for", bytes)
	}
	if s.world != nil {
		v = append(v, s.world.messageViolations()...)
	}
	if r.Unfinished > 0 || s.stopped > 0 {
		return v // packets may still be under way
	}
	c := &r.Totals
	expect("data packets that arrived, trimmed or not, or were dropped",
		c.Delivered+c.HeadersDelivered+c.DataDropped+c.HeadersDropped, c.New+c.Retransmitted)
	expect("answers that arrived or were dropped", c.Acks+c.Nacks+c.AnswersDropped, c.Answers)
	expect("credits and requests that arrived or were dropped",
		c.CreditsArrived+c.CreditsDropped, c.Credits+c.CreditRequests)
	expect("probes that arrived or were dropped", c.ProbesArrived+c.ProbesDropped, c.Probes)
	expect("packets still under way", int64(s.underway()), 0)
	for i := range s.ports {
		expectAt(i, "packets waiting", int64(s.ports[i].queue.Len()))
	}
	if s.world == nil {
		v = append(v, s.endViolations()...)
	}
	if s.foretold {
		v = append(v, s.app.foresight.violations(s.transfers)...)
	}
	return append(v, s.pauseViolations()...)
}

// endViolations checks the ends of every connection.
func (s outcome) endViolations() (v []string) {
	want := make([]int64, len(s.senders))
	for i := range s.transfers {
		want[s.transfers[i].conn] += s.transfers[i].flow.Size
	}
	for i := range s.senders {
		c, r := &s.senders[i], &s.receivers[i]
		if r.payload != want[i] || c.cack != c.end ||
			c.ctx.Backlog() != 0 || c.ctx.RtxBacklog() != 0 || c.ctx.InflightPackets() != 0 {
			v = append(v, fmt.Sprintf("connection %d: %d of %d bytes arrived, backlog %d, marked %d, in flight %d packets",
				i, r.payload, want[i], c.ctx.Backlog(), c.ctx.RtxBacklog(), c.ctx.InflightPackets()))
		}
	}
	return v
}

// pauseViolations checks that flow control has counted out all that it counted in.
func (s outcome) pauseViolations() (v []string) {
	if s.pfc != nil {
		for i := range s.pfc.ingress {
			if n := s.pfc.ingress[i].Bytes; n != 0 {
				v = append(v, fmt.Sprintf("%d bytes counted by flow control behind %s", n, s.name(uint32(i))))
			}
		}
	}
	return v
}
