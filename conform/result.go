package conform

import (
	"fmt"

	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// Outcome is what has become of an assertion or of a test, each worse than the one before.
type Outcome uint8

// The outcomes.
const (
	NotApplicable Outcome = iota
	Pass
	Inconclusive
	Fail
	Broken // the tester did what it must not: the test itself is wrong
)

var outcomes = [...]string{"not applicable", "pass", "inconclusive", "fail", "test error"}

func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// RulesID names the assertion that the passive rules make.
const RulesID = "rules"

// Judgement is what has become of an assertion in a run.
type Judgement struct {
	Assertion
	Outcome  Outcome
	Expected string
	Actual   string   // where it failed, or last; of one that is inconclusive or not applicable, why
	Frames   []uint64 // that show it, by their numbers in the capture of the run
	Times    int      // how often it was judged
}

// Line is a line of the log of a run.
type Line struct {
	Time int64 // nanoseconds since the run began
	Step int   // of the procedure; 0: initialisation
	Head bool  // the line is the step itself
	Text string
}

// Result is a run of a test.
type Result struct {
	Test       *Test
	Device     string
	Outcome    Outcome
	Judgements []Judgement // in the order of Test.Assertions; the last is that of the rules
	Violations []rule.Finding
	Warnings   []rule.Finding // violations that fail nothing
	Remarks    []string       // what a reader must know, though it fails nothing: what was left out, and what is unusual
	Log        []Line
	Link       fabricagent.LinkType // of the taps at the device
	Taps       []string             // their names; empty: one, "device"
	Frames     []fabricagent.Frame  // of it
	Took       int64                // nanoseconds of simulated time
}

// Judgement returns what has become of an assertion, or nil.
func (r *Result) Judgement(id string) *Judgement {
	for i := range r.Judgements {
		if r.Judgements[i].ID == id {
			return &r.Judgements[i]
		}
	}
	return nil
}

// Exit statuses of a run of tests, as those of the other commands.
const (
	ExitPassed       = 0 // all pass or are not applicable
	ExitFailed       = 1
	ExitInconclusive = 2
)

// Status is the exit status for some results. A test that is wrong itself has judged nothing.
func Status(list []*Result) int {
	status := ExitPassed
	for _, r := range list {
		switch r.Outcome {
		case Fail:
			return ExitFailed
		case Inconclusive, Broken:
			status = ExitInconclusive
		}
	}
	return status
}

// Worst is the worst outcome of some results.
func Worst(list []*Result) (o Outcome) {
	for _, r := range list {
		o = max(o, r.Outcome)
	}
	return o
}
