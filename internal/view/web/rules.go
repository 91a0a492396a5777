package web

import "ibwitness/rule"

// Rule is a rule of the catalogue and how often it was evaluated.
type Rule struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Severity  string `json:"severity"`
	Needs     string `json:"needs"`
	Reference string `json:"reference"`
	Text      string `json:"text"`
	NotJudged string `json:"not_judged,omitempty"` // why it is not judged
	Event     bool   `json:"event,omitempty"`      // legal
	Asked     bool   `json:"asked"`                // it can be judged in this run
	Exercised uint64 `json:"exercised"`
	Passed    uint64 `json:"passed"`
	Violated  uint64 `json:"violated"`
	Unproven  uint64 `json:"unproven"`
}

// Rules lists the catalogue, rules first and then events.
func (m *Model) Rules() []*Rule {
	m.mu.Lock()
	cover, events := m.status.Cover, false
	if m.done != nil {
		cover, events = m.done.run.Result.Cover, m.done.run.Result.Events > 0
	}
	m.mu.Unlock()
	var out []*Rule
	for _, id := range append(rule.Rules(), rule.Events()...) {
		row, n := id.Row(), cover[id]
		out = append(out, &Rule{
			ID: row.ID, Name: row.Name, Severity: row.Severity.String(), Needs: row.Needs.String(), Reference: row.Ref, Text: row.Text,
			NotJudged: row.NotWhy, Event: id.IsEvent(), Asked: row.Where != "" && (events || !id.NeedsEvents()),
			Exercised: n.Exercised, Passed: n.Passed(), Violated: n.Violated, Unproven: n.Unproven,
		})
	}
	return out
}
