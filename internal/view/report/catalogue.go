package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"ibwitness/rule"
)

// CatalogueJSON writes rows of the catalogue, one JSON object a line.
func CatalogueJSON(w io.Writer, ids []rule.ID) error {
	enc := json.NewEncoder(w)
	for _, id := range ids {
		if err := enc.Encode(id.Row()); err != nil {
			return err
		}
	}
	return nil
}

// CatalogueList writes rows of the catalogue as a table.
func CatalogueList(w io.Writer, ids []rule.ID, opt Options) error {
	t := catalogueText(w, opt)
	tab := newTable("id", "name", "severity", "needs", "judged")
	for _, id := range ids {
		row := id.Row()
		judged := "yes"
		switch {
		case id.IsEvent():
			judged = "event"
		case row.Where == "":
			judged = "no"
		}
		tab.add(row.ID, row.Name, row.Severity.String(), row.Needs.String(), judged)
	}
	t.lines(tab.lines("", t.dim))
	return t.out.Flush()
}

// CatalogueExplain writes all that the catalogue says of some rows.
func CatalogueExplain(w io.Writer, ids []rule.ID, opt Options) error {
	t := catalogueText(w, opt)
	for i, id := range ids {
		row := id.Row()
		if i > 0 {
			t.line("")
		}
		t.line("%s  %s", t.bold(row.ID), t.bold(row.Name))
		t.prose("  ", row.Text)
		if id.IsEvent() {
			t.line("  kind       event: legal, counted, never a violation")
		} else {
			t.line("  severity   %s", severityMeans[row.Severity])
		}
		t.line("  needs      %s", needsMeans[row.Needs])
		t.prose("  reference  ", reference(row.Ref))
		if row.Where != "" {
			t.line("  judged in  %s", row.Where)
		}
		if f := row.Scenario(); f != "" {
			t.line("  scenarios  verifier/testdata/%s", f)
		}
		if row.NotWhy != "" {
			t.prose("  not judged ", row.NotWhy)
		}
	}
	return t.out.Flush()
}

var severityMeans = [...]string{
	rule.Info:    "info: for information",
	rule.Warning: "warning: a should-level rule, a vendor variation, or a rule that no public source confirms",
	rule.Error:   "error: broken and proven, it accuses an endpoint",
}

var needsMeans = [...]string{
	rule.Wire:   "only the packets",
	rule.WireQP: "the packets and attributes of the queue pairs (from the CM exchange, or learned)",
	rule.Link:   "the link level: InfiniBand link headers, VCRC, flow control",

	rule.WireWQE: "the packets and the work requests that were posted (an event log)",
	rule.WireCQE: "the packets and the completions (an event log)",
	rule.WireMem: "the packets and what an event log says of memory",
	rule.Verbs:   "an event log",
}

func reference(ref string) string {
	if ref == "" {
		return "none"
	}
	for _, r := range ref {
		if r == '†' {
			return fmt.Sprintf("%s (†: this number is not confirmed by a public source)", ref)
		}
	}
	return ref
}

func catalogueText(w io.Writer, opt Options) *text {
	if opt.Width == 0 {
		opt.Width = 100
	}
	return &text{Options: opt, paint: newPaint(opt.Color), out: bufio.NewWriter(w)}
}
