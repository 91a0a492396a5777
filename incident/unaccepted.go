package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/verifier/cm"
)

// unaccepted tells of a REQ that was retransmitted, as its answer took too long, and to which only an MRA has come until the capture ended: the communication manager has it, and the program does not accept it.
func (t *teller) unaccepted(q *cm.Unanswered) {
	if !t.timed() || t.lossy() || t.run.Last-q.First < connectWait || t.connected(q) {
		return
	}
	i := &Incident{
		Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: t.run.Last, Ongoing: true,
		Lost: time.Duration(t.run.Last - q.First), Tap: q.Tap,
	}
	i.show(q.Frame, q.MRAFrame)
	i.What = fmt.Sprintf("%v asked %v for a connection (REQ) %s in %s; its communication manager asked for more time (MRA), and nothing accepted or rejected it for %s.", q.From, q.To, times(uint64(q.Times)), span(q.Last-q.First), span(t.run.Last-q.First))
	i.fact("service", fmt.Sprint(q.Service))
	i.fact("MRA", askedMore(t, q))
	t.peer(i, &agent.Connection{}, 0, q.First, q.Last, "this request")
	to := q.To.String()
	i.FitsWith = []string{"a program on " + to + " that hangs, is stopped or busy, and does not take the REQ: its communication manager has it, and answers without it", "an answer (REP or REJ) that was lost"}
	i.Next = []string{fmt.Sprintf("on %s: what the program that listens on %v waits for (its stack, CPU, log)", to, q.Service)}
	t.tell(i, "accept")
}

// askedMore says when the MRA came to a REQ, and how much longer it allows.
func askedMore(t *teller, q *cm.Unanswered) string {
	s := fmt.Sprintf("of %v, in frame %d%s", q.To, q.MRAFrame, t.within(", %s after the first REQ", q.MRA-q.First))
	if q.More > 0 {
		s += fmt.Sprintf(": for up to %s (service timeout)", span(q.More))
	}
	return s
}
