package rule_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/rule"
)

// referenceRow is one row of the reference table of all known rules, of which the catalogue holds those that a wire shows.
type referenceRow struct {
	needs, severity string
	unconfirmed     bool // marked [U]: no public source
}

func readReference(t *testing.T) map[string]referenceRow {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "rules.md")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the reference table %s is not here; nothing to compare with", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	isRow := regexp.MustCompile(`^\| [A-Z]+(-[A-Z0-9]+)*-[0-9]+ \|`)
	rows := make(map[string]referenceRow)
	for line := range strings.Lines(string(text)) {
		if !isRow.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 8 {
			t.Fatalf("%d cells instead of 8 in %q", len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[cells[0]] = referenceRow{needs: cells[3], severity: cells[6], unconfirmed: strings.Contains(line, "[U]")}
	}
	if len(rows) < 600 {
		t.Fatalf("only %d rows found in %s: has its form changed?", len(rows), path)
	}
	return rows
}

// wirePart are rows that need more than the wire as a whole, and what the part of them that the catalogue takes needs.
var wirePart = map[string]string{"BTH-012": "wire"}

// beyond are rows that the reference table does not have, and where they come from.
var beyond = map[string]string{
	"RC-TMO-004":  "C9-139: the timer is there to detect missing responses; C9-140..142: it is over after four timer values at most",
	"CPL-IMD-002": "11.4.1.1: the immediate errors of a send request; 10.8.2.1: the operations of each service. A device may find them when it comes to the request",
	"CPL-STS-017": "T16, status 4: a local data segment is not in a valid region; 10.6.3: what an L_Key opens, and to whom",
	"CPL-STS-018": "T16, status 1 and 4: errors of the local data segments, which a request is made packets of; 9.7.5: an ACK says that all of it has come to the responder",
	"CPL-STS-016": "10.8.3: a work request ends with a completion that the consumer takes from the completion queue; 9.9.2.4.1: so do exhausted retries",
}

func TestCatalogueAgreesWithReference(t *testing.T) {
	rows := readReference(t)
	severity := map[string]rule.Severity{"E": rule.Error, "W": rule.Warning, "I": rule.Info}
	for _, id := range rule.Rules() {
		r := id.Row()
		ref, ok := rows[r.ID]
		if !ok {
			if beyond[r.ID] == "" {
				t.Errorf("%s is not in the reference table: say in beyond where it comes from", id)
			}
			continue
		}
		if needs, partly := wirePart[r.ID]; partly {
			ref.needs = needs
		}
		if r.Needs.String() != ref.needs {
			t.Errorf("%s needs %s, reference %s", id, r.Needs, ref.needs)
		}
		want := severity[ref.severity]
		if ref.unconfirmed {
			want = min(want, rule.Warning)
		}
		if r.Severity != want {
			t.Errorf("%s has severity %s, want %s (reference %s, unconfirmed %v)", id, r.Severity, want, ref.severity, ref.unconfirmed)
		}
	}
}

func TestCatalogueMissesNoRule(t *testing.T) {
	for id := range readReference(t) {
		if _, ok := rule.Lookup(id); !ok {
			t.Errorf("%s is missing", id)
		}
	}
}
