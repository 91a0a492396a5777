package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"ibwitness/rule"
)

// junit writes a JUnit report, as CI servers read it: a test case for each rule that was evaluated. One that was violated fails where
// the run fails on its severity; one that was only not proven, or whose violations are all waived, is skipped; what was wrong with the input is an error.
type junit struct{ all bool }

type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure"`
	Error   *junitOutcome `xml:"error"`
	Skipped *junitOutcome `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// shownCases is how many findings of a rule a test case tells, unless all are asked for.
const shownCases = 20

// Report writes the document.
func (j *junit) Report(w io.Writer, run *Run) error {
	r := run.Result
	s := junitSuite{
		Name: "ibwitness", Time: fmt.Sprintf("%.6f", float64(r.Last-r.First)/1e9),
		Properties: []junitProperty{
			{"verdict", run.Verdict().String()},
			{"packets", fmt.Sprint(r.Packets)},
			{"rdma", fmt.Sprint(r.RDMA)},
			{"dropped", fmt.Sprint(r.Dropped)},
			{"open", fmt.Sprint(r.Open.Requests)},
		},
	}
	if r.RDMA > 0 {
		s.Timestamp = time.Unix(0, r.First).UTC().Format("2006-01-02T15:04:05")
	}
	for i := range r.Taps {
		if f := r.Taps[i].File; f != "" {
			s.Properties = append(s.Properties, junitProperty{"file", f})
		}
	}
	s.input(run)
	of, list := map[rule.ID][]*Entry{}, entries(r.Findings, j.all)
	for i := range list {
		if e := &list[i]; e.Class != rule.Event {
			of[e.Rule] = append(of[e.Rule], e)
		}
	}
	waived := map[rule.ID][]waivedEntry{}
	for _, e := range waivedEntries(r, j.all) {
		waived[e.Rule] = append(waived[e.Rule], e)
	}
	for _, id := range rule.Rules() {
		if r.Cover[id].Exercised > 0 || len(of[id])+len(waived[id]) > 0 {
			s.add(j.testCase(run, id, of[id], waived[id]))
		}
	}
	s.incidents(run)
	s.Tests = len(s.Cases)
	return s.write(w)
}

// incidents adds a test case for each kind of incident that happened: it fails where the run fails on them.
func (s *junitSuite) incidents(run *Run) {
	var c *junitCase
	add := func() {
		if c == nil {
			return
		}
		if run.FailOn == FailOnIncident {
			c.Failure, c.Output = &junitOutcome{Message: "happened", Type: "incident", Text: c.Output}, ""
		}
		s.add(*c)
	}
	list := run.Incidents()
	for i := range list {
		n := &list[i]
		if i == 0 || n.Kind != list[i-1].Kind {
			add()
			c = &junitCase{Class: "ibwitness.incidents", Name: n.Kind.String()}
		}
		c.Output += fmt.Sprintf("%v: %s\n", n.Certainty, n.What)
	}
	add()
}

// input adds the test cases of the input: what was wrong with it, and what was not judged.
func (s *junitSuite) input(run *Run) {
	r := run.Result
	for _, p := range run.Problems {
		c := junitCase{Class: "input", Name: p.Message}
		if p.Kept {
			c.Output = p.Message
		} else {
			c.Error = &junitOutcome{Message: p.Message}
		}
		s.add(c)
	}
	switch {
	case r.RDMA == 0 && len(run.Problems) == 0:
		s.add(junitCase{Class: "input", Name: "traffic", Error: &junitOutcome{Message: "no InfiniBand or RoCE packet"}})
	case r.RDMA > 0 && run.Verdict() == NotJudged:
		s.add(junitCase{Class: "input", Name: "traffic", Error: &junitOutcome{Message: Unjudged(r.RDMA, r.NotJudged)}})
	case r.Open.Requests > 0:
		s.add(junitCase{Class: "input", Name: "open requests", Skipped: &junitOutcome{Message: openOf(r)}})
	}
	if r.Clock.Count > 0 {
		s.add(junitCase{Class: "input", Name: "clock", Skipped: &junitOutcome{Message: clockSteps(r)}})
	}
	if len(r.Skewed) > 0 {
		s.add(junitCase{Class: "input", Name: "clocks", Skipped: &junitOutcome{Message: clocksDiffer(r)}})
	}
	for _, f := range forgotten(&r.Forgotten) {
		s.add(junitCase{Class: "input", Name: "memory", Skipped: &junitOutcome{Message: f}})
	}
}

func (s *junitSuite) write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suite: *s}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// testCase is the test case of a rule with its findings.
func (j *junit) testCase(run *Run, id rule.ID, findings []*Entry, waived []waivedEntry) junitCase {
	row := id.Row()
	c := junitCase{Class: "ibwitness." + strings.ToLower(row.ID[:strings.IndexByte(row.ID, '-')]), Name: row.ID + " " + row.Name}
	violated, times, text := uint64(0), uint64(0), row.Text+"\n"
	for i, f := range findings {
		times += f.Times()
		if f.Class == rule.Violation {
			violated += f.Times()
		}
		if j.all || i < shownCases {
			text += line(f) + "\n"
		}
	}
	if n := len(findings) - shownCases; n > 0 && !j.all {
		text += fmt.Sprintf("and %d more\n", n)
	}
	excused, why := uint64(0), ""
	for i := range waived {
		e := &waived[i]
		if excused += e.Times(); why == "" {
			why = e.why
		}
		if j.all || i < shownCases {
			text += line(&e.Entry) + ", waived: " + e.why + "\n"
		}
	}
	fails := row.Severity == rule.Error && run.FailOn != FailNever || row.Severity == rule.Warning && run.FailOn == FailOnWarning
	switch {
	case len(findings) == 0 && len(waived) > 0:
		c.Skipped = &junitOutcome{Message: "waived, " + count(excused, "time") + ": " + why}
		c.Output = text
	case len(findings) == 0:
	case violated > 0 && fails:
		c.Failure = &junitOutcome{Message: "violated " + count(violated, "time"), Type: row.Severity.String(), Text: text}
	case violated > 0:
		c.Output = text
	default:
		c.Skipped = &junitOutcome{Message: "not proven, " + count(times, "time")}
		c.Output = text
	}
	return c
}

// whereabouts names the frame of a finding, or the line of a log where no frame shows it.
func whereabouts(f *rule.Finding) string {
	if f.Frame == 0 && f.Log != "" {
		return fmt.Sprintf("%s, line %d", f.Log, f.Line)
	}
	return fmt.Sprintf("frame %d", f.Frame)
}

// line tells a finding in one line.
func line(e *Entry) string {
	s := fmt.Sprintf("%s, %s: expected %s, actual %s", whereabouts(e.Finding), accused(e.Finding), e.Expected, e.Actual)
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	if again := e.again(); again != "" {
		s += fmt.Sprintf("; %s times, again in %s", number(e.Count), again)
	}
	return s
}
