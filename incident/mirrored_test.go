package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// often are WRITEs of 8 packets, one after the other, many times as long as a copy takes.
var often = strings.Replace(writes, "repeat: 4", "repeat: 64, every: 20us", 1)

// TestMirrored: what two mirrored ports of a switch show twice is judged once and told of, whatever comes between, and not as retransmissions; what comes once stays as it is.
func TestMirrored(t *testing.T) {
	const told, likely = "capture (proven): Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice: of", "capture (likely): Packets between"
	const stall = "errors: [{do: drop, from: a, op: request, nth: 512, where: after}]\n"
	const drop = "errors: [{do: drop, from: a, op: request, nth: 300, where: after}]\n"
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want []string
		not  []string
	}{
		{"soon", copiedLater(frames(t, often), 2*time.Microsecond), []string{told}, []string{"loss", "reordered"}},
		{"after others", copiedLater(frames(t, often), 300*time.Microsecond), []string{told}, []string{"loss", "reordered"}},
		{"not numbered", copiedLater(unnumbered(frames(t, often)), 30*time.Microsecond), []string{likely}, []string{"loss", "reordered", "(proven)"}},
		{"not numbered, later", copiedLater(unnumbered(frames(t, often)), 300*time.Microsecond), []string{likely}, []string{"loss", "reordered", "(proven)"}},
		{"a loss", copiedLater(frames(t, often+drop), 30*time.Microsecond), []string{"frames: 2\n    " + told, "loss (proven)", "until frame", "before that was known, are most likely such copies too: "}, nil},
		{"a stall", copiedLater(frames(t, "attributes: {timeout: 15}\n"+often+stall), 30*time.Microsecond), []string{"frames: 2\n    interrupted", told}, nil},
		{"a loss, not numbered", copiedLater(unnumbered(frames(t, often+drop)), 30*time.Microsecond), []string{likely, "loss (proven)"}, nil},
		{"none", frames(t, often), []string{"frames: 0"}, nil},
		{"none, not numbered", unnumbered(frames(t, often)), []string{"frames: 0"}, nil},
		{"only a loss", unnumbered(frames(t, often+drop)), []string{"loss (proven)"}, []string{"twice"}},
	} {
		r := judged(t, tt.list, agent.Options{})
		got := toldOf(r)
		for _, s := range tt.want {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %s\nwant %q", tt.name, got, s)
			}
		}
		for _, s := range tt.not {
			if strings.Contains(got, s) {
				t.Errorf("%s: %s\nnot %q", tt.name, got, s)
			}
		}
		if v := violations(r); v > 0 {
			t.Errorf("%s: %d violations", tt.name, v)
		}
	}
}

// TestMirroredAmongOthers: that two ports are mirrored is told where most packets are of hosts that only one of them shows.
func TestMirroredAmongOthers(t *testing.T) {
	others := strings.NewReplacer("10.0.0.1", "10.0.0.7", "10.0.0.2", "10.0.0.8").Replace(strings.Replace(often, "repeat: 64", "repeat: 600", 1))
	list := slices.Concat(copiedLater(frames(t, often), 30*time.Microsecond), frames(t, others))
	slices.SortStableFunc(list, func(a, b fabricagent.Frame) int { return int(a.Time - b.Time) })
	if got := happened(t, list, agent.Options{}); !strings.Contains(got, "Packets between 10.0.0.1 and 10.0.0.2 are in the capture twice") || strings.Contains(got, "loss") {
		t.Error(got)
	}
}

func violations(r *agent.Result) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Class == rule.Violation {
			n++
		}
	}
	return n
}
