package web

import (
	"slices"

	"ibwitness/incident"
	"ibwitness/internal/view/ladder"
	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

// shownIncidents is how many incidents the page shows.
const shownIncidents = 50

// happened is an incident as the page shows it.
type happened struct {
	Number uint64         `json:"number"` // from 1 on
	State  incident.State `json:"state"`
	Ladder bool           `json:"ladder"` // its packets may be asked for
	*report.IncidentLine
	of incident.Incident
}

// happenedOf is an incident as the page shows it.
func happenedOf(number uint64, state incident.State, i *incident.Incident) happened {
	return happened{number, state, len(i.Frames) > 0 && (i.Local.QPNKnown || i.Peer.QPNKnown), report.IncidentLineOf(i), *i}
}

// sought is what is looked for to draw the packets of an incident: as a finding that rests on them.
func (h *happened) sought() *rule.Finding {
	i := &h.of
	end := func(p incident.Party) rule.Endpoint {
		return rule.Endpoint{Addr: p.Addr, QPN: p.QPN, QPNKnown: p.QPNKnown}
	}
	return &rule.Finding{
		Rule: rule.EvRetransmission, Class: rule.Event, Seq: 1<<31 | uint32(h.Number), Time: i.Begin, Tap: i.Tap, Frame: i.Frames[0], Evidence: i.Frames, Accused: end(i.Local), Peer: end(i.Peer),
	}
}

// ladderOf draws the packets of an incident, those that show it marked.
func ladderOf(f *rule.Finding, flow ladder.Flow, frames []ladder.Frame) *ladder.Ladder {
	l := ladder.Build(f, flow, frames, ladder.Options{})
	l.Differs = []ladder.Difference{}
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Mark != "" {
			r.Mark = "proof" // nobody is accused
		}
	}
	return l
}

// incident returns what is looked for to draw the packets of an incident; nil: it is not known any more, or has none.
func (m *Model) incident(number uint64) *rule.Finding {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.incidents {
		if h := &m.incidents[k]; h.Number == number && h.Ladder {
			return h.sought()
		}
	}
	return nil
}

// Incidents takes what became of incidents of a run that goes on.
func (m *Model) Incidents(list []incident.Told) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range list {
		t := &list[k]
		h := happenedOf(t.Number, t.State, &t.Incident)
		if at := slices.IndexFunc(m.incidents, func(h happened) bool { return h.Number == t.Number }); at >= 0 {
			m.incidents[at] = h
			continue
		}
		m.incidents = slices.Insert(m.incidents, 0, h)
		m.incidents = m.incidents[:min(len(m.incidents), shownIncidents)]
	}
	m.changed++
}

// incidentsOf takes the incidents of a run that is over.
func (m *Model) incidentsOf(run *report.Run) {
	list := run.Incidents()
	m.observations = run.Observations()
	m.moreIncidents = max(0, len(list)-shownIncidents)
	for k := range list[:len(list)-m.moreIncidents] {
		m.incidents = append(m.incidents, happenedOf(uint64(k)+1, incident.Ended, &list[k]))
	}
}
