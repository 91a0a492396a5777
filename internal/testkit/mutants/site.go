package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// site is a place and a change of it.
type site struct {
	number   int
	file     *file
	from, to token.Pos
	what     string
	// equivalent says why the change changes nothing; "": it is not known to.
	equivalent string
	// emit writes the place with the change behind the switch of a number; part writes a piece of the source.
	emit func(number int, part func(from, to token.Pos) string) string
}

func (s *site) line() int { return s.file.set.Position(s.from).Line }

func (s *site) String() string {
	return fmt.Sprintf("%s:%d (%d): %s", filepath.ToSlash(s.file.name), s.line(), s.number, s.what)
}

// swaps are what operators are changed to.
var swaps = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.ADD},
	token.AND: {token.OR}, token.OR: {token.AND}, token.AND_NOT: {token.AND}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
}

// sites returns all changes that there are.
func (c *code) sites() (list []*site) {
	for _, f := range c.files {
		w := &walker{file: f, info: c.info, in: map[ast.Node]*ast.BinaryExpr{}}
		ast.Inspect(f.tree, w.visit)
		list = append(list, w.list...)
	}
	return list
}

// distinct leaves of the changes of one place the first.
func distinct(list []*site) []*site {
	seen := map[[2]token.Pos]bool{}
	return slices.DeleteFunc(list, func(s *site) bool {
		k := [2]token.Pos{s.from, s.to}
		was := seen[k]
		seen[k] = true
		return was
	})
}

// walker collects the sites of a file.
type walker struct {
	file *file
	info *types.Info
	list []*site
	in   map[ast.Node]*ast.BinaryExpr // of operands
}

func (w *walker) add(n ast.Node, what string, emit func(int, func(from, to token.Pos) string) string) {
	w.list = append(w.list, &site{file: w.file, from: n.Pos(), to: n.End(), what: what, emit: emit})
}

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType:
		return false
	case *ast.FuncDecl:
		return n.Name.Name != "String"
	case *ast.BinaryExpr:
		w.in[n.X], w.in[n.Y] = n, n
		w.operator(n)
	case *ast.IfStmt:
		w.condition(n.Cond)
	case *ast.BasicLit:
		w.number(n)
	case *ast.BlockStmt:
		w.statements(n.List)
	case *ast.CaseClause:
		w.statements(n.Body)
	}
	return true
}

func (w *walker) operator(n *ast.BinaryExpr) {
	t := w.info.Types[n]
	basic, ok := t.Type.Underlying().(*types.Basic)
	if !ok || t.Value != nil {
		return
	}
	for _, op := range swaps[n.Op] {
		what := fmt.Sprintf("%s becomes %s in %s", n.Op, op, w.file.text(n.Pos(), n.End()))
		was, now := n.Op.String(), op.String()
		switch {
		case basic.Info()&types.IsBoolean != 0:
			w.add(n, what, func(number int, part func(from, to token.Pos) string) string {
				x, y := part(n.X.Pos(), n.X.End()), part(n.Y.Pos(), n.Y.End())
				return fmt.Sprintf("(mutant == %d && (%s %s %s) || mutantOff(%d) && (%s %s %s))", number, x, now, y, number, x, was, y)
			})
		case basic.Info()&types.IsInteger != 0:
			name := w.typeName(t.Type)
			w.add(n, what, func(number int, part func(from, to token.Pos) string) string {
				x, y := part(n.X.Pos(), n.X.End()), part(n.Y.Pos(), n.Y.End())
				return fmt.Sprintf("mutantOr[%s](%d, %s %s %s, %s %s %s)", name, number, x, was, y, x, now, y)
			})
		}
	}
}

func (w *walker) condition(n ast.Expr) {
	text := w.file.text(n.Pos(), n.End())
	for form, what := range map[string]string{
		"(mutant == %d || mutantOff(%[1]d) && (%[2]s))": "always: if " + text,
		"(mutantOff(%d) && (%[2]s))":                    "never: if " + text,
	} {
		w.add(n, what, func(number int, part func(from, to token.Pos) string) string {
			return fmt.Sprintf(form, number, part(n.Pos(), n.End()))
		})
	}
}

func (w *walker) number(n *ast.BasicLit) {
	t := w.info.Types[n]
	if t.Type == nil {
		return
	}
	basic, ok := t.Type.Underlying().(*types.Basic)
	if n.Kind != token.INT || !ok || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil {
		return
	}
	name, what := w.typeName(t.Type), fmt.Sprintf("%s becomes %d", n.Value, v+1)
	if x := w.in[n]; x != nil {
		what += " in " + w.file.text(x.Pos(), x.End())
	}
	w.add(n, what, func(number int, _ func(from, to token.Pos) string) string {
		return fmt.Sprintf("mutantOr[%s](%d, %s, %d)", name, number, n.Value, v+1)
	})
	if v == 0 && w.comparesTime(w.in[n]) {
		w.list[len(w.list)-1].equivalent = "a time is in nanoseconds since 1970, or 0 for none: nothing was captured in the first of them"
	}
}

// comparesTime reports whether x compares a field that holds a time for being set.
func (w *walker) comparesTime(x *ast.BinaryExpr) bool {
	if x == nil || x.Op != token.EQL && x.Op != token.NEQ {
		return false
	}
	field, ok := ast.Unparen(x.X).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	name := field.Sel.Name
	return types.Identical(w.info.Types[field].Type, types.Typ[types.Int64]) && (name == "time" || strings.HasSuffix(name, "Time") || strings.HasSuffix(name, "At"))
}

// statements are those that can be left out.
func (w *walker) statements(list []ast.Stmt) {
	for _, n := range list {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.BranchStmt:
			if s.Tok == token.FALLTHROUGH || s.Tok == token.GOTO {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
		default:
			continue
		}
		w.add(n, "left out: "+w.file.text(n.Pos(), n.End()), func(number int, part func(from, to token.Pos) string) string {
			return fmt.Sprintf("if mutantOff(%d) { %s }", number, part(n.Pos(), n.End()))
		})
	}
}

func (w *walker) typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == w.file.path {
			return ""
		}
		return p.Name()
	})
}
