package verifier_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stateOfRC are the types of qp that hold the state of RC.
var stateOfRC = map[string]bool{
	"SendQueue": true, "ReceiveQueue": true, "Recovery": true, "Gap": true, "Damage": true, "PendingResponse": true, "Doubt": true, "Ignored": true, "Overcount": true,
	"Run": true, "Issue": true, "Return": true, "Pair": true, "Early": true,
}

// TestStateIsWrittenByName: no verifier writes a field of the state of RC, but by a transition of qp.
func TestStateIsWrittenByName(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root)) // which a test that was built with -trimpath does not know
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "source", nil)
	packages := map[string][]*ast.File{}
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, 0)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	read := 0
	for dir, files := range packages {
		info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}}
		if _, err := (&types.Config{Importer: from}).Check(filepath.Join("ibwitness/verifier", dir), set, files, &info); err != nil {
			t.Fatal(err)
		}
		for s := range info.Selections {
			if field(&info, s) != "" {
				read++
			}
		}
		for _, w := range writes(set, &info, files) {
			t.Errorf("%s: have a transition of qp write it", w)
		}
	}
	if read < 500 { // of the verifiers, which ask of the state all over
		t.Errorf("only %d fields of the state of RC were found in the sources", read)
	}
}

// writes are the places that write a field of the state of RC, or a whole of it.
func writes(set *token.FileSet, info *types.Info, files []*ast.File) (found []string) {
	note := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
				continue
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.StarExpr:
				if name := state(info.Types[e].Type); name != "" {
					found = append(found, fmt.Sprintf("%v writes a whole qp.%s", set.Position(e.Pos()), name))
				}
			case *ast.SelectorExpr:
				if name := field(info, x); name != "" {
					found = append(found, fmt.Sprintf("%v writes qp.%s", set.Position(e.Pos()), name))
				} else if name := state(info.Types[e].Type); name != "" && !pointer(info.Types[e].Type) {
					found = append(found, fmt.Sprintf("%v writes a whole qp.%s", set.Position(e.Pos()), name))
				}
			}
			return
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, l := range x.Lhs {
					note(l)
				}
			case *ast.IncDecStmt:
				note(x.X)
			case *ast.UnaryExpr: // a pointer to a PSN or a flag would be written elsewhere
				if s, ok := x.X.(*ast.SelectorExpr); ok && x.Op == token.AND && field(info, s) != "" {
					if _, basic := info.Types[s].Type.Underlying().(*types.Basic); basic {
						note(s)
					}
				}
			}
			return true
		})
	}
	return found
}

// field is the field of the state of RC that a selector names, or "".
func field(info *types.Info, s *ast.SelectorExpr) string {
	sel := info.Selections[s]
	if sel == nil || sel.Kind() != types.FieldVal {
		return ""
	}
	if name := state(sel.Recv()); name != "" {
		return name + "." + s.Sel.Name
	}
	return ""
}

func pointer(t types.Type) bool {
	_, ok := t.(*types.Pointer)
	return ok
}

// state is the type of the state of RC that t is, or points to, or "".
func state(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "ibwitness/qp" || !stateOfRC[n.Obj().Name()] {
		return ""
	}
	return n.Obj().Name()
}
