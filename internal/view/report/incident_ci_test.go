package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestIncidentsFail: in the formats for CI an incident fails where the run fails on incidents, which is its exit status then, and is told else.
func TestIncidentsFail(t *testing.T) {
	for _, k := range []struct {
		on           FailOn
		status       int
		junit, sarif string
	}{
		{FailOnError, ExitClean, `failures="0"`, `"kind": "informational"`},
		{FailOnIncident, ExitViolated, `<failure message="happened" type="incident">`, `"kind": "fail"`},
	} {
		run := clock()
		if run.FailOn = k.on; run.ExitStatus() != k.status {
			t.Errorf("exit status %d, not %d", run.ExitStatus(), k.status)
		}
		for sink, want := range map[Sink]string{&junit{}: k.junit, &sarif{}: k.sarif} {
			var out bytes.Buffer
			if err := sink.Report(&out, run); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "A clock of the capture was set") {
				t.Errorf("no %s in\n%s", want, out.String())
			}
		}
	}
}
