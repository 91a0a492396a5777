package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"ibwitness/rule"
)

// sarif writes SARIF 2.1.0, as code scanning reads it. A frame is a logical location, since a capture has no lines.
type sarif struct{ all bool }

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Artifacts   []sarifArtifact   `json:"artifacts,omitempty"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Text    sarifMessage `json:"fullDescription"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties map[string]string `json:"properties,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifArtifact struct {
	Location sarifURI `json:"location"`
}

type sarifURI struct {
	URI string `json:"uri"`
}

type sarifResult struct {
	RuleID     string          `json:"ruleId"`
	RuleIndex  int             `json:"ruleIndex"`
	Kind       string          `json:"kind"`
	Level      string          `json:"level"`
	Message    sarifMessage    `json:"message"`
	Count      uint64          `json:"occurrenceCount,omitempty"`
	Locations  []sarifLocation `json:"locations"`
	Properties any             `json:"properties"` // as a line of JSON has it

	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

// sarifSuppression says that a result is no error, by a decision that was taken outside of what was judged.
type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifURI `json:"artifactLocation"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Report writes the log.
func (s *sarif) Report(w io.Writer, run *Run) error {
	r := run.Result
	out := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "ibwitness", Rules: []sarifRule{}}}}
	invocation := sarifInvocation{Successful: !run.incomplete()}
	for _, p := range run.Problems {
		level := "error"
		if p.Kept {
			level = "warning"
		}
		invocation.Notifications = append(invocation.Notifications, sarifNotification{level, sarifMessage{p.Message}})
	}
	switch v := run.Verdict(); {
	case v == NotJudged && r.RDMA > 0:
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifMessage{Unjudged(r.RDMA, r.NotJudged)}})
	case r.Open.Requests > 0:
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"note", sarifMessage{openOf(r)}})
	}
	for _, c := range Caveats(r) {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifMessage{c}})
	}
	out.Invocations = []sarifInvocation{invocation}
	seen := map[string]bool{}
	for i := range r.Taps {
		if f := r.Taps[i].File; f != "" && !seen[f] {
			seen[f] = true
			out.Artifacts = append(out.Artifacts, sarifArtifact{sarifURI{uri(f)}})
		}
	}
	index := map[rule.ID]int{}
	at := func(id rule.ID) int {
		n, ok := index[id]
		if !ok {
			n = len(index)
			index[id] = n
			out.Tool.Driver.Rules = append(out.Tool.Driver.Rules, sarifRuleOf(id))
		}
		return n
	}
	list := entries(r.Findings, s.all)
	for i := range list {
		if e := &list[i]; e.Class != rule.Event {
			out.Results = append(out.Results, s.result(run, e, at(e.Rule)))
		}
	}
	for _, e := range waivedEntries(r, s.all) {
		result := s.result(run, &e.Entry, at(e.Rule))
		result.Properties = waivedFindingLine(&e)
		result.Suppressions = []sarifSuppression{{"external", "accepted", e.why}}
		out.Results = append(out.Results, result)
	}
	out.incidents(run)
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{out}})
}

// incidents adds what happened: for information, or as failures where the run fails on it.
func (s *sarifRun) incidents(run *Run) {
	list := run.Incidents()
	for i := range list {
		n := &list[i]
		id := "incident/" + n.Kind.String()
		at := slices.IndexFunc(s.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == id })
		if at < 0 {
			at = len(s.Tool.Driver.Rules)
			r := sarifRule{ID: id, Name: n.Kind.String(), Text: sarifMessage{"What happened, beside the verdict: see docs/incidents.md."}}
			r.Default.Level = "warning"
			s.Tool.Driver.Rules = append(s.Tool.Driver.Rules, r)
		}
		out := sarifResult{RuleID: id, RuleIndex: at, Kind: "informational", Level: "none", Message: sarifMessage{n.What}, Properties: incidentLine(n)}
		if run.FailOn == FailOnIncident {
			out.Kind, out.Level = "fail", "warning"
		}
		l := sarifLocation{Physical: sarifFile(run, n.Tap)}
		for _, f := range n.Frames {
			l.Logical = append(l.Logical, sarifLogical{fmt.Sprintf("frame %d", f), "frame"})
		}
		out.Locations = []sarifLocation{}
		if l.Physical != nil || l.Logical != nil {
			out.Locations = append(out.Locations, l)
		}
		s.Results = append(s.Results, out)
	}
}

// sarifFile is the file of a tap; nil: it has none.
func sarifFile(run *Run, tap uint16) *sarifPhysical {
	if taps := run.Result.Taps; int(tap) < len(taps) && taps[tap].File != "" {
		return &sarifPhysical{sarifURI{uri(taps[tap].File)}}
	}
	return nil
}

// uri names a file: relative to where the run was, as it was given.
func uri(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

func sarifRuleOf(id rule.ID) (out sarifRule) {
	row := id.Row()
	out.ID, out.Name, out.Text.Text = row.ID, row.Name, row.Text
	out.Default.Level = sarifLevel(row.Severity)
	out.Properties = map[string]string{"reference": row.Ref, "needs": row.Needs.String()}
	return out
}

func sarifLevel(s rule.Severity) string {
	switch s {
	case rule.Error:
		return "error"
	case rule.Warning:
		return "warning"
	}
	return "note"
}

func (s *sarif) result(run *Run, e *Entry, at int) sarifResult {
	out := sarifResult{
		RuleID: e.Rule.String(), RuleIndex: at, Kind: "fail", Level: sarifLevel(e.Rule.Row().Severity),
		Message: sarifMessage{line(e)}, Count: e.Count, Properties: findingLine(e),
	}
	if e.Class == rule.Unproven {
		out.Kind, out.Level = "review", "none" // as the standard has it of kinds other than fail
	}
	out.Locations = []sarifLocation{{Physical: sarifFile(run, e.Tap), Logical: []sarifLogical{{whereabouts(e.Finding), "frame"}}}}
	return out
}
