package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// Of how many commands that have no answer, after how many that were answered, and for how many times as long as any of these took, it is told that the program of their peer had stopped to answer.
const (
	fewestStuck   = 4
	answeredFirst = 16
	stuckTimes    = 4
)

// stoodStill tells that the peer of end from had answered none of its commands for long when it was first not ready for the request of stall s: its program had stopped before it was short of receives. said is
// what is told of that. It returns what fits then, and what to look at; nil: it does not tell that.
func (t *teller) stoodStill(i *Incident, c *agent.Connection, from int, s *qp.Stall, said string) (fits, next []string) {
	u := c.Upper
	if u == nil || !u.Answered || u.Oldest == nil || u.Oldest.From != from || len(u.Recent) == 0 || !t.timed() || t.lossy() {
		return nil, nil
	}
	o, newest, n := u.Oldest, u.Recent[len(u.Recent)-1], u.Before[from]
	waited := s.Since - max(o.Since, newest)
	if o.Unsure || o.Later > 0 || n < fewestStuck || u.Answers < answeredFirst || waited < stuckTimes*(u.Slowest.Ended-u.Slowest.Since) || t.flushedOver(o.Since, s.Since) {
		return nil, nil
	}
	i.What = fmt.Sprintf("%v answered none of the newest %s of %v for %s, and then %s", &i.Peer, count(uint64(n), "command"), &i.Local, span(waited), said)
	i.Begin, i.Lost = o.Since, i.Lost+time.Duration(s.Since-o.Since)
	reply := fmt.Sprintf("the last reply had come %s before it", span(o.Since-newest))
	if newest > o.Since {
		reply = fmt.Sprintf("the last reply, to an earlier one, came %s after it", span(newest-o.Since))
	}
	i.fact("commands", fmt.Sprintf("%s (%s) had no answer when it was first not ready, though all of them were acknowledged: the oldest, in frame %d, for %s; %s, in frame %d", count(uint64(n), "command"), u.Protocol, o.Frame, span(s.Since-o.Since), reply, u.Newest))
	i.fact("usual", fmt.Sprintf("it had answered %s, each within %s", count(u.Answers, "command"), span(u.Slowest.Ended-u.Slowest.Since)))
	if o.Tap == i.Tap {
		i.show(o.Frame)
	}
	stopped := "a program on %v that stood still, or that waited itself (a lock, its disks), and so answered no commands and posted no receives"
	if beside := t.answeredBeside(c, from, max(o.Since, newest), s.Last); beside != "" {
		i.fact("meanwhile", beside)
		stopped = "a thread of the program on %v that serves this queue pair, or what it waits for (a lock, its disks), that stood still, and so answered no commands and posted no receives: others went on"
	}
	fits = []string{fmt.Sprintf(stopped, i.Peer.Addr)}
	next = []string{fmt.Sprintf("on %v: what the thread that serves QP 0x%x did from then on, and what it waited for (its stack, CPU, log, the disks behind it)", i.Peer.Addr, i.Peer.QPN)}
	return fits, next
}

// answeredBeside says how many commands the peer of end from of c answered on other connections of the same two hosts between two times; "": it is not known that it answered any.
func (t *teller) answeredBeside(c *agent.Connection, from int, since, until int64) string {
	list := t.siblings(c)
	if len(list) > mostOthers {
		return ""
	}
	commands, connections := uint64(0), uint64(0)
	for _, d := range list {
		u := d.Upper
		if d == c || u == nil || u.Protocol != c.Upper.Protocol || u.Slowest == nil || d.Ends[u.Slowest.From].Addr != c.Ends[from].Addr {
			continue
		}
		if n := commandsAnswered(d, since, until); n > 0 {
			commands, connections = commands+n, connections+1
		}
	}
	if connections == 0 {
		return ""
	}
	return fmt.Sprintf("%v answered at least %s of %v on %s", c.Ends[1-from].Addr, count(commands, "command"), c.Ends[from].Addr, count(connections, "other connection"))
}

// commandsAnswered counts the commands of a connection that were answered between two times, as far as that is known.
func commandsAnswered(d *agent.Connection, since, until int64) uint64 {
	n := uint64(0)
	for _, at := range d.Upper.Recent {
		if at > since && at < until {
			n++
		}
	}
	if d.Timing == nil || d.Timing.Commands == nil {
		return n
	}
	x, most := &d.Timing.Commands.Series, uint64(0)
	for k := range x.Slots {
		if begin := x.Start + int64(k)*x.Width; begin > since && begin+x.Width < until {
			most += uint64(x.Slots[k].Messages)
		}
	}
	return max(n, most)
}
