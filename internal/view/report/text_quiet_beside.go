package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
)

// For how long, and for how many times as long as it ever was silent before, a connection carries nothing that is told to have gone quiet while
// others go on: a transfer that is over is no more than that.
const (
	quietLong   = 5 * time.Second
	quietPauses = 10
)

// quietBeside tells of the connection that was busy and has carried nothing for the longest time, while another of the same host goes on; "": there
// is none.
func (t *text) quietBeside() string {
	q, _ := t.allQuiet()
	var c, beside *agent.Connection
	all := 0
	for _, d := range q.among {
		if d.Timing == nil || t.silentFor(d) < max(int64(quietLong), quietPauses*longestSilence(d)) {
			continue
		}
		b := t.goesOnBeside(d)
		if b == nil {
			continue
		}
		if all++; c == nil || t.silentFor(d) > t.silentFor(c) {
			c, beside = d, b
		}
	}
	if c == nil {
		return ""
	}
	host, other := &beside.Ends[0], &beside.Ends[1]
	if host.Addr != c.Ends[0].Addr && host.Addr != c.Ends[1].Addr {
		host, other = other, host
	}
	a, b := &c.Ends[0], &c.Ends[1]
	more := ""
	if all > 1 {
		more = fmt.Sprintf(" (and %s, later)", count(all-1, "more connection"))
	}
	last := t.res.Last - t.silentFor(c)
	return fmt.Sprintf("Quiet: %v %s and %v %s, busy until +%.6f s, carry nothing in the last %s%s, though no request waits for an answer there, "+
		"and %v goes on with %v: a program of one of the two had no more to send, stopped, or waits for something that requests do not show.",
		a.Addr, qp(a.QPN, a.QPNKnown), b.Addr, qp(b.QPN, b.QPNKnown), time.Duration(last-t.res.First).Seconds(), span(time.Duration(t.silentFor(c))), more,
		host.Addr, other.Addr)
}

// silentFor is for how long a connection carries nothing at the end.
func (t *text) silentFor(c *agent.Connection) int64 {
	return t.res.Last - max(c.Ends[0].Last, c.Ends[1].Last)
}

// longestSilence is for how long an end of a connection sent nothing before it went quiet.
func longestSilence(c *agent.Connection) (most int64) {
	for e := range c.Timing.Ends {
		for _, s := range c.Timing.Ends[e].Active.Silences {
			most = max(most, s.Length())
		}
	}
	return most
}

// goesOnBeside returns a connection of a host of one that is quiet with a third one, which is busy until the end; nil: there is none.
func (t *text) goesOnBeside(c *agent.Connection) *agent.Connection {
	for n := range t.res.Connections {
		d := &t.res.Connections[n]
		if d == c || !d.Service.Reliable() || d.Closed.At != 0 || d.FirstTap != c.FirstTap || d.First > t.res.Last-t.silentFor(c) {
			continue
		}
		shared := 0
		for e := range d.Ends {
			if a := d.Ends[e].Addr; a == c.Ends[0].Addr || a == c.Ends[1].Addr {
				shared++
			}
		}
		if shared == 1 && max(d.Ends[0].Messages, d.Ends[1].Messages) >= quietMessages && quietPauses*t.silentFor(d) < t.silentFor(c) {
			return d
		}
	}
	return nil
}
