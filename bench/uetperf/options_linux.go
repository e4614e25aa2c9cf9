package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/hw/switchq"
	"github.com/uetcc/uetcc/internal/check"
	"github.com/uetcc/uetcc/pds"
)

// options are the command line.
type options struct {
	listen, connect, from string
	port                  uint

	bytes   int64
	seconds float64
	message int64
	depth   int

	cc    string
	mtu   uint
	rate  float64 // bits a second
	rtt   time.Duration
	cwnd  int64
	paths int

	senders    int
	delay      time.Duration
	kmin, kmax int64
	limit      int64
	six        bool
	seed       uint64
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("uetperf", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "", "be the target at this address of the machine")
	f.StringVar(&o.connect, "connect", "", "write to the target at this address")
	f.StringVar(&o.from, "from", "", "with -connect: our address; default: what the route says")
	f.UintVar(&o.port, "port", pds.UDPPort, "UDP port of both ends, with -listen and -connect")

	f.Int64Var(&o.bytes, "bytes", 32<<20, "bytes that each sender writes")
	f.Float64Var(&o.seconds, "seconds", 0, "write for so long instead; with -listen stop after it")
	f.Int64Var(&o.message, "message", 1<<20, "bytes of a message; with -listen, -depth of them are the memory that senders write to")
	f.IntVar(&o.depth, "depth", 4, "messages of a sender under way at a time")

	f.StringVar(&o.cc, "cc", "nscc", "congestion control, the same at both ends: nscc, rccc, both, none")
	f.UintVar(&o.mtu, "mtu", 4096, "payload bytes of a packet, the same at both ends: 1024, 2048, 4096 or 8192")
	f.Float64Var(&o.rate, "rate", 0, "bits a second: of the bottleneck, default 200e6; with -listen and -connect of the slower link, default 10e9")
	f.DurationVar(&o.rtt, "rtt", 0, "round trip when nothing waits; default: what -delay and -rate make, with -listen and -connect 200us")
	f.Int64Var(&o.cwnd, "cwnd", 0, "first window, bytes; 0: 1.5 times the bandwidth-delay product")
	f.IntVar(&o.paths, "paths", 4, "entropy values, each a UDP source port; a power of two")

	f.IntVar(&o.senders, "senders", 1, "senders to the bottleneck")
	f.DurationVar(&o.delay, "delay", time.Millisecond, "of the bottleneck, in each direction")
	f.Int64Var(&o.kmin, "kmin", 0, "bytes that may wait unmarked in the bottleneck; 0: 0.2 bandwidth-delay products")
	f.Int64Var(&o.kmax, "kmax", 0, "bytes above which all are marked; 0: 0.8 bandwidth-delay products")
	f.Int64Var(&o.limit, "limit", 0, "bytes that the bottleneck holds; 0: 5 bandwidth-delay products, as recommended where switches drop.\n"+
		"A window is never less than a packet: with less room than for one of each sender, some packet\n"+
		"is lost with all its five retransmissions, which ends its message")
	f.BoolVar(&o.six, "6", false, "IPv6 to and from the bottleneck; one sender, since there is one loopback address")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the bottleneck's marking")
	if err := cli.Parse(f, args, "uetperf [flags]", stderr); err != nil {
		return nil, err
	}
	o.fill()
	return o, o.check(f)
}

// fill sets the defaults that depend on other flags: a bottleneck that a busy machine can keep
// up with, or a quiet data centre from process to process.
func (o *options) fill() {
	if o.listen != "" || o.connect != "" {
		o.rate, o.rtt = cmp.Or(o.rate, 10e9), cmp.Or(o.rtt, 200*time.Microsecond)
		return
	}
	o.rate = cmp.Or(o.rate, 200e6)
	o.rtt = cmp.Or(o.rtt, o.idle())
}

func (o *options) check(f *flag.FlagSet) error {
	_, cc := controls[o.cc]
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.listen != "" && o.connect != "":
		return errors.New("-listen and -connect exclude each other")
	case o.misplaced(f) != nil:
		return o.misplaced(f)
	case !cc:
		return fmt.Errorf("-cc %q, want nscc, rccc, both or none", o.cc)
	case o.six && o.senders > 1:
		return errors.New("-6 allows one sender")
	}
	return cmp.Or(
		check.Range(cli.ErrValue, "-senders", o.senders, 1, sendersMax),
		check.Range(cli.ErrValue, "-mtu", o.mtu, 1024, 8192),
		check.Range(cli.ErrValue, "-paths", o.paths, 1, 256),
		check.Range(cli.ErrValue, "-port", o.port, 1, 65535),
		check.Range(cli.ErrValue, "-depth", o.depth, 1, 64),
		check.Range(cli.ErrValue, "-message", o.message, 1, 1<<28),
		check.AtLeast(cli.ErrValue, "-bytes", o.bytes, 1),
		check.Range(cli.ErrValue, "-senders x -depth x -message", int64(o.senders*o.depth)*o.message, 1, 1<<30),
		check.Range(cli.ErrValue, "-rate", o.rate, 1e5, 1e12),
		check.Range(cli.ErrValue, "-delay", o.delay, 0, time.Second),
		check.Range(cli.ErrValue, "-rtt", o.rtt, 0, time.Second),
		check.Range(cli.ErrValue, "-seconds", o.seconds, 0, 1e6),
	)
}

// misplaced objects to a flag that was set and says nothing about what is to run.
func (o *options) misplaced(f *flag.FlagSet) (err error) {
	processes := o.listen != "" || o.connect != ""
	f.Visit(func(g *flag.Flag) {
		switch g.Name {
		case "senders", "delay", "kmin", "kmax", "limit", "6", "seed":
			if processes {
				err = fmt.Errorf("-%s is of the bottleneck, which -listen and -connect do not have", g.Name)
			}
		case "port":
			if !processes {
				err = errors.New("-port goes with -listen or -connect")
			}
		case "from":
			if o.connect == "" {
				err = errors.New("-from goes with -connect")
			}
		}
	})
	return err
}

// sendersMax is how many one bottleneck takes.
const sendersMax = 32

// controls are what a word of -cc means.
var controls = map[string]struct {
	control ccc.Control
	mode    ccc.Mode
}{
	"nscc": {ccc.ControlNSCC, ccc.ModeEnforce},
	"rccc": {ccc.ControlRCCC, ccc.ModeEnforce},
	"both": {ccc.ControlBoth, ccc.ModeEnforce},
	"none": {ccc.ControlNSCC, ccc.ModeOff},
}

func (o *options) bytesPerSecond() int64 { return int64(o.rate / 8) }

// host is the configuration of an end.
func (o *options) host() hostConfig {
	c := controls[o.cc]
	return hostConfig{
		control: c.control, mode: c.mode, mtu: uint32(o.mtu), rate: o.bytesPerSecond(), rtt: int64(o.rtt), cwnd: o.cwnd,
		paths: o.paths, port: uint16(o.port),
	}
}

// hostDelay is what the processes at both ends and the relay add to an idle round trip.
const hostDelay = 300 * time.Microsecond

// idle is the round trip through the idle bottleneck.
func (o *options) idle() time.Duration {
	packet := pds.NominalSize(udpLen + int(o.mtu) + 64)
	return 2*o.delay + hostDelay + time.Duration(float64(packet*8)/o.rate*1e9)
}

// relay is the configuration of the bottleneck.
func (o *options) relay() relayConfig {
	bdp := int64(o.rate / 8 * o.rtt.Seconds())
	return relayConfig{rate: o.bytesPerSecond(), delay: int64(o.delay), seed: o.seed, queue: switchq.Config{
		PlaneBDP: bdp, ECNMin: o.kmin, ECNMax: o.kmax, LowLimit: o.limit,
	}}
}

// address is an address of -listen, -connect or -from.
func address(flag, s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsUnspecified() || a.Zone() != "" {
		return a, fmt.Errorf("%s %q: want an IP address of one machine, without port", flag, s)
	}
	return a.Unmap(), nil
}
