package report

import (
	"slices"
	"testing"

	"ibwitness/agent"
)

// TestForgotten: what was given up is said, and nothing of what was not.
func TestForgotten(t *testing.T) {
	for _, c := range []struct {
		f    agent.Forgotten
		want []string
	}{
		{agent.Forgotten{}, nil},
		{agent.Forgotten{Events: 51806}, []string{"too many to list: 51,806 events like those listed are only counted, by rule"}},
		{agent.Forgotten{Connections: 1, Unlisted: 1, Findings: 1, Events: 2}, []string{
			"memory was short (--memory): 1 idle connection given up before the end; what came later was judged as if the capture began there; 1 of them not listed",
			"too many to list: 1 finding and 2 events like those listed are only counted, by rule",
		}},
	} {
		if got := forgotten(&c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c.f, got)
		}
	}
}
