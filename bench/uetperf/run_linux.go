package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
)

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var r *result
	if err == nil {
		r, err = o.run(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "uetperf: %v\n", err)
		return 2
	}
	if r.print(stdout); len(r.doubts()) > 0 {
		return 1
	}
	return 0
}

func (o *options) run(stdout io.Writer) (*result, error) {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt)
	defer signal.Stop(stopped)
	over := func(now int64) bool {
		if len(stopped) > 0 {
			signal.Stop(stopped) // the next one ends the process
		}
		return len(stopped) > 0 || o.seconds > 0 && now > int64(o.seconds*1e9)
	}
	switch {
	case o.listen != "":
		return o.runTarget(stdout, over)
	case o.connect != "":
		return o.runSender(over)
	default:
		return o.runSelf(over)
	}
}

// runTarget is one end, until over.
func (o *options) runTarget(stdout io.Writer, over func(now int64) bool) (*result, error) {
	local, err := address("-listen", o.listen)
	if err != nil {
		return nil, err
	}
	config := o.host()
	h, err := newHost(&config, netip.AddrPortFrom(local, config.port), make([]byte, int64(o.depth)*o.message), newInbox())
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.open(); err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "listening at %v\n", h.local())
	l := newLoop(h)
	err = l.run(over)
	return &result{target: h, took: l.now(), stall: l.stall}, err
}

// runSender is the other end.
func (o *options) runSender(over func(now int64) bool) (*result, error) {
	peer, err := address("-connect", o.connect)
	if err != nil {
		return nil, err
	}
	local, err := o.localAddress(peer)
	if err != nil {
		return nil, err
	}
	if local == peer {
		return nil, fmt.Errorf("-connect %v is where this end would be, too: set -from to another address", peer)
	}
	config := o.host()
	s, err := o.newSender(&config, netip.AddrPortFrom(local, config.port), peer, 0, newInbox())
	if err != nil {
		return nil, err
	}
	defer s.close()
	l := newLoop(s)
	err = l.run(func(now int64) bool { return finished(over(now), []*sender{s}) })
	return &result{senders: []*sender{s}, took: l.now(), stall: l.stall}, err
}

// localAddress is where packets to peer come from.
func (o *options) localAddress(peer netip.Addr) (netip.Addr, error) {
	if o.from != "" {
		return address("-from", o.from)
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(peer, uint16(o.port)))) // sends nothing
	if err != nil {
		return netip.Addr{}, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// newSender is sender number i. With a time to write for there is no end of bytes.
func (o *options) newSender(c *hostConfig, local netip.AddrPort, peer netip.Addr, i int, inbox *inbox) (*sender, error) {
	size := int64(o.depth) * o.message
	memory := make([]byte, size)
	fillPattern(memory, i)
	h, err := newHost(c, local, memory, inbox)
	if err != nil {
		return nil, err
	}
	total := o.bytes
	if o.seconds > 0 {
		total = 1 << 62
	}
	return newSender(h, peer, o.depth, int64(i)*size, total), nil
}

// fillPattern fills the memory of sender i so that no two of its packets are alike.
func fillPattern(memory []byte, i int) {
	x := uint32(i)
	for j := range memory {
		x = x*1664525 + 1013904223
		memory[j] = byte(x >> 24)
	}
}

// finished stops the senders when it is over, and reports whether all have ended.
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
