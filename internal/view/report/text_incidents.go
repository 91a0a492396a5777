package report

import (
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
)

const (
	incidentsTold   = 3  // with all that there is to say
	incidentsListed = 10 // with their sentence
)

// incidents tells what happened, before what was found.
func (t *text) incidents() {
	list, after := t.run.Incidents(), ""
	if len(list) == 0 {
		after = t.uneventful()
	} else {
		t.heading("What happened")
		if s := t.waitsBeside(); s != "" && t.waited > 0 {
			t.prose("  ", s)
			t.line("")
			t.waitsUp = true
		}
		t.hungUp = t.stoppedFirst()
		t.stalls(list)
		t.tellAll(list)
	}
	t.observations()
	if after != "" {
		t.prose("  ", after)
	}
}

// besideIncidents tells the observations that are told beside incidents.
func (t *text) besideIncidents(list []incident.Incident) {
	t.standstills(list)
	if list := t.beside(); len(list) > 0 {
		t.line("")
		t.few(list)
	}
	if len(t.incomplete()) > 0 {
		t.line("")
		t.datagramsMissing()
	}
	switch {
	case t.disordered():
		t.line("")
		t.order()
	case len(t.paced())+len(t.depths(nil)) > 0:
		t.line("")
		t.paces()
	}
}

// beside tells what programs do, or do no more, beside what happened to requests.
func (t *text) beside() []string {
	list := t.hanging()
	if t.hungUp {
		list = nil
	}
	list = slices.Concat(list, t.limited(), t.failed(), t.left(), t.changes(), t.longTurns(longestTurn))
	for _, c := range t.measured() {
		if slowCommands(c) && c.Timing.Commands.Changes() && !t.toldSlow(c) {
			list = append(list, t.commandsOf(c))
		}
	}
	list = append(list, t.slowHosts()...)
	if s := t.waitsBeside(); s != "" && !t.waitsUp {
		list = append(list, s)
	}
	if s := t.commandless(); s != "" {
		list = append(list, s)
	}
	return list
}

// toldSlow reports whether an incident tells from when on the commands of a connection were slow.
func (t *text) toldSlow(c *agent.Connection) bool {
	return slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool { return i.SlowOf(c) })
}

// tellAll lists incidents, the first of them with all that there is to say.
func (t *text) tellAll(list []incident.Incident) {
	for i := range list {
		switch {
		case i >= incidentsListed && !t.All:
			t.line("  … and %s; --all tells every one", count(len(list)-i, "more incident"))
			return
		case i >= incidentsTold && !t.All:
			t.prose("  ", told(&list[i]))
		default:
			if i > 0 {
				t.line("")
			}
			t.incident(&list[i])
		}
		if i+1 == incidentsTold && len(list) > incidentsTold && !t.All {
			t.line("")
		}
	}
}

// slowest is the longest that a message took, where that was measured.
func slowest(r *agent.Result) (most time.Duration) {
	for i := range r.Connections {
		most = max(most, r.Connections[i].SlowestMessage())
	}
	return most
}

// told is the sentence of an incident, and how certain that is where it is not proven.
func told(i *incident.Incident) string {
	switch i.Certainty {
	case incident.Likely:
		return "Likely: " + i.What
	case incident.Possible:
		return "Possibly: " + i.What
	}
	return i.What
}
