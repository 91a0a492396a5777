package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// fewestTaken is of how many messages, after each of which its program sends one of its own soon otherwise, it is told that they were taken and
// none was sent.
const fewestTaken = 8

// meanTimes is for how many times as long as it takes in the mean a program sends nothing that is told to have stopped.
const meanTimes = 16

// sentNothing says of a receiver that was not ready until the retries were used up that its program had sent no message for long when the
// request of stall s was last refused, though it took some.
func (t *teller) sentNothing(i *Incident, c *agent.Connection, from int, s *qp.Stall) {
	if c.Timing == nil || !t.timed() || t.lossy() {
		return
	}
	peer := &c.Timing.Ends[1-from]
	last, usual := peer.LastRequest(), peer.Turns.Most
	if last == 0 || last >= s.Since || peer.Turns.Count < answeredFirst {
		return
	}
	n, first := takenSince(&c.Timing.Ends[from], last, s)
	idle := first-last >= stuckTimes*int64(usual)
	if n < fewestTaken {
		return
	}
	few := "less likely one that posts too few receives"
	if s.Since-max(last, first) < stuckTimes*int64(usual) {
		t.burstTaken(i, c, from, n, first, s)
		few = strings.TrimPrefix(few, "less likely ")
	}
	mean := int64(peer.Turns.Usual+peer.Turns.Slow) / int64(peer.Turns.Count)
	if s.Last-max(last, first) < min(stuckTimes*int64(usual), meanTimes*mean) {
		return
	}
	when := " since"
	if idle {
		last, when = first, fmt.Sprintf(" from %s on", t.offset(first))
	}
	i.exhausted.since, i.exhausted.taken = last, n
	i.fact("program", fmt.Sprintf("%v sent no message on the connection after %s, though it took %s of %v%s; it had sent %s until then",
		&i.Peer, t.offset(peer.LastRequest()), count(n, "message"), i.Local.Addr, when, number(c.Ends[1-from].Messages)))
	i.FitsWith = []string{
		fmt.Sprintf("a program on %v that stopped or waits (a lock, its disks), at least for this connection, "+
			"and so sent nothing and posted no receives", i.Peer.Addr),
		few,
	}
	did := fmt.Sprintf("on %v: what the program that serves QP 0x%x did after %s, and what it waited for (its stack, CPU, log)",
		i.Peer.Addr, i.Peer.QPN, t.offset(last))
	i.Next = append([]string{did}, i.Next...)
}

// burstTaken says how many messages a receiver took of a burst, the next of which it refused.
func (t *teller) burstTaken(i *Incident, c *agent.Connection, from int, n uint64, first int64, s *qp.Stall) {
	if c.Timing.Ends[from].Ops[wqe.Write] != nil || s.Request.Op != wqe.Send {
		return // not each of them takes a receive
	}
	i.fact("burst", fmt.Sprintf("it took %s, which came within %s from %s on, and refused the next: it seems that it had as many receives posted",
		count(n, "message"), span(max(s.Since-first, 1)), t.offset(first)))
}

// takenSince counts the messages that an end sent from a time on until the request of stall s, as far as that is kept, and returns when the
// first of them began.
func takenSince(e *timing.End, since int64, s *qp.Stall) (n uint64, first int64) {
	early, newest, _ := e.AllSent()
	list := slices.Concat(early, newest)
	for left := s.High.Diff(s.Request.First); left > 0 && len(list) > 0; { // what is stalled
		last := &list[len(list)-1]
		if last.End < s.Since {
			left = 0 // and a READ may be among it, which is not kept here
		}
		left -= int(last.Packets)
		list = list[:len(list)-1]
	}
	for _, m := range list {
		if m.Begin > since && m.End != 0 && m.End < s.Begun {
			if n++; first == 0 {
				first = m.Begin
			}
		}
	}
	return n, first
}
