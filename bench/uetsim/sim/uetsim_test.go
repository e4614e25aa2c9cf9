// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/fabric"
)

const workloads = "../../fabric/testdata/"

// uetsim runs the command and returns its status and both outputs.
func uetsim(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Main(args, Baselines(), &out, &errs)
	return status, out.String(), errs.String()
}

// Without arguments a newcomer sees the incast of figure 6-2 with and without
// congestion control, and every claim holds.
func TestDefaultIsTheIncast(t *testing.T) {
	status, out, errs := uetsim()
	require.Zero(t, status, errs)
	require.Empty(t, errs)
	for _, want := range []string{"figure 6-2", "without CC", "NSCC", "fairness", "last hop peak", "bound", "BDP 75000", "  ok  "} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "FAIL")
}

// Every scenario holds what the chapters claim of it, on endpoints and on the light
// transport, with more than one seed.
func TestScenarios(t *testing.T) {
	var asked []string
	for _, s := range scenarios {
		for _, flags := range [][]string{{"-seed", "1"}, {"-seed", "2"}, {"-node", "light"}, {"-node", "light", "-seed", "2"}} {
			if flags[0] == "-node" && slices.Contains(s.ignores, "node") {
				continue
			}
			t.Run(s.name+"/"+strings.Join(flags, " "), func(t *testing.T) {
				form := "-v"
				if flags[0] == "-seed" && flags[1] == "1" {
					form = "-json"
				}
				status, out, errs := uetsim(append(flags, "-scenario", s.name, form)...)
				require.Zero(t, status, errs)
				require.NotRegexp(t, `(?i)\branks?\b`, s.about+out, "ranks are the figures': transfers and queues have hosts")
				if form == "-json" {
					asked = append(asked, wants(t, out)...)
				} else {
					require.Contains(t, out, "what the chapters say")
				}
			})
		}
	}
	const file = "testdata/wants.txt"
	text := strings.Join(asked, "\n") + "\n"
	if *writeWants {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(is), text, "a scenario asks for something else: if that is right, run go test ./bench/uetsim/sim -run TestScenarios -args -wants")
}

var writeWants = flag.Bool("wants", false, "TestScenarios writes testdata/wants.txt")

// wants is the set-up of all runs, results on record, the transfers, the tables and notes, and what
// the claims want, without anything measured.
func wants(t *testing.T, out string) (all []string) {
	var r struct {
		Name, About string
		Runs        []struct {
			Name   string
			Result struct {
				Parameters map[string]any
				Transfers  []struct{ Src, Dst, Bytes int }
			}
		}
		Tables []table
		Oracle []oracle
		Claims []claim
		Notes  []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	add := func(format string, a ...any) {
		if line := fmt.Sprintf(format, a...); line == "" || !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	add("")
	add("%s: %s", r.Name, r.About)
	for _, run := range r.Runs {
		text := "run " + run.Name + ":"
		for _, key := range slices.Sorted(maps.Keys(run.Result.Parameters)) {
			if v := fmt.Sprint(run.Result.Parameters[key]); v != fmt.Sprint(r.Runs[0].Result.Parameters[key]) || run.Name == r.Runs[0].Name {
				text += fmt.Sprintf(" %s=%s", key, v)
			}
		}
		add("%s", text)
		for _, f := range run.Result.Transfers {
			add("transfer %d %d %d", f.Src, f.Dst, f.Bytes)
		}
	}
	for _, o := range r.Oracle {
		add("%v", o)
	}
	for _, model := range r.Tables {
		add("table %s: %q", model.Title, model.Columns)
		for _, row := range model.Rows {
			require.Len(t, row, len(model.Columns)+1, row)
			add("\t%s", row[0])
		}
	}
	for _, c := range r.Claims {
		add("%s", c.Text)
		all = append(all, "\twant "+c.Want)
	}
	for _, n := range r.Notes {
		add("note %s", measured.ReplaceAllString(n, "#"))
	}
	return all
}

var measured = regexp.MustCompile(`\d+(\.\d+)?`)

// A signal in any run of a scenario ends the scenario: what has come until then is partial.
func TestScenariosEndAtASignal(t *testing.T) {
	for _, name := range []string{"credit", "dfc", "network", "spine"} {
		calls, last := 0, math.MaxInt
		run := func() error {
			o, err := parseOptions([]string{"-scenario", name, "-node", "light", "-workers", "1"}, Baselines(), io.Discard)
			require.NoError(t, err)
			calls = 0
			o.stop = func() bool { calls++; return calls > last }
			_, err = o.execute()
			if part := new(partError); errors.As(err, &part) {
				_, wrong := o.finish(io.Discard, part.report, nil)
				require.NoError(t, wrong, "what there is can be printed, even of no run")
			}
			return err
		}
		require.NoError(t, run())
		all := calls
		for part := range 6 {
			last = all * part / 6
			require.ErrorAs(t, run(), new(*partError), "%s: after %d of %d", name, last, all)
		}
		last = all - 1
		require.ErrorAs(t, run(), new(*partError), "%s: in the last run", name)
	}
}

// A source fills half as much of the core as two, and that is not what the chapter says.
func TestCoreClaimNeedsBothSources(t *testing.T) {
	o, err := parseOptions([]string{"-scenario", "credit", "-node", "light"}, Baselines(), io.Discard)
	require.NoError(t, err)
	flows := []fabric.Flow{flow(0, 4, 16_000_000), flow(2, 4, 16_000_000)}
	for n := 1; n <= 2; n++ {
		r := o.newReport()
		require.NoError(t, r.coreClaim(o, flows[:n]))
		var percent float64
		_, err := fmt.Sscan(r.Claims[0].Got, &percent)
		require.NoError(t, err)
		require.InDelta(t, 25*n, percent, 0.5)
		require.Equal(t, n == 2, r.Claims[0].OK)
	}
}

// What overflows does so when the rates say, at other speeds, packet sizes and thresholds too.
func TestQueuesFillAtTheirRates(t *testing.T) {
	for scenario, want := range map[string]string{
		"incast": "ok   six line rates into one: their queue grows by 250000 bytes/us", "credit": "ok   two line rates into one",
		"link": "ok   two flows on one uplink", "spine": "ok   five line rates into four",
	} {
		for _, flags := range [][]string{{"-speed", "400"}, {"-speed", "400", "-packet", "9000"}, {"-speed", "400", "-rules", "htsim"}} {
			_, out, _ := uetsim(append(flags, "-scenario", scenario)...)
			require.Contains(t, out, want, flags)
		}
	}
}

// Seeds that are less lucky than most.
func TestScenariosWithHardSeeds(t *testing.T) {
	for _, tc := range [][2]string{{"hol", "5"}, {"link", "10"}} {
		status, _, errs := uetsim("-scenario", tc[0], "-seed", tc[1])
		require.Zero(t, status, errs)
	}
}

// The error of a run is the error of its scenario.
func TestScenariosFailWithTheirRuns(t *testing.T) {
	for _, s := range scenarios {
		if slices.Contains(s.ignores, "cwnd") {
			continue
		}
		status, out, errs := uetsim("-scenario", s.name, "-cwnd", "1")
		require.Equal(t, 2, status, s.name)
		require.Empty(t, out)
		require.Contains(t, errs, "InitialCwnd is 1")
	}
}

func TestListNamesEveryScenario(t *testing.T) {
	status, out, _ := uetsim("-list")
	require.Zero(t, status)
	require.Equal(t, len(scenarios)+1, strings.Count(out, "\n"), "and where the figures are")
	for _, name := range []string{"incast", "outcast", "link", "spine", "network"} {
		require.Contains(t, out, name)
	}
}

func TestMatrixComparesModes(t *testing.T) {
	status, out, errs := uetsim("-matrix", workloads+"incast.cm", "-cc", "none,nscc,observe", "-rules", "htsim", "-v")
	require.Zero(t, status, errs)
	require.Contains(t, out, "15 transfers between 16 nodes")
	for _, want := range []string{"none", "nscc", "observe", "took", "first trim us"} {
		require.Contains(t, out, want)
	}
}

func TestMatrixWithTopology(t *testing.T) {
	status, out, errs := uetsim("-matrix", workloads+"perm_32n_32c_2MB.cm", "-topo", workloads+"leaf_spine_tiny.topo")
	require.Zero(t, status, errs)
	require.Contains(t, out, "base RTT 9.364 us")
}

// JSON is one value that describes the run completely, and always the same.
func TestJSON(t *testing.T) {
	args := []string{"-matrix", workloads + "one.cm", "-json", "-speed", "400", "-paths", "16", "-entropy", "reps", "-trim=false", "-cwnd", "50000", "-hop", "0.5"}
	status, out, errs := uetsim(args...)
	require.Zero(t, status, errs)
	var r struct {
		Runs []struct {
			Result struct {
				Parameters map[string]any `json:"parameters"`
				Totals     map[string]any `json:"totals"`
			} `json:"result"`
		} `json:"runs"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	p := r.Runs[0].Result.Parameters
	require.EqualValues(t, 16, p["entropy_values"])
	require.Equal(t, "reps", p["entropy"])
	require.Equal(t, false, p["trim"])
	require.EqualValues(t, 50_000, p["initial_cwnd_bytes"])
	require.EqualValues(t, 6.51168, p["base_rtt_us"])
	require.EqualValues(t, 489, r.Runs[0].Result.Totals["new"])
	_, again, _ := uetsim(args...)
	require.Equal(t, out, again)
}

func TestFailuresSetTheStatus(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.topo")
	require.NoError(t, os.WriteFile(bad, []byte("Nodes 16\nColour 3\n"), 0o600))
	one := workloads + "one.cm"
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"the shipped a2a.cm is malformed", []string{"-matrix", workloads + "a2a.cm"}, 2, "a2a.cm:2: the header says Connections 3600, the file holds 240"},
		{"a topology with an unknown field", []string{"-matrix", one, "-topo", bad}, 2, `bad.topo:2: unknown field "Colour"`},
		{"no such file", []string{"-matrix", "nowhere.cm"}, 2, "nowhere.cm"},
		{"no such scenario", []string{"-scenario", "outage"}, 2, `no scenario "outage", there are: `},
		{"no such flag", []string{"-colour"}, 2, "flag provided but not defined"},
		{"no such mode", []string{"-matrix", one, "-cc", "bbr"}, 2, `-cc "bbr"`},
		{"no such scheme", []string{"-entropy", "luck"}, 2, `-entropy "luck"`},
		{"no such node", []string{"-node", "nic"}, 2, `-node "nic"`},
		{"endpoints by the rules of another", []string{"-node", "endpoint", "-rules", "htsim"}, 2, "-rules htsim are rules of -node light"},
		{"no such rules", []string{"-rules", "none"}, 2, `-rules "none"`},
		{"an argument", []string{"incast"}, 2, `unexpected argument "incast"`},
		{"topology alone", []string{"-topo", bad}, 2, "-topo needs -matrix"},
		{"scenario and matrix", []string{"-scenario", "incast", "-matrix", one}, 2, "exclude each other"},
		{"a scenario compares what it likes", []string{"-scenario", "incast", "-cc", "rccc"}, 2, "-cc needs -matrix"},
		{"nothing fails", []string{"-scenario", "link", "-reroute", "5"}, 2, "-reroute needs -fail"},
		{"a topology has its own speed", []string{"-matrix", one, "-topo", bad, "-speed", "400"}, 2, "-speed and -topo exclude each other"},
		{"packets of a model", []string{"-scenario", "hol", "-pcap", bad}, 2, "-pcap changes nothing in scenario hol"},
		{"credit that nobody grants", []string{"-first-credit", "9000"}, 2, "-first-credit changes nothing in scenario incast"},
		{"credit that no run grants", []string{"-matrix", one, "-first-credit", "9000"}, 2, "-first-credit needs -cc rccc or both"},
		{"paths that the scenario compares", []string{"-scenario", "link", "-paths", "4"}, 2, "-paths changes nothing in scenario link"},
		{"no seed is like the figure", []string{"-scenario", "link", "-end", "10"}, 2, "of seeds 1 to 64 none shows"},
		{"not a capture", []string{"decode", one}, 2, one},
		{"no speed", []string{"-speed", "0"}, 2, "-speed is 0, want 0.001 to 35000 Gb/s"},
		{"no latency", []string{"-matrix", one, "-hop", "0"}, 2, "-hop is 0, want"},
		{"paths that are no power of two", []string{"-matrix", one, "-paths", "3"}, 2, "power of two"},
		{"too little time", []string{"-matrix", one, "-end", "50"}, 1, "1 transfers did not finish"},
		{"a claim that cannot hold", []string{"-scenario", "incast", "-cwnd", "4240"}, 1, "claim does not hold"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, _, errs := uetsim(tc.args...)
			require.Equal(t, tc.status, status)
			require.Contains(t, errs, tc.want)
			if status == 2 {
				require.Equal(t, 1, strings.Count(errs, "\n"), errs)
			}
		})
	}
	status, _, errs := uetsim("-h")
	require.Zero(t, status)
	require.Contains(t, errs, "-matrix")
}

// What htsim came to is on record for the chapters' fabric only.
func TestRecordsStandBesideTheirLike(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want bool
	}{{[]string{"-seed", "3"}, true}, {[]string{"-speed", "400"}, false}} {
		_, out, _ := uetsim(tc.args...)
		require.Equal(t, tc.want, strings.Contains(out, "on record"), tc.args)
	}
}

// An output that cannot be written to is an error, not a silent half report.
func TestWriteError(t *testing.T) {
	require.Equal(t, 2, Main([]string{"-matrix", workloads + "one.cm"}, nil, failingWriter{}, &bytes.Buffer{}))
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }
