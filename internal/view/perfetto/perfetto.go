// Package perfetto writes what a run has seen as a trace that ui.perfetto.dev and chrome://tracing show: each host a process, each queue pair the tracks of its messages, beside them what
// happened. The format is the JSON of Chrome's trace events.
package perfetto

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"ibwitness/agent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// event is a trace event. Times are microseconds since the first frame.
type event struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	PID      int            `json:"pid"`
	TID      int            `json:"tid"`
	Time     json.Number    `json:"ts,omitempty"`
	Duration json.Number    `json:"dur,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// The phases.
const (
	complete = "X"
	instant  = "i"
	counter  = "C"
	metadata = "M"
)

// mostLanes is how many tracks beside one another the messages of a queue pair have: what waits beyond that is not shown.
const mostLanes = 64

// writer writes one trace.
type writer struct {
	w     *bufio.Writer
	err   error
	first int64
	end   int64
	any   bool
	hosts map[packet.Addr]int
	tids  int
	left  uint64 // messages that have no room
}

// Write writes a run whose messages were measured.
func Write(out io.Writer, run *report.Run) error {
	r := run.Result
	w := &writer{w: bufio.NewWriterSize(out, 1<<16), first: r.First, end: r.Last, hosts: map[packet.Addr]int{}}
	w.text(`{"displayTimeUnit":"ns","traceEvents":[`)
	w.incidents(run)
	tracks := map[rule.Endpoint][2]int{}
	for i := range r.Connections {
		c := &r.Connections[i]
		if c.Timing == nil {
			continue
		}
		for end := range c.Ends {
			w.messages(c, end, tracks)
		}
	}
	w.findings(r, tracks)
	other, err := json.Marshal(map[string]any{
		"start": time.Unix(0, r.First).UTC().Format("2006-01-02T15:04:05.000000000Z"), "messages_left_out": r.MessagesDropped + w.left,
	})
	w.text("\n],\"otherData\":")
	w.text(string(other))
	w.text("}\n")
	return cmp.Or(err, w.err, w.w.Flush())
}

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

// put writes an event.
func (w *writer) put(e *event) {
	line, err := json.Marshal(e)
	w.err = cmp.Or(w.err, err)
	if w.any {
		w.text(",")
	}
	w.any = true
	w.text("\n")
	w.text(string(line))
}

// at is a time of the run in microseconds.
func (w *writer) at(t int64) json.Number { return micros(max(t-w.first, 0)) }

func micros(ns int64) json.Number {
	return json.Number(strconv.FormatFloat(float64(ns)/1000, 'f', 3, 64))
}

// name names a process or, where tid is not 0, a track.
func (w *writer) name(pid, tid int, name string, order int) {
	kind := "process"
	if tid != 0 {
		kind = "thread"
	}
	w.put(&event{Phase: metadata, Name: kind + "_name", PID: pid, TID: tid, Args: map[string]any{"name": name}})
	w.put(&event{Phase: metadata, Name: kind + "_sort_index", PID: pid, TID: tid, Args: map[string]any{"sort_index": order}})
}

// host returns the process that a host is.
func (w *writer) host(a packet.Addr) int {
	pid, known := w.hosts[a]
	if !known {
		pid = len(w.hosts) + 2
		w.hosts[a] = pid
		w.name(pid, 0, a.String(), pid)
	}
	return pid
}

// lanes are tracks beside one another, each free from a time on.
type lanes []int64

// take returns a lane that is free from begin to end; negative: none is.
func (l *lanes) take(begin, end int64) int {
	for i, free := range *l {
		if free <= begin {
			(*l)[i] = end
			return i
		}
	}
	if len(*l) == mostLanes {
		return -1
	}
	*l = append(*l, end)
	return len(*l) - 1
}

// incidents writes what happened.
func (w *writer) incidents(run *report.Run) {
	const pid = 1
	list := run.Incidents()
	if len(list) == 0 {
		return
	}
	w.name(pid, 0, "what happened", 0)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].Begin, list[b].Begin) })
	var free lanes
	for _, k := range order {
		i := &list[k]
		lane := free.take(i.Begin, max(i.End, i.Begin+1))
		if lane < 0 {
			continue
		}
		args := map[string]any{"certainty": i.Certainty.String(), "what": i.What, "frames": i.Frames}
		for _, f := range i.Facts {
			args[f.Label] = f.Text
		}
		w.put(&event{
			Phase: complete, Name: i.Kind.String(), Category: "incident", PID: pid, TID: lane + 1, Time: w.at(i.Begin), Duration: micros(max(i.End-i.Begin, 1)), Args: args,
		})
	}
}

// messages writes what an end of a connection requested, and what it sent over time.
func (w *writer) messages(c *agent.Connection, end int, tracks map[rule.Endpoint][2]int) {
	var list []*timing.Message
	for i := range c.Timing.Messages {
		if m := &c.Timing.Messages[i]; m.From == end {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *timing.Message) int { return cmp.Compare(a.Begin, b.Begin) })
	e, peer := &c.Ends[end], &c.Ends[1-end]
	series := &c.Timing.Ends[end].Series
	if len(list) == 0 && series.Width == 0 {
		return
	}
	pid := w.host(e.Addr)
	name := fmt.Sprintf("%v %s → %v %s", c.Service, number(e), peer.Addr, number(peer))
	w.series(series, pid, name)
	base := w.tids + 1
	var free lanes
	for _, m := range list {
		until := max(m.Answered, m.Sent, m.Begin)
		if m.Answered == 0 && c.Service.Reliable() {
			until = max(until, w.end) // it waits until the capture ends
		}
		lane := free.take(m.Begin, max(until, m.Begin+1))
		if lane < 0 {
			w.left++
			continue
		}
		if base+lane > w.tids {
			w.tids = base + lane
			title := name
			if lane > 0 {
				title = fmt.Sprintf("%s (%d)", name, lane+1)
			}
			w.name(pid, w.tids, title, w.tids)
		}
		w.message(m, pid, base+lane, until)
	}
	tracks[rule.Endpoint{Addr: e.Addr, QPN: e.QPN, QPNKnown: e.QPNKnown}] = [2]int{pid, base}
}

// message writes a message, and in it how long it waited after its last packet.
func (w *writer) message(m *timing.Message, pid, tid int, until int64) {
	args := map[string]any{"psn": m.PSN.String(), "frame": m.Frame, "bytes": m.Length}
	if m.Op != wqe.Send {
		args["va"], args["r_key"] = fmt.Sprintf("0x%x", m.VA), fmt.Sprintf("0x%x", m.RKey)
	}
	if m.Retransmitted > 0 {
		args["retransmitted_packets"] = m.Retransmitted
	}
	if m.Answered != 0 {
		args["answer_frame"] = m.AnswerFrame
	} else {
		args["answered"] = false
	}
	name := m.Op.String()
	if m.Length > 0 {
		name += " " + report.Size(uint64(m.Length))
	}
	w.put(&event{Phase: complete, Name: name, Category: "message", PID: pid, TID: tid, Time: w.at(m.Begin), Duration: micros(max(until-m.Begin, 1)), Args: args})
	if m.Sent != 0 && until > m.Sent && m.Sent > m.Begin {
		w.put(&event{Phase: complete, Name: "waits", Category: "wait", PID: pid, TID: tid, Time: w.at(m.Sent), Duration: micros(until - m.Sent)})
	}
}

// series writes what an end sent over time.
func (w *writer) series(s *timing.Series, pid int, name string) {
	if s.Width == 0 {
		return
	}
	rate := func(n uint64) float64 { return float64(n) / time.Duration(s.Width).Seconds() }
	for i := range s.Slots {
		k := &s.Slots[i]
		w.put(&event{Phase: counter, Name: "bytes/s " + name, PID: pid, Time: w.at(s.Start + int64(i)*s.Width), Args: map[string]any{"payload": rate(k.Bytes), "retransmitted": rate(k.Retransmitted)}})
	}
	w.put(&event{Phase: counter, Name: "bytes/s " + name, PID: pid, Time: w.at(s.End()), Args: map[string]any{"payload": 0.0, "retransmitted": 0.0}})
}

// findings writes the findings at the tracks of those who are accused.
func (w *writer) findings(r *agent.Result, tracks map[rule.Endpoint][2]int) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Accused.Addr.IsZero() {
			continue
		}
		track, known := tracks[rule.Endpoint{Addr: f.Accused.Addr, QPN: f.Accused.QPN, QPNKnown: f.Accused.QPNKnown}]
		scope := "t"
		if !known {
			track, scope = [2]int{w.host(f.Accused.Addr), 0}, "p"
		}
		row := f.Rule.Row()
		w.put(&event{
			Phase: instant, Name: row.ID + " " + row.Name, Category: f.Class.String(), PID: track[0], TID: track[1], Time: w.at(f.Time), Scope: scope,
			Args: map[string]any{"frame": f.Frame, "expected": f.Expected, "actual": f.Actual},
		})
	}
}

func number(e *agent.End) string {
	if !e.QPNKnown {
		return "QP ?"
	}
	return fmt.Sprintf("QP 0x%x", e.QPN)
}
