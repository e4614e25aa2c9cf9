package main

import "net/netip"

// A network is senders, a relay and a target, all in one process.
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

// loopback are sites without a privilege. IPv6 has one loopback address, where UDP ports tell
// the parties apart.
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

// runSelf is both ends and the bottleneck, until it is over or all has been written.
func (o *options) runSelf(over func(now int64) bool) (*result, error) {
	config := o.relay()
	n, err := o.newNetwork(&config, loopback(o.six))
	if err != nil {
		return nil, err
	}
	defer n.close()
	l := n.loop()
	err = l.run(func(now int64) bool { return finished(over(now), n.senders) && n.relay.idle() })
	return &result{senders: n.senders, target: n.target, relay: n.relay, took: l.now()}, err
}

// newNetwork builds from the relay to both sides, since each needs the port of its peer.
func (o *options) newNetwork(c *relayConfig, s *sites) (n *network, err error) {
	n = &network{}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	inbox := newInbox()
	if n.relay, err = newRelay(c, inbox); err != nil {
		return n, err
	}
	var sides []netip.Addr
	for i := range o.senders {
		sides = append(sides, s.side(i))
	}
	if err = s.at(0, func() error { return n.relay.open(s.front, sides) }); err == nil {
		err = o.addTarget(n, s, inbox)
	}
	for i := range o.senders {
		if err == nil {
			err = o.addSender(n, s, i, inbox)
		}
	}
	return n, err
}

func (o *options) addTarget(n *network, s *sites, inbox *inbox) error {
	config := o.host()
	config.port = n.relay.ports[0].local.Port()
	memory := make([]byte, int64(o.senders*o.depth)*o.message)
	return s.at(0, func() (err error) {
		if n.target, err = newHost(&config, netip.AddrPortFrom(s.target, 0), memory, inbox); err != nil {
			return err
		}
		n.relay.target = n.target.local()
		return n.target.open()
	})
}

func (o *options) addSender(n *network, s *sites, i int, inbox *inbox) error {
	config := o.host()
	config.port = n.relay.front.local.Port()
	return s.at(i+1, func() error {
		x, err := o.newSender(&config, netip.AddrPortFrom(s.sender(i), 0), s.front, i, inbox)
		if err != nil {
			return err
		}
		n.senders = append(n.senders, x)
		n.relay.senders = append(n.relay.senders, x.local())
		return nil
	})
}

// loop steps the parties on a steady clock, since all that takes time is in this process.
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
