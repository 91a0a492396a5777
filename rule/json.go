package rule

import "encoding/json"

// rowJSON fixes the keys and their order. Every key is always there; where, not_judged and scenario are empty strings when they do not apply.
type rowJSON struct {
	ID        string `json:"rule"`
	Name      string `json:"name"`
	Severity  string `json:"severity"` // "error", "warning", "info"
	Needs     string `json:"needs"`    // "wire", "wire+QP", "link"
	Reference string `json:"reference"`
	Text      string `json:"text"`
	Where     string `json:"where"`
	NotJudged string `json:"not_judged"`
	Scenario  string `json:"scenario"`
}

// MarshalJSON writes the row with lower-case keys: id, name, severity, needs, reference, text, where, not_judged, scenario.
func (r Row) MarshalJSON() ([]byte, error) {
	return json.Marshal(rowJSON{
		ID: r.ID, Name: r.Name, Severity: r.Severity.String(), Needs: r.Needs.String(),
		Reference: r.Ref, Text: r.Text, Where: r.Where, NotJudged: r.NotWhy, Scenario: r.Scenario(),
	})
}
