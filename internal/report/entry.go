package report

import (
	"ibwitness/rule"
)

// entry is a finding as it is shown: a warning stands once for a connection, with its count.
type entry struct {
	*rule.Finding
	count uint64 // how often; 0: shown for itself alone
}

// connectionKey says what "once a connection" means for a warning.
type connectionKey struct {
	rule          rule.ID
	class         rule.Class
	accused, peer rule.Endpoint
}

// entries lists the findings in their order. Unless all is set, findings of rules below severity error are folded: the first of
// a rule on a connection stands for all of them. Events are never folded.
func entries(findings []rule.Finding, all bool) []entry {
	out := make([]entry, 0, len(findings))
	seen := map[connectionKey]int{}
	for i := range findings {
		f := &findings[i]
		if all || f.Class == rule.Event || f.Rule.Row().Severity == rule.Error {
			out = append(out, entry{Finding: f})
			continue
		}
		key := connectionKey{f.Rule, f.Class, f.Accused, f.Peer}
		at, ok := seen[key]
		if !ok {
			at = len(out)
			seen[key] = at
			out = append(out, entry{Finding: f})
		}
		out[at].count++
	}
	return out
}

// times is how many findings the entry stands for.
func (e *entry) times() uint64 { return max(e.count, 1) }

// tally counts entries by what the summary tells apart.
type tally struct {
	violations, warnings, notes, unproven, events int
}

func tallyOf(list []entry) (t tally) {
	for i := range list {
		switch list[i].Class {
		case rule.Event:
			t.events++
		case rule.Unproven:
			t.unproven++
		case rule.Violation:
			switch list[i].Rule.Row().Severity {
			case rule.Error:
				t.violations++
			case rule.Warning:
				t.warnings++
			default:
				t.notes++
			}
		}
	}
	return t
}
