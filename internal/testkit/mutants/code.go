package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// code is the packages that are changed.
type code struct {
	info  *types.Info
	files []*file
	dirs  map[string]string // of each package its name
}

// file is a file of them.
type file struct {
	set  *token.FileSet
	base token.Pos
	path string // of its package
	full string
	name string // as shown
	src  []byte
	tree *ast.File
}

// text is a piece of the source as shown, on one line.
func (f *file) text(from, to token.Pos) string {
	s := strings.Join(strings.Fields(string(f.src[from-f.base:to-f.base])), " ")
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// load reads and checks packages, and keeps of them the files whose path matches.
func load(patterns []string, which *regexp.Regexp) (*code, error) {
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,DepOnly"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports, packages := map[string]string{}, []listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			packages = append(packages, p)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	c := &code{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}, dirs: map[string]string{}}
	for _, p := range packages {
		c.dirs[p.Dir] = p.Name
		var trees []*ast.File
		for _, name := range p.GoFiles {
			f := &file{set: set, path: p.ImportPath, full: filepath.Join(p.Dir, name)}
			if f.name, err = filepath.Rel(here, f.full); err != nil {
				return nil, err
			}
			if f.src, err = os.ReadFile(f.full); err != nil {
				return nil, err
			}
			if f.tree, err = parser.ParseFile(set, f.full, f.src, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			f.base = f.tree.FileStart
			trees = append(trees, f.tree)
			if which.MatchString(f.name) {
				c.files = append(c.files, f)
			}
		}
		conf := types.Config{Importer: from}
		if _, err := conf.Check(p.ImportPath, set, trees, c.info); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// render writes a piece of a file with the changes in it.
func (f *file) render(from, to token.Pos, sites []*site) string {
	// Outer ones come before inner ones.
	slices.SortFunc(sites, func(a, b *site) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out strings.Builder
	at := from
	for i, s := range sites {
		if s.from < at || s.to > to {
			continue
		}
		out.Write(f.src[at-f.base : s.from-f.base])
		inner := slices.Clone(sites[i+1:])
		out.WriteString(s.emit(s.number, func(from, to token.Pos) string { return f.render(from, to, slices.Clone(inner)) }))
		at = s.to
	}
	out.Write(f.src[at-f.base : to-f.base])
	return out.String()
}

// switches is what a package with changes has beside its files.
const switches = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutant  = mutantNumber()
	mutantReached [%d]sync.Once
)

func mutantNumber() int {
	n, _ := strconv.Atoi(os.Getenv("MUTANT"))
	return n
}

// mutantOff reports that a change is not made, and notes once that its place was reached.
func mutantOff(n int) bool {
	if mutant < 0 {
		mutantReached[n].Do(func() {
			f, err := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
			if err == nil {
				f.WriteString(strconv.Itoa(n) + "\n")
				f.Close()
			}
		})
	}
	return mutant != n
}

func mutantOr[T any](n int, was, now T) T {
	if mutantOff(n) {
		return was
	}
	return now
}
`
