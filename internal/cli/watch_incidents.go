package cli

import (
	"iter"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/rule"
)

// incidentSink takes what becomes of incidents.
type incidentSink interface{ Incidents(list []incident.Told) }

// tellIncidents has a run tell its incidents.
func tellIncidents(w *agent.Watch, sinks ...incidentSink) {
	var l incident.Live
	tell := func(list []incident.Told) {
		if len(list) == 0 {
			return
		}
		for _, s := range sinks {
			s.Incidents(list)
		}
	}
	found, status, survey := w.Found, w.Status, w.Survey
	w.Status = func(s *agent.Status) {
		if l.Status(s); status != nil {
			status(s)
		}
	}
	w.Found = func(list []rule.Finding) {
		found(list)
		tell(l.Found(list))
	}
	w.Survey = func(now int64, each iter.Seq2[uint64, *agent.Connection]) {
		if survey != nil {
			survey(now, each)
		}
		if l.Due(now) {
			tell(l.Look(now, each))
		}
	}
}
