// SPDX-License-Identifier: Apache-2.0

package page

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"

	"github.com/uetcc/uetcc/bench/internal/cli"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// frame is the file around the data. The policy forbids all network requests.
var frame = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<noscript>The pictures of this page are drawn by JavaScript, which is switched off.</noscript>
<script type="application/json" id="data">{{.Data}}</script>
<script>{{.Script}}</script>
</body>
</html>
`))

// Write writes the page as HTML.
func (p *Page) Write(w io.Writer) error {
	data, err := json.Marshal(p) // escapes what would end a script
	if err != nil {
		return err
	}
	return frame.Execute(w, struct {
		Title  string
		Style  template.CSS
		Script template.JS
		Data   template.JS
	}{p.Title, template.CSS(style), template.JS(script), template.JS(data)})
}

// WriteFile writes the page to a file, which is there when it is whole, or to a device. An error
// leaves what was there.
func (p *Page) WriteFile(path string) error {
	f, err := cli.Create(path)
	if err != nil {
		return err
	}
	return f.Settle(p.Write(f))
}
