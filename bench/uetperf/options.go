// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/uetcc/uetcc/bench/internal/cli"
	"github.com/uetcc/uetcc/ccc"
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

	proto    string
	flows    int
	shards   int
	reverse  bool
	ask      bool
	interval interval
	json     bool
	html     string
	pcap     string
	compare  string
	rounds   int

	senders    int
	delay      time.Duration
	kmin, kmax int64
	limit      int64
	six        bool
	seed       uint64

	version bool
	signal  atomic.Value // os.Signal that has ended the run
	capture *capture     // what -pcap names, nil if nothing

	args  []string
	flags [][2]string // all, with their values
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{args: args}
	f := flag.NewFlagSet("uetperf", flag.ContinueOnError)
	f.BoolVar(&o.version, "version", false, "say which version this is")
	f.StringVar(&o.listen, "listen", "", "be the target at this address of the machine")
	f.StringVar(&o.connect, "connect", "", "write to the target at this address")
	f.StringVar(&o.from, "from", "", "with -connect: our address; default: what the route says")
	f.UintVar(&o.port, "port", uetPort, "port of an address without one; that of the default is UET's, see package hw/node on addresses")
	f.StringVar(&o.proto, "proto", "uet", "with -listen and -connect: uet, or tcp of the kernel to compare")
	f.IntVar(&o.flows, "P", 1, "with -connect: flows, each an endpoint of its own")
	f.IntVar(&o.shards, "shards", 1, "with -listen: endpoints that share the work, each on a core")
	f.BoolVar(&o.reverse, "R", false, "with -connect: read from the target in place of writing to it")
	f.BoolVar(&o.ask, "ask", false, "with -connect and -compare: send a message and wait for one as long, over and over")
	o.interval = interval(time.Second)
	f.Var(&o.interval, "i", "say what has moved in each such `time`, seconds or as in 500ms; 0: only in the end")
	f.BoolVar(&o.json, "json", false, "print lines of JSON")
	f.StringVar(&o.html, "html", "", "write a page with pictures of the run to this file, for a browser")
	f.StringVar(&o.pcap, "pcap", "", "write the packets of this end to this file, for Wireshark; those of the target, if the bottleneck is here")
	f.StringVar(&o.compare, "compare", "", "run beside others in alternating rounds on loopback, each end a process: some of tcp,quic,kcp.\n"+
		"The last two are built first, and need the repository")
	f.IntVar(&o.rounds, "rounds", 5, "of -compare")

	f.Int64Var(&o.bytes, "bytes", 32<<20, "bytes that each sender writes")
	f.Float64Var(&o.seconds, "seconds", 0, "write for so long instead; with -listen stop after it")
	f.Int64Var(&o.message, "message", 1<<20, "bytes of a message; with -listen, -depth of them are the memory that senders write to")
	f.IntVar(&o.depth, "depth", 4, "messages of a sender under way at a time")

	f.StringVar(&o.cc, "cc", "nscc", "congestion control, the same at both ends: nscc, rccc, both, none")
	f.UintVar(&o.mtu, "mtu", 0, "payload bytes of a packet: 1024, 2048, 4096 or 8192; 0: 4096, with -listen and -connect the most that the link takes")
	f.Float64Var(&o.rate, "rate", 0, "bits a second: of the bottleneck, 0: 200e6; with -listen and -connect of the slower link, 0: not known")
	f.DurationVar(&o.rtt, "rtt", 0, "round trip when nothing waits; default: what -delay and -rate make; with -listen and -connect it is learnt")
	f.Int64Var(&o.cwnd, "cwnd", 0, "first window, bytes; 0: 1.5 times the bandwidth-delay product, with -listen and -connect what the node takes")
	f.IntVar(&o.paths, "paths", 0, "entropy values, each a UDP source port; a power of two. 0: 4, on ports other than UET's 1")

	f.IntVar(&o.senders, "senders", 1, "senders to the bottleneck")
	f.DurationVar(&o.delay, "delay", time.Millisecond, "of the bottleneck, in each direction")
	f.Int64Var(&o.kmin, "kmin", 0, "bytes that may wait unmarked in the bottleneck; 0: 0.2 bandwidth-delay products")
	f.Int64Var(&o.kmax, "kmax", 0, "bytes above which all are marked; 0: 0.8 bandwidth-delay products")
	f.Int64Var(&o.limit, "limit", 0, "bytes that the bottleneck holds; 0: 5 bandwidth-delay products, as recommended where switches drop.\n"+
		"A window is never less than a packet: with less room than for one of each sender, the first\n"+
		"packets of some are lost with all their five retransmissions, which ends their messages")
	f.BoolVar(&o.six, "6", false, "IPv6 to and from the bottleneck; one sender, since there is one loopback address")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the bottleneck's marking")
	if err := cli.Parse(f, args, "uetperf [flags]", stderr); err != nil {
		return nil, err
	}
	o.fill()
	f.VisitAll(func(g *flag.Flag) {
		if g.Name != "version" {
			o.flags = append(o.flags, [2]string{g.Name, g.Value.String()})
		}
	})
	return o, cmp.Or(cli.Apart([]string{"-html", "-pcap"}, []string{o.html, o.pcap}), cli.CheckPath("-html", o.html), cli.CheckPath("-pcap", o.pcap), o.check(f))
}

// uetPort is the default.
const uetPort = pds.UDPPort

// isSelf reports whether both ends and the bottleneck are in the process.
func (o *options) isSelf() bool { return o.listen == "" && o.connect == "" && o.compare == "" }

// fill sets the defaults that depend on other flags: a bottleneck a busy machine can keep up with.
func (o *options) fill() {
	switch {
	case o.isSelf():
		o.rate, o.mtu, o.paths = cmp.Or(o.rate, 200e6), cmp.Or(o.mtu, 4096), cmp.Or(o.paths, 4)
		o.rtt = cmp.Or(o.rtt, o.idle())
	case o.compare != "":
		o.mtu, o.seconds = cmp.Or(o.mtu, 4096), cmp.Or(o.seconds, 2)
	}
}

func (o *options) check(f *flag.FlagSet) error {
	_, cc := controls[o.cc]
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.listen != "" && o.connect != "" || o.compare != "" && o.listen+o.connect != "":
		return errors.New("-listen, -connect and -compare exclude each other")
	case o.mtu >= 1024 && o.mtu <= 8192 && o.mtu&(o.mtu-1) != 0:
		return fmt.Errorf("-mtu is %d, want 1024, 2048, 4096 or 8192 payload bytes of a packet", o.mtu)
	case o.paths > 0 && o.paths <= 256 && o.paths&(o.paths-1) != 0:
		return fmt.Errorf("-paths is %d, want a power of two up to 256", o.paths)
	case o.proto != "uet" && o.proto != "tcp":
		return fmt.Errorf("-proto %q, want uet or tcp", o.proto)
	case o.pcap != "" && (o.compare != "" || o.proto == "tcp"):
		return errors.New("-pcap goes with UET of this process: neither with -compare nor with -proto tcp")
	case o.proto == "tcp" && o.reverse:
		return errors.New("-R goes with -proto uet")
	case o.misplaced(f) != nil:
		return o.misplaced(f)
	case !cc:
		return fmt.Errorf("-cc %q, want nscc, rccc, both or none", o.cc)
	case o.ask && o.proto == "uet" && o.message > askMax:
		return fmt.Errorf("-message is %d, want at most %d bytes with -ask", o.message, askMax)
	case o.six && o.senders > 1:
		return errors.New("-6 allows one sender")
	}
	return cmp.Or(
		cli.Range("-senders", o.senders, 1, sendersMax, "senders"),
		o.checkUnless(o.isSelf(), "-mtu", o.mtu, 1024, 8192, "payload bytes of a packet"),
		o.checkUnless(o.isSelf(), "-paths", uint(o.paths), 1, 256, "entropy values"),
		cli.Range("-P", o.flows, 1, 1024, "flows"),
		cli.Range("-shards", o.shards, 1, 256, "endpoints"),
		cli.Range("-rounds", o.rounds, 1, 1000, "rounds"),
		cli.Range("-port", o.port, 1, 65535, "of UDP"),
		cli.Range("-depth", o.depth, 1, 64, "messages"),
		cli.Range("-message", o.message, 1, 1<<28, "bytes"),
		cli.Range("-bytes", o.bytes, 1, math.MaxInt64, "bytes"),
		cli.Range("-senders x -depth x -message", int64(o.senders*o.depth)*o.message, 1, 1<<30, "bytes"),
		o.checkRate(),
		cli.Range("-delay", o.delay, 0, time.Second, "of one direction"),
		cli.Range("-rtt", o.rtt, 0, time.Second, "of round trip"),
		cli.Range("-seconds", o.seconds, 0, 1e6, "s"),
	)
}

// checkUnless checks a range; unless always, 0 is allowed, left to a default elsewhere.
func (o *options) checkUnless(always bool, name string, v, least, most uint, unit string) error {
	if !always && v == 0 {
		return nil
	}
	return cli.Range(name, v, least, most, unit)
}

func (o *options) checkRate() error {
	if !o.isSelf() && o.rate == 0 {
		return nil
	}
	return cli.Range("-rate", o.rate, 1e5, 1e12, "bits a second")
}

// misplaced objects to a flag set without effect on the chosen mode.
func (o *options) misplaced(f *flag.FlagSet) (err error) {
	f.Visit(func(g *flag.Flag) {
		switch g.Name {
		case "senders", "delay", "kmin", "kmax", "limit", "6", "seed":
			if !o.isSelf() {
				err = fmt.Errorf("-%s is of the bottleneck, which -listen, -connect and -compare do not have", g.Name)
			}
		case "port", "proto":
			if o.listen+o.connect == "" {
				err = fmt.Errorf("-%s goes with -listen or -connect", g.Name)
			}
		case "from", "P", "R":
			if o.connect == "" {
				err = fmt.Errorf("-%s goes with -connect", g.Name)
			}
		case "shards":
			if o.listen == "" {
				err = fmt.Errorf("-%s goes with -listen", g.Name)
			}
		case "rounds":
			if o.compare == "" {
				err = fmt.Errorf("-%s goes with -compare", g.Name)
			}
		case "bytes":
			if o.listen+o.compare != "" {
				err = fmt.Errorf("-%s changes nothing with -listen and -compare", g.Name)
			}
		case "paths", "rate", "rtt", "cwnd", "i":
			if o.compare != "" {
				err = fmt.Errorf("-%s changes nothing with -compare", g.Name)
			}
		case "ask":
			if o.isSelf() {
				err = fmt.Errorf("-%s goes with -listen, -connect or -compare", g.Name)
			}
		}
		if o.proto == "tcp" && slices.Contains([]string{"from", "shards", "cc", "mtu", "paths", "rate", "rtt", "cwnd"}, g.Name) {
			err = fmt.Errorf("-%s goes with -proto uet", g.Name)
		}
	})
	return err
}

// sendersMax is the most senders of a bottleneck.
const sendersMax = 32

// controls are the meanings of the words of -cc.
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

// An interval is a time on the command line: a number is of seconds.
type interval time.Duration

func (i *interval) String() string { return time.Duration(*i).String() }

func (i *interval) Set(s string) error {
	d, err := time.ParseDuration(s)
	if seconds, wrong := strconv.ParseFloat(s, 64); wrong == nil {
		d, err = time.Duration(seconds*1e9), nil
	}
	if err == nil && (d < 0 || d > time.Hour) {
		err = fmt.Errorf("%s, want 0 to 1h", d)
	}
	*i = interval(d)
	return err
}

// hostDelay is the time that the processes at both ends and the relay add to an idle round trip.
const hostDelay = 300 * time.Microsecond

// idle is the round trip through the idle bottleneck.
func (o *options) idle() time.Duration {
	packet := pds.NominalSize(8 + int(o.mtu) + 64)
	return 2*o.delay + hostDelay + time.Duration(float64(packet*8)/o.rate*1e9)
}
