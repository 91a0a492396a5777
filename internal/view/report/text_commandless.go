package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/timing"
)

// For how long, for how many times the mean time between two packets, and of how many commands an end has to send none for that to be told, and for what part of it (one in so many) its host is silent at most on
// a connection on which it went on.
const (
	pauseTime     = 500 * time.Millisecond
	pauseTimes    = 100
	pauseCommands = 64
	pauseParts    = 10
)

// pause is a time in which an end sent no command of the protocol above, and waited for none.
type pause struct {
	timing.Silence
	local, peer *agent.End
	protocol    string
	others      int  // connections between the hosts on which its host went on
	stalled     bool // requests were retransmitted or refused on the connection, at another time
}

// idlePauses returns the longest time in which each end sent no command of the protocol above, and waited for none, the longest first.
func (t *text) idlePauses() (list []pause) {
	if t.res.Clock.Count > 0 || t.res.Dropped+t.res.Gaps > 0 {
		return nil
	}
	for _, c := range t.measured() {
		if p, ok := commandlessOn(c); ok {
			p.others = t.wentOnBeside(&p)
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b pause) int { return cmp.Compare(b.Length(), a.Length()) })
	return list
}

// commandless tells of the longest of these in which the host went on on other connections to the same peer, where nothing stalled. "": there was none.
func (t *text) commandless() string {
	list := slices.DeleteFunc(t.idlePauses(), func(p pause) bool { return p.others == 0 || p.stalled || t.failedElsewhere(&p) })
	if len(list) == 0 {
		return ""
	}
	p, at := &list[0], ""
	if len(t.res.Taps) == 1 {
		at = fmt.Sprintf(" (frames %d to %d)", p.Frames[0], p.Frames[1])
	}
	s := fmt.Sprintf("Pause: %v %s sent no command for %s from %s on%s and waited for none (%s), while %v went on with %v on %s: it seems that its program posted nothing there.",
		p.local.Addr, qp(p.local.QPN, p.local.QPNKnown), span(time.Duration(p.Length())), offset(p.From, t.res.First), at, p.protocol, p.local.Addr, p.peer.Addr, count(p.others, "other connection"))
	if more := len(list) - 1; more > 0 {
		s += fmt.Sprintf(" So did %s, for up to %s.", count(more, "more end"), span(time.Duration(list[1].Length())))
	}
	return s
}

// failedElsewhere reports whether something failed between other hosts than those of a pause: who looks at that does not ask for pauses of others.
func (t *text) failedElsewhere(p *pause) bool {
	return slices.ContainsFunc(t.run.Incidents(), func(i incident.Incident) bool {
		return i.Failed() && i.Certainty != incident.Possible && !i.Between(p.local.Addr, p.peer.Addr)
	})
}

// commandlessOn returns the longest time in which neither end of a connection sent anything, which one of them ended with a command, and which is longer than any command waited: none did in it.
func commandlessOn(c *agent.Connection) (p pause, ok bool) {
	if !commanded(c) || c.Upper.Answers < pauseCommands || c.Timing == nil || c.Upper.Open > 0 || c.Upper.Slowest == nil {
		return p, false
	}
	from := c.Upper.Slowest.From
	both := activityOn(c)
	silent := int64(0)
	for _, s := range both.Silences {
		if silent += s.Length(); s.Length() > p.Length() {
			p.Silence = s
		}
	}
	packets := int64(c.Ends[0].Packets + c.Ends[1].Packets)
	if p.Length() < max(int64(pauseTime), pauseTimes*(both.Last-both.First-silent)/packets, c.Upper.Slowest.Ended-c.Upper.Slowest.Since+1) {
		return p, false
	}
	own := c.Timing.Ends[from].Active.Silent(p.From, p.To)
	p.local, p.peer, p.protocol, p.stalled = &c.Ends[from], &c.Ends[1-from], c.Upper.Protocol, c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil
	return p, own != nil && own.To == p.To
}

// activityOn is when either end of a connection sent packets.
func activityOn(c *agent.Connection) (a timing.Activity) {
	for k := range c.Timing.Ends {
		a.Join(&c.Timing.Ends[k].Active)
	}
	return a
}

// wentOnBeside is on how many other connections between its hosts the host of a pause sent packets all the time.
func (t *text) wentOnBeside(p *pause) (n int) {
	for _, c := range t.measured() {
		if !c.Service.Reliable() {
			continue
		}
		for k := range c.Ends {
			if c.Ends[k].Addr == p.local.Addr && c.Ends[1-k].Addr == p.peer.Addr && c.Timing.Ends[k].Active.Sends(&p.Silence, pauseParts) {
				n++
			}
		}
	}
	return n
}
