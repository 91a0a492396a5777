package report

import (
	"fmt"
	"io"
	"strings"

	"ibwitness/conform"
	"ibwitness/rule"
)

// ConformOptions are what a reader of conformance tests asked to see.
type ConformOptions struct {
	Options
	Log    bool   // the procedure of each run as it went
	Seed   uint64 // of the order
	Device string
}

// ConformList writes conformance tests as a table.
func ConformList(w io.Writer, tests []*conform.Test, opt Options) error {
	t := catalogueText(w, opt)
	tab := newTable("id", "covers", ">assertions", "title")
	for _, x := range tests {
		tab.add(x.ID, statements(x, ", "), fmt.Sprint(len(x.Assertions)), x.Title)
	}
	t.lines(tab.lines("", t.dim))
	return t.out.Flush()
}

func statements(x *conform.Test, sep string) string {
	var list []string
	for _, s := range x.Covers {
		list = append(list, s.String())
	}
	return strings.Join(list, sep)
}

var markMeans = [...]string{
	conform.Stated: "a public source states it",
	conform.Seen:   "seen; what it means is known only from its context",
	conform.NoneID: "no statement is confirmed: the test is ours",
}

// ConformExplain writes conformance tests as pages.
func ConformExplain(w io.Writer, tests []*conform.Test, opt Options) error {
	t := catalogueText(w, opt)
	for i, x := range tests {
		if i > 0 {
			t.line("")
		}
		t.line("%s  %s", t.bold(x.ID), t.bold(x.Title))
		t.prose("  ", x.Abstract)
		t.heading("  Coverage")
		for _, s := range x.Covers {
			t.prose("    ", fmt.Sprintf("%v  %s", s, markMeans[s.Mark]))
		}
		t.heading("  Topology")
		t.prose("    ", x.Topology)
		t.heading("  Qualifiers")
		t.prose("    ", "the device is of kind "+x.Device.String())
		for _, q := range append(strings.Split(x.Needs.String(), "; "), x.Qualifiers...) {
			t.prose("    ", q)
		}
		t.heading("  Initialisation")
		for _, s := range x.Setup {
			t.prose("    ", s)
		}
		t.heading("  Procedure")
		for n, s := range x.Procedure {
			t.prose(fmt.Sprintf("    %2d  ", n+1), s)
		}
		t.heading("  Assertions")
		width := 14
		for _, a := range x.Assertions {
			width = max(width, len(a.ID)+2)
		}
		for _, a := range x.Assertions {
			t.prose(fmt.Sprintf("    %-*s", width, a.ID), a.Text)
		}
		t.prose(fmt.Sprintf("    %-*s", width, conform.RulesID), "The device breaks none of the rules that are verified (`ibwitness rules`).")
		t.heading("  The original page, and what was decided")
		for _, d := range x.Decisions {
			t.prose("    ", d.Page)
			t.prose("      ", d.Done)
		}
	}
	return t.out.Flush()
}

// outcome colours the name of an outcome.
func (p *paint) outcome(o conform.Outcome, text string) string {
	switch o {
	case conform.Pass:
		return p.green(text)
	case conform.Fail, conform.Broken:
		return p.red(text)
	}
	return p.yellow(text)
}

// summary says how many tests have come to which outcome.
func summary(list []*conform.Result) string {
	var n [conform.Broken + 1]int
	for _, r := range list {
		n[r.Outcome]++
	}
	var parts []string
	for o := conform.Broken + 1; o > 0; o-- {
		if n[o-1] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[o-1], o-1))
		}
	}
	return strings.Join(parts, ", ")
}

var conformVerdicts = [...]string{"NOT APPLICABLE", "PASSED", "INCONCLUSIVE", "FAILED", "TEST ERROR"}

// ConformRun writes what has become of conformance tests.
func ConformRun(w io.Writer, list []*conform.Result, opt ConformOptions) error {
	t := catalogueText(w, opt.Options)
	worst := conform.Worst(list)
	if conform.Status(list) == conform.ExitFailed {
		worst = conform.Fail
	}
	t.line("%s  %s of the device %s: %s; order by seed %d", t.outcome(worst, conformVerdicts[worst]), count(len(list), "test"), opt.Device, summary(list), opt.Seed)
	t.line("")
	tab := newTable("", "test", ">time", ">frames", "title")
	for _, r := range list {
		tab.add(r.Outcome.String(), r.Test.ID, rule.Span(r.Took), fmt.Sprint(len(r.Frames)), r.Test.Title)
	}
	rows := tab.lines("", t.dim)
	for i, row := range rows[1:] {
		name := list[i].Outcome.String()
		rows[i+1] = t.outcome(list[i].Outcome, name) + strings.TrimPrefix(row, name)
	}
	t.lines(rows)
	for _, r := range list {
		if opt.All || opt.Log || r.Outcome > conform.Pass || len(r.Warnings)+len(r.Remarks) > 0 {
			t.conformed(r, opt)
		}
	}
	return t.out.Flush()
}

// ConformLine is the line of a test that has ended: what came out, how long it took, and by which assertions, where it has not passed.
func ConformLine(r *conform.Result) string {
	s := fmt.Sprintf("%-14s  %-13s  %8s", r.Outcome, r.Test.ID, rule.Span(r.Took))
	for i := range r.Judgements {
		if o := r.Judgements[i].Outcome; o == r.Outcome && o > conform.Pass {
			s += "  " + r.Judgements[i].ID
		}
	}
	return s
}

// conformed writes a run in detail.
func (t *text) conformed(r *conform.Result, opt ConformOptions) {
	t.heading(r.Test.ID + "  " + r.Test.Title)
	for i := range r.Judgements {
		j := &r.Judgements[i]
		if !opt.All && j.Outcome == conform.Pass {
			continue
		}
		t.line("  %s  %s", t.outcome(j.Outcome, fmt.Sprintf("%-14s", j.Outcome)), t.bold(j.ID))
		t.prose("    ", j.Text)
		if j.Outcome == conform.Fail {
			t.prose("    expected  ", j.Expected)
			t.prose("    actual    ", j.Actual)
		} else {
			t.prose("    ", j.Actual)
		}
		if len(j.Frames) > 0 {
			t.prose("    frames    ", framesOf(j.Frames))
		}
	}
	t.breaches("  ", r.Violations)
	t.breaches("  warning ", r.Warnings)
	for _, s := range r.Remarks {
		t.prose("  ", s)
	}
	if opt.Log {
		t.line("  %s", t.dim("log"))
		for _, l := range r.Log {
			t.logged(l)
		}
	}
}

// breaches tells the first finding of each rule, and how many more there are.
func (t *text) breaches(mark string, list []rule.Finding) {
	more := map[rule.ID]int{}
	for i := range list {
		more[list[i].Rule]++
	}
	told := map[rule.ID]bool{}
	for i := range list {
		f := &list[i]
		if told[f.Rule] {
			continue
		}
		told[f.Rule] = true
		s := breach(f)
		if n := more[f.Rule] - 1; n > 0 {
			s += fmt.Sprintf("; and %d more", n)
		}
		t.prose(mark+f.Rule.String()+"  ", s)
	}
}

// breach tells a finding of a run.
func breach(f *rule.Finding) string {
	place := "verbs events"
	if f.Frame != 0 {
		place = whereabouts(f)
	}
	return fmt.Sprintf("%s: expected %s, actual %s", place, f.Expected, f.Actual)
}

// logged writes a line of a log: that of a step has its number.
func (t *text) logged(l conform.Line) {
	at := fmt.Sprintf("  %14.6f ms  ", float64(l.Time)/1e6)
	switch {
	case l.Head && l.Step == 0:
		t.prose(at+" -  ", l.Text)
	case l.Head:
		t.prose(fmt.Sprintf("%s%2d  ", at, l.Step), l.Text)
	default:
		t.prose(at+"      ", l.Text)
	}
}

// framesOf lists numbers of frames, not without end.
func framesOf(list []uint64) string {
	var s []string
	for i, n := range list {
		if i == shownCases {
			return strings.Join(s, ", ") + fmt.Sprintf(" and %d more", len(list)-i)
		}
		s = append(s, fmt.Sprint(n))
	}
	return strings.Join(s, ", ")
}
