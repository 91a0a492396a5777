package report

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/rule"
)

// coverage is how much of the catalogue a run exercised. Events are not rules, and are not in it; nor are rules that need verbs events
// where there are none.
type coverage struct {
	total, exercised, passed   int
	violated, warned, unproven int // warned: violated, and of a severity below error
	unjudged                   int // rules without a check
}

func coverageOf(r *agent.Result) (c coverage) {
	for _, id := range rule.Rules() {
		c.total++
		n := r.Cover[id]
		if n.Exercised == 0 && n.Violated == 0 && n.Unproven == 0 {
			switch {
			case id.Row().Where == "":
				c.unjudged++
			case id.NeedsEvents() && r.Events == 0:
				c.total-- // not asked for
			}
			continue
		}
		c.exercised++
		switch {
		case n.Violated > 0 && id.Row().Severity == rule.Error:
			c.violated++
		case n.Violated > 0:
			c.warned++
		case n.Unproven > 0:
			c.unproven++
		default:
			c.passed++
		}
	}
	return c
}

// sentence says it in words.
func (c coverage) sentence() string {
	s := fmt.Sprintf("%d of %d exercised: %d held", c.exercised, c.total, c.passed)
	if c.violated > 0 {
		s += fmt.Sprintf(", %d violated", c.violated)
	}
	if c.warned > 0 {
		s += fmt.Sprintf(", %d warned", c.warned)
	}
	if c.unproven > 0 {
		s += fmt.Sprintf(", %d not proven", c.unproven)
	}
	s += "."
	if idle := c.total - c.exercised - c.unjudged; idle > 0 {
		s += fmt.Sprintf(" %d found nothing to judge in this traffic, so they were not verified.", idle)
	}
	if c.unjudged > 0 {
		s += fmt.Sprintf(" %d cannot be judged from packets.", c.unjudged)
	}
	return s
}

// Coverage is how much of the catalogue a run exercised, in rules.
type Coverage struct {
	Total     int `json:"total"`
	Exercised int `json:"exercised"`
	Held      int `json:"held"`
	Violated  int `json:"violated"`
	Warned    int `json:"warned"` // violated, and of a severity below error
	Unproven  int `json:"unproven"`
	Unjudged  int `json:"unjudged"` // there is no check for them
}

// CoverageOf returns the coverage of a run.
func CoverageOf(r *agent.Result) Coverage {
	c := coverageOf(r)
	return Coverage{c.total, c.exercised, c.passed, c.violated, c.warned, c.unproven, c.unjudged}
}
