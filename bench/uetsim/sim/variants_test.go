// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// readCSV returns the number of each column, and the rows.
func readCSV(path string) (column map[string]int, rows [][]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if rows, err = csv.NewReader(f).ReadAll(); err != nil {
		return nil, nil, err
	}
	column = map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	return column, rows[1:], nil
}

// Several algorithms and seeds give the same on any number of workers: the report, and the files
// of each run, all of which are kept.
func TestVariantsOnAnyNumberOfWorkers(t *testing.T) {
	type outcome struct {
		out   string
		files map[string]string
	}
	var first outcome
	for _, workers := range []string{"1", "3", "8"} {
		dir := t.TempDir()
		status, out, errs := uetsim("-matrix", workloads+"incast.cm", "-node", "light", "-cc", "nscc,both", "-seeds", "2", "-json", "-workers", workers,
			"-trace", filepath.Join(dir, "t.csv"), "-trace-conns", "1,3-4", "-pcap", filepath.Join(dir, "p.pcap"),
			"-flows", filepath.Join(dir, "f.csv"), "-series", filepath.Join(dir, "s.csv"))
		require.Zero(t, status, errs)
		files := filesIn(t, dir)
		require.Len(t, files, 4+4+2)
		require.Contains(t, files, "t-nscc-seed-1.csv")
		require.NotEqual(t, files["t-nscc-seed-1.csv"], files["t-both-seed-1.csv"])
		if first.out == "" {
			first = outcome{out, files}
			column, rows, err := readCSV(filepath.Join(dir, "t.csv"))
			require.NoError(t, err)
			conns := map[string]bool{}
			for _, row := range rows {
				conns[row[column["connection"]]] = true
			}
			require.Equal(t, map[string]bool{"1": true, "3": true, "4": true}, conns)
		}
		require.Equal(t, first, outcome{out, files})
	}
	var r report
	require.NoError(t, json.Unmarshal([]byte(first.out), &r))
	require.Len(t, r.Runs, 4)
	require.Len(t, r.Seeds, 2)
	require.Equal(t, "both", r.Seeds[1].Name)
	a, b := r.Runs[2].Result.FCT.Mean, r.Runs[3].Result.FCT.Mean
	require.Equal(t, "fct_mean_us", r.Seeds[1].Figures[0].Name)
	require.InDelta(t, (a+b)/2, r.Seeds[1].Figures[0].Mean, 1e-9)
	require.InDelta(t, 12.706*max(a-b, b-a)/2, r.Seeds[1].Figures[0].Half, 1e-6)
}

// The tables have a line for each transfer and each point of all runs.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	flows, series := filepath.Join(dir, "f.csv"), filepath.Join(dir, "s.csv")
	status, _, errs := uetsim("-flows", flows, "-series", series, "-interval", "2")
	require.Zero(t, status, errs)
	column, rows, err := readCSV(flows)
	require.NoError(t, err)
	runs := map[string]int{}
	for _, row := range rows {
		runs[row[column["run"]]]++
		slow, err := strconv.ParseFloat(row[column["slowdown"]], 64)
		require.NoError(t, err)
		require.Greater(t, slow, 1.0)
	}
	require.GreaterOrEqual(t, len(runs), 4)
	for name, n := range runs {
		require.GreaterOrEqual(t, n, 6, name)
	}
	column, rows, err = readCSV(series)
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, row := range rows {
		kinds[row[column["kind"]]] = true
	}
	require.Equal(t, map[string]bool{"queue": true, "link": true, "window": true}, kinds)
	require.Equal(t, "2", rows[1][column["time_us"]])
}

func TestVariantErrors(t *testing.T) {
	one := workloads + "one.cm"
	for want, args := range map[string][]string{
		"-seeds needs -matrix":       {"-seeds", "3"},
		"-seeds is 0, want 1":        {"-matrix", one, "-seeds", "0"},
		"-workers is 0, want 1":      {"-workers", "0"},
		"-trace-conns needs -trace":  {"-trace-conns", "3"},
		`"9-3" is no number`:         {"-trace-hosts", "1,9-3"},
		"-lines needs -series":       {"-lines", "3"},
		"-interval is 1e-06, want":   {"-matrix", one, "-series", "x", "-interval", "1e-6"},
		"max-wnd is 0, want more":    {"-matrix", one, "-tune", "max-wnd=0"},
		"qa-gate is 0.5, want a who": {"-matrix", one, "-tune", "qa-gate=0.5"},
		"want a nanosecond at least": {"-matrix", one, "-tune", "adjust-period=0.0001"},
		"-flows changes nothing in":  {"-scenario", "hol", "-flows", "x"},
		"is a directory":             {"-matrix", one, "-series", t.TempDir()},
		"-flows and -series are the": {"-flows", "x", "-series", "./x"},
	} {
		status, _, errs := uetsim(args...)
		require.Equal(t, 2, status, want)
		require.Contains(t, errs, want)
	}
}
