package web

import (
	"slices"

	"ibwitness/incident"
	"ibwitness/internal/view/report"
)

// shownIncidents is how many incidents the page shows.
const shownIncidents = 50

// happened is an incident as the page shows it.
type happened struct {
	number uint64
	State  incident.State `json:"state"`
	*report.IncidentLine
}

// Incidents takes what became of incidents of a run that goes on.
func (m *Model) Incidents(list []incident.Told) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range list {
		t := &list[k]
		h := happened{t.Number, t.State, report.IncidentLineOf(&t.Incident)}
		if at := slices.IndexFunc(m.incidents, func(h happened) bool { return h.number == t.Number }); at >= 0 {
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
	m.moreIncidents = max(0, len(list)-shownIncidents)
	for k := range list[:len(list)-m.moreIncidents] {
		m.incidents = append(m.incidents, happened{0, incident.Ended, report.IncidentLineOf(&list[k])})
	}
}
