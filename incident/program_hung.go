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

// programHung tells that the peer of end from had answered none of its commands for long when it was first not ready for the request of stall s: its program had stopped before it was short of receives. said is
// what is told of that. It returns what fits then, and what to look at; nil: it does not tell that.
func (t *teller) programHung(i *Incident, c *agent.Connection, from int, s *qp.Stall, said string) (fits, next []string) {
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
	i.fact("commands", fmt.Sprintf("%s (%s) had no answer when it was first not ready, though all of them were acknowledged: the oldest, in frame %d, for %s; %s, in frame %d", count(uint64(n), "command"), protocolOf(u), o.Frame, span(s.Since-o.Since), reply, u.Newest))
	i.fact("usual", fmt.Sprintf("it had answered %s, each within %s", count(u.Answers, "command"), span(u.Slowest.Ended-u.Slowest.Since)))
	if o.Tap == i.Tap {
		i.show(o.Frame)
	}
	stopped := "a program on %v that hung, or that waited itself (a lock, its disks), and so answered no commands and posted no receives"
	if beside := t.answeredBeside(c, from, max(o.Since, newest), s.Last); beside != "" {
		i.fact("meanwhile", beside)
		stopped = "a thread of the program on %v that serves this queue pair, or what it waits for (a lock, its disks), that hung, and so answered no commands and posted no receives: others went on"
	}
	fits = []string{fmt.Sprintf(stopped, i.Peer.Addr)}
	next = []string{fmt.Sprintf("on %v: what the thread that serves QP 0x%x did from then on, and what it waited for (its stack, CPU, log, its disks)", i.Peer.Addr, i.Peer.QPN)}
	return fits, next
}
