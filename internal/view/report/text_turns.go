package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const (
	fewestTurns = 64
	rareTurns   = 20 // long turns are told where there are no more of them than one in so many
	longTimes   = 20 // times as long as it usually takes
	turnsTold   = 3
	longestTurn = 500 * time.Millisecond // that whoever waits takes notice of
)

// turns tells, where times were measured, of ends that answer each message of their peer with one of their own, and took long to at times or always, or do so no more: requests wait for nothing
// then, and programs do.
func (t *text) turns() {
	t.few(append(t.changes(), t.longTurns(0)...))
}

// longTurn is one that an end took long to.
type longTurn struct {
	c    *agent.Connection
	by   int           // the end that took long
	most time.Duration // the longest
	at   int64         // when that was over, nanoseconds since the Unix epoch
	said string
}

// longTurns tells of ends that took longer than usual to answer, and once for at least as long as least: the longest first. Where there is none, it tells of one that took long each time.
func (t *text) longTurns(least time.Duration) []string {
	step := t.stepped()
	list, always := append(t.slowAnswers(least, step), t.ownStalls(step)...), []string(nil)
	for _, c := range t.measured() {
		if _, ok := answers(c); ok || !takeTurns(c) {
			continue
		}
		for k := range c.Ends {
			x := &c.Timing.Ends[k].Turns
			switch {
			case x.Most < least || ofStep(x.Most, step):
			case thinks(c) == k+1:
				if least == 0 && !t.inRounds(c) {
					always = append(always, t.pauses(c, k))
				}
			default:
				list = append(list, longTurn{c, k, x.Most, x.At, t.turnsOf(c, k)})
			}
		}
	}
	list = slices.DeleteFunc(list, func(l longTurn) bool { return l.said == "" || t.stoppedOnly(l.c, l.by) })
	slices.SortStableFunc(list, func(a, b longTurn) int { return cmp.Compare(b.most, a.most) })
	always = slices.DeleteFunc(always, func(s string) bool { return s == "" })
	if len(list) > 0 || len(always) == 0 {
		return t.chained(list)
	}
	if n := len(always) - 1; n > 0 {
		always[0] += fmt.Sprintf(" It is so on %s, too.", count(n, "other connection"))
	}
	return always[:1]
}

// stoppedOnly reports whether an end took long only when the programs of its host stopped, as an incident tells.
func (t *text) stoppedOnly(c *agent.Connection, by int) bool {
	x := &c.Timing.Ends[by].Turns
	if t.run == nil || x.Long == 0 || x.Long > uint64(len(x.Longest)) {
		return false
	}
	list := t.run.Incidents()
	return !slices.ContainsFunc(x.Longest[:x.Long], func(k timing.Took) bool {
		return !slices.ContainsFunc(list, func(i incident.Incident) bool { return i.Stopped(c.Ends[by].Addr, k.At, k.Time) })
	})
}

// thinks is which end of two that take turns takes long each time, and the other does not, plus one; 0: neither.
func thinks(c *agent.Connection) int {
	for k := range c.Ends {
		if x, y := &c.Timing.Ends[k].Turns, &c.Timing.Ends[1-k].Turns; 2*x.Long >= x.Count && x.MeanOfAll() >= longTimes*y.MeanOfAll() {
			return k + 1
		}
	}
	return 0
}

// pauses tells of an end that takes long each time: it is slow if it serves, and has nothing to ask if not. "": CM has told that it asks.
func (t *text) pauses(c *agent.Connection, by int) string {
	e, peer, x, y := &c.Ends[by], &c.Ends[1-by], &c.Timing.Ends[by].Turns, &c.Timing.Ends[1-by].Turns
	took := fmt.Sprintf("%s later on average, at most %s (frame %d)%s", span(x.MeanOfAll()), span(x.Most), x.Frame, t.longFrom(x))
	if c.PairedBy == agent.ByCM {
		if by == 0 {
			return ""
		}
		return fmt.Sprintf("%v %s answers each message of %v %s with one of its own: %s, and the other way it is %s. What takes that is its program or host: no request waited for an ACK.",
			e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown), took, span(y.MeanOfAll()))
	}
	return fmt.Sprintf("%v %s and %v %s take turns: the second sends %s after a message of the first, and the first %s. If the first is the one that answers, its program is slow; if it asks, it had nothing to ask until then. No request waited for an ACK.",
		e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown), span(y.MeanOfAll()), took)
}

// slowAnswers finds ends whose programs took long to answer, and once for at least as long as least: each host once. A time is not long by which the clock stepped ahead.
func (t *text) slowAnswers(least, step time.Duration) (list []longTurn) {
	first, more := map[packet.Addr]int{}, map[packet.Addr]int{}
	for _, c := range t.measured() {
		a, ok := answers(c)
		if _, hangs := t.hangsOn(c); !ok || hangs || a.Waits == nil || a.Waits.Most < least || ofStep(a.Waits.Most, step) {
			continue
		}
		s, host := answersOf(c, &a), c.Ends[a.By].Addr
		switch _, told := first[host]; {
		case s == "":
		case told:
			more[host]++
		default:
			first[host] = len(list)
			list = append(list, longTurn{c, a.By, a.Waits.Most, a.Waits.At, s})
		}
	}
	for host, n := range more {
		list[first[host]].said += fmt.Sprintf(" On %s of %v it took long, too.", count(n, "other connection"), host)
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
	e, peer, x := &c.Ends[from], &c.Ends[1-from], &c.Timing.Ends[from].Turns
	answers := fmt.Sprintf("%v %s answers each message of %v %s with one of its own: ", e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown))
	of, at, frame := c.Timing.Newest()
	quiet := time.Duration(t.res.Last - at)
	switch {
	case of != from && !c.Timing.Exchange.InARow(from) && c.Closed.At == 0 && e.Open+peer.Open == 0 && quiet >= quietTime && quiet >= quietTimes*x.MeanOfAll():
		return answers + fmt.Sprintf("%s later on average, but the last one, in frame %d, has none for %s, though its adapter acknowledged it. Its program or host hangs, if it is the one that serves; else it has nothing more to ask.",
			span(x.MeanOfAll()), frame, span(quiet))
	case x.Long > 0 && x.Long*rareTurns <= x.Count && x.Most >= longTimes*x.Mean() && !t.betweenRounds(x):
		most := "at most"
		if c.Timing.Exchange.Several() {
			answers, most = severalOf(e, peer), "up to"
		}
		return answers + fmt.Sprintf("usually %s later, but %s%s. Its program or host was slow then, or had nothing to send: no request waited for an ACK.",
			span(x.Mean()), longTaken(x.Long, x.Most, x.Frame, most), t.longFrom(x))
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

// severalOf says, of two ends that send each other messages of which several wait at a time, whose next one is told of.
func severalOf(e, peer *agent.End) string {
	return fmt.Sprintf("%v %s and %v %s send each other messages, several of which wait at times, so that it is not known which answers which: after one of %v, %v sends its next ",
		peer.Addr, qp(peer.QPN, peer.QPNKnown), e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, e.Addr)
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
	for _, c := range t.measured() {
		if !c.Service.Reliable() {
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
