package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
)

// fewestTaken is of how many messages, after each of which its program sends one of its own soon otherwise, it is told that they were taken and
// none was sent.
const fewestTaken = 8

// sentNothing says of a receiver that was not ready until the retries were used up that its program had sent no message for long before the
// request of stall s was first refused, though it took some: it had stopped before it was short of receives.
func (t *teller) sentNothing(i *Incident, c *agent.Connection, from int, s *qp.Stall) {
	if c.Timing == nil || !t.timed() || t.lossy() {
		return
	}
	peer := &c.Timing.Ends[1-from]
	last, usual := peer.LastRequest(), peer.Turns.Most
	if last == 0 || last >= s.Since || peer.Turns.Count < answeredFirst || s.Since-last < stuckTimes*int64(usual) {
		return
	}
	n := takenSince(&c.Timing.Ends[from], last, s.Since)
	if n < fewestTaken {
		return
	}
	i.exhausted.since, i.exhausted.taken = last, n
	i.fact("program", fmt.Sprintf("%v sent no message on the connection after %s, though it took %s of %v since; it had sent %s until then",
		&i.Peer, t.offset(last), count(n, "message"), i.Local.Addr, number(c.Ends[1-from].Messages)))
	i.FitsWith = []string{
		fmt.Sprintf("a program on %v that stopped or waits (a lock, its disks), at least for this connection, "+
			"and so sent nothing and posted no receives", i.Peer.Addr),
		"less likely one that posts too few receives",
	}
	did := fmt.Sprintf("on %v: what the program that serves QP 0x%x did after %s, and what it waited for (its stack, CPU, log)",
		i.Peer.Addr, i.Peer.QPN, t.offset(last))
	i.Next = append([]string{did}, i.Next...)
}

// takenSince counts the messages that an end sent between two times, as far as that is kept.
func takenSince(e *timing.End, since, until int64) (n uint64) {
	first, newest, _ := e.AllSent()
	for _, list := range [][]timing.Sent{first, newest} {
		for _, m := range list {
			if m.Begin > since && m.End != 0 && m.End < until {
				n++
			}
		}
	}
	return n
}
