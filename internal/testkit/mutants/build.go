package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judge is a package, or several, whose tests are to notice a change.
type judge struct {
	path string
	args []string
}

// test is a test binary.
type test struct {
	name, dir, file string
	args            []string
	limit           time.Duration
	number          int
	reached         map[int]bool // the changes whose place it comes to
}

// build compiles the changes and the tests. It returns the changes that compile, numbered from 1 on.
func build(dir string, c *code, sites []*site) ([]*test, []*site, error) {
	tests, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range sites {
		s.number = i + 1
	}
	most := len(sites) + 1
	built := map[string]bool{}
	for _, t := range tests {
		for !built[t.file] {
			overlay, err := write(dir, c, sites, most)
			if err != nil {
				return nil, nil, err
			}
			cmd := exec.Command("go", "test", "-c", "-vet=off", "-pgo=off", "-gcflags=ibwitness/verifier/...=-e", "-overlay", overlay, "-o", t.file, ".")
			cmd.Dir = t.dir
			out, err := cmd.CombinedOutput()
			if err == nil {
				built[t.file] = true
				break
			}
			left := without(sites, string(out))
			if len(left) == len(sites) {
				return nil, nil, fmt.Errorf("go test -c %s: %s", t.name, out)
			}
			fmt.Printf("%d do not compile\n", len(sites)-len(left))
			sites = left
		}
	}
	return tests, sites, nil
}

// list returns the tests of the judges.
func list(dir string) (tests []*test, err error) {
	which, err := regexp.Compile(*judging)
	if err != nil {
		return nil, err
	}
	for _, j := range judges {
		out, err := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}", j.path).Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !which.MatchString(name) {
				continue
			}
			file, err := filepath.Abs(filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".test"))
			if err != nil {
				return nil, err
			}
			tests = append(tests, &test{name: name, dir: at, file: file, args: j.args, number: len(tests)})
		}
	}
	return tests, nil
}

// write writes the changed files and returns the overlay that puts them into their places.
func write(dir string, c *code, sites []*site, most int) (string, error) {
	replace := map[string]string{}
	put := func(place, text string) error {
		file, err := filepath.Abs(filepath.Join(dir, changed(place)))
		if err != nil {
			return err
		}
		replace[place] = file
		return os.WriteFile(file, []byte(text), 0o666)
	}
	for _, f := range c.files {
		mine := slices.DeleteFunc(slices.Clone(sites), func(s *site) bool { return s.file != f })
		if len(mine) > 0 {
			if err := put(f.full, f.render(f.tree.FileStart, f.tree.FileEnd, mine)); err != nil {
				return "", err
			}
		}
	}
	for at, name := range c.dirs {
		if err := put(filepath.Join(at, "mutant_switches.go"), fmt.Sprintf(switches, name, most)); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, err := filepath.Abs(filepath.Join(dir, "overlay.json"))
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, b, 0o666)
}

// changed is the name of the changed file of a place.
func changed(place string) string {
	return strings.ReplaceAll(strings.TrimPrefix(place, "/"), "/", "_")
}

// complaint is a line of the compiler. With -trimpath it names the changed file, else its place.
var complaint = regexp.MustCompile(`([^\s:]+\.go):(\d+):\d+: `)

// without leaves out the changes on lines that do not compile.
func without(sites []*site, complaints string) []*site {
	bad := map[string]bool{}
	for _, m := range complaint.FindAllStringSubmatch(complaints, -1) {
		n, _ := strconv.Atoi(m[2])
		bad[fmt.Sprint(filepath.Base(m[1]), n)] = true
	}
	return slices.DeleteFunc(slices.Clone(sites), func(s *site) bool {
		last := s.file.set.Position(s.to).Line
		for n := s.line(); n <= last; n++ {
			if bad[fmt.Sprint(filepath.Base(s.file.full), n)] || bad[fmt.Sprint(changed(s.file.full), n)] {
				return true
			}
		}
		return false
	})
}
