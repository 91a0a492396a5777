package report

import (
	"fmt"
	"slices"
	"strconv"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/incident"
	"ibwitness/internal/errorlines"
)

// ErrorLog is the error lines of a program or kernel: see --errors.
type ErrorLog struct {
	File  string
	Lines []errorlines.Line
	Left  int // lines that were too many
}

// complaint is an error line, and what of the capture it is about.
type complaint struct {
	file string
	*errorlines.Line
	conn      *agent.Connection  // nil: none, or several
	fits      int                // connections that it may be of
	happened  *incident.Incident // nil: none
	firstLine int                // of the error that this one follows from; 0: from none
}

// complaints joins error lines with connections and incidents.
func (r *Run) complaints() (list []complaint) {
	for i := range r.Errors {
		g := &r.Errors[i]
		first := map[*agent.Connection]int{} // line of the first error of a connection
		for k := range g.Lines {
			c := complaint{file: g.File, Line: &g.Lines[k]}
			c.conn, c.fits = r.connectionOf(c.Line)
			c.happened = r.incidentOf(c.Line, c.conn)
			if flush := c.Known && c.Status == cq.WRFlushErr; flush {
				c.firstLine = first[c.conn]
			} else if c.Known && first[c.conn] == 0 {
				first[c.conn] = c.Number
			}
			list = append(list, c)
		}
	}
	return list
}

// connectionOf returns the connection that an error line names best, and how many it names so; nil where these are none or several.
func (r *Run) connectionOf(l *errorlines.Line) (best *agent.Connection, fits int) {
	most := 0
	for i := range r.Result.Connections {
		c := &r.Result.Connections[i]
		if !c.Service.Reliable() {
			continue
		}
		switch n := named(l, c); {
		case n == 0 || n < most:
		case n > most:
			most, best, fits = n, c, 1
		default:
			best, fits = nil, fits+1
		}
	}
	return best, fits
}

// named is how much of a connection an error line names: a queue pair counts more than an address.
func named(l *errorlines.Line, c *agent.Connection) (n int) {
	for k := range c.Ends {
		e := &c.Ends[k]
		for _, q := range l.QPNs {
			if e.QPNKnown && e.QPN == q {
				n += 4
			}
		}
		for _, a := range l.Addrs {
			if e.Addr == a {
				n++
			}
		}
		if t := e.Trouble; t != nil {
			for _, key := range l.Keys {
				if key == t.Now.Request.RKey || key == t.Refusal.Request.RKey {
					n += 2
				}
			}
		}
	}
	if len(l.QPNs) > 0 && n < 4 {
		return 0 // it names queue pairs, and none of these
	}
	return n
}

// incidentOf returns the incident that an error line is about: of its connection, or of any where it names none.
func (r *Run) incidentOf(l *errorlines.Line, c *agent.Connection) (best *incident.Incident) {
	list := r.Incidents()
	for i := range list {
		x := &list[i]
		if x.Local.Addr.IsZero() || l.Known && !explains(x.Kind, l.Status) || !about(l, c, x) {
			continue
		}
		if best == nil || c != nil && ofConnection(x, c) && !ofConnection(best, c) {
			best = x
		}
	}
	return best
}

// about reports whether an incident is between the hosts of a connection, or of an error line that names no connection.
func about(l *errorlines.Line, c *agent.Connection, x *incident.Incident) bool {
	if c != nil {
		return x.Between(c.Ends[0].Addr, c.Ends[1].Addr)
	}
	if len(l.QPNs) > 0 {
		return false
	}
	for _, a := range l.Addrs {
		if a != x.Local.Addr && a != x.Peer.Addr && !slices.Contains(x.Also, a) {
			return false
		}
	}
	return true
}

func ofConnection(x *incident.Incident, c *agent.Connection) bool {
	for k := range c.Ends {
		if e := &c.Ends[k]; e.Addr == x.Local.Addr && e.QPNKnown == x.Local.QPNKnown && e.QPN == x.Local.QPN {
			return true
		}
	}
	return false
}

// explains reports whether an incident of a kind completes requests with a status, or has them flushed afterwards.
func explains(k incident.Kind, s cq.Status) bool {
	switch s {
	case cq.RetryExcErr:
		return k == incident.Unanswered || k == incident.NeverAnswered
	case cq.RNRRetryExcErr:
		return k == incident.Exhausted
	case cq.RemAccessErr, cq.RemInvReqErr, cq.RemOpErr:
		return k == incident.Refused
	case cq.WRFlushErr:
		return k <= incident.Exhausted
	}
	return false
}

// sentence says what an error line is about.
func (c *complaint) sentence() string {
	s := ""
	if c.conn != nil {
		a, b := &c.conn.Ends[0], &c.conn.Ends[1]
		s = a.Addr.String() + " " + qp(a.QPN, a.QPNKnown) + " ↔ " + b.Addr.String() + " " + qp(b.QPN, b.QPNKnown) + ". "
	}
	switch {
	case c.firstLine != 0:
		s += fmt.Sprintf("It follows from line %d: what was posted is flushed.", c.firstLine)
	case c.happened != nil:
		s += c.happened.What
	case c.conn != nil:
		s += "Nothing in the capture explains it."
	case c.fits > 1:
		s += "It fits " + count(c.fits, "connection") + "."
	case len(c.QPNs)+len(c.Addrs) > 0:
		s += "The capture holds no connection that it names."
	default:
		s += "Nothing in the capture explains it."
	}
	return s
}

const errorsShown = 12

// errors writes error lines beside what the capture shows of them.
func (t *text) errors() {
	list := t.run.complaints()
	if len(list) == 0 {
		return
	}
	t.heading("Error lines")
	for i := range list {
		c := &list[i]
		if i == errorsShown && !t.All && len(list) > errorsShown+1 {
			t.line("  … and %s (--all)", count(len(list)-i, "more line"))
			break
		}
		lead := "line " + strconv.Itoa(c.Number)
		if len(t.run.Errors) > 1 {
			lead = printable(c.file) + " " + lead
		}
		status := ""
		if c.Known {
			status = c.Status.String() + ": "
		}
		t.prose("  "+fmt.Sprintf("%-10s ", lead), status+c.sentence())
	}
	for _, g := range t.run.Errors {
		if g.Left > 0 {
			t.line("  %s of %s were too many, and not read", count(g.Left, "line"), printable(g.File))
		}
	}
}

// jsonError is an error line beside what the capture shows of it.
type jsonError struct {
	Kind     string         `json:"kind"`
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Text     string         `json:"text"`
	Status   string         `json:"status,omitempty"`
	Fits     int            `json:"fits"`
	Ends     []jsonEndpoint `json:"ends,omitempty"`
	Incident string         `json:"incident,omitempty"`
	What     string         `json:"what"`
	Follows  int            `json:"follows,omitempty"`
}

func errorLines(r *Run) (lines []*jsonError) {
	list := r.complaints()
	for i := range list {
		c := &list[i]
		line := &jsonError{Kind: "error_line", File: c.file, Line: c.Number, Text: c.Text, Fits: c.fits, What: c.sentence(), Follows: c.firstLine}
		if c.Known {
			line.Status = c.Status.String()
		}
		if c.conn != nil {
			for k := range c.conn.Ends {
				e := &c.conn.Ends[k]
				line.Ends = append(line.Ends, jsonEndpoint{Address: e.Addr.String(), QPN: known(e.QPN, e.QPNKnown)})
			}
		}
		if c.happened != nil {
			line.Incident = c.happened.Kind.String()
		}
		lines = append(lines, line)
	}
	return lines
}
