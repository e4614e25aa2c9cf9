// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryJobNamesBenchmarksThatExist(t *testing.T) {
	exist := [len(sides)]map[string]bool{}
	for i, globs := range [len(sides)][]string{
		{"../*_test.go", "../fabric/*_test.go", "../../internal/pdc/*_test.go"},
		{"../peers/*/*_test.go"},
	} {
		exist[i] = map[string]bool{}
		for _, g := range globs {
			files, err := filepath.Glob(g)
			require.NoError(t, err)
			for _, f := range files {
				src, err := os.ReadFile(f)
				require.NoError(t, err)
				for _, m := range regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`).FindAllStringSubmatch(string(src), -1) {
					exist[i][m[1]] = true
				}
			}
		}
	}
	has := func(side int, name string) {
		top, _, _ := strings.Cut(name, "/")
		require.True(t, exist[side][top], "%s has no Benchmark%s", sides[side].name, top)
	}
	what := map[string]bool{}
	var all []job
	for _, c := range chapters {
		require.Positive(t, c.every)
		all = append(all, c.jobs...)
	}
	for _, j := range all {
		require.False(t, what[j.what], "%s: twice", j.what)
		what[j.what] = true
		require.NotEmpty(t, j.rivals, j.what)
		has(0, j.ours)
		for _, r := range j.rivals {
			has(sideOf(r.kind), r.name)
		}
	}
}

func TestExactlyMatchesNothingElse(t *testing.T) {
	require.Equal(t, `^BenchmarkA$/^x\.y$|^BenchmarkA$/^x\.y$/^z\+1$`, exactly([]string{"A/x.y/z+1", "A/x.y"}))
}

func TestParseRound(t *testing.T) {
	const text = `BenchmarkLost-2 1 1 ns/op
== ours A/n=1
goos: linux
cpu: A CPU @ 2 GHz
BenchmarkA/n=1-2     	 1000	  12.5 ns/op	  88 B/entry	       0 B/op	       0 allocs/op
BenchmarkA/chan-128-2	 1000	  7 ns/op
BenchmarkBroken
Benchmark text that is none of ours
PASS
== peers A/n=1
BenchmarkFloor/x-2 10 5 ns/op
== strangers A/n=1
BenchmarkFloor/x-2 10 6 ns/op
`
	r := parseRound(text, 2)
	require.Equal(t, "A CPU @ 2 GHz", r.cpu)
	require.Len(t, r.jobs, 1)
	both := r.jobs["A/n=1"]
	require.Equal(t, figures{
		"A/n=1":      {"ns/op": 12.5, "B/entry": 88, "B/op": 0, "allocs/op": 0},
		"A/chan-128": {"ns/op": 7},
	}, both[0])
	require.Equal(t, figures{"Floor/x": {"ns/op": 5}}, both[1])

	one := parseRound("== ours A\nBenchmarkA/chan-128 10 5 ns/op\n", 1)
	require.Contains(t, one.jobs["A"][0], "A/chan-128", "one core appends no number")
}

func TestTimeIsThatOfAPacketIfThereIsOne(t *testing.T) {
	r := parseRound("== ours A\nBenchmarkA 10 320 ns/op 10 ns/packet\nBenchmarkB 10 5 ns/op\n", 1)
	j := &job{ours: "A"}
	v, ok := r.time(j, 0, "A", "")
	require.True(t, ok)
	require.Equal(t, 10.0, v)
	v, _ = r.time(j, 0, "B", "")
	require.Equal(t, 5.0, v)
	_, ok = r.time(j, 0, "C", "")
	require.False(t, ok)
	v, _ = r.time(j, 0, "A", "ns/op")
	require.Equal(t, 320.0, v, "unless another unit is named")
	_, ok = r.time(j, 0, "A", "ns/seg")
	require.False(t, ok)
}

func TestGrowthIsComparedWithGrowth(t *testing.T) {
	r := parseRound("== ours A/cores=2\nBenchmarkA/cores=1 1 10 quiet-ns/op\nBenchmarkA/cores=2 1 13 quiet-ns/op\n"+
		"== peers A/cores=2\nBenchmarkFloor/cores=1 1 20 quiet-ns/op\nBenchmarkFloor/cores=2 1 25 quiet-ns/op\n", 1)
	jobs := []job{{"on two cores", "A/cores=2", []rival{{kind: kindFloor, name: "Floor/cores=2", unit: "quiet-ns/op", ofOurs: "quiet-ns/op"}, growthOnCores("Floor/cores=2")}}}
	rows := rowsOf(jobs, []round{r})
	require.InDelta(t, 13.0/25, rows[0].ratio, 1e-9)
	require.InDelta(t, 1.3/1.25, rows[1].ratio, 1e-9)
	require.Equal(t, "Floor/cores=2 from cores=1", rows[1].against())
	require.Equal(t, "<= 1.11", goal(&rows[1]))
	require.Equal(t, "met", rows[1].verdict())
	delete(r.jobs["A/cores=2"][1], "Floor/cores=1")
	require.Equal(t, "not measured", rowsOf(jobs, []round{r})[1].verdict())
}

func TestSpread(t *testing.T) {
	require.Equal(t, spread{}, spreadOf(nil))
	require.Equal(t, spread{1, 3, 1, 9}, spreadOf([]float64{9, 1, 3}))
	require.Equal(t, spread{1, 2.5, 1, 4}, spreadOf([]float64{4, 1, 2, 3}))
	v := make([]float64, 31)
	for i := range v {
		v[i] = float64(31 - i)
	}
	require.Equal(t, spread{4, 16, 1, 31}, spreadOf(v), "three of 31 rounds were quicker")
	require.Equal(t, spread{2, 4, 1.0 / 4, 31}, spreadOf(v).over(spread{2, 4, 1, 4}))
	require.Equal(t, spread{}, spreadOf(v).over(spread{}))
}

var testJobs = []job{
	{"decode <this>", "A/n=1", []rival{
		floor("Floor/x", 1.5), peer("Peer/y", 0.5), own("B", 0), peer("Gone", 1), peerIn("ns/seg", "Peer/y", 0.5)}},
}

// testRounds are three rounds, of which one disturbed ours and one the peer.
func testRounds() (rounds []round) {
	for _, v := range []struct{ a, floor, peer string }{{"12", "10", "30"}, {"90", "10", "20"}, {"14", "8", "40"}} {
		rounds = append(rounds, parseRound("== ours A/n=1\nBenchmarkA/n=1 1 "+v.a+" ns/op 1 allocs/op\nBenchmarkB 1 7 ns/op\n"+
			"== peers A/n=1\nBenchmarkFloor/x 1 "+v.floor+" ns/op\nBenchmarkPeer/y 1 "+v.peer+" ns/op 48 ns/seg\n", 1))
	}
	return rounds
}

func TestVerdictIsThatOfTheQuietRounds(t *testing.T) {
	rows := rowsOf(testJobs, testRounds())
	require.Len(t, rows, 5)
	require.Equal(t, spread{12, 14, 12, 90}, rows[0].ours)
	require.Equal(t, 12.0/8, rows[0].ratio)
	require.Equal(t, 14.0/10, rows[0].medians)
	require.Equal(t, [2]float64{1.2, 9}, [2]float64{rows[0].least, rows[0].largest})
	require.Equal(t, "met (1 of 3 parts)", rows[0].verdict())
	require.Equal(t, "missed (2 of 3 parts), not by medians", rows[1].verdict(), "12 of 20, 14 of 30")
	require.Equal(t, 12.0/7, rows[2].ratio)
	require.Empty(t, rows[2].verdict(), "no goal, no verdict")
	require.Equal(t, "not measured", rows[3].verdict())
	require.Equal(t, 12.0/48, rows[4].ratio)
	require.Equal(t, "Peer/y, ns/seg", rows[4].against())
	require.Equal(t, "2 of 3 goals met in this run, 3 by the medians. Ours that allocate: A/n=1. No figure for: Gone.", (&result{tables: []comparison{{rows: rows}}}).summary())
}

func TestSimulatorIsComparedByStandIn(t *testing.T) {
	text := ""
	for _, ns := range []string{"900", "700", "800"} {
		text += "== ours " + node128 + "\nBenchmark" + node128 + " 1 70 ns/op " + ns + " cpu-ns/data-packet 70 cpu-ns/event 12 peak-MB 800000 data-packets/cpu-s 14 events/data-packet\n" +
			"== peers " + node128 + "\nBenchmarkHold/n=1024/container-heap 1 286 ns/op\n"
	}
	r := newResult(about{}, []chapter{{"The simulator", 1, simulator}}, []round{parseRound(text, 1)})
	rows := r.rows()
	require.InDelta(t, 800/(2*23*310.0), rows[0].ratio, 1e-9, "the last of the round")
	require.InDelta(t, 70/(2*310.0), rows[1].ratio, 1e-9)
	require.Equal(t, "Hold/n=1024/container-heap x 2.17", rows[1].against())
	require.Equal(t, "not measured", rows[2].verdict())
	require.Len(t, simulated(r.rounds), 1)
	require.Contains(t, r.markdown(), "### The simulator")
	require.Contains(t, r.markdown(), "| in cpu-ns/event | 70.0 |")
	require.Contains(t, r.markdown(), "| a simulation of 128 nodes, the process at its peak | 12.0 MB | <= 15 | htsim 15 | met |")
}

func TestJobsThatAreNotDueAreLeftOut(t *testing.T) {
	f := &fakeGo{t: t}
	b, err := build(&options{}, f.run, t.TempDir())
	require.NoError(t, err)
	some := []chapter{{"", 1, jobs[:1]}, {"", 2, jobs[:1]}}
	for n, want := range []int{2, 1, 2} {
		text, err := b.round(n, some)
		require.NoError(t, err)
		require.Equal(t, want, strings.Count(text, header+"ours"), "round %d", n)
	}
}

func TestMarkdownGoesBetweenTheMarkers(t *testing.T) {
	table := newResult(about{CPU: "X", Command: "go run ./bench/report", Rounds: 3, Benchtime: "5ms"}, []chapter{{"", 1, testJobs}}, testRounds()).markdown()
	require.Contains(t, table, "| decode <this> | 12.0 | 14.0 [12.0 .. 90.0] | `Floor/x` | 8.00 | 10.0 [8.00 .. 10.0] | 1.50 [1.20 .. 9.00] | 1.40 | <= 1.5 | met (1 of 3 parts) |\n")
	require.Contains(t, table, "|  |  |  | `own B` |")
	require.Contains(t, table, "| `Gone` | - | - | - | - | <= 1 | not measured |\n")
	require.Contains(t, table, "3 rounds of 5ms each")
	require.Contains(t, table, "\n### Memory\n\n| memory of | ours |")

	path := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, writeMarked(path, table), "a file that is not there is made")
	require.NoError(t, writeMarked(path, "second\n"))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, markBegin+"\nsecond\n"+markEnd+"\n", string(got))

	merged, err := replaceMarked("top\n"+markBegin+"\nold\n"+markEnd+"\nrest\n", "new\n")
	require.NoError(t, err)
	require.Equal(t, "top\n"+markBegin+"\nnew\n"+markEnd+"\nrest\n", merged)
	for _, doc := range []string{"", "no markers", markEnd + markBegin, markBegin + markBegin + markEnd} {
		_, err := replaceMarked(doc, "x")
		require.ErrorIs(t, err, errMarkers, doc)
	}
}

func TestPictureIsWellFormed(t *testing.T) {
	for _, rows := range [][]row{nil, rowsOf(testJobs, testRounds())} {
		svg := picture(about{CPU: `A <"CPU">`}, rows)
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		require.NotContains(t, svg, "NaN")
		require.NotContains(t, svg, "Inf")
		if rows != nil {
			require.Contains(t, svg, "decode &lt;this&gt;")
		}
	}
}

func TestPictureScaleIsLogarithmic(t *testing.T) {
	s := newScale([]group{{bars: []bar{{ns: spread{20, 450, 3, 9000}}}}})
	require.Equal(t, scale{0, 3}, s)
	require.InDelta(t, labelWidth, s.x(1), 1e-9)
	require.InDelta(t, labelWidth+plotWidth/3.0, s.x(10), 1e-9)
	require.InDelta(t, labelWidth+plotWidth, s.x(1000), 1e-9)
}

// fakeGo stands for the go command and for the binaries that it builds.
type fakeGo struct {
	t     *testing.T
	order []string // programs that measured
	fail  string
}

func (f *fakeGo) run(dir, program string, args ...string) ([]byte, error) {
	if program == "go" {
		out := args[3]
		require.Equal(f.t, []string{"test", "-c", "-o"}, args[:3])
		return nil, os.WriteFile(filepath.Join(out, filepath.Base(filepath.Clean(out))+".test"), nil, 0o666)
	}
	name := strings.TrimSuffix(filepath.Base(program), ".test")
	if args[0] == "-test.list" {
		list := map[string]string{"ours": "BenchmarkPDSAckCC\nok\n", "peers": "BenchmarkAck32\n"}
		return []byte(list[name]), nil
	}
	f.order = append(f.order, name)
	if f.fail == name {
		return []byte("--- FAIL: BenchmarkX"), errors.New("exit status 1")
	}
	ours := "cpu: fake\nBenchmarkPDSAckCC/op=decode-4 100 1000000 ns/op 0 allocs/op\n"
	peers := "BenchmarkAck32/get/floor-fields-4 100 4 ns/op\nBenchmarkAck32/get/binary.Decode-4 100 100 ns/op\n"
	return []byte(map[string]string{"ours": ours, "peers": peers}[name]), nil
}

func TestReportFromEndToEnd(t *testing.T) {
	dir := t.TempDir()
	raw, md, svg := filepath.Join(dir, "raw"), filepath.Join(dir, "R.md"), filepath.Join(dir, "a", "r.svg")
	html := filepath.Join(dir, "r.html")
	f := &fakeGo{t: t}
	var out bytes.Buffer
	args := []string{"-run", "decode an ACK_CC", "-rounds", "3", "-cpu", "4", "-root", dir, "-raw", raw, "-md", md, "-svg", svg, "-html", html}
	require.NoError(t, report(args, &out, io.Discard, f.run), "a goal missed by far is no error")
	require.Equal(t, []string{"ours", "peers", "peers", "ours", "ours", "peers"}, f.order, "in turn")
	require.Contains(t, out.String(), "missed")
	require.Contains(t, out.String(), "0 of 2 goals met in this run, 0 by")
	require.FileExists(t, svg)
	b, err := os.ReadFile(html)
	require.NoError(t, err)
	require.True(t, strings.Contains(string(b), `"rows":["decode an ACK_CC, 32 B","uetcc","Ack32/get/floor-fields","Ack32/get/binary.Decode"]`))
	require.True(t, strings.Contains(string(b), `"y":[null,1000000,null,null]`))
	require.True(t, strings.Contains(string(b), `"y":[null,null,null,100]`))

	var again bytes.Buffer
	history := filepath.Join(dir, "history.txt")
	for range 2 { // as benchstat reads it
		again.Reset()
		require.NoError(t, report([]string{"-run", "decode an ACK_CC", "-from", raw, "-md", "-", "-history", history}, &again, io.Discard, nil))
	}
	kept, err := os.ReadFile(history)
	require.NoError(t, err)
	require.Regexp(t, `^commit: .*\ndate: 20..-..-..\nprocs: 4\nload: .*\ngo: go1.*\ncpu: fake\nBenchmarkPDSAckCC/op=decode-4 100 1000000 ns/op`, string(kept))
	require.Equal(t, 6, bytes.Count(kept, []byte("BenchmarkPDSAckCC")), "three rounds, twice")
	require.NotContains(t, string(kept), header)
	written, err := os.ReadFile(md)
	require.NoError(t, err)
	require.Equal(t, markBegin+"\n"+again.String()+markEnd+"\n", string(written), "the kept rounds give the same table")
}

func TestReportFailsWhenABenchmarkFails(t *testing.T) {
	f := &fakeGo{t: t, fail: "peers"}
	err := report([]string{"-run", "decode an ACK_CC", "-rounds", "1"}, io.Discard, io.Discard, f.run)
	require.ErrorContains(t, err, "FAIL: BenchmarkX")
}

func TestReportRefusesBadArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"-rounds is 0, want 1 to 100000 times":    {"-rounds", "0"},
		"-cpu is -1, want 1 to 4096 cores":        {"-cpu", "-1"},
		`unexpected argument "extra"`:             {"extra"},
		"-run: error parsing regexp":              {"-run", "("},
		`-run "no such job": no such job`:         {"-run", "no such job"},
		"flag provided but not defined":           {"-nonsense"},
		"-md and -svg are the same file, ./r.md:": {"-md", "r.md", "-svg", "./r.md"},
		"about.json: no such file":                {"-from", t.TempDir()},
	} {
		require.ErrorContains(t, report(args, io.Discard, io.Discard, nil), want)
	}
}

// The command that repeats the measurement is one that a shell takes.
func TestCommandLineIsQuoted(t *testing.T) {
	require.Equal(t, `go run ./bench/report -run 'Keyed|NSCC takes' -rounds 9 -raw 'it'\''s'`,
		commandLine([]string{"-run", "Keyed|NSCC takes", "-rounds", "9", "-raw", "it's"}))
}
