package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
)

// TestNextOnFirstScreen: of an incident with more facts than a screen holds, those that are missed least come after what to look at next, and no more of them than have to; of one with few, none does.
func TestNextOnFirstScreen(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("of three columns each ", 5*n) } // more than 80 columns a line
	tell := func(facts ...incident.Fact) string {
		var out bytes.Buffer
		w := &text{Options: Options{Width: 100}, paint: newPaint(false), out: bufio.NewWriter(&out), res: &agent.Result{}}
		w.incident(&incident.Incident{What: "What happened.", Begin: 1, Facts: facts, FitsWith: []string{"a cause"}, Next: []string{"a place"}})
		if err := w.out.Flush(); err != nil {
			t.Fatal(err)
		}
		var labels []string
		for _, l := range strings.Split(out.String(), "\n") {
			if strings.HasPrefix(l, "    ") && l[4] != ' ' {
				labels = append(labels, strings.TrimSpace(l[4:13]))
			}
		}
		return strings.Join(labels, " ")
	}
	size, gone, sent := incident.Fact{Label: "size", Text: lines(5)}, incident.Fact{Label: "gave up", Text: lines(5)}, incident.Fact{Label: "sent", Text: lines(3)}
	for _, tt := range []struct {
		name  string
		facts []incident.Fact
		want  string
	}{
		{"few", []incident.Fact{sent, gone}, "began sent gave up fits next"},
		{"many", []incident.Fact{sent, gone, size}, "began gave up size fits next sent"},
		{"more", []incident.Fact{sent, gone, size, size}, "began size size fits next sent gave up"},
		{"none to spare", []incident.Fact{size, size, size, size}, "began size size size size fits next"},
	} {
		if got := tell(tt.facts...); got != tt.want {
			t.Errorf("%s: %s, not %s", tt.name, got, tt.want)
		}
	}
}
