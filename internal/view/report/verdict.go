package report

import (
	"fmt"

	"ibwitness/rule"
)

// FailOn is what makes a run fail.
type FailOn uint8

// The choices of --fail-on.
const (
	FailOnError FailOn = iota
	FailOnWarning
	FailOnIncident // or on a violation of severity error
	FailNever
)

// ParseFailOn reads "error", "warning", "incident" or "never".
func ParseFailOn(s string) (FailOn, error) {
	switch s {
	case "error":
		return FailOnError, nil
	case "warning":
		return FailOnWarning, nil
	case "incident":
		return FailOnIncident, nil
	case "never":
		return FailNever, nil
	}
	return 0, fmt.Errorf("report: cannot fail on %q: give error, warning, incident or never", s)
}

// Verdict is what a run amounts to.
type Verdict uint8

// The verdicts, the gravest last.
const (
	Clean      Verdict = iota // nothing violated
	Open                      // nothing violated, but requests had no response when the capture ended
	NotProven                 // nothing violated, but something would be if the view proved it
	NotJudged                 // nothing there to judge
	Incomplete                // nothing violated in the part that could be read
	Warned                    // warnings, and the user wants to fail on them
	Violated                  // an endpoint broke a rule of severity error
)

func (v Verdict) String() string {
	return [...]string{"CLEAN", "OPEN", "NOT PROVEN", "NOT JUDGED", "INCOMPLETE", "WARNED", "VIOLATED"}[v]
}

// The exit statuses of the command.
const (
	ExitClean    = 0 // judged, and nothing that the user wants to fail on
	ExitViolated = 1
	ExitUnjudged = 2 // unreadable input, bad usage, interrupted
)

// Verdict says what the run amounts to.
func (r *Run) Verdict() Verdict {
	var unproven, warnings, violations bool
	for i := range r.Result.Findings {
		f := &r.Result.Findings[i]
		severity := f.Rule.Row().Severity
		switch f.Class {
		case rule.Violation:
			violations = violations || severity == rule.Error
			warnings = warnings || severity == rule.Warning
		case rule.Unproven:
			unproven = unproven || severity == rule.Error
		}
	}
	switch {
	case violations:
		return Violated
	case warnings && r.FailOn == FailOnWarning:
		return Warned
	case r.incomplete():
		return Incomplete
	case r.Result.RDMA == 0:
		return NotJudged
	case unproven:
		return NotProven
	case !r.Result.Judged():
		return NotJudged
	case r.Result.Open.Requests > 0:
		return Open
	}
	return Clean
}

// ExitStatus is what the command exits with.
func (r *Run) ExitStatus() int {
	switch v := r.Verdict(); {
	case v >= Warned && r.FailOn != FailNever, r.FailOn == FailOnIncident && len(r.Incidents()) > 0:
		return ExitViolated
	case v == NotJudged || r.incomplete():
		return ExitUnjudged
	}
	return ExitClean
}

// incomplete reports whether readable input was left unjudged.
func (r *Run) incomplete() bool {
	if r.Interrupted {
		return true
	}
	for i := range r.Problems {
		if !r.Problems[i].Kept {
			return true
		}
	}
	return false
}

// truncated reports whether an input ended inside a record.
func (r *Run) truncated() bool {
	for i := range r.Problems {
		if r.Problems[i].Kept {
			return true
		}
	}
	return false
}
