// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/uetcc/uetcc/bench/fabric"
)

// FuzzFabricMatrix feeds arbitrary text to the parser of connection matrices:
// it must not panic, every error names a line, and what it accepts is
// consistent.
func FuzzFabricMatrix(f *testing.F) {
	f.Add([]byte("Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n"))
	f.Add([]byte("Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 1.5 size 9 send_done_trigger 1\n1->0 id 2 trigger 1 size 9\ntrigger id 1 barrier count 1"))
	f.Add([]byte("Nodes 2\nConnections 1\nFailures 1\n0->1 id 1 msg 3 start 0 size 1 prio 2\nfailure switch_type TOR switch_id 0 link_id 1"))
	f.Add([]byte("Nodes 2\nConnections 1\n0->1 start 0 trigger 1 size 1")) // both: an error
	f.Add([]byte("Connections 1\n0->1 start 0 size 1"))                    // Nodes is missing
	f.Add([]byte("Nodes 2\r\n-> \x00 start"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := fabric.ParseMatrix("in", bytes.NewReader(in))
		if err != nil {
			requireParseError(t, err)
			return
		}
		triggers := map[int64]bool{0: true}
		for _, tr := range m.Triggers {
			triggers[tr.ID] = true
		}
		for _, fl := range m.Flows {
			switch {
			case fl.Src == fl.Dst, min(fl.Src, fl.Dst) < 0, max(fl.Src, fl.Dst) >= m.Nodes:
				t.Fatalf("ends of %+v with %d nodes", fl, m.Nodes)
			case fl.Size < 1, fl.Start < 0, fl.Start != 0 && fl.Trigger != 0:
				t.Fatalf("size or start of %+v", fl)
			case !triggers[fl.Trigger] || !triggers[fl.SendDone] || !triggers[fl.RecvDone]:
				t.Fatalf("unknown trigger in %+v", fl)
			}
		}
	})
}

// FuzzFabricTopology does the same for topology files; what is accepted must
// also validate again and have a finite base round trip.
func FuzzFabricTopology(f *testing.F) {
	f.Add([]byte("Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n"))
	f.Add([]byte("Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 1\nRadix_Down 2\nRadix_Up 2\nTier 1\nDownlink_speed_Gbps 1\nRadix_Down 2\nRadix_Up 2\nBundle 1\nTier 2\nDownlink_speed_Gbps 1\nRadix_Down 4\nSwitch_Latency_ns 99999999999"))
	f.Add([]byte("Tier 0\nTiers 2"))
	f.Add([]byte("Nodes 1\nTiers 2\nTier 1\nRadix_Up 1\nQueue_Up 99999999999999999999"))
	f.Fuzz(func(t *testing.T, in []byte) {
		topo, err := fabric.ParseTopology("in", bytes.NewReader(in))
		if err != nil {
			requireParseError(t, err)
			return
		}
		if err := topo.Validate(); err != nil {
			t.Fatalf("parsed, but %v", err)
		}
		if rtt := topo.BaseRTT(4150, 64); rtt <= 0 {
			t.Fatalf("base round trip %v", rtt)
		}
	})
}

func requireParseError(t *testing.T, err error) {
	t.Helper()
	var pe *fabric.ParseError
	if !errors.As(err, &pe) || pe.Line < 1 || pe.File != "in" || pe.Msg == "" {
		t.Fatalf("%#v names no line", err)
	}
}

// FuzzFabricExperiments does the same for files of experiments. What is accepted must lead to a
// configuration, or to an error that names a line or a file.
func FuzzFabricExperiments(f *testing.F) {
	f.Add([]byte("a.cm\n!Experiment One\n!Binary ./htsim_uec\n!Param -end 1000\n!tailFCT 180\n!FCT Uec_0_1 20.5\n!continue\n"))
	f.Add([]byte("a.cm\n!Binary htsim_uec\n!Param -topo a.topo -q 50 -ecn  12   37 -cwnd 75 -sender_cc_only -sleek -disable_trim\n"))
	f.Add([]byte("a.cm\n!Binary htsim_uec\n!Param -receiver_cc\n!Param -paths 3 -mtu 1500 -tiers 2 -linkspeed 1e5 -qa_gate -1 -strat ecmp_ar\n"))
	f.Add([]byte("!Param -end 3\na.cm"))                       // parameters of nothing
	f.Add([]byte("a.cm\n!Binary htsim_uec\n!Param -ecn 1"))    // a value is missing
	f.Add([]byte("../a.cm\n!Binary htsim_uec\n!Param -q NaN")) // out of the folder, no number
	files := fstest.MapFS{
		"a.cm":   {Data: []byte("Nodes 8\nConnections 1\n0->1 start 0 size 9000\n")},
		"a.topo": {Data: []byte("Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n")},
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := fabric.ParseExperiments("in", bytes.NewReader(in))
		if err != nil {
			requireParseError(t, err)
			return
		}
		for _, e := range list[:min(len(list), 3)] {
			c, err := e.Config(files)
			var path *fs.PathError
			switch {
			case errors.As(err, &path):
				continue
			case err != nil:
				requireParseError(t, err)
				continue
			}
			c.End = min(c.End, 10_000_000) // 10 us
			if r, err := fabric.Run(c); err == nil && len(r.Violations) > 0 {
				t.Fatalf("%q: %q", in, r.Violations)
			}
		}
	})
}

// FuzzFabricFault feeds arbitrary text to the parser of faults: what it accepts reads again as the
// same from what it prints.
func FuzzFabricFault(f *testing.F) {
	for _, seed := range []string{"leaf0.1:down@100-400", "agg2:rate=0.25@0", "host5:loss=0.01@1.5-2.5", "core4:down@1e3", "leaf.:loss=NaN@-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		fault, err := fabric.ParseFault(in)
		if err != nil {
			if !errors.Is(err, fabric.ErrConfig) {
				t.Fatal(err)
			}
			return
		}
		again, err := fabric.ParseFault(fault.String())
		if err != nil || again != fault {
			t.Fatalf("%q is %+v, and %v is %+v, %v", in, fault, fault, again, err)
		}
	})
}
