// SPDX-License-Identifier: Apache-2.0

// Package browser opens pages of package page in a headless Chromium, for tests.
package browser

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// DOM is a file's document in a browser after the scripts have run. The test fails after any
// output on the console, and is skipped without Chromium. A fragment is the part behind # in
// the address, or empty.
func DOM(t testing.TB, file, fragment string) string {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium, chromium-browser or google-chrome to open the page with")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, errs strings.Builder
	c := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(), "--window-size=1400,900", "--dump-dom",
		"file://"+file+"#"+fragment)
	c.Stdout, c.Stderr = &out, &errs
	require.NoError(t, c.Run(), errs.String())
	for _, line := range strings.Split(errs.String(), "\n") {
		require.NotContains(t, line, "CONSOLE", "the page says something")
	}
	return out.String()
}

// A Figure is the picture of a page with a label, as it was drawn.
type Figure struct {
	From, To, Low, High float64 // of its scales
	Width, Height       float64 // of its plot
	Shapes              []Shape
}

// A Shape is the drawing of a series.
type Shape struct {
	Series, Row, Path string
	X, Wide           float64 // of a bar
}

// Figures finds the figures of a page by "section: title".
func Figures(t testing.TB, dom string) map[string]*Figure {
	t.Helper()
	all := map[string]*Figure{}
	for _, m := range regexp.MustCompile(`(?s)<svg [^>]*aria-label="([^"]*)"[^>]*>.*?</svg>`).FindAllStringSubmatch(dom, -1) {
		f := &Figure{}
		d := xml.NewDecoder(strings.NewReader(m[0]))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, m[1])
			if e, ok := token.(xml.StartElement); ok {
				f.take(e)
			}
		}
		all[strings.ReplaceAll(m[1], "&amp;", "&")] = f
	}
	return all
}

func (f *Figure) take(e xml.StartElement) {
	a := map[string]string{}
	for _, x := range e.Attr {
		a[x.Name.Local] = x.Value
	}
	n := func(name string) float64 {
		v, err := strconv.ParseFloat(a[name], 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	if _, ok := a["data-x0"]; ok {
		f.From, f.To, f.Low, f.High, f.Width, f.Height = n("data-x0"), n("data-x1"), n("data-y0"), n("data-y1"), n("data-w"), n("data-h")
	}
	if _, ok := a["data-series"]; ok {
		f.Shapes = append(f.Shapes, Shape{a["data-series"], a["data-row"], a["d"], n("x"), n("width")})
	}
}

// Shape is the first shape of a series.
func (f *Figure) Shape(t testing.TB, series string) *Shape {
	t.Helper()
	for i := range f.Shapes {
		if f.Shapes[i].Series == series {
			return &f.Shapes[i]
		}
	}
	require.Fail(t, fmt.Sprintf("nothing drawn for %q", series))
	return nil
}

// A Pixel is the length of a pixel on the scale, upwards.
func (f *Figure) Pixel() float64 { return (f.High - f.Low) / f.Height }

// Top is the largest value a line was drawn to.
func (f *Figure) Top(s *Shape) float64 {
	top := math.Inf(1)
	for _, m := range regexp.MustCompile(`[ML]\S+ ([-\d.]+)|V([-\d.]+)`).FindAllStringSubmatch(s.Path, -1) {
		if y, err := strconv.ParseFloat(m[1]+m[2], 64); err == nil {
			top = min(top, y)
		}
	}
	return f.High - top*f.Pixel()
}

// Last is how far to the right a line was drawn.
func (f *Figure) Last(s *Shape) float64 {
	last := 0.0
	for _, m := range regexp.MustCompile(`[MLH]([-\d.]+)`).FindAllStringSubmatch(s.Path, -1) {
		if x, err := strconv.ParseFloat(m[1], 64); err == nil {
			last = max(last, x)
		}
	}
	return f.From + last*(f.To-f.From)/f.Width
}
