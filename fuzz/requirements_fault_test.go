// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fault replaces source[from:to] of a file: a condition by its contrary, a number by the one after
// it, a statement by nothing, what a function returns by zero values. Strict and other comparisons
// are not exchanged, since most limits are where both branches do the same.
type fault struct {
	*source
	kind     string
	line     int
	from, to int
	with     string
	in       *ast.FuncDecl // nil in a constant or a variable
}

func (f *fault) was() string { return strings.Join(strings.Fields(string(f.code[f.from:f.to])), " ") }

// broken is code[from:to] of the file with the fault in it.
func (f *fault) broken(from, to int) []byte {
	return slices.Concat(f.code[from:f.from], []byte(f.with), f.code[f.to:to])
}

// A source is a file of Go.
type source struct {
	file, pkg string
	fset      *token.FileSet
	code      []byte
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *source) text(n ast.Node) string { return string(s.code[s.offset(n.Pos()):s.offset(n.End())]) }

// faultsOf lists the faults of a declaration: of a function's or method's body, of all methods of a
// type, of a constant or the numbers that make a variable.
func faultsOf(t *testing.T, dir, name string) []fault {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var b breaker
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		if !bytes.Contains(src, []byte(name[strings.IndexByte(name, '.')+1:])) {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
		require.NoError(t, err)
		b.source = &source{file, f.Name.Name, fset, src}
		for _, decl := range f.Decls {
			b.declaration(decl, name)
		}
	}
	return b.all
}

type breaker struct {
	*source
	in  *ast.FuncDecl
	all []fault
}

func (b *breaker) declaration(decl ast.Decl, name string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		names := map[string]bool{}
		declare(names, d)
		for n := range names {
			if d.Body != nil && (n == name || strings.HasPrefix(n, name+".")) {
				b.in = d
				b.body(d)
				b.in = nil
			}
		}
	case *ast.GenDecl:
		b.constant(d, name)
		b.variable(d, name)
	}
}

// constant adds one to a constant; where the value is that of a line above, by repeating it.
func (b *breaker) constant(d *ast.GenDecl, name string) {
	var kind, value string
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST {
			return
		}
		if len(v.Values) > 0 {
			kind, value = "", b.text(v.Values[0])
			if v.Type != nil {
				kind = b.text(v.Type)
			}
		}
		if len(v.Names) == 1 && v.Names[0].Name == name {
			b.add("value", v, name+" "+kind+" = ("+value+") + 1")
		}
	}
}

func (b *breaker) variable(d *ast.GenDecl, name string) {
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && v.Names[0].Name == name {
			ast.Inspect(v, func(n ast.Node) bool {
				b.literal(n)
				return true
			})
		}
	}
}

// literal adds one to a number.
func (b *breaker) literal(n ast.Node) {
	if l, ok := n.(*ast.BasicLit); ok && (l.Kind == token.INT || l.Kind == token.FLOAT) {
		b.add("off by one", l, "("+l.Value+" + 1)")
	}
}

func (b *breaker) body(d *ast.FuncDecl) {
	zero := b.zeros(d.Type.Results)
	inner := 0 // within a function literal, whose results are others
	var stack []ast.Node
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := stack[len(stack)-1].(*ast.FuncLit); ok {
				inner--
			}
			stack = stack[:len(stack)-1]
			return false
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncLit:
			inner++
		case *ast.IfStmt:
			b.add("condition", n.Cond, "!("+b.text(n.Cond)+")")
		case *ast.SwitchStmt:
			b.cases(n)
		case *ast.BasicLit:
			b.literal(n)
		case *ast.ExprStmt, *ast.IncDecStmt:
			b.add("statement", n, "if false { "+b.text(n)+" }") // so that all names stay in use
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				b.add("statement", n, "if false { "+b.text(n)+" }")
			}
		case *ast.ReturnStmt:
			if zero != "" && inner == 0 && !allZero(n.Results) {
				b.add("zero", n, "{ return "+zero+" }; "+b.text(n))
			}
		}
		return true
	})
}

// cases negates the conditions of a switch without a tag.
func (b *breaker) cases(s *ast.SwitchStmt) {
	if s.Tag != nil {
		return
	}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			b.add("condition", e, "!("+b.text(e)+")")
		}
	}
}

// zeros is a list of zero values, one for each result.
func (b *breaker) zeros(results *ast.FieldList) string {
	var all []string
	if results != nil {
		for _, f := range results.List {
			for range max(1, len(f.Names)) {
				all = append(all, "*new("+b.text(f.Type)+")")
			}
		}
	}
	return strings.Join(all, ", ")
}

// allZero reports whether a return may give zero values as it is: names of constants may stand
// for them. Beside false nobody looks at the others.
func allZero(results []ast.Expr) bool {
	all := len(results) > 0
	for _, r := range results {
		switch r := r.(type) {
		case *ast.Ident:
			if r.Name == "false" {
				return true
			}
			all = all && (r.Name == "nil" || r.IsExported() && !strings.HasPrefix(r.Name, "Err"))
		case *ast.BasicLit:
			all = all && (r.Value == "0" || r.Value == `""`)
		case *ast.CompositeLit:
			all = all && len(r.Elts) == 0
		default:
			all = false
		}
	}
	return all
}

func (b *breaker) add(kind string, n ast.Node, with string) {
	b.all = append(b.all, fault{
		source: b.source, kind: kind, line: b.fset.Position(n.Pos()).Line,
		from: b.offset(n.Pos()), to: b.offset(n.End()), with: with, in: b.in,
	})
}
