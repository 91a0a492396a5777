package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// otherPSNs tells of a requester whose peer answers what it sends with PSNs that fit no request of it, and reports whether one does.
func (t *teller) otherPSNs(c *agent.Connection, from int, k *qp.Stall) bool {
	d := answersBeside(t.siblings(c), c)
	if d == nil || !t.timed() || k.Total() < 2 || d.Lone.NAK && t.lossy() {
		return false
	}
	by, _ := onlyEnd(d)
	s := startsOf(c, d, from)
	i := t.between(Unanswered, c, from)
	i.Certainty, i.Connections = Likely, 1 // an ACK names the queue pair that it goes to, and not its own
	i.during(k)
	i.End, i.Ongoing, i.Lost = t.run.Last, c.Closed.At == 0, time.Duration(t.run.Last-k.Since)
	i.show(d.FirstFrame)
	i.Local.QPN, i.Local.QPNKnown = d.Ends[1-by].QPN, d.Ends[1-by].QPNKnown
	fits := fmt.Sprintf("PSN %v", d.Lone.Newest)
	if d.Lone.Newest != d.Lone.First {
		fits = fmt.Sprintf("PSNs %v to %v", d.Lone.First, d.Lone.Newest)
	}
	i.What = fmt.Sprintf("%v %s in %s; %v answered with %s, which fits no request.", &i.Local, sent(k), span(k.Last-k.Since), &i.Peer, fits)
	if s.swapped != "" || d.Lone.NAK {
		i.What = fmt.Sprintf("%v %s in %s, from PSN %v on; %v answers, but expects PSN %v%s.",
			&i.Local, sent(k), span(k.Last-k.Since), s.sent, &i.Peer, s.expected, before(": ", s.swapped))
	}
	i.fact("request", retransmitted(&k.Request))
	i.fact("answers", s.answers(d, by, fits))
	likewise, swapped := t.startsLikewise(c, i.Local.Addr)
	i.fact("PSNs", before("likewise of other connections between the same hosts, sent and expected: ", likewise))
	i.fact("sent", t.when(k, false, true))
	i.fact("gave up", t.gaveUp(c, from, k))
	i.fact("waits", waiting(&c.Ends[from], k, "", c.Closed.At == 0))
	i.fact("so", fmt.Sprintf("%v is up, and packets go there and back", i.Peer.Addr))
	t.after(i, c, k)
	i.startsFit(&s, d, swapped)
	t.tell(i, "PSN")
	return true
}

// answers says which responses of d are the answers, which carry PSNs as fits says.
func (s *startsDiffer) answers(d *agent.Connection, by int, fits string) string {
	x := &d.Ends[by]
	what, in := count(x.Packets, "ACK"), "the first in"
	switch {
	case d.Lone.NAK && x.Packets > 1:
		what = count(x.Packets, "response") + ", the newest a NAK (PSN sequence error),"
	case d.Lone.NAK:
		what = "a NAK (PSN sequence error)"
	}
	if x.Packets == 1 {
		in = "in"
	}
	to := ""
	if p := withPort(nil, d, x); len(p) > 0 && len(withPort(p, s.c, senderOn(s.c, d.Ends[1-by].Addr))) == 1 {
		to = ", with the UDP source port of the requests"
	}
	return fmt.Sprintf("%s of %v to QP 0x%x%s, %s frame %d, %s after the connection began: %s, while the requests began with PSN %v",
		what, x.Addr, d.Ends[1-by].QPN, to, in, d.FirstFrame, span(d.First-s.c.First), fits, s.sent)
}

// startsFit says what fits where the ends of a connection do not agree on the PSN that its requests begin with, and what to look at. all says
// that bytes are swapped on each other connection of which it is so.
func (i *Incident) startsFit(s *startsDiffer, d *agent.Connection, all bool) {
	than := ", but later, so that it takes all that comes for duplicates, and acknowledges again what it had last"
	if d.Lone.NAK {
		than = ", but earlier, so that it asks for what is before them"
	}
	i.FitsWith = []string{
		fmt.Sprintf("starting PSNs that were exchanged wrongly: the rq_psn of %v is not the sq_psn of %v, with which its requests begin (%v)%s",
			&i.Peer, &i.Local, s.sent, than),
		fmt.Sprintf("a queue pair of %v that is left from an earlier connection", i.Peer.Addr),
	}
	i.Next = []string{fmt.Sprintf("which PSN each program sends to the other, and sets: rq_psn (ibv_modify_qp to RTR) on %v, sq_psn (to RTS) on %v",
		i.Peer.Addr, i.Local.Addr)}
	if s.swapped != "" && all {
		i.FitsWith = slices.Insert(i.FitsWith[:1], 0,
			"a starting PSN whose bytes one end swaps, and the other does not (htonl, ntohl): which of them, the capture does not tell")
		i.Next = slices.Insert(i.Next, 0, "the byte order in which the programs exchange PSNs")
	}
}

// before puts words before what is said; "": nothing is.
func before(words, said string) string {
	if said == "" {
		return ""
	}
	return words + said
}
