package report

import (
	"encoding/json"
	"fmt"
	"io"

	"ibwitness/conform"
	"ibwitness/rule"
)

type jsonTest struct {
	Kind       string           `json:"kind"`
	ID         string           `json:"id"`
	Title      string           `json:"title"`
	Abstract   string           `json:"abstract"`
	Covers     []jsonStatement  `json:"covers"`
	Topology   string           `json:"topology"`
	Device     string           `json:"device"`
	Qualifiers []string         `json:"qualifiers"`
	Setup      []string         `json:"initialisation"`
	Procedure  []string         `json:"procedure"`
	Assertions []jsonAssertion  `json:"assertions"`
	Decisions  []map[string]any `json:"decisions"`
}

type jsonStatement struct {
	ID   string `json:"id,omitempty"`
	Mark string `json:"mark"`
}

type jsonAssertion struct {
	ID   string `json:"id"`
	Ours bool   `json:"ours"`
	Text string `json:"text"`
}

type jsonRun struct {
	Kind       string          `json:"kind"`
	Test       string          `json:"test"`
	Device     string          `json:"device"`
	Outcome    string          `json:"outcome"`
	Seconds    float64         `json:"seconds"`
	Frames     int             `json:"frames"`
	Assertions []jsonJudgement `json:"assertions"`
	Violations []jsonBreach    `json:"violations,omitempty"`
	Warnings   []jsonBreach    `json:"warnings,omitempty"`
	Remarks    []string        `json:"remarks,omitempty"`
	Log        []jsonLog       `json:"log"`
}

type jsonJudgement struct {
	ID       string   `json:"id"`
	Outcome  string   `json:"outcome"`
	Expected string   `json:"expected,omitempty"`
	Actual   string   `json:"actual"`
	Frames   []uint64 `json:"frames,omitempty"`
	Times    int      `json:"times"`
}

type jsonBreach struct {
	Rule     string `json:"rule"`
	Frame    uint64 `json:"frame"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

type jsonLog struct {
	Nanoseconds int64  `json:"ns"`
	Step        int    `json:"step"`
	Head        bool   `json:"head,omitempty"`
	Text        string `json:"text"`
}

// ConformListJSON writes conformance tests, one JSON object a line.
func ConformListJSON(w io.Writer, tests []*conform.Test) error {
	enc := json.NewEncoder(w)
	for _, x := range tests {
		j := jsonTest{
			Kind: "test", ID: x.ID, Title: x.Title, Abstract: x.Abstract, Topology: x.Topology, Device: x.Device.String(), Qualifiers: append([]string{x.Needs.String()}, x.Qualifiers...), Setup: x.Setup,
			Procedure: x.Procedure, Decisions: []map[string]any{},
		}
		for _, s := range x.Covers {
			j.Covers = append(j.Covers, jsonStatement{s.ID, s.Mark.String()})
		}
		for i := range x.Assertions {
			a := &x.Assertions[i]
			j.Assertions = append(j.Assertions, jsonAssertion{a.ID, a.Ours(), a.Text})
		}
		for _, d := range x.Decisions {
			j.Decisions = append(j.Decisions, map[string]any{"page": d.Page, "done": d.Done})
		}
		if err := enc.Encode(j); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// ConformJSON writes what has become of conformance tests, one JSON object a line.
func ConformJSON(w io.Writer, list []*conform.Result) error {
	enc := json.NewEncoder(w)
	for _, r := range list {
		j := jsonRun{
			Kind: "run", Test: r.Test.ID, Device: r.Device, Outcome: r.Outcome.String(), Seconds: float64(r.Took) / 1e9, Frames: len(r.Frames),
			Violations: breaches(r.Violations), Warnings: breaches(r.Warnings), Remarks: r.Remarks, Log: []jsonLog{},
		}
		for i := range r.Judgements {
			x := &r.Judgements[i]
			j.Assertions = append(j.Assertions, jsonJudgement{x.ID, x.Outcome.String(), x.Expected, x.Actual, x.Frames, x.Times})
		}
		for _, l := range r.Log {
			j.Log = append(j.Log, jsonLog{l.Time, l.Step, l.Head, l.Text})
		}
		if err := enc.Encode(j); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

func breaches(list []rule.Finding) (out []jsonBreach) {
	for i := range list {
		out = append(out, jsonBreach{list[i].Rule.String(), list[i].Frame, list[i].Expected, list[i].Actual})
	}
	return out
}

// ConformJUnit writes what has become of conformance tests as a JUnit report: a test case for each assertion. One that is inconclusive or not applicable is skipped.
func ConformJUnit(w io.Writer, list []*conform.Result, device string) error {
	s := junitSuite{Name: "ibwitness conform", Properties: []junitProperty{{"device", device}, {"outcome", conform.Worst(list).String()}}}
	took := int64(0)
	for _, r := range list {
		took += r.Took
		for i := range r.Judgements {
			j := &r.Judgements[i]
			c := junitCase{Class: "ibwitness.conform." + r.Test.ID, Name: j.ID + " " + j.Text}
			o := &junitOutcome{Message: j.Actual, Type: j.Outcome.String()}
			switch j.Outcome {
			case conform.Fail:
				o.Message = fmt.Sprintf("expected %s, actual %s", j.Expected, j.Actual)
				o.Text = "frames " + framesOf(j.Frames) + "\n"
				if j.ID == conform.RulesID {
					for k := range r.Violations {
						f := &r.Violations[k]
						o.Text += fmt.Sprintf("%v, %s\n", f.Rule, breach(f))
					}
				}
				c.Failure = o
			case conform.Broken:
				c.Error = o
			case conform.Inconclusive, conform.NotApplicable:
				c.Skipped = &junitOutcome{Message: j.Outcome.String() + ": " + j.Actual}
			}
			s.add(c)
		}
	}
	s.Time = fmt.Sprintf("%.6f", float64(took)/1e9)
	s.Tests = len(s.Cases)
	return s.write(w)
}
