// SPDX-License-Identifier: Apache-2.0

package uetcc_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc"
	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/internal/pdc"
	"github.com/uetcc/uetcc/nscc"
	"github.com/uetcc/uetcc/pds"
	"github.com/uetcc/uetcc/rccc"
	"github.com/uetcc/uetcc/ses"
)

// An address is all that a configuration needs.
func TestConfigDefaults(t *testing.T) {
	newEnd(t, uetcc.Config{Address: netip.MustParseAddr("10.0.0.1")})
}

// Whatever part is wrong, the error is this package's and that of the part's package, names
// the field, and comes without an endpoint.
func TestConfigErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong func(*uetcc.Config)
		also  error
		text  string
	}{
		"root":              {func(c *uetcc.Config) { c.Answers = -1 }, nil, "Answers"},
		"root, too much":    {func(c *uetcc.Config) { c.Answers = 65536 }, nil, "Answers"},
		"contexts":          {func(c *uetcc.Config) { c.Contexts = -2 }, nil, "Contexts"},
		"address":           {func(c *uetcc.Config) { c.Address = netip.Addr{} }, nil, "Address"},
		"ses target":        {func(c *uetcc.Config) { c.Target.Regions = -1 }, ses.ErrConfig, "Regions"},
		"ses pending":       {func(c *uetcc.Config) { c.Target.Pending = -1 }, ses.ErrConfig, "Pending"},
		"ses initiator":     {func(c *uetcc.Config) { c.Retries = 51 }, ses.ErrConfig, "Retries"},
		"ses messages":      {func(c *uetcc.Config) { c.Messages = -1 }, nil, "Messages"},
		"ses MTU":           {func(c *uetcc.Config) { c.MTU = 1500 }, ses.ErrConfig, "MTU"},
		"pdc":               {func(c *uetcc.Config) { c.PDS.RTOInit = -1 }, pdc.ErrConfig, "RTOInit"},
		"pdc range, below":  {func(c *uetcc.Config) { c.PDS.Range = -1 }, pdc.ErrConfig, "Range"},
		"pdc range, above":  {func(c *uetcc.Config) { c.PDS.Range = math.MaxInt }, pdc.ErrConfig, "Range"},
		"pdc idle":          {func(c *uetcc.Config) { c.PDS.IdleTime = 1_000_000 }, pdc.ErrConfig, "IdleTime"},
		"pdc pending":       {func(c *uetcc.Config) { c.PDS.PendTimeout = -1 }, pdc.ErrConfig, "PendTime"},
		"pdc table":         {func(c *uetcc.Config) { c.PDCs.Kept = -1 }, pdc.ErrConfig, "Kept"},
		"pdc manager":       {func(c *uetcc.Config) { c.Waiting = 65536 }, pdc.ErrConfig, "Waiting"},
		"pdc RUDI":          {func(c *uetcc.Config) { c.RUDI = 65536 }, pdc.ErrConfig, "RUDI"},
		"pdc memory":        {func(c *uetcc.Config) { c.Memory.Chunks = -1 }, pdc.ErrConfig, "Chunks"},
		"pdc buffers":       {func(c *uetcc.Config) { c.PDS.BufferROD, c.Memory.Buffers = true, 65536 }, pdc.ErrConfig, "Buffers"},
		"ccc":               {func(c *uetcc.Config) { c.CC.Control = 77 }, ccc.ErrConfig, "Control"},
		"ccc entropy":       {func(c *uetcc.Config) { c.CC.Entropy.Values = 3 }, ccc.ErrConfig, "Values"},
		"nscc":              {func(c *uetcc.Config) { c.CC.NSCC.BaseRTT = -1 }, nscc.ErrConfig, "BaseRTT"},
		"rccc":              {func(c *uetcc.Config) { c.CC.RCCC.InitialCredit = -1 }, rccc.ErrConfig, "InitialCredit"},
		"rccc receiver":     {func(c *uetcc.Config) { c.Receiver.Utilisation = 2 }, rccc.ErrConfig, "Utilisation"},
		"rccc pull policy":  {func(c *uetcc.Config) { c.Receiver.MaxCredit = -1 }, rccc.ErrConfig, "MaxCredit"},
		"rccc RTT":          {func(c *uetcc.Config) { c.CC.RCCC.RTT = 99 }, rccc.ErrConfig, "RTT is 99, want 100 to"},
		"rccc rate, below":  {func(c *uetcc.Config) { c.CC.NSCC.LinkRate = 124_999 }, nil, "CC.NSCC.LinkRate"},
		"rccc rate, above":  {func(c *uetcc.Config) { c.CC.NSCC.LinkRate = 1e12 + 1 }, nil, "CC.NSCC.LinkRate"},
		"rccc own rate":     {func(c *uetcc.Config) { c.Receiver.Rate = 124_999 }, rccc.ErrConfig, "Rate is 124999, want 125000 to 1000000000000"},
		"nscc receiver":     {func(c *uetcc.Config) { c.CC.NSCC.ReceiverRate, c.CC.NSCC.Trimming = 1, true }, nscc.ErrConfig, "1.5 x ReceiverRate x BaseRTT"},
		"rccc with senders": {func(c *uetcc.Config) { c.Receiver.Senders = -1 }, rccc.ErrConfig, "Senders"},
	} {
		t.Run(name, func(t *testing.T) {
			c := uetcc.Config{Address: netip.MustParseAddr("10.0.0.1"), PDCs: pdc.TableConfig{General: 8}}
			c.CC.Control = ccc.ControlBoth
			tt.wrong(&c)
			e, err := uetcc.NewEndpoint(c)
			require.Nil(t, e)
			require.ErrorIs(t, err, uetcc.ErrConfig)
			if tt.also != nil {
				require.ErrorIs(t, err, tt.also)
			}
			require.ErrorContains(t, err, tt.text)
		})
	}
}

// No part panics over a negative number, in whatever field: it is refused, or has a meaning,
// or the part is not in use.
func TestConfigNegative(t *testing.T) {
	var walk func(path string, at func(*uetcc.Config) reflect.Value)
	walk = func(path string, at func(*uetcc.Config) reflect.Value) {
		v := at(new(uetcc.Config))
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					walk(path+"."+f.Name, func(c *uetcc.Config) reflect.Value { return at(c).Field(i) })
				}
			}
		case reflect.Int, reflect.Int64, reflect.Float64:
			for _, control := range []ccc.Control{ccc.ControlNSCC, ccc.ControlBoth} {
				c := uetcc.Config{Address: netip.MustParseAddr("10.0.0.1"), PDCs: pdc.TableConfig{General: 8}}
				c.CC.Control = control
				if v = at(&c); v.CanInt() {
					v.SetInt(-1)
				} else {
					v.SetFloat(-1)
				}
				require.NotPanics(t, func() {
					if _, err := uetcc.NewEndpoint(c); err != nil {
						require.ErrorIs(t, err, uetcc.ErrConfig, path)
					}
				}, path)
			}
		}
	}
	walk("Config", func(c *uetcc.Config) reflect.Value { return reflect.ValueOf(c).Elem() })
}

// A window beyond what credit counts bounds no credit: the largest credit takes its place.
func TestConfigWindowBeyondCredit(t *testing.T) {
	c := uetcc.Config{Address: netip.MustParseAddr("10.0.0.1"), PDCs: pdc.TableConfig{General: 8}}
	underCells(ccc.ControlNSCC, 1<<20)(&c)
	c.CC.NSCC.LinkRate, c.CC.NSCC.BaseRTT = 50_000_000_000, 20_000_000
	_, err := uetcc.NewEndpoint(c)
	require.NoError(t, err)
}

// What the PDS can be told, an Endpoint can: each of these changes what it does.
func TestConfigPDS(t *testing.T) {
	for _, method := range []pdc.StartMethod{pdc.StartRandom1RTT, pdc.StartExpected0RTT} {
		t.Run(method.String(), func(t *testing.T) {
			n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.Start = method })
			n.write(ses.ModeRUD, 3*netMTU)
			n.endWell(n.ends[0], 1)
			require.NotZero(t, n.ends[1].e.PDS().Stats().NACKs, "NEW_START_PSN")
			require.EqualValues(t, 3, n.ends[1].e.PDS().Stats().Requests)
		})
	}
	t.Run("PendTimeout", func(t *testing.T) {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) {
			c.PDS.PendTimeout, c.PDCs.Initiators = 700<<10, 1 // of the unit of timers
		})
		n.cut[pdc.AddrFrom(n.ends[1].addr)] = true
		n.write(ses.ModeRUD, netMTU)
		n.write(ses.ModeROD, netMTU)
		n.run(func() bool { return len(n.ends[0].events) == 1 })
		require.Equal(t, pdc.CausePending, n.ends[0].events[0].Cause)
		require.EqualValues(t, 700<<10, n.now)
	})
	t.Run("CloseThresh", func(t *testing.T) {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { c.PDS.CloseThresh = 1 })
		for i, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
			n.write(mode, netMTU)
			n.run(func() bool { return len(n.ends[0].events) == i+1 })
		}
		n.run(func() bool { return n.ends[0].e.Usage().PDCs == 1 })
		require.Less(t, n.now, int64(1_000_000), "long before the first one has been idle for long")
	})
}

// A path of milliseconds needs to be known to NSCC alone: the timers of delivery follow.
func TestConfigLongPath(t *testing.T) {
	for _, mode := range []ses.Mode{ses.ModeRUD, ses.ModeROD} {
		for _, told := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/BaseRTT set %v", mode, told), func(t *testing.T) {
				n := newNetwork(t, 1, netFaults{delay: 10_000_000, mark: .1}, 2, func(c *uetcc.Config) {
					c.PDS = pdc.Config{InferLoss: true}
					if told {
						c.CC.NSCC.BaseRTT = 20_000_000
					}
				})
				check, a, b := traffic(n, mode), n.ends[0], n.ends[1]
				n.run(func() bool { return a.e.Usage().Messages == 0 && b.e.Usage().Answers == 0 })
				check()
				again := uint64(0)
				for _, end := range n.ends {
					s := end.e.PDS().Stats()
					again += s.RTOs + s.Resent + s.Duplicates + s.Inferred
				}
				require.Equal(t, told, again == 0, "%d packets or time-outs too many", again)
			})
		}
	}
}

// An endpoint that starts again with another seed is not taken for its former life: what its
// peer, which still has PDCs with that one, acknowledges, it has delivered.
func TestSeedOfANewLife(t *testing.T) {
	for seed := range uint64(32) {
		var c uetcc.Config
		n := newNetwork(t, 1, netFaults{}, 2, func(each *uetcc.Config) {
			if each.PDCs.General = 2; c.Address == (netip.Addr{}) {
				c = *each
			}
		})
		a, b := n.ends[0], n.ends[1]
		n.write(ses.ModeRUD, 3*netMTU)
		n.run(func() bool { return len(a.events) == 1 })
		c.Seed, c.Now = c.Seed+1+seed, n.now
		a.e = newEnd(t, c)
		cookie := n.write(ses.ModeRUD, 3*netMTU)
		n.run(func() bool { return len(a.events) == 2 })
		delivered := a.events[1].Outcome.Status == ses.StatusOK
		require.Equal(t, delivered, bytes.Equal(a.local[cookie], b.mem[:3*netMTU]))
		if !delivered { // one of its few PDCIDs is in use
			require.Equal(t, pdc.Cause(pds.NackInvalidSYN), a.events[1].Cause)
		}
	}
}

// An endpoint that starts again with the zero configuration is not taken for its former life.
// While 0 was a seed like any other, each of these second writes ended with StatusOK and 0 of
// its 20,000 bytes at the target.
func TestRestartWithoutASeed(t *testing.T) {
	for range 64 {
		n := newNetwork(t, 1, netFaults{}, 2, func(c *uetcc.Config) { *c = uetcc.Config{Address: c.Address} })
		a, b := n.ends[0], n.ends[1]
		n.write(ses.ModeRUD, 20_000)
		n.run(func() bool { return len(a.events) == 1 })
		clear(b.mem)
		a.e = newEnd(t, uetcc.Config{Address: a.addr, Now: n.now})
		cookie := n.write(ses.ModeRUD, 20_000)
		n.run(func() bool { return len(a.events) == 2 })
		delivered := bytes.Equal(a.local[cookie], b.mem[:20_000])
		require.True(t, delivered || a.events[1].Outcome.Status != ses.StatusOK, "%+v", a.events[1])
	}
}

// Users copy examples, and a seed that they copy is one that everybody knows: none has any.
func TestNoExampleSetsASeed(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "example") || !strings.HasSuffix(d.Name(), ".go") {
			return err
		}
		found++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is {
				require.NotEqual(t, "seed", strings.ToLower(id.Name), path)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 15)
}

// The same configuration and the same calls give the same packets: PDCIDs, Start_PSNs and
// paths come from the seed, and those of another seed, or of none, are others.
func TestSeedDecides(t *testing.T) {
	first := func(seed uint64) uetcc.Datagram {
		e, err := uetcc.NewEndpoint(uetcc.Config{Address: netip.MustParseAddr("10.0.0.1"), Seed: seed})
		require.NoError(t, err)
		_, err = e.Write(0, &uetcc.Message{To: uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2")}, Length: 1})
		require.NoError(t, err)
		out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
		require.True(t, e.Transmit(0, &out))
		return out
	}
	for seed := range uint64(8) {
		require.Equal(t, first(seed+1), first(seed+1))
	}
	require.NotEqual(t, first(1).Packet, first(2).Packet)
	require.NotEqual(t, first(0).Packet, first(0).Packet, "no seed is a random one")
}

// The MTU of a window is the largest packet, to the byte: a window cut to what two packets
// brought through lets two go.
func TestConfigWindowOfTwoPackets(t *testing.T) {
	for control := range ccc.ControlBoth + 1 {
		if control == ccc.ControlNone || control == ccc.ControlRCCC {
			continue
		}
		t.Run(control.String(), func(t *testing.T) {
			c := uetcc.Config{Address: netip.MustParseAddr("10.0.0.1")}
			c.CC.Control = control
			to := uetcc.Destination{Address: netip.MustParseAddr("10.0.0.2"), Job: 1}
			sent := func() (packets int, size int64) {
				e := newEnd(t, c)
				_, err := e.Write(0, &uetcc.Message{To: to, Key: 1, Length: 1 << 20})
				require.NoError(t, err)
				out := uetcc.Datagram{Packet: make([]byte, 0, uetcc.HeaderMax)}
				for e.Transmit(0, &out) {
					size = max(size, out.Size)
					out.Packet = out.Packet[:0]
					packets++
				}
				return packets, size
			}
			_, size := sent()
			c.CC.NSCC.InitialCwnd = 2 * size
			packets, _ := sent()
			require.Equal(t, 2, packets, "a full one is %d bytes", size)
		})
	}
}
