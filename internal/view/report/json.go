package report

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"time"

	"ibwitness/expect"
	"ibwitness/rule"
)

// jsonLines writes one JSON object a line: findings, connections, latencies, pauses, rules, one summary. docs/verdicts.md describes every key.
type jsonLines struct {
	all     bool
	untimed bool // what messages took was measured for incidents only
}

// jsonTime has nine digits always, so that lines sort as text.
const jsonTime = "2006-01-02T15:04:05.000000000Z07:00"

type jsonEndpoint struct {
	Role    string  `json:"role,omitempty"`
	Address string  `json:"address,omitempty"`
	QPN     *uint32 `json:"qpn,omitempty"`
	Node    string  `json:"node,omitempty"`
	GUID    string  `json:"node_guid,omitempty"`
	Route   string  `json:"route,omitempty"`
}

type jsonFinding struct {
	Kind      string        `json:"kind"`
	Rule      string        `json:"rule"`
	Name      string        `json:"name"`
	Class     string        `json:"class"`
	Waived    string        `json:"waived,omitempty"` // why
	Severity  string        `json:"severity"`
	Count     uint64        `json:"count,omitempty"`
	Frames    []uint64      `json:"frames,omitempty"`
	LastFrame uint64        `json:"last_frame,omitempty"`
	LastTime  string        `json:"last_time,omitempty"`
	Time      string        `json:"time"`
	Tap       uint16        `json:"tap"`
	Frame     uint64        `json:"frame"`
	Evidence  []uint64      `json:"evidence"`
	Log       string        `json:"log,omitempty"`
	Line      int           `json:"line,omitempty"`
	Service   string        `json:"service,omitempty"`
	Accused   *jsonEndpoint `json:"accused,omitempty"`
	Peer      *jsonEndpoint `json:"peer,omitempty"`
	Opcode    string        `json:"opcode,omitempty"`
	PSN       *uint32       `json:"psn,omitempty"`
	Expected  string        `json:"expected"`
	Actual    string        `json:"actual"`
	Detail    string        `json:"detail"`
	Reference string        `json:"reference"`

	Comparison *expect.Comparison `json:"comparison,omitempty"`
}

type jsonRule struct {
	Kind      string `json:"kind"`
	Rule      string `json:"rule"`
	Name      string `json:"name"`
	Severity  string `json:"severity"`
	Needs     string `json:"needs"`
	Exercised uint64 `json:"exercised"`
	Passed    uint64 `json:"passed"`
	Violated  uint64 `json:"violated"`
	Unproven  uint64 `json:"unproven"`
	Reference string `json:"reference"`
	NotJudged string `json:"not_judged,omitempty"`
}

type jsonTap struct {
	File      string `json:"file"`
	Interface string `json:"interface,omitempty"`
	Dropped   uint64 `json:"dropped"`
}

type jsonNote struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

type jsonClock struct {
	Tap   uint16  `json:"tap"`
	Frame uint64  `json:"frame"`
	By    float64 `json:"by"`
	Count uint64  `json:"count"`
}

type jsonLogClock struct {
	Log    string   `json:"log"`
	Ahead  *float64 `json:"ahead"`
	Within *float64 `json:"within,omitempty"`
	// SetBack says that the clock was set back.
	SetBack bool `json:"set_back,omitempty"`
	// Finer says that the clock is said to be that of the packets, which are stamped more coarsely.
	Finer bool `json:"finer,omitempty"`
}

type jsonLogUnseen struct {
	Log     string  `json:"log"`
	QPs     int     `json:"qps"`
	Seen    int     `json:"seen"`
	QPN     uint32  `json:"qpn"`
	DestQPN *uint32 `json:"dest_qpn,omitempty"`
	Dest    string  `json:"dest,omitempty"`
}

type jsonForgotten struct {
	Connections uint64 `json:"connections"`
	Unlisted    uint64 `json:"unlisted"`
	Findings    uint64 `json:"findings"`
	Events      uint64 `json:"events"`
}

type jsonProblem struct {
	Message string `json:"message"`
	Kept    bool   `json:"kept"`
}

type jsonSummary struct {
	Kind           string          `json:"kind"`
	Verdict        string          `json:"verdict"`
	Packets        uint64          `json:"packets"`
	RDMA           uint64          `json:"rdma"`
	Connections    int             `json:"connections"`
	Violations     int             `json:"violations"`
	Warnings       int             `json:"warnings"`
	Notes          int             `json:"notes"`
	Unproven       int             `json:"unproven"`
	Waived         int             `json:"waived,omitempty"`
	Events         int             `json:"events"`
	RulesExercised int             `json:"rules_exercised"`
	RulesTotal     int             `json:"rules_total"`
	Truncated      bool            `json:"truncated"`
	Dropped        uint64          `json:"dropped"`
	Gaps           uint64          `json:"gaps,omitempty"`
	Clock          *jsonClock      `json:"clock_step,omitempty"`
	LogClocks      []jsonLogClock  `json:"log_clocks,omitempty"`
	LogsUnseen     []jsonLogUnseen `json:"logs_unseen,omitempty"`
	Forgotten      *jsonForgotten  `json:"forgotten,omitempty"`
	Repeated       uint64          `json:"repeated"`
	Undecoded      uint64          `json:"undecoded"`
	Unjudged       uint64          `json:"unjudged"`
	Open           uint64          `json:"open"`
	OpenWait       *float64        `json:"open_wait,omitempty"`
	OpenTap        *uint16         `json:"open_tap,omitempty"`
	OpenFrame      uint64          `json:"open_frame,omitempty"`
	Interrupted    bool            `json:"interrupted"`
	First          string          `json:"first,omitempty"`
	Last           string          `json:"last,omitempty"`
	Taps           []jsonTap       `json:"taps"`
	Others         []others        `json:"other_frames,omitempty"`
	NotJudged      []jsonNote      `json:"not_judged"`
	Problems       []jsonProblem   `json:"problems"`
}

// Report writes the lines.
func (j *jsonLines) Report(w io.Writer, run *Run) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	happened := run.Incidents()
	for i := range happened {
		if err := enc.Encode(incidentLine(&happened[i])); err != nil {
			return err
		}
	}
	for _, what := range run.Observations() {
		if err := enc.Encode(jsonObservation{"observation", what}); err != nil {
			return err
		}
	}
	for _, line := range errorLines(run) {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	list := entries(run.Result.Findings, j.all)
	for i := range list {
		if err := enc.Encode(findingLine(&list[i])); err != nil {
			return err
		}
	}
	waived := waivedEntries(run.Result, j.all)
	for i := range waived {
		if err := enc.Encode(waivedFindingLine(&waived[i])); err != nil {
			return err
		}
	}
	var line jsonConnection // one for all: there may be very many
	shared := Sharing(run.Result.Connections)
	for i := range run.Result.Connections {
		c := &run.Result.Connections[i]
		line.set(c)
		if j.untimed {
			line.Ends[0].Timing, line.Ends[1].Timing = nil, nil
		}
		shared.Tell(c, &line)
		if err := enc.Encode(&line); err != nil {
			return err
		}
	}
	for _, line := range latencyLines(run.Result.Latencies) {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for _, line := range pauseLines(run.Result.Paused) {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for _, id := range rule.Rules() {
		if err := enc.Encode(ruleLine(id, run.Result.Cover[id])); err != nil {
			return err
		}
	}
	if err := enc.Encode(summaryLine(run, tallyOf(list), len(waived))); err != nil {
		return err
	}
	return buffered.Flush()
}

func findingLine(e *Entry) *jsonFinding {
	row := e.Rule.Row()
	line := &jsonFinding{
		Kind: "finding", Rule: row.ID, Name: row.Name, Class: e.Class.String(), Severity: row.Severity.String(), Count: e.Count,
		Time: stamp(e.Time), Tap: e.Tap, Frame: e.Frame, Evidence: proof(e.Finding), Log: e.Log, Line: e.Line,
		Accused: endpointOf(&e.Accused), Peer: endpointOf(&e.Peer),
		Expected: e.Expected, Actual: e.Actual, Detail: e.Detail, Reference: row.Ref, Comparison: e.Comparison,
	}
	if e.Count > 1 {
		line.Frames, line.LastFrame, line.LastTime = e.Frames, e.Newest.Frame, stamp(e.Newest.Time)
	}
	if e.HasBTH {
		psn := uint32(e.PSN)
		line.Service, line.Opcode, line.PSN = e.Service.String(), e.Opcode.String(), &psn
	}
	return line
}

// proof lists the frames that a finding rests on, its own among them, in ascending order.
func proof(f *rule.Finding) []uint64 {
	frames := append(slices.Clone(f.Evidence), f.Frame)
	slices.Sort(frames)
	frames = slices.DeleteFunc(frames, func(n uint64) bool { return n == 0 }) // an event that no frame shows
	return slices.Compact(frames)
}

func endpointOf(e *rule.Endpoint) *jsonEndpoint {
	if *e == (rule.Endpoint{}) {
		return nil
	}
	out := &jsonEndpoint{Role: e.Role.String(), QPN: known(e.QPN, e.QPNKnown), Node: e.Node.Description, GUID: guid(e.Node.GUID), Route: e.Node.Route}
	if !e.Addr.IsZero() {
		out.Address = e.Addr.String()
	}
	return out
}

func known(qpn uint32, is bool) *uint32 {
	if !is {
		return nil
	}
	return &qpn
}

func ruleLine(id rule.ID, n rule.Count) *jsonRule {
	row := id.Row()
	return &jsonRule{
		Kind: "rule", Rule: row.ID, Name: row.Name, Severity: row.Severity.String(), Needs: row.Needs.String(),
		Exercised: n.Exercised, Passed: n.Passed(), Violated: n.Violated, Unproven: n.Unproven,
		Reference: row.Ref, NotJudged: row.NotWhy,
	}
}

func summaryLine(run *Run, t tally, waived int) *jsonSummary {
	r := run.Result
	c := coverageOf(r)
	line := &jsonSummary{
		Kind: "summary", Verdict: run.Verdict().String(), Packets: r.Packets, RDMA: r.RDMA, Connections: len(r.Connections),
		Violations: t.violations, Warnings: t.warnings, Notes: t.notes, Unproven: t.unproven, Waived: waived, Events: t.events,
		RulesExercised: c.exercised, RulesTotal: c.total, Truncated: run.truncated(), Dropped: r.Dropped, Gaps: r.Gaps,
		Repeated: r.Repeated, Undecoded: r.Undecoded, Unjudged: r.Unjudged, Open: r.Open.Requests, Interrupted: run.Interrupted,
		Taps: []jsonTap{}, Others: othersOf(r), NotJudged: []jsonNote{}, Problems: []jsonProblem{},
	}
	if r.Packets > 0 {
		line.First, line.Last = stamp(r.First), stamp(r.Last)
	}
	if o := r.Open; o.Requests > 0 {
		wait := o.Waited.Seconds()
		line.OpenWait, line.OpenTap, line.OpenFrame = &wait, &o.Tap, o.Frame
	}
	if k := r.Clock; k.Count > 0 {
		line.Clock = &jsonClock{k.Tap, k.Frame, k.By.Seconds(), k.Count}
	}
	for _, c := range r.LogClocks {
		k := jsonLogClock{Log: c.Log, SetBack: c.SetBack, Finer: c.Finer}
		if c.Known {
			ahead, within := c.Ahead.Seconds(), c.Within.Seconds()
			k.Ahead, k.Within = &ahead, &within
		}
		line.LogClocks = append(line.LogClocks, k)
	}
	for _, u := range r.LogsUnseen {
		k := jsonLogUnseen{Log: u.Log, QPs: u.QPs, Seen: u.Seen, QPN: u.QPN}
		if !u.Dest.IsZero() {
			k.DestQPN, k.Dest = &u.DestQPN, u.Dest.String()
		}
		line.LogsUnseen = append(line.LogsUnseen, k)
	}
	if f := jsonForgotten(r.Forgotten); f != (jsonForgotten{}) {
		line.Forgotten = &f
	}
	for _, tap := range r.Taps {
		line.Taps = append(line.Taps, jsonTap{tap.File, tap.Interface, tap.Dropped})
	}
	for _, n := range r.NotJudged {
		line.NotJudged = append(line.NotJudged, jsonNote(n))
	}
	for _, p := range run.Problems {
		line.Problems = append(line.Problems, jsonProblem(p))
	}
	return line
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(jsonTime) }

// Line is what a line of JSON says of a finding.
type Line = jsonFinding

// LineOf returns what a line of JSON says of a finding.
func LineOf(e *Entry) *Line { return findingLine(e) }
