package incident_test

import (
	"os"
	"strings"
	"testing"

	"ibwitness/incident"
)

// TestDocumented finds each kind in the table of incidents, and a section of its own where they are explained.
func TestDocumented(t *testing.T) {
	text := func(file string) string {
		b, err := os.ReadFile("../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	table, sections := text("incidents.md"), text("incident-kinds.md")
	for k := range incident.NumKinds {
		if !strings.Contains(table, "[`"+k.String()+"`](incident-kinds.md#"+k.String()+")") {
			t.Errorf("docs/incidents.md has no row for %v", k)
		}
		if !strings.Contains(sections, "\n## "+k.String()+"\n") {
			t.Errorf("docs/incident-kinds.md has no section for %v", k)
		}
	}
}
