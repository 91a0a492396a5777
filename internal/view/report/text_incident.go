package report

import (
	"fmt"
	"strings"
	"time"

	"ibwitness/incident"
)

// linesBeforeNext is how many lines of an incident come before what to look at next, where facts can be spared until then: that begins on the first screen of a terminal.
const linesBeforeNext = 17

// incident writes an incident with what the frames show, what it fits with, and what to look at, and then with the details.
func (t *text) incident(i *incident.Incident) {
	what := wrap(told(i), min(t.Width, 110)-4)
	for k, l := range what {
		if k > 0 {
			l = "  " + l
		}
		t.line("  %s", t.bold(l))
	}
	began, fits := t.began(i), strings.Join(i.FitsWith, "; or ")
	explain, details := i.Details(func(facts []incident.Fact) bool {
		n := len(what) + t.linesOf(began) + t.linesOf(fits)
		for _, f := range facts {
			n += t.linesOf(f.Text)
		}
		return n <= linesBeforeNext
	})
	t.part("began", began)
	t.facts(explain)
	t.part("fits", fits)
	t.part("next", strings.Join(i.Next, "; "))
	t.facts(details)
	if len(i.Frames) > 0 {
		at := frames(i.Frames)
		if len(t.res.Taps) > 1 {
			at += fmt.Sprintf(", tap %d", i.Tap)
		}
		t.part("seen in", at)
	}
	t.part("findings", foundWith(i.Found))
}

// began says when an incident began and how long it lasted; "" of one that is of the whole capture.
func (t *text) began(i *incident.Incident) string {
	if i.Kind == incident.Untrusted {
		return ""
	}
	when := offset(i.Begin, t.res.First) + " of the capture"
	if i.End > i.Begin {
		when += ", for " + span(time.Duration(i.End-i.Begin))
	}
	return when + "; " + time.Unix(0, i.Begin).Round(time.Microsecond).UTC().Format("2006-01-02 15:04:05.000000") + " UTC"
}

func (t *text) facts(list []incident.Fact) {
	for _, f := range list {
		t.part(f.Label, f.Text)
	}
}

// part writes a line of an incident, and those that it is wrapped to.
func (t *text) part(label, words string) {
	if words != "" {
		t.prose(partLead(label), words)
	}
}

func partLead(label string) string { return fmt.Sprintf("    %-9s ", label) }

// linesOf is how many lines part writes of some words.
func (t *text) linesOf(words string) int {
	return len(wrap(words, min(t.Width, 110)-len(partLead(""))))
}
