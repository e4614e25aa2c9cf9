// SPDX-License-Identifier: Apache-2.0

package fabric

import "github.com/uetcc/uetcc/hw/switchq"

// pfcState is priority flow control on TC_low of every link. A link is known by
// the sending port: packets that came over the link are counted in the switch at
// the end, and a pause from there stops the port.
type pfcState struct {
	config  switchq.PFCConfig
	ingress []switchq.Ingress // downstream side of each link
	pauser  []switchq.Pauser  // upstream side
	via     []uint32          // of each packet: the link it is on or came over
	held    []bool            // of each packet: counted in ingress

	pauses []int64 // that reached each port
	since  []int64 // start of the pause in force, ps; -1: none
	time   []int64 // for which each port was paused, ps
}

func newPFCState(c switchq.PFCConfig, ports int) (*pfcState, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	f := &pfcState{config: c}
	f.ingress, f.pauser = make([]switchq.Ingress, ports), make([]switchq.Pauser, ports)
	f.pauses, f.since, f.time = make([]int64, ports), make([]int64, ports), make([]int64, ports)
	for i := range f.since {
		f.since[i] = -1
	}
	return f, nil
}

// paused is the set of classes a port may not send now, and until when, ps.
func (f *pfcState) paused(out uint32, now int64) (switchq.ClassSet, int64) {
	set, until := f.pauser[out].Paused(now / 1000)
	return set, until * 1000
}

func (f *pfcState) idle(out uint32, now int64) bool {
	set, _ := f.paused(out, now)
	return set == 0
}

func (f *pfcState) dataPaused(host uint32, now int64) (bool, int64) {
	set, until := f.paused(host, now)
	return set.Has(switchq.ClassLow), until
}

// pfcArrive counts a packet into the switch that it has reached.
func (s *wires) pfcArrive(pkt uint32) {
	f, p := s.pfc, &s.pool.pkts[pkt]
	if p.dscp.Class() != switchq.ClassLow {
		return
	}
	f.held[pkt] = true
	link := f.via[pkt]
	if f.ingress[link].Arrive(&f.config, s.nowNs(), int64(p.size)) {
		s.pfcSend(link, evPause)
	}
}

// pfcLeave counts a packet out of the switch that it leaves for the link out.
func (s *wires) pfcLeave(out, pkt uint32) {
	f := s.pfc
	f.room(pkt)
	if f.held[pkt] {
		f.held[pkt] = false
		if link := f.via[pkt]; f.ingress[link].Leave(&f.config, int64(s.pool.pkts[pkt].size)) {
			s.pfcSend(link, evResume)
		}
	}
	f.via[pkt] = out
}

// room has a place for a packet.
func (f *pfcState) room(pkt uint32) {
	for len(f.via) <= int(pkt) {
		f.via, f.held = append(f.via, 0), append(f.held, false)
	}
}

// pfcSend carries a frame, a pause or a resume, back over a link.
func (s *wires) pfcSend(link uint32, frame eventKind) {
	w := &s.kinds[s.ports[link].kind]
	at := s.now + w.latency + w.serialization(HeaderBytes)
	if w.crosses {
		s.post(s.partOf[s.nodeOf(link)], crossing{at: at, what: link, kind: frame})
		return
	}
	s.events.push(at, frame, link)
}

// pauseArrives lets a frame take effect at the port that it is for.
func (s *wires) pauseArrives(out uint32) {
	f := s.pfc
	f.pauser[out].On(switchq.ClassLow, s.nowNs(), f.config.Pause)
	f.pauses[out]++
	if f.since[out] < 0 {
		f.since[out] = s.now
	}
}

func (s *wires) resumeArrives(out uint32) {
	f := s.pfc
	f.pauser[out].On(switchq.ClassLow, s.nowNs(), 0)
	if f.since[out] >= 0 {
		f.time[out] += s.now - f.since[out]
		f.since[out] = -1
	}
	// A wake-up for the end of the pause may be pending; the wake-up finds the
	// port busy or idle, without harm either way.
	s.wakeAt(out, max(s.ports[out].busy, s.now))
}
