package conform

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/rule"
)

// conclude judges what is open, takes what the rules have found, and finds the outcome.
func (r *run) conclude() {
	res := r.result
	res.Took = r.since()
	for _, s := range r.sent {
		l := &res.Log[s.line]
		l.Text = fmt.Sprintf("-> frame %d: %s", s.p.Frame, strings.TrimPrefix(l.Text, "-> "))
	}
	for _, a := range r.test.Assertions {
		j := r.judged[a.ID]
		if j == nil {
			why := r.why
			if why == "" {
				why = "the run gave no occasion to judge it"
			}
			j = &judging{Judgement: Judgement{Assertion: a, Outcome: Inconclusive, Actual: why}}
			if r.lacking {
				j.Outcome = NotApplicable
			}
		}
		for _, p := range j.frames {
			if p != nil && p.Frame != 0 && !slices.Contains(j.Frames, p.Frame) {
				j.Frames = append(j.Frames, p.Frame)
			}
		}
		slices.Sort(j.Frames)
		res.Judgements = append(res.Judgements, j.Judgement)
	}
	r.rules()
	res.Outcome = NotApplicable
	for i := range res.Judgements {
		res.Outcome = max(res.Outcome, res.Judgements[i].Outcome)
	}
	if r.lacking && res.Outcome == Pass { // which only the rules have
		res.Outcome = NotApplicable
	}
}

// rules adds the judgement of the passive rules.
func (r *run) rules() {
	j := Judgement{Assertion: Assertion{RulesID, "The device breaks none of the rules that the passive verifiers know."}, Outcome: Pass, Actual: "no violation", Times: 1}
	if r.session == nil || r.problem != nil {
		j.Outcome, j.Actual = Broken, fmt.Sprint(r.problem)
		r.result.Judgements = append(r.result.Judgements, j)
		return
	}
	_, err := r.session.Advance(r.now())
	found, _, err2 := r.session.End()
	if err != nil || err2 != nil {
		j.Outcome, j.Actual = Broken, fmt.Sprint(err, err2)
		r.result.Judgements = append(r.result.Judgements, j)
		return
	}
	var ids, wrong []string
	for _, f := range found.Findings {
		id := f.Rule.String()
		switch {
		case f.Class != rule.Violation:
		case r.mine(&f):
			if r.live != nil { // that it is right was shown in simulated time
				break
			}
			if f.Rule.Row().Severity == rule.Error && !slices.Contains(r.test.Breaks, id) {
				wrong = append(wrong, fmt.Sprintf("the tester breaks %s at frame %d: expected %s, actual %s", id, f.Frame, f.Expected, f.Actual))
			}
		case f.Rule.Row().Severity != rule.Error:
			r.result.Warnings = append(r.result.Warnings, f)
		default:
			r.result.Violations = append(r.result.Violations, f)
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			for _, n := range append(slices.Clone(f.Evidence), f.Frame) {
				if n != 0 && !slices.Contains(j.Frames, n) {
					j.Frames = append(j.Frames, n)
				}
			}
		}
	}
	slices.Sort(j.Frames)
	failed := slices.ContainsFunc(r.result.Judgements, func(j Judgement) bool { return j.Outcome == Fail })
	switch {
	case len(ids) > 0:
		j.Outcome, j.Expected, j.Actual = Fail, "no violation", strings.Join(ids, ", ")
	case len(wrong) > 0 && failed: // what answers a wrong request is wrong too
		j.Outcome, j.Actual = Inconclusive, strings.Join(wrong, "; ")
	case len(wrong) > 0:
		j.Outcome, j.Actual = Broken, strings.Join(wrong, "; ")
	}
	r.result.Judgements = append(r.result.Judgements, j)
}
