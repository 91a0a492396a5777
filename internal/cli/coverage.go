package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ibwitness/agent"
	"ibwitness/coverage"
	"ibwitness/internal/view/closure"
	"ibwitness/internal/view/report"
)

type coverageCommand struct {
	Merge coverageMerge `cmd:"" help:"Add runs up: what they have covered together, what each adds, and what is missing."`
	List  coverageList  `cmd:"" help:"List the items that a run can cover."`
}

// Help is below the commands in --help.
func (coverageCommand) Help() string {
	return `A run writes with --coverage what of the protocol it has covered. docs/coverage.md says what is counted, and how a plan is written.

Examples:

    ibwitness simulate --coverage lost.json examples/lost-ack.yaml
    ibwitness coverage merge lost.json`
}

type coverageMerge struct {
	Files  []string `arg:"" name:"file" complete:"file" help:"What --coverage or --format json has written; - is standard input."`
	Plan   string   `placeholder:"PLAN.yaml" complete:"file" help:"What must be covered, YAML or JSON (docs/coverage.md): what is not makes the exit status 1."`
	Format string   `enum:"text,html,json,ucis,verilator" default:"text" placeholder:"FORMAT" help:"Format: text, html (a page), json (the runs in one file, to be merged again), ucis (UCIS 1.0 XML) or verilator (for verilator_coverage). Default: ${default}."`
	All    bool     `help:"Name every hole and every run."`
}

// Help is below the flags' summary in --help.
func (coverageMerge) Help() string {
	return `Takes the runs of all files, each once, whichever files it is in, and says how much of each group they have covered together, which run adds most, and what no run has seen.

Examples:

    ibwitness simulate --coverage lost.json examples/lost-ack.yaml
    ibwitness check --coverage trace.json trace.pcap
    ibwitness coverage merge lost.json trace.json
    ibwitness coverage merge --all lost.json trace.json
    ibwitness coverage merge --format html lost.json trace.json

Exit status: 0 merged, and the plan is met where there is one; 1 it is not met; 2 unreadable input or bad usage.`
}

type coverageList struct {
	Patterns []string `arg:"" name:"pattern" optional:"" complete:"item" help:"Items: a name (opcode/rc/send-only), the beginning of names (opcode/rc), or with * for any text. Default: all."`
	Text     bool     `help:"Say of each item what it is."`
}

// Help is below the flags' summary in --help.
func (coverageList) Help() string {
	return `Lists the names of items, as a plan takes them, one a line.

Examples:

    ibwitness coverage list
    ibwitness coverage list --text recovery/rc 'length/*/pmtu+1'`
}

// Run adds up and reports.
func (c *coverageMerge) Run(s *session) error {
	var plan *closure.Plan
	if c.Plan != "" {
		if err := read(c.Plan, func(r io.Reader) (err error) {
			plan, err = closure.ReadPlan(r)
			return err
		}); err != nil {
			return err
		}
	}
	var docs []*closure.Document
	var errs []error
	for _, name := range c.Files {
		errs = append(errs, read(name, func(r io.Reader) error {
			d, err := closure.Read(r)
			docs = append(docs, d)
			return err
		}))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := closure.Merge(docs...)
	if plan != nil && len(closure.Summarize(all, plan).Holes()) > 0 {
		s.status = report.ExitViolated
	}
	return closure.Write(s.stdout, c.Format, all, plan, closure.Options{All: c.All, Color: s.color, Width: s.width})
}

// read has a file read, and names it in errors.
func read(name string, with func(io.Reader) error) error {
	if name == "-" {
		if err := with(os.Stdin); err != nil {
			return fmt.Errorf("cli: standard input: %s", strings.TrimPrefix(err.Error(), "closure: "))
		}
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cli: %w: give a file that can be read", err)
	}
	defer f.Close()
	if err := with(f); err != nil {
		return fmt.Errorf("cli: %s: %s", name, strings.TrimPrefix(err.Error(), "closure: "))
	}
	return nil
}

// Run lists.
func (c *coverageList) Run(s *session) error {
	var out strings.Builder
	wanted := map[string]bool{}
	for _, p := range c.Patterns {
		found := closure.Match(p)
		if len(found) == 0 {
			return fmt.Errorf("cli: there is no item %q: `ibwitness coverage list` without a pattern lists all", p)
		}
		for _, name := range found {
			wanted[name] = true
		}
	}
	wide := 0
	for _, i := range coverage.Items() {
		if len(c.Patterns) == 0 || wanted[i.Name] {
			wide = max(wide, len(i.Name))
		}
	}
	for _, i := range coverage.Items() {
		switch {
		case len(c.Patterns) > 0 && !wanted[i.Name]:
		case c.Text:
			fmt.Fprintf(&out, "%-*s  %s\n", wide, i.Name, i.Text)
		default:
			out.WriteString(i.Name + "\n")
		}
	}
	_, err := io.WriteString(s.stdout, out.String())
	return err
}

// coverageFlags have a run write what it has covered.
type coverageFlags struct {
	Coverage string `placeholder:"OUT.json" complete:"file" help:"Write what of the protocol the run has covered, for coverage merge (docs/coverage.md)."`
	As       string `name:"run" placeholder:"NAME" help:"Name of the run in --coverage. Default: that of the file that is read."`
}

// write writes what a run over a file has covered, if that is asked for.
func (c *coverageFlags) write(read string, r *agent.Result) error {
	if c.Coverage == "" {
		return nil
	}
	name := c.As
	if name == "" {
		name = filepath.Base(read)
		for ext := filepath.Ext(name); ext != "" && ext != name; ext = filepath.Ext(name) {
			name = strings.TrimSuffix(name, ext) // trace.pcap.gz
		}
	}
	f, err := os.Create(c.Coverage)
	if err != nil {
		return fmt.Errorf("cli: --coverage: %w: give a file that can be written", err)
	}
	return errors.Join(closure.Of(name, r).WriteJSON(f), f.Close())
}
