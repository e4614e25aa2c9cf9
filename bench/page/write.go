package page

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
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

// WriteFile writes the page to a file, complete or not at all, or to a device. An error leaves
// the old file.
func (p *Page) WriteFile(path string) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(p.Write(f), f.Close())
	}
	name := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(p.Write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return os.Rename(name, path)
}

// CheckPath reports early the error that [Page.WriteFile] would meet: nil also for an empty path.
func CheckPath(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, want the name of a file", path)
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}
