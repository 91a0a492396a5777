package report

import (
	"slices"
	"strings"
)

// limits are the observations that answer why a job is slow, by what they begin with: the verdict line names the first of them. Idle is none, as nothing
// is slow where programs ask for no more.
var limits = []string{"READ depth", "Waits", "Tail", "Late ACKs", "Slow sender", "Shared", "Slowed"}

// limit says which such observation is told where nothing happened, in words that follow "nothing violated, but"; "": none.
func (t *text) limit() string {
	if len(t.run.Incidents()) > 0 {
		return ""
	}
	if t.slow == nil {
		s := limitOf(t.run)
		t.slow = &s
	}
	return *t.slow
}

func limitOf(r *Run) string {
	for _, o := range r.Observations() {
		if who, _, ok := strings.Cut(o, " had one RDMA READ outstanding at a time, "); ok && !strings.Contains(who, ". ") {
			return who + " had one RDMA READ outstanding at a time"
		}
		if said, ok := strings.CutPrefix(o, singly); ok {
			who, _, _ := strings.Cut(said, " of ")
			return who + " at a time"
		}
		name, said, ok := strings.Cut(o, ": ")
		if !ok || !slices.Contains(limits, name) {
			continue
		}
		if who, _, ok := strings.Cut(said, onlyOne); ok {
			return who + onlyOne
		}
		if said, ok := strings.CutPrefix(said, "all wait for "); ok {
			host, _, _ := strings.Cut(said, " ")
			return "all wait for " + strings.TrimRight(host, ",.:")
		}
		if host, _, ok := strings.Cut(said, " sends the packets within a message at "); ok && name == "Slow sender" {
			return host + " sends more slowly than the others"
		}
		return "see " + name + " below"
	}
	return ""
}
