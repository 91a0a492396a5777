package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ibwitness/incident"
	"ibwitness/rule"
)

// jsonIncident is a line on an incident.
type jsonIncident struct {
	Kind        string             `json:"kind"`
	Incident    incident.Kind      `json:"incident"`
	Certainty   incident.Certainty `json:"certainty"`
	What        string             `json:"what"`
	Local       *jsonEndpoint      `json:"local,omitempty"`
	Peer        *jsonEndpoint      `json:"peer,omitempty"`
	Connections int                `json:"connections,omitempty"`
	Begin       string             `json:"begin"`
	End         string             `json:"end"`
	Ongoing     bool               `json:"ongoing,omitempty"`
	Lost        float64            `json:"lost"`
	Tap         uint16             `json:"tap"`
	Frames      []uint64           `json:"frames,omitempty"`
	Facts       []incident.Fact    `json:"facts,omitempty"`
	Found       []jsonFound        `json:"found,omitempty"`
	FitsWith    []string           `json:"fits_with,omitempty"`
	Next        []string           `json:"next,omitempty"`
}

// jsonObservation is a line on what is told beside incidents.
type jsonObservation struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// jsonFound is the findings of one rule that belong to an incident.
type jsonFound struct {
	Rule  string `json:"rule"`
	Name  string `json:"name"`
	Class string `json:"class"`
	Count uint64 `json:"count"`
	Least bool   `json:"at_least,omitempty"`
	Frame uint64 `json:"frame"` // of the first
}

func foundLines(list []incident.Found) (out []jsonFound) {
	for _, f := range list {
		row := f.Rule.Row()
		out = append(out, jsonFound{row.ID, row.Name, f.Class.String(), f.Count, f.Least, f.Frame})
	}
	return out
}

// foundWith says which findings belong to an incident: "violations: RC-RSP-043 nak-duplicate 4; warnings: BTH-015 bth-ackreq-misplaced 2; events: retransmission 12".
func foundWith(list []incident.Found) string {
	var out []string
	for _, class := range [...]string{"violations", "warnings", "notes", "not proven", "events"} {
		var of []string
		for i := range list {
			f := &list[i]
			if called(f) != class {
				continue
			}
			row := f.Rule.Row()
			name := row.ID + " " + row.Name
			if f.Class == rule.Event {
				name = row.Name
			}
			if f.Least {
				name += " at least"
			}
			of = append(of, name+" "+number(f.Count))
		}
		if len(of) > 0 {
			out = append(out, class+": "+strings.Join(of, ", "))
		}
	}
	return strings.Join(out, "; ")
}

// called is what a reader calls such findings: violations of a rule that does not accuse are warnings or notes.
func called(f *incident.Found) string {
	switch f.Class {
	case rule.Unproven:
		return "not proven"
	case rule.Event:
		return "events"
	}
	switch f.Rule.Row().Severity {
	case rule.Warning:
		return "warnings"
	case rule.Info:
		return "notes"
	}
	return "violations"
}

func incidentLine(i *incident.Incident) *jsonIncident {
	return &jsonIncident{
		Kind: "incident", Incident: i.Kind, Certainty: i.Certainty, What: i.What, Local: partyOf(&i.Local), Peer: partyOf(&i.Peer), Connections: i.Connections,
		Begin: stamp(i.Begin), End: stamp(i.End), Ongoing: i.Ongoing, Lost: i.Lost.Seconds(), Tap: i.Tap, Frames: i.Frames, Facts: i.Facts, Found: foundLines(i.Found), FitsWith: i.FitsWith, Next: i.Next,
	}
}

func partyOf(p *incident.Party) *jsonEndpoint {
	if p.Addr.IsZero() {
		return nil
	}
	return &jsonEndpoint{Address: p.Addr.String(), QPN: known(p.QPN, p.QPNKnown)}
}

// IncidentLine is what a line of JSON says of an incident.
type IncidentLine = jsonIncident

// IncidentLineOf returns what a line of JSON says of an incident.
func IncidentLineOf(i *incident.Incident) *IncidentLine { return incidentLine(i) }

// jsonTold is a line on an incident of a run that goes on.
type jsonTold struct {
	Level  string         `json:"level"`
	Number uint64         `json:"number"`
	State  incident.State `json:"state"`
	*jsonIncident
}

// Incidents writes what became of incidents.
func (s *Stream) Incidents(list []incident.Told) {
	for k := range list {
		t := &list[k]
		if s.w != nil {
			fmt.Fprintf(s.w, "%s  %s  %v: %s\n", time.Unix(0, t.End).Format("15:04:05.000000"), s.paint.yellow(fmt.Sprintf("%-12s", t.Kind)), t.State, t.What)
			continue
		}
		line, err := json.Marshal(&jsonTold{"warn", t.Number, t.State, incidentLine(&t.Incident)})
		if err == nil {
			_, _ = s.out.Write(append(line, '\n')) // as the lines of findings: who reads them is told of a failure by the writer
		}
	}
}
