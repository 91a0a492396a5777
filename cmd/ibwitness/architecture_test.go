package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture: what ARCHITECTURE.md and CONTRIBUTING.md name is there, and no package of the house is left out.
func TestArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	named := map[string]bool{}
	quoted := regexp.MustCompile("`([^`\n]+)`|\\]\\(([^)]+)\\)")
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			for name := range strings.FieldsSeq(m[1] + " " + m[2]) {
				name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/...")
				named[name] = true
				if !strings.Contains(name, "/") && !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "bin/") || strings.HasPrefix(name, "-") {
					continue
				}
				if list, _ := filepath.Glob(filepath.Join(root, name)); len(list) == 0 {
					t.Errorf("%s names %s, which is not there", doc, name)
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
