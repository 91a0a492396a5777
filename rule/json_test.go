package rule_test

import (
	"encoding/json"
	"testing"

	"ibwitness/rule"
)

func TestRowJSON(t *testing.T) {
	row := rule.Row{
		ID: "RC-PSN-004", Name: "request-psn-gap", Severity: rule.Error, Needs: rule.WireQP, Ref: "9.7.1†",
		Text: "A new request \"follows\".", Where: "verifier/rc/request.go",
	}
	const want = `{"rule":"RC-PSN-004","name":"request-psn-gap","severity":"error","needs":"wire+QP","reference":"9.7.1†",` +
		`"text":"A new request \"follows\".","where":"verifier/rc/request.go","not_judged":"","scenario":"rc_psn.txt"}`
	got, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, err := json.Marshal(&row); err != nil || string(got) != want {
		t.Errorf("through a pointer: %s, %v", got, err)
	}
	for _, id := range allIDs() {
		if out, err := json.Marshal(id.Row()); err != nil || !json.Valid(out) {
			t.Errorf("%s: %s, %v", id, out, err)
		}
	}
}
