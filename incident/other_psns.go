package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// fewestOtherPSNs is from how many responses on, that fit no request, they are told to be the answers to one that was retransmitted.
const fewestOtherPSNs = 4

// answersBeside returns, of the connections between two hosts, the responses which seem to be the answers to what the only end of c sends, that fit
// none of its PSNs: they come while it sends, and only then, about as many as its packets. nil: there are none, or others may be their requester.
func answersBeside(list []*agent.Connection, c *agent.Connection) (found *agent.Connection) {
	from, one := onlyEnd(c)
	if !one || c.Service != packet.RC || !c.Ends[from].Stalled || len(list) > mostOthers {
		return nil
	}
	e := &c.Ends[from]
	for _, d := range list {
		switch by, one := onlyEnd(d); {
		case d == c || !one || d.Service != c.Service:
		case d.Ends[by].Addr == e.Addr && d.Ends[by].Messages > 0:
			return nil // either may be the requester
		case d.Lone == nil || d.Ends[by].Addr == e.Addr:
		case found != nil:
			return nil
		case d.First >= c.First && d.Ends[by].Last-e.Last < silence && d.Ends[by].Packets >= fewestOtherPSNs &&
			2*d.Ends[by].Packets >= uint64(e.Retransmissions) && d.Ends[by].Packets <= e.Packets:
			found = d
		default:
			return nil
		}
	}
	return found
}

// otherPSNs tells of a requester whose peer answers all that it sends with PSNs that fit no request of it, and reports whether one does.
func (t *teller) otherPSNs(c *agent.Connection, from int, k *qp.Stall) bool {
	d := answersBeside(t.siblings(c), c)
	if d == nil || !t.timed() || k.Total() < 2 {
		return false
	}
	by, _ := onlyEnd(d)
	answers, psn := &d.Ends[by], d.Lone.First
	i := t.between(Unanswered, c, from)
	i.Certainty, i.Connections = Likely, 1 // an ACK names the queue pair that it goes to, and not its own
	i.during(k)
	i.End, i.Ongoing, i.Lost = t.run.Last, c.Closed.At == 0, time.Duration(t.run.Last-k.Since)
	i.show(d.FirstFrame)
	i.Local.QPN, i.Local.QPNKnown = d.Ends[1-by].QPN, d.Ends[1-by].QPNKnown
	fits := fmt.Sprintf("PSN %v", psn)
	if d.Lone.Newest != psn {
		fits = fmt.Sprintf("PSNs %v to %v", psn, d.Lone.Newest)
	}
	i.What = fmt.Sprintf("%v %s in %s; %v answered with %s, which fits no request.", &i.Local, sent(k), span(k.Last-k.Since), &i.Peer, fits)
	i.fact("request", retransmitted(&k.Request))
	i.fact("answers", fmt.Sprintf("%s of %v to QP 0x%x, the first in frame %d, %s after the connection began: %s, while the requests began with PSN %v",
		count(answers.Packets, "ACK"), answers.Addr, d.Ends[1-by].QPN, d.FirstFrame, span(d.First-c.First), fits, k.Request.First))
	i.fact("sent", t.when(k, false))
	i.fact("waits", waiting(&c.Ends[from], k, "", c.Closed.At == 0))
	i.fact("so", fmt.Sprintf("%v is up, and packets go there and back", i.Peer.Addr))
	t.after(i, c, k)
	than := ""
	if psn.Before(k.Request.First) { // as to a duplicate
		than = ", but later, so that it takes all that comes for duplicates, and acknowledges again what it had last"
	}
	i.FitsWith = []string{
		fmt.Sprintf("starting PSNs that were exchanged wrongly: the rq_psn of %v is not the sq_psn of %v, with which its requests begin (%v)%s",
			&i.Peer, &i.Local, k.Request.First, than),
		fmt.Sprintf("a queue pair of %v that is left from an earlier connection", i.Peer.Addr),
	}
	i.Next = []string{fmt.Sprintf(
		"which PSN each program sends to the other, and sets: rq_psn (ibv_modify_qp to RTR) on %v, sq_psn (to RTS) on %v",
		i.Peer.Addr, i.Local.Addr,
	)}
	t.tell(i, "PSN")
	return true
}
