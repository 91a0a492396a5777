package report

import (
	"testing"

	"ibwitness/conform"
)

// TestConformLine: the line of a test has the assertions that make its outcome, and those only.
func TestConformLine(t *testing.T) {
	judged := []conform.Judgement{
		{Assertion: conform.Assertion{ID: "ours#01"}, Outcome: conform.Pass},
		{Assertion: conform.Assertion{ID: "ours#02"}, Outcome: conform.Inconclusive},
		{Assertion: conform.Assertion{ID: "ours#03"}, Outcome: conform.Fail},
	}
	for _, c := range []struct {
		outcome conform.Outcome
		n       int
		want    string
	}{
		{conform.Pass, 1, "pass            X09_001           2.5ms"},
		{conform.Inconclusive, 2, "inconclusive    X09_001           2.5ms  ours#02"},
		{conform.Fail, 3, "fail            X09_001           2.5ms  ours#03"},
	} {
		r := &conform.Result{Test: conform.Match("X09_001")[0], Outcome: c.outcome, Judgements: judged[:c.n], Took: 2_500_000}
		if got := ConformLine(r); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
