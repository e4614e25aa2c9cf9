// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/bench/internal/browser"
)

// The page opens without a word on the console, and its pictures show what the JSON of the same
// run says, for both kinds of nodes.
func TestPageShowsWhatJSONSays(t *testing.T) {
	for _, node := range []string{"endpoint", "light"} {
		dir := t.TempDir()
		file, matrix := filepath.Join(dir, "run.html"), smallIncast(t, dir)
		status, out, errs := uetsim("-json", "-matrix", matrix, "-cc", "none,nscc,rccc", "-node", node, "-html", file)
		require.Zero(t, status, errs)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		dom := browser.DOM(t, file, "")
		figures := browser.Figures(t, dom)
		require.True(t, strings.Contains(dom, "-matrix "+matrix), "the command line")

		times := figures["Completion times: stairs"]
		for _, n := range r.Runs {
			res := n.Result
			require.InDelta(t, res.FCT.Max, times.Last(times.Shape(t, n.Name)), 2*(times.To-times.From)/times.Width, n.Name)
			require.InDelta(t, 100, times.Top(times.Shape(t, n.Name)), times.Pixel())

			queues := figures["Queues: "+n.Name]
			worst := worstQueues(res.Queues)[0]
			for _, q := range res.Queues {
				if q.Peak > worst.Peak {
					worst = q
				}
			}
			require.InDelta(t, worst.Peak, queues.Top(queues.Shape(t, worst.Name)), queues.Pixel(), "the fullest queue of %s at its fullest", n.Name)
			require.GreaterOrEqual(t, queues.High, float64(worst.Peak))

			held := figures["Why flows waited: "+n.Name]
			first := res.Transfers[0]
			for _, bar := range held.Shapes {
				if want := first.Held[bar.Series]; bar.Row == flowName(first.Src, first.Dst) && want > 0 {
					require.InDelta(t, want, bar.Wide*(held.To-held.From)/held.Width, 0.01*want, bar.Series)
				}
			}
			require.Contains(t, figures, "Packets of one flow: "+n.Name)
			require.Contains(t, figures["Packets of one flow: "+n.Name].Shapes[0].Path, "M")
			require.NotEmpty(t, figures["Rates: "+n.Name].Shapes)
		}
		require.NotEmpty(t, figures["Fairness: lines"].Shapes)
	}
}

// A drag zooms all that is over time, a move shows what is there, and Escape takes the zoom back.
func TestPageZooms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.html")
	status, _, errs := uetsim("-html", file)
	require.Zero(t, status, errs)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	body := string(b)
	require.False(t, regexp.MustCompile(`(?i)(src|href)="?https?:`).MatchString(body), "no network")
	drag := `<script>
const r = document.querySelector('svg[aria-label="Queues: NSCC"] rect[fill=transparent]');
const box = r.getBoundingClientRect();
const at = (type, part, to) => to.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, clientX: box.left + part * box.width, clientY: box.top + 9}));
at("pointerdown", 0.25, r); at("pointermove", 0.5, r); at("pointerup", 0.5, r);
at("pointermove", 0.5, document.querySelector('svg[aria-label="Windows: NSCC"] rect[fill=transparent]'));
</script>`
	zoomed := filepath.Join(t.TempDir(), "zoomed.html")
	require.NoError(t, os.WriteFile(zoomed, []byte(strings.Replace(body, "</body>", drag+"</body>", 1)), 0o600))
	dom := browser.DOM(t, zoomed, "")
	figures := browser.Figures(t, dom)
	for _, name := range []string{"Queues: NSCC", "Windows: without CC", "Links: NSCC", "Packets of one flow: NSCC"} {
		f := figures[name]
		require.Greater(t, f.From, 200.0, name)
		require.InDelta(t, 2*f.From, f.To, 20, "from a quarter to the half")
	}
	require.Zero(t, figures["Completion times: stairs"].From, "another scale")
	tip := regexp.MustCompile(`<div id="tip" style="display: block;[^>]*><b>[\d.]+ us</b>.*1 → 0</span><span>[\d,]+( .. [\d,]+)? bytes`)
	require.True(t, tip.MatchString(dom))
	hold := regexp.MustCompile(`Claims: (\d+) of (\d+) hold`).FindStringSubmatch(dom)
	require.NotNil(t, hold)
	require.Equal(t, hold[1], hold[2])
	require.Equal(t, hold[1], fmt.Sprint(strings.Count(dom, `<li class="ok">`)))
}

// Models without a fabric have a page of tables and claims.
func TestPageWithoutFabric(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.html")
	status, _, errs := uetsim("-scenario", "hol", "-html", file)
	require.Zero(t, status, errs)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.Contains(string(b), `"claims":[{`))
	require.True(t, strings.Contains(string(b), `"tables":[{`))
}

// The README's picture is small, whole, and one that a page saves.
func TestReadmePicture(t *testing.T) {
	b, err := os.ReadFile("../incast.svg")
	require.NoError(t, err)
	require.Less(t, len(b), 60_000)
	require.NoError(t, xml.Unmarshal(b, new(struct{})))
	figures := browser.Figures(t, string(b))
	require.Len(t, figures, 5)
	require.NotEmpty(t, figures["Queues: NSCC"].Shape(t, "leaf 0 to host 0").Path)
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(readme), "](bench/uetsim/incast.svg)"))
}
