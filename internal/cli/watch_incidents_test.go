package cli

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/link"
	"ibwitness/rule"
)

type heard []incident.Told

func (h *heard) Incidents(list []incident.Told) { *h = append(*h, list...) }

// TestTellIncidents: a run tells what its findings, its counters and its connections show, and still whom it told before.
func TestTellIncidents(t *testing.T) {
	var h heard
	found, counted := 0, 0
	w := &agent.Watch{Found: func([]rule.Finding) { found++ }, Status: func(*agent.Status) { counted++ }}
	tellIncidents(w, &h)
	now := int64(1e18)
	w.Found([]rule.Finding{{Rule: rule.EvTrimmed, Class: rule.Event, Time: now, Frame: 1}})
	w.Status(&agent.Status{Now: now, Paused: []link.Paused{{Time: now, LastTime: now, Frame: 2, LastFrame: 2, Frames: 1, Begun: 1, Least: time.Millisecond, Most: time.Millisecond}}})
	w.Survey(now, func(func(uint64, *agent.Connection) bool) {})
	if found != 1 || counted != 1 || len(h) != 2 || h[0].Kind != incident.Trimmed || h[1].Kind != incident.Paused {
		t.Errorf("%d, %d: %+v", found, counted, h)
	}
}
