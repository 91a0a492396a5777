package incident

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/upper"
)

// stoppedInStages says of a host that is gone as a whole that its software had stopped before that, while packets of it, as ACKs, still came: it
// answered none of its clients' commands any more, and no pings.
func (t *teller) stoppedInStages(i *Incident, g *goneWhole) {
	a := i.Peer.Addr
	last, waits := t.lastAnswerOf(a, g.since)
	if last == 0 || g.answered == 0 || waits == 0 {
		return
	}
	stopped := max(last, g.lastAnswer)
	if g.since-stopped < upper.SlowAfter {
		return
	}
	pings := 0
	for n := range t.run.Pings {
		if s := &t.run.Pings[n]; s.To == a && s.At > g.lastAnswer && s.At <= g.since && t.sentICMP(a, s.Host) {
			pings++
		}
	}
	if pings < fewestPings {
		return
	}
	i.What += fmt.Sprintf(" It had answered nothing since %s, though its adapter still sent packets until %s: its software stopped first.",
		t.offset(stopped), t.offset(g.since))
	i.fact("before", fmt.Sprintf("%v answered no command of any client since %s, though some waited on %s, "+
		"and none of %s since %s; packets of it came %s longer", a, t.offset(last), count(waits, "connection"), count(uint64(pings), "ping"), t.offset(g.lastAnswer), span(g.since-stopped)))
}

// lastAnswerOf returns when a host last answered a command, and on how many connections commands came to it well before it sent its last packet at a
// time, which it did not answer; 0: that is not known.
func (t *teller) lastAnswerOf(a packet.Addr, since int64) (last int64, waits uint64) {
	if len(t.run.Connections) > mostOthers {
		return 0, 0
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if endOf(c, a) == nil || c.Service == packet.UD {
			continue
		}
		u := c.Upper
		if u == nil || !u.Answered || c.Ends[1-fromOf(u)].Addr != a || u.Answers > 0 && len(u.Recent) == 0 {
			return 0, 0
		}
		if n := len(u.Recent); n > 0 {
			last = max(last, u.Recent[n-1])
		}
		if o := u.Oldest; o != nil && !o.Unsure && since-o.Since >= upper.SlowAfter {
			waits++
		}
	}
	return last, waits
}
