// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/ccc"
	"github.com/uetcc/uetcc/nscc"
)

func init() {
	traceKinds = append(traceKinds, traceKind{name: "mp", replay: replayEntropy})
}

// An mpTrace is the description beside a trace of entropy choices.
type mpTrace struct {
	Algorithm    string `json:"algorithm"`
	Paths        int    `json:"paths"`
	RepsFreezePs int64  `json:"reps_freeze_ps"`
}

// mpSchemes are the schemes by the traces' names for them.
func mpSchemes() map[string]ccc.Scheme {
	all := map[string]ccc.Scheme{}
	for s := ccc.SchemeOblivious; s <= ccc.SchemeMixed; s++ {
		all[s.String()] = s
	}
	return all
}

// An mpPath is one connection of a trace: the choice under test, and the random
// numbers that the recorded one drew.
type mpPath struct {
	draws  recordedDraws
	values int
	scheme ccc.Scheme
	p      ccc.EntropyParams
	e      ccc.Entropy
	side   []uint64
}

// recordedDraws is a rand.Source that repeats recorded numbers.
type recordedDraws struct{ next []uint64 }

func (d *recordedDraws) Uint64() uint64 {
	v := d.next[0]
	d.next = d.next[1:]
	return v
}

// replayEntropy feeds the recorded feedback and draws to our schemes and compares
// every value they return. The traces count time in picoseconds; the schemes
// only compare times, so they get picoseconds and a freeze period to match.
func replayEntropy(t *testing.T, dir fs.FS, name string) {
	var about mpTrace
	require.NoError(t, json.Unmarshal(readRecorded(t, dir, name+".json"), &about))
	scheme, known := mpSchemes()[about.Algorithm]
	require.True(t, known, "algorithm %q", about.Algorithm)
	rows, err := csv.NewReader(bytes.NewReader(readRecorded(t, dir, name+".csv"))).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 1)
	paths := map[string]*mpPath{}
	column := columnsOf(t, rows[0], "obj,op,t_ps,ev,feedback,seq,cwnd_pkts,out,draws,frozen,explore,fresh,count")
	for i, row := range rows[1:] {
		r := mpRow{t: t, cells: row, column: column, line: i + 2}
		path := paths[row[column["obj"]]]
		if path == nil {
			path = &mpPath{values: about.Paths}
			paths[row[column["obj"]]] = path
			path.p, err = ccc.NewEntropyParams(ccc.EntropyConfig{Scheme: scheme, Values: about.Paths,
				Queue: 1 << 15, Freeze: about.RepsFreezePs, Rand: &path.draws})
			require.NoError(t, err)
			path.scheme = scheme
			path.side = make([]uint64, path.p.Words())
		}
		path.step(r)
	}
}

// step replays one row.
func (m *mpPath) step(r mpRow) {
	m.draws.next = r.draws()
	switch op := r.text("op"); op {
	case "I":
		require.EqualValues(r.t, m.values, r.number("feedback"), "line %d: number of values", r.line)
		m.draws.next = []uint64{uint64(r.number("ev")), uint64(r.number("out"))}
		m.e.Init(&m.p, 0)
	case "P":
		tellPath(&m.e, &m.p, m.side, r.number("t_ps"), uint16(r.number("ev")), r.number("feedback"))
	case "N":
		got := m.e.Next(&m.p, m.side, ccc.Progress{Seq: uint64(r.number("seq")), WindowPackets: r.number("cwnd_pkts")})
		require.EqualValues(r.t, r.number("out"), got, "line %d", r.line)
	default:
		require.Fail(r.t, "unknown operation", "line %d: %q", r.line, op)
	}
	require.Empty(r.t, m.draws.next, "line %d: draws left over", r.line)
	recorded := [4]int64{r.number("frozen"), r.number("explore"), r.number("fresh"), r.number("count")}
	require.Equal(r.t, recorded, m.ring(), "line %d", r.line)
}

// ring is what a row shows of the state of SchemeREPS; it has nothing to show of the others.
func (m *mpPath) ring() [4]int64 {
	if m.scheme != ccc.SchemeREPS {
		return [4]int64{-1, -1, -1, -1}
	}
	s := m.p.REPSState(m.side)
	frozen := map[bool]int64{true: 1}[s.Frozen]
	return [4]int64{frozen, int64(s.Explore), int64(s.Fresh), int64(s.Filled)}
}

// mpRow is one row with its columns by name.
type mpRow struct {
	t      *testing.T
	cells  []string
	column map[string]int
	line   int
}

func (r mpRow) text(name string) string { return r.cells[r.column[name]] }

func (r mpRow) number(name string) int64 {
	v, err := strconv.ParseInt(r.text(name), 10, 64)
	require.NoError(r.t, err, "line %d, column %s", r.line, name)
	return v
}

func (r mpRow) draws() []uint64 {
	if r.text("draws") == "" {
		return nil
	}
	var all []uint64
	for _, d := range strings.Split(r.text("draws"), ";") {
		v, err := strconv.ParseUint(d, 10, 64)
		require.NoError(r.t, err, "line %d", r.line)
		all = append(all, v)
	}
	return all
}

// tellPath feeds the scheme with a value's fate, by the number of the recorded traces: 0 and 1
// acknowledged, without and with a mark, 2 trimmed, 3 lost.
func tellPath(e *ccc.Entropy, p *ccc.EntropyParams, side []uint64, now int64, value uint16, fate int64) {
	switch fate {
	case 0, 1:
		e.OnACK(p, side, now, &ccc.Ack{Ack: nscc.Ack{ECN: fate == 1}, Entropy: value})
	case 2:
		e.OnNACK(p, side, now, &ccc.Nack{Nack: nscc.Nack{Reason: nscc.ReasonTrimmed}, Entropy: value})
	default:
		e.OnInferredLoss(p, side, now, &ccc.Loss{Entropy: value})
	}
}
