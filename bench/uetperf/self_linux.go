// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"

	"github.com/uetcc/uetcc/hw/switchq"
)

// A network is senders, a relay and a target, in a single process.
type network struct {
	senders []*sender
	relay   *relay
	target  *host
}

// sites are where the parties of a network live: the relay and the target at site 0, sender i
// at site i+1.
type sites struct {
	front, target netip.Addr
	side, sender  func(i int) netip.Addr                // the relay's port for a sender, and the sender
	at            func(site int, do func() error) error // opens sockets there
}

// loopback are sites without a privilege. IPv6 has a single loopback address, with the parties told
// apart by UDP ports.
func loopback(six bool) *sites {
	four := func(b ...byte) netip.Addr {
		if six {
			return netip.IPv6Loopback()
		}
		return netip.AddrFrom4([4]byte(b))
	}
	return &sites{
		front:  four(127, 0, 1, 1),
		target: four(127, 0, 1, 2),
		side:   func(i int) netip.Addr { return four(127, 0, 2, byte(i+1)) },
		sender: func(i int) netip.Addr { return four(127, 0, 3, byte(i+1)) },
		at:     func(_ int, do func() error) error { return do() },
	}
}

// reportSelf runs both ends and the bottleneck until stop or the end, and reports the results.
func (o *options) reportSelf(to *report, stop <-chan struct{}) (code int, err error) {
	r, seen, err := o.runSelf(to, func(now int64) bool {
		select {
		case <-stop:
			return true
		default:
			return o.seconds > 0 && now > int64(o.seconds*1e9)
		}
	})
	if err != nil {
		return 0, err
	}
	r.report(to)
	if seen != nil {
		if err := r.page(o, seen).WriteFile(o.html); err != nil {
			return 0, err
		}
	}
	return to.end(), nil
}

// runSelf is both ends and the bottleneck, until over reports true or all has been written, with the intervals told to
// the report; seen is the record over time, with -html.
func (o *options) runSelf(to *report, over func(now int64) bool) (r *result, seen *recorder, err error) {
	config := o.relay()
	n, err := o.newNetwork(&config, loopback(o.six))
	if err != nil {
		return nil, nil, err
	}
	defer n.close()
	l := n.loop()
	if o.html != "" {
		seen = newRecorder(len(n.senders), loopback(o.six))
	}
	next := int64(o.interval)
	err = l.run(func(now int64) bool {
		if seen != nil {
			seen.look(now, n)
		}
		if now >= next && o.interval > 0 {
			to.interval(float64(now)/1e9, n.target.total())
			next = now + int64(o.interval)
		}
		return finished(over(now), n.senders) && n.relay.idle()
	})
	return &result{senders: n.senders, target: n.target, relay: n.relay, took: l.now()}, seen, err
}

// newNetwork builds from the relay to both sides, since each party needs the peer's port.
func (o *options) newNetwork(c *relayConfig, s *sites) (n *network, err error) {
	n = &network{}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if n.relay, err = newRelay(c); err != nil {
		return n, err
	}
	var sides []netip.Addr
	for i := range o.senders {
		sides = append(sides, s.side(i))
	}
	if err = s.at(0, func() error { return n.relay.open(s.front, sides) }); err == nil {
		err = o.addTarget(n, s)
	}
	for i := range o.senders {
		if err == nil {
			err = o.addSender(n, s, i)
		}
	}
	return n, err
}

func (o *options) addTarget(n *network, s *sites) error {
	config := o.host()
	config.port = n.relay.ports[0].Local().Port()
	if o.capture != nil {
		config.tap = o.capture.packets.Tap
	}
	memory := make([]byte, int64(o.senders*o.depth)*o.message)
	return s.at(0, func() (err error) {
		if n.target, err = newHost(&config, netip.AddrPortFrom(s.target, 0), memory); err != nil {
			return err
		}
		n.relay.target = n.target.Local()
		return n.target.open()
	})
}

func (o *options) addSender(n *network, s *sites, i int) error {
	config := o.host()
	config.port = n.relay.front.Local().Port()
	return s.at(i+1, func() error {
		x, err := o.newSender(&config, netip.AddrPortFrom(s.sender(i), 0), s.front, i)
		if err != nil {
			return err
		}
		n.senders = append(n.senders, x)
		n.relay.senders = append(n.relay.senders, x.Local())
		return nil
	})
}

// loop steps the parties on a steady clock, since all work is in the process.
func (n *network) loop() *loop {
	var all []party
	for _, s := range n.senders {
		all = append(all, s)
	}
	l := newLoop(append(all, n.relay, n.target)...)
	l.steady = true
	return l
}

func (n *network) close() {
	for _, s := range n.senders {
		s.close()
	}
	if n.relay != nil {
		n.relay.close()
	}
	if n.target != nil {
		n.target.close()
	}
}

// host is the configuration of an end.
func (o *options) host() hostConfig {
	c := controls[o.cc]
	return hostConfig{
		control: c.control, mode: c.mode, mtu: uint32(o.mtu), rate: o.bytesPerSecond(), rtt: int64(o.rtt), cwnd: o.cwnd,
		paths: o.paths, port: uint16(o.port),
	}
}

// relay is the configuration of the bottleneck.
func (o *options) relay() relayConfig {
	bdp := int64(o.rate / 8 * o.rtt.Seconds())
	return relayConfig{rate: o.bytesPerSecond(), delay: int64(o.delay), seed: o.seed, queue: switchq.Config{
		PlaneBDP: bdp, ECNMin: o.kmin, ECNMax: o.kmax, LowLimit: o.limit,
	}}
}

// newSender is sender number i. With a time to write for there is no end of bytes.
func (o *options) newSender(c *hostConfig, local netip.AddrPort, peer netip.Addr, i int) (*sender, error) {
	size := int64(o.depth) * o.message
	memory := make([]byte, size)
	fillPattern(memory, i)
	h, err := newHost(c, local, memory)
	if err != nil {
		return nil, err
	}
	total := o.bytes
	if o.seconds > 0 {
		total = 1 << 62
	}
	return newSender(h, peer, o.depth, int64(i)*size, total), nil
}

// fillPattern fills the memory of sender i so no two packets are alike.
func fillPattern(memory []byte, i int) {
	x := uint32(i)
	for j := range memory {
		x = x*1664525 + 1013904223
		memory[j] = byte(x >> 24)
	}
}

// finished stops the senders when over, and reports whether all have ended.
func finished(over bool, senders []*sender) bool {
	for _, s := range senders {
		if over {
			s.stop()
		}
		if !s.done() {
			return false
		}
	}
	return true
}
