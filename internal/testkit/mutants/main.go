// Command mutants shows what the tests of the verifiers would not notice. It changes the verifiers in one place at a time, an operator, a condition, a number or a
// statement, chosen by chance, and runs the tests of everything that rests on them: a change that no test notices is told, with its file and line.
//
//	make mutants N=300 SEED=1 FILES='^rc'
//
// Changes that are known to change nothing are in equivalent.txt, each with its reason, and are not counted.
//
// All changes are compiled at once, each behind a switch, so that a mutant costs no build. A test binary that never came to the place of a change is not run for it.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"time"
)

var (
	count   = flag.Int("n", 60, "mutants")
	seed    = flag.Uint64("seed", 1, "which ones")
	files   = flag.String("files", "", "only in files whose path matches this regular expression")
	only    = flag.String("only", "", "only the mutants of these numbers, joined by commas")
	judging = flag.String("tests", "", "only tests of packages whose path matches this regular expression")
	jobs    = flag.Int("jobs", 2, "mutants at a time")
	keep    = flag.String("keep", "", "folder for the changed files and the test binaries; none: a temporary one")
)

// mutated are the packages that are changed, and judges those whose tests are run: first those that notice most in the least time.
var (
	mutated = []string{"./verifier/..."}
	judges  = []judge{
		{path: "./verifier", args: []string{"-test.run=^TestScenarios$"}},
		{path: "./verifier", args: []string{"-test.run=^TestWild$"}},
		{path: "./verifier/rc"},
		{path: "./verifier/header"},
		{path: "./verifier/congestion"},
		{path: "./verifier/cm"},
		{path: "./verifier/gmp"},
		{path: "./verifier/smp"},
		{path: "./verifier", args: []string{"-test.run=^TestVaried$"}},
		{path: "./internal/testkit/view", args: []string{"-test.run=^TestVaried$"}},
		{path: "./verifier", args: []string{"-test.skip=^(TestVaried|TestScenarios|TestWild)$"}},
		{path: "./internal/testkit/planted"},
		{path: "./hcaagent/soft"},
		{path: "./agent"},
		{path: "./internal/scenario"},
		{path: "./internal/testkit/view", args: []string{"-test.run=^TestViews$", "-views.runs=2000"}},
	}
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := *keep
	if dir == "" {
		tmp, err := os.MkdirTemp("", "mutants")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	which, err := regexp.Compile(*files)
	if err != nil {
		return err
	}
	code, err := load(mutated, which)
	if err != nil {
		return err
	}
	sites := code.sites()
	if err := excuse(sites, which.MatchString); err != nil {
		return err
	}
	total := len(sites)
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(sites), func(i, k int) { sites[i], sites[k] = sites[k], sites[i] })
	sites = distinct(sites[:min(len(sites), 2**count)])
	sites = sites[:min(len(sites), *count)]
	fmt.Printf("%d of %d places\n", len(sites), total)
	tests, sites, err := build(dir, code, sites)
	if err != nil {
		return err
	}
	if err := measure(tests); err != nil {
		return err
	}
	began := time.Now()
	survivors := examine(tests, sites)
	for _, t := range tests {
		if why := t.run(0); why != "" {
			return fmt.Errorf("%s no longer passes without a change, so that nothing of this holds: %s; do not change the repository while this runs", t.name, why)
		}
	}
	examined, same := 0, 0
	for _, s := range sites {
		if chosen(s.number) {
			examined++
		}
		if chosen(s.number) && s.equivalent != "" {
			same++
		}
	}
	var list strings.Builder
	for _, s := range survivors {
		fmt.Fprintf(&list, "  %s\n", s)
	}
	noticed := examined - same - len(survivors)
	fmt.Printf("\n%d of %d noticed, %.1f %%, and %d known to change nothing, in %v. Not noticed:\n%s", noticed, examined-same,
		100*float64(noticed)/float64(max(examined-same, 1)), same, time.Since(began).Round(time.Second), list.String())
	return nil
}
