// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/internal/browser"
	"github.com/uetcc/uetcc/bench/page"
)

// everyKind is a page with a figure of each kind, and with names that HTML would take for its own.
func everyKind() *page.Page {
	time, y := page.Axis{Label: "time", Unit: "us", Zoom: "time"}, page.Axis{Label: "bytes <b>"}
	one := func(k page.Kind, x page.Axis, s ...page.Series) page.Section {
		f := page.Figure{Title: "a & b", Kind: k, X: x, Y: y, Series: s}
		if k == page.Bars {
			f.Rows = []string{"group", "row"}
		}
		return page.Section{Title: string(k), Figures: []page.Figure{f}}
	}
	return &page.Page{
		Title: "</title><script>throw 1</script>", About: "</script><script>throw 2</script>", Partial: "half", Notes: []string{"note"},
		Claims: []page.Claim{{Text: "holds", OK: true}, {Text: "does not"}},
		Tables: []page.Table{{Columns: []string{"", "n"}, Rows: [][]string{{"x", "<i>1</i>"}}}},
		Sections: []page.Section{
			one(page.Lines, time, page.Series{Name: "line", Begin: 10, Step: 5, Lo: page.Values{1, math.NaN(), 2, 40}, Hi: page.Values{1, math.NaN(), 80, 41}},
				page.Series{Name: "band", Band: true, Step: 5, Lo: page.Values{1, 2}, Hi: page.Values{3, 4}}),
			one(page.Stairs, page.Axis{Label: "t"}, page.Series{Name: "stairs", X: page.Values{0, 30}, Y: page.Values{0, 100}}),
			one(page.Points, page.Axis{Label: "size", Log: true}, page.Series{Name: "points", X: page.Values{10, 1000}, Y: page.Values{1, 7}}),
			one(page.Bars, page.Axis{Label: "ns", Log: true}, page.Series{Name: "bar", Y: page.Values{math.NaN(), 20}, Lo: page.Values{math.NaN(), 18}, Hi: page.Values{math.NaN(), 25}}),
			one(page.Heat, time, page.Series{Name: "link", Step: 5, Y: page.Values{0, 100, 100, 3}}),
			one(page.Packets, time, page.Series{Name: "flow", X: page.Values{1, 2, 3}, Y: page.Values{0, 1, 1}, Hi: page.Values{5, math.NaN(), 9},
				Flags: []int{0, page.FlagLost, page.FlagAck}}),
			{Title: "nothing", Figures: []page.Figure{{Kind: page.Lines, X: time, Y: y}}},
		},
	}
}

// Every kind is drawn, nothing of the data is taken for HTML, and a section can be taken out.
func TestEveryKindIsDrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b.html")
	p := everyKind()
	require.NoError(t, p.WriteFile(file))
	dom := browser.DOM(t, file, "")
	figures := browser.Figures(t, dom)
	require.Len(t, figures, 7)
	line := figures["lines: a & b"]
	require.InDelta(t, 80, line.Top(line.Shape(t, "line")), line.Pixel())
	require.InDelta(t, 27.5, line.Last(line.Shape(t, "line")), 0.2)
	for kind, name := range map[string]string{"stairs": "stairs", "points": "points", "packets": "data", "lines": "band"} {
		require.NotEmpty(t, figures[kind+": a & b"].Shape(t, name).Path)
	}
	bar := figures["bars: a & b"]
	require.Positive(t, bar.Shape(t, "bar").Wide)
	require.Equal(t, "row", bar.Shape(t, "bar").Row)
	require.True(t, strings.Contains(dom, "Claims: 1 of 2 hold"))
	require.True(t, strings.Contains(dom, "Only a part: half"))
	require.True(t, strings.Contains(dom, "&lt;i&gt;1&lt;/i&gt;"))

	alone := browser.DOM(t, file, "picture=0")
	require.Equal(t, 1, strings.Count(alone, "aria-label="))
	require.True(t, strings.Contains(alone, "prefers-color-scheme: dark"))
	require.False(t, strings.Contains(alone, "<table"))
}

// A page replaces what is there when it is whole, keeps links, and goes to devices as it is.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "p.html"), filepath.Join(dir, "link.html")
	require.NoError(t, os.WriteFile(file, []byte("before"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, everyKind().WriteFile(link))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(b), "</html>\n"))
	require.NoError(t, everyKind().WriteFile(os.DevNull))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.ErrorIs(t, everyKind().WriteFile(filepath.Join(dir, "none", "p.html")), os.ErrNotExist)
}
