package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const (
	fewestTurns = 64
	rareTurns   = 20 // long turns are told where there are no more of them than one in so many
	longTimes   = 20 // times as long as it usually takes
	turnsTold   = 3
	longestTurn = time.Second // that whoever waits takes notice of
)

// turns tells, where times were measured, of ends that answer each message of their peer with one of their own, and took long to at times or always, or do so no more: requests wait for nothing
// then, and programs do.
func (t *text) turns() {
	t.few(append(t.changes(), t.longTurns(0)...))
}

// longTurns are those of ends that took longer than usual to answer, and once for at least as long as least.
func (t *text) longTurns(least time.Duration) (list []string) {
	list = t.slowAnswers(least)
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if _, ok := answers(c); ok || !takeTurns(c) {
			continue
		}
		for k := range c.Ends {
			if c.Timing.Ends[k].Turns.Most >= least {
				list = append(list, t.turnsOf(c, k))
			}
		}
	}
	return list
}

// slowAnswers tells of ends whose programs took long to answer, and once for at least as long as least: each host once.
func (t *text) slowAnswers(least time.Duration) (list []string) {
	first, more := map[packet.Addr]int{}, map[packet.Addr]int{}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		a, ok := answers(c)
		if _, hangs := t.hangsOn(c); !ok || hangs || a.Waits == nil || a.Waits.Most < least {
			continue
		}
		s, host := answersOf(c, &a), c.Ends[a.By].Addr
		switch _, told := first[host]; {
		case s == "":
		case told:
			more[host]++
		default:
			first[host] = len(list)
			list = append(list, s)
		}
	}
	for host, n := range more {
		list[first[host]] += fmt.Sprintf(" On %s of %v it took long, too.", count(n, "other connection"), host)
	}
	return list
}

// few tells the first of some sentences, where they are any, and how many more there are.
func (t *text) few(list []string) {
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	for k, s := range list {
		if k == turnsTold && !t.All {
			t.line("  … and %d more; --all tells every one", len(list)-k)
			return
		}
		t.prose("  ", s)
	}
}

// takeTurns reports whether each end of a connection sends when a message of the other has come: one may send several messages at a time, data and a reply.
func takeTurns(c *agent.Connection) bool {
	if c.Timing == nil || !c.Service.Reliable() || commanded(c) || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil {
		return false
	}
	n := min(c.Timing.Ends[0].Turns.Count, c.Timing.Ends[1].Turns.Count)
	return n >= fewestTurns && n >= min(c.Ends[0].Messages, c.Ends[1].Messages)*9/10
}

// turnsOf says how long an end took to send, after a message of its peer had come; "": not for long.
func (t *text) turnsOf(c *agent.Connection, from int) string {
	e, peer, x, y := &c.Ends[from], &c.Ends[1-from], &c.Timing.Ends[from].Turns, &c.Timing.Ends[1-from].Turns
	answers := fmt.Sprintf("%v %s answers each message of %v %s with one of its own: ", e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown))
	of, at, frame := c.Timing.Newest()
	quiet := time.Duration(t.res.Last - at)
	switch {
	case of != from && !c.Timing.Exchange.InARow(from) && c.Closed.At == 0 && e.Open+peer.Open == 0 && quiet >= quietTime && quiet >= quietTimes*x.MeanOfAll():
		return answers + fmt.Sprintf("%s later on average, but the last one, in frame %d, has none for %s, though its adapter acknowledged it. Its program or host hangs, if it is the one that serves; else it has nothing more to ask.",
			span(x.MeanOfAll()), frame, span(quiet))
	case x.Long > 0 && x.Long*rareTurns <= x.Count && x.Most >= longTimes*x.Mean():
		most := "at most"
		if c.Timing.Exchange.Apart() > 1 {
			answers, most = strings.TrimSuffix(answers, ": ")+", several of which wait at times: after the newest of them ", "up to"
		}
		return answers + fmt.Sprintf("usually %s later, but %s%s. Its program or host was slow then, or had nothing to send: no request waited for an ACK.",
			span(x.Mean()), longTaken(x.Long, x.Most, x.Frame, most), t.longFrom(x))
	case 2*x.Long >= x.Count && x.MeanOfAll() >= longTimes*y.MeanOfAll():
		return answers + fmt.Sprintf("%s later on average, at most %s (frame %d)%s, and the other way it is %s. What takes that is its program or host, which is slow or has nothing to send: no request waited for an ACK.",
			span(x.MeanOfAll()), span(x.Most), x.Frame, t.longFrom(x), span(y.MeanOfAll()))
	}
	return ""
}

// longTaken says how often an end took long, and how long at most: that first where it is so long that whoever waits takes notice.
func longTaken(long uint64, most time.Duration, frame uint64, atMost string) string {
	switch at := fmt.Sprintf("%s (frame %d)", span(most), frame); {
	case most < longestTurn:
		return fmt.Sprintf("%s %v or more, %s %s", times(long), time.Duration(timing.LongTurn), atMost, at)
	case long == 1:
		return "once " + at
	default:
		return fmt.Sprintf("up to %s, and %s more %v or longer", at, times(long-1), time.Duration(timing.LongTurn))
	}
}

// longFrom says in which part of the capture an end took long, where that is not most of it; "": it is.
func (t *text) longFrom(x *timing.Turns) string {
	if x.To == 0 || 4*(x.To-x.From) > 3*(t.res.Last-t.res.First) || x.Long < 2 {
		return ""
	}
	return fmt.Sprintf(", all of them from %s to %s", offset(x.From, t.res.First), offset(x.To, t.res.First))
}

// spikes tells, where times were measured, of operations that few of the messages of an end waited long for.
func (t *text) spikes() {
	var list []string
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if c.Timing == nil || !c.Service.Reliable() {
			continue
		}
		for from := range c.Ends {
			for op, o := range c.Timing.Ends[from].Ops {
				if s := spikesOf(c, from, wqe.Op(op), o); s != "" {
					list = append(list, s)
				}
			}
		}
	}
	t.few(list)
}

// spikesOf says that few of the messages of an operation waited long; "": none did, or many.
func spikesOf(c *agent.Connection, from int, op wqe.Op, o *timing.Operation) string {
	if o == nil {
		return ""
	}
	n, long := o.Latency.Count(), o.Latency.Above(timing.LongTurn)
	usual, most := o.Quantile(0.5), o.Most
	if n < fewestTurns || long == 0 || long*rareTurns > n || most < longTimes*usual {
		return ""
	}
	e, peer := &c.Ends[from], &c.Ends[1-from]
	return fmt.Sprintf("%s of %s of %v %s waited longer than %v for the answer of %v, %s at most, and usually %s: that, or the path to it, stopped at times.",
		number(long), count(n, op.String()), e.Addr, qp(e.QPN, e.QPNKnown), time.Duration(timing.LongTurn), peer.Addr, span(most), span(usual))
}
