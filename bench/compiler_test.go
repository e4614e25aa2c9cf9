// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What the compiler says about the functions of some packages: go build with
// -m=2 (escapes, inlining) and check_bce (bounds checks that are left).
type diagnosis map[string]*function // by "package function"

// A function is one of the source, with what was said about its lines.
type function struct {
	file        string
	first, last int
	hot         bool   // has a marker
	must        demand // by the marker
	inlines     bool
	whyNot      string   // the reason if not
	heap        []string // "file:line: what escapes or moves to the heap"
	bounds      []string // "file:line:column"
}

// diagnose builds packages, given relative to dir, and sorts what the compiler
// says by function.
func diagnose(dir string, packages []string) (diagnosis, error) {
	d := diagnosis{}
	var paths []string
	for _, p := range packages {
		if err := d.parse(dir, p); err != nil {
			return nil, err
		}
		paths = append(paths, "./"+p)
	}
	c := exec.Command("go", append([]string{"build", "-gcflags=-m=2 -d=ssa/check_bce"}, paths...)...)
	c.Dir = dir
	text, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	d.read(string(text))
	return d, nil
}

// parse notes where the functions of a package begin and end.
func (d diagnosis) parse(dir, pkg string) error {
	p, err := build.ImportDir(filepath.Join(dir, pkg), 0)
	if err != nil {
		return err
	}
	for _, f := range p.GoFiles {
		set := token.NewFileSet()
		src, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range src.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				file := filepath.ToSlash(filepath.Join(pkg, f))
				x := &function{file: file, first: set.Position(fn.Pos()).Line, last: set.Position(fn.End()).Line}
				if err := x.readMarker(fn); err != nil {
					return err
				}
				d[pkg+" "+functionName(fn)] = x
			}
		}
	}
	return nil
}

// readMarker takes in what the comment of fn demands.
func (f *function) readMarker(fn *ast.FuncDecl) error {
	if fn.Doc == nil {
		return nil
	}
	for _, c := range fn.Doc.List {
		words := strings.Fields(c.Text)
		if words[0] != marker {
			continue
		}
		f.hot = true
		for _, w := range words[1:] {
			if demands[w] == 0 {
				return fmt.Errorf("%s: %s: no demand %q", f.file, functionName(fn), w)
			}
			f.must |= demands[w]
		}
	}
	return nil
}

// markedPackages are the packages of the module at root with marked functions.
func markedPackages(root string) (packages []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && (!strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go")) {
			return err
		}
		if e.IsDir() {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (other == nil || strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if pkg = filepath.ToSlash(pkg); strings.Contains(string(text), "\n"+marker) && !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
		return err
	})
	return packages, err
}

// functionName spells a function as the compiler does: f, T.f or (*T).f.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	recv, format := fn.Recv.List[0].Type, "%s.%s"
	if star, ok := recv.(*ast.StarExpr); ok {
		recv, format = star.X, "(*%s).%s"
	}
	if generic, ok := recv.(*ast.IndexExpr); ok {
		recv = generic.X
	}
	return fmt.Sprintf(format, recv.(*ast.Ident).Name, fn.Name.Name)
}

var (
	lineOf     = regexp.MustCompile(`^(?:\./)?([^:\s]+\.go):(\d+):(\d+): (.*)$`)
	canInline  = regexp.MustCompile(`^can inline (\S+) with cost`)
	cantInline = regexp.MustCompile(`^cannot inline (\S+): (.*)`)
	typeParams = regexp.MustCompile(`\[.*\]$`)
)

func (d diagnosis) read(text string) {
	byFile := map[string][]*function{}
	for _, f := range d {
		byFile[f.file] = append(byFile[f.file], f)
	}
	for line := range strings.Lines(text) {
		m := lineOf.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		at := slices.IndexFunc(byFile[m[1]], func(f *function) bool { return f.first <= n && n <= f.last })
		if at < 0 {
			continue
		}
		byFile[m[1]][at].note(filepath.Dir(m[1]), d, m)
	}
}

// note takes in one line about f: file, line, column, text.
func (f *function) note(dir string, d diagnosis, m []string) {
	text := strings.TrimSuffix(m[4], ":")
	switch {
	case strings.HasPrefix(text, "Found Is"):
		f.bounds = append(f.bounds, m[1]+":"+m[2]+":"+m[3])
	case strings.HasSuffix(text, "escapes to heap"), strings.HasPrefix(text, "moved to heap"):
		// A constant in an interface lies in the binary and costs no allocation.
		if what := m[1] + ":" + m[2] + ": " + text; !strings.HasPrefix(text, `"`) && !slices.Contains(f.heap, what) {
			f.heap = append(f.heap, what)
		}
	default:
		if w := canInline.FindStringSubmatch(text); w != nil && d.is(f, dir, w[1]) {
			f.inlines = true
		}
		if w := cantInline.FindStringSubmatch(text); w != nil && d.is(f, dir, w[1]) {
			f.whyNot = w[2]
		}
	}
}

// is tells f from the function literals inside it.
func (d diagnosis) is(f *function, pkg, name string) bool {
	return d[pkg+" "+typeParams.ReplaceAllString(name, "")] == f
}

// sourceTree is the root of the module, "" if there is no source or no compiler.
func sourceTree() string {
	if _, err := exec.LookPath("go"); err != nil {
		return ""
	}
	if _, err := os.Stat("../go.mod"); err != nil {
		return ""
	}
	return ".."
}
