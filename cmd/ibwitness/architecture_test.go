package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture: what ARCHITECTURE.md and CONTRIBUTING.md name is there, and no package of the house is left out. A file without its folder is in the one that was
// named last.
func TestArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	named := map[string]bool{}
	quoted := regexp.MustCompile("`([^`\n]+)`|\\]\\(([^)]+)\\)")
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		folder := ""
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			for name := range strings.FieldsSeq(m[1] + " " + m[2]) {
				name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/...")
				named[name] = true
				if !strings.Contains(name, "/") && !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "bin/") || strings.HasPrefix(name, "-") {
					continue
				}
				if !strings.Contains(name, "/") && strings.HasSuffix(name, ".go") {
					name = folder + "/" + name
				}
				list, _ := filepath.Glob(filepath.Join(root, name))
				if len(list) == 0 {
					t.Errorf("%s names %s, which is not there", doc, name)
				}
				if folder = name; strings.HasSuffix(name, ".go") {
					folder = filepath.Dir(name)
				}
			}
		}
	}
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		files, _ := filepath.Glob(filepath.Join(root, f.Name(), "*.go"))
		files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		if len(files) > 0 && !named[f.Name()] {
			t.Errorf("ARCHITECTURE.md does not name package %s", f.Name())
		}
	}
}

// TestFloors: a package imports only packages of its own row of the table of floors, or of a row below.
func TestFloors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	floor, rows := map[string]int{}, 0
	folder := regexp.MustCompile("`([a-z/]+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		if strings.TrimSpace(cells[1]) == "word" {
			break
		}
		rows++
		for _, m := range folder.FindAllStringSubmatch(cells[1], -1) {
			floor[m[1]] = rows
		}
	}
	of := func(path string) int {
		for name := strings.TrimPrefix(path, "ibwitness/"); name != "."; name = filepath.Dir(name) {
			if n := floor[name]; n != 0 {
				return n
			}
		}
		return 0
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "ibwitness/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		for other := range strings.FieldsSeq(imports) {
			if !strings.HasPrefix(other, "ibwitness/") || of(path) == 0 || of(other) == 0 {
				continue
			}
			if checked++; of(other) < of(path) {
				t.Errorf("%s imports %s, which ARCHITECTURE.md has above it", path, other)
			}
		}
	}
	if rows < 20 || checked < 100 {
		t.Errorf("%d rows, %d imports checked", rows, checked)
	}
}
