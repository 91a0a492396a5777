package web

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"ibwitness/internal/view/ladder"
	"ibwitness/internal/view/report"
	"ibwitness/rule"
)

const (
	embeddedFindings    = 4000     // of each kind
	embeddedLadders     = 250      //
	embeddedIncidents   = 20       // whose packets are there
	embeddedConnections = 2000     //
	embeddedNumbers     = 100      // connections with what their messages took
	embeddedBytes       = 12 << 20 // of the packets of ladders
)

// pageData is what the page has without a server.
type pageData struct {
	Summary     *Summary                   `json:"summary"`
	Findings    []*Finding                 `json:"findings"`
	Rules       []*Rule                    `json:"rules"`
	Connections *Connections               `json:"connections"`
	Messages    *Messages                  `json:"messages"`
	Numbers     map[uint64]*Numbers        `json:"numbers"` // of the first connections
	Ladders     map[uint64]*embeddedLadder `json:"ladders"`
	Incidents   map[uint64]*embeddedLadder `json:"incidents"` // their packets
	Rows        map[string]json.RawMessage `json:"rows"`      // packets, which several ladders may share
}

// embeddedLadder is a ladder whose rows are elsewhere.
type embeddedLadder struct {
	*ladder.Ladder
	Rows []embeddedRow `json:"rows"`
}

type embeddedRow struct {
	Row     string `json:"row"`
	Skipped uint64 `json:"skipped,omitempty"`
	At      int64  `json:"at"`
	From    int    `json:"from"`
	Mark    string `json:"mark,omitempty"`
}

// WriteHTML writes a finished run as one file: the page with its data in it. files are what the run has judged, read again for the packets
// around findings; none where they cannot be.
func WriteHTML(w io.Writer, run *report.Run, o Options, files []string) error {
	o.Live, o.Most = false, embeddedFindings
	m := NewModel(o)
	m.Finish(run)
	data := &pageData{Ladders: map[uint64]*embeddedLadder{}, Incidents: map[uint64]*embeddedLadder{}, Rows: map[string]json.RawMessage{}}
	var notes []string
	if len(files) > 0 {
		var err error
		if notes, err = data.ladders(m, files); err != nil {
			return err
		}
	} else {
		notes = append(notes, "There are no ladders, as the capture came from standard input and could not be read again.")
	}
	list, err := m.Findings(FindingsQuery{Class: "violation,warning,note,unproven,event", Limit: int(numKinds) * embeddedFindings})
	if err != nil {
		return err
	}
	data.Findings, data.Rules, data.Connections = list.Items, m.Rules(), m.Connections(ConnectionsQuery{Sort: "trouble", Limit: embeddedConnections})
	data.Messages, data.Numbers = m.Messages(), map[uint64]*Numbers{}
	for _, c := range data.Connections.Items[:min(len(data.Connections.Items), embeddedNumbers)] {
		data.Numbers[c.ID] = m.Numbers(c.ID)
	}
	data.Summary = m.Summary()
	for k, n := range data.Summary.Left {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("Of class %s the first %s of %s findings are in this file.", kind(k), grouped(embeddedFindings), grouped(data.Summary.Counts[k])))
		}
	}
	if n := data.Connections.Total; n > embeddedConnections {
		notes = append(notes, fmt.Sprintf("The %s connections with most trouble of %s are in this file.", grouped(embeddedConnections), grouped(uint64(n))))
	}
	data.Summary.Notes = append(data.Summary.Notes, notes...)
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err = w.Write(whole(text)); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// embed keeps the rows of a ladder, those that others have too once, and takes what they need from room. The one that offends is only that of its finding.
func (d *pageData) embed(l *ladder.Ladder, finding uint64, room *int) (*embeddedLadder, error) {
	e := &embeddedLadder{Ladder: l, Rows: []embeddedRow{}}
	for j := range l.Rows {
		r := &l.Rows[j]
		key := fmt.Sprintf("%d.%d", r.Tap, r.Frame)
		if r.Mark == "offending" {
			key += "." + strconv.FormatUint(finding, 10) // it has the fields that differ
		}
		e.Rows = append(e.Rows, embeddedRow{key, r.Skipped, r.At, r.From, r.Mark})
		if d.Rows[key] == nil {
			text, err := json.Marshal(r)
			if err != nil {
				return nil, err
			}
			d.Rows[key] = text
			*room -= len(text)
		}
	}
	return e, nil
}

// ladders draws the ladders of as many findings as there is room for.
func (d *pageData) ladders(m *Model, files []string) (notes []string, err error) {
	c := NewCapture(m, files)
	ids, list := m.representatives(embeddedLadders)
	var incidents []*rule.Finding
	for k := range m.incidents[:min(len(m.incidents), embeddedIncidents)] {
		if h := &m.incidents[k]; h.Ladder {
			incidents = append(incidents, h.sought())
		}
	}
	if err := c.Read(append(incidents, list...)); err != nil {
		return nil, err
	}
	room, drawn := embeddedBytes, 0
	for _, f := range incidents {
		if flow, frames, err := c.Around(f); err == nil {
			number := uint64(f.Seq &^ (1 << 31))
			if d.Incidents[number], err = d.embed(ladderOf(f, flow, frames), 0, &room); err != nil {
				return nil, err
			}
		}
	}
	for i, f := range list {
		flow, frames, err := c.Around(f)
		if err != nil || room <= 0 {
			continue
		}
		if d.Ladders[ids[i]], err = d.embed(ladder.Build(f, flow, frames, ladder.Options{}), ids[i], &room); err != nil {
			return nil, err
		}
		drawn++
	}
	kept := 0
	for k := range m.stores {
		kept += m.stores[k].rows.Len()
	}
	if drawn < kept {
		notes = append(notes, fmt.Sprintf("%s of %s findings have their ladder in this file: the first of each rule and accused endpoint before others.", grouped(uint64(drawn)), grouped(uint64(kept))))
	}
	return notes, nil
}
