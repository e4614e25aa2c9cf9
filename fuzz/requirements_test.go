// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uetcc/uetcc/internal/msg"
	"github.com/uetcc/uetcc/ses"
)

var writeConformance = flag.Bool("conformance", false, "TestRequirements writes CONFORMANCE.md")

// A requirement is a line of testdata/requirements.csv: what the specification or a seed document
// asks for, what became of it, and the declarations and tests that show it, as DIR:NAME or
// DIR:TYPE.NAME, several with spaces.
type requirement struct {
	id, source, area, text, status string
	code, tests                    []string
	reason                         string // of a row that deviates or is missing
}

// The states of a requirement.
const (
	implemented = "implemented"
	partial     = "partial"
	deviates    = "deviates"
	missing     = "missing"
	unknown     = "unknown"
)

// TestRequirements resolves what each requirement names, so that the table stays true when code
// moves, and compares CONFORMANCE.md, which -conformance writes anew.
func TestRequirements(t *testing.T) {
	rows := readRequirements(t)
	names := declared{dirs: map[string]map[string]bool{}}
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.id], "%s stands there twice", r.id)
		seen[r.id] = true
		switch r.status {
		case implemented:
			require.NotEmpty(t, r.code, r.id)
			require.NotEmpty(t, r.tests, "%s is implemented, and no test shows it", r.id)
			require.Empty(t, r.reason, r.id)
		case partial, deviates, missing, unknown:
			require.NotEmpty(t, r.reason, "%s is %s without a reason", r.id, r.status)
		default:
			t.Errorf("%s: state %q is none", r.id, r.status)
		}
		for _, name := range r.code {
			if !names.has(t, name, false) {
				t.Errorf("%s: no declaration %s", r.id, name)
			}
		}
		for _, name := range r.tests {
			if !names.has(t, name, true) {
				t.Errorf("%s: no test %s", r.id, name)
			}
		}
	}
	page := conformance(rows)
	const file = "../CONFORMANCE.md"
	if *writeConformance {
		require.NoError(t, os.WriteFile(file, page, 0o644))
	}
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(page, is), "run: go test ./fuzz -run TestRequirements -args -conformance")
}

// readCSV reads the lines of a file that begins with their heads.
func readCSV(t *testing.T, file string, heads ...string) [][]string {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, heads, lines[0])
	return lines[1:]
}

func readRequirements(t *testing.T) (rows []requirement) {
	for _, l := range readCSV(t, "testdata/requirements.csv", "id", "source", "area", "text", "status", "code", "test", "reason") {
		rows = append(rows, requirement{l[0], l[1], l[2], l[3], l[4], strings.Fields(l[5]), strings.Fields(l[6]), l[7]})
	}
	return rows
}

// declared holds what the files of each folder declare, tests apart.
type declared struct{ dirs map[string]map[string]bool }

// has reports whether DIR:NAME is declared, in a test file or in another.
func (d *declared) has(t *testing.T, name string, test bool) bool {
	dir, name, ok := strings.Cut(name, ":")
	if !ok {
		return false
	}
	key := fmt.Sprint(dir, test)
	if d.dirs[key] == nil {
		d.dirs[key] = declarations(t, filepath.Join("..", dir), test)
	}
	name, _, _ = strings.Cut(name, "/") // a subtest
	return d.dirs[key][name]
}

func declarations(t *testing.T, dir string, test bool) map[string]bool {
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != test {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range f.Decls {
			declare(names, decl)
		}
	}
	return names
}

// declare adds the names of a declaration; methods as TYPE.NAME.
func declare(names map[string]bool, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[d.Name.Name] = true
			return
		}
		of := d.Recv.List[0].Type
		if s, ok := of.(*ast.StarExpr); ok {
			of = s.X
		}
		switch x := of.(type) { // of a generic type
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		}
		names[of.(*ast.Ident).Name+"."+d.Name.Name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names[n.Name] = true
				}
			}
		}
	}
}

// conformance is the page for people: deviations first.
func conformance(rows []requirement) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, `# Conformance

What the specification and the documents that this project began with ask for, and what became of it. Written from
[fuzz/testdata/requirements.csv](fuzz/testdata/requirements.csv) by
`+"`go test ./fuzz -run TestRequirements -args -conformance`"+`; the test fails when a declaration or test that a line names is gone.

`)
	count := map[string]int{}
	for _, r := range rows {
		count[r.status]++
	}
	fmt.Fprintf(&b, "%d requirements:", len(rows))
	for i, s := range []string{implemented, partial, deviates, missing, unknown} {
		fmt.Fprintf(&b, "%s %d %s", map[bool]string{true: ",", false: ""}[i > 0], count[s], s)
	}
	fmt.Fprint(&b, ".\n")
	for _, s := range []struct{ status, title, what string }{
		{deviates, "Deviations", "This library does something else, on purpose."},
		{partial, "Partly there", ""},
		{missing, "Not there", ""},
		{unknown, "Not decided", "No public source says what is right."},
	} {
		if count[s.status] == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.what != "" {
			fmt.Fprintf(&b, "%s\n\n", s.what)
		}
		fmt.Fprint(&b, "| requirement | source | asked for | why |\n|---|---|---|---|\n")
		for _, r := range rows {
			if r.status == s.status {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, cell(r.source), cell(r.text), cell(r.reason))
			}
		}
	}
	profiles(&b)
	fmt.Fprint(&b, "\n## Implemented\n\n| requirement | asked for | code | test |\n|---|---|---|---|\n")
	for _, r := range rows {
		if r.status == implemented {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, cell(r.text), places(r.code), places(r.tests))
		}
	}
	return b.Bytes()
}

// profiles is what a target of each profile offers.
func profiles(b *bytes.Buffer) {
	all := []ses.Profile{ses.ProfileAIBase, ses.ProfileAIFull, ses.ProfileHPC, ses.ProfileAll}
	fmt.Fprint(b, "\n## Profiles\n\nWhat a target serves with `ses.TargetConfig.Profile`; the rest is refused with UNSUPPORTED_OP.\n",
		"AI Base is public as a whole; of AI Full and HPC the features that set them apart are. AI Base and HPC\nexecute a deferrable send as a send.\n\n| operation |")
	for _, p := range all {
		fmt.Fprintf(b, " %s |", p)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---|", len(all)))
	for o := ses.OpcodeNoOp; o <= ses.OpcodeMsgError; o++ {
		fmt.Fprintf(b, "| %s |", o)
		for _, p := range all {
			fmt.Fprintf(b, " %s |", map[bool]string{true: "yes"}[msg.Offers(p, o)])
		}
		fmt.Fprintln(b)
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// places shows each DIR:NAME as a link to the folder.
func places(all []string) string {
	shown := slices.Clone(all)
	for i, p := range shown {
		dir, name, _ := strings.Cut(p, ":")
		shown[i] = fmt.Sprintf("[%s](%s)", path.Join(dir, name), dir)
	}
	return strings.Join(shown, ", ")
}
