package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// silence is for how long a request that is not retransmitted waits before that is worth telling: longer than most retransmission timers take.
const silence = int64(time.Second)

// patience is for how long a request that was retransmitted once waits before that is worth telling.
const patience = int64(100 * time.Millisecond)

// unanswered tells of a request of end from that was retransmitted and never answered.
func (t *teller) unanswered(c *agent.Connection, from int, k *qp.Stall) {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if k.Total() < 2 && t.run.Last-k.Since < patience {
		return // the capture may have ended before the answer came
	}
	i := t.between(Unanswered, c, from)
	if peer.Packets == 0 {
		i.Kind, i.version = NeverAnswered, versionOf(c.Encap)
	}
	if i.Kind == NeverAnswered && t.otherPSNs(c, from, k) {
		return
	}
	if t.lossy() {
		i.Certainty = Likely // the answer may be among what the capture has lost
	}
	i.during(k)
	i.End, i.Ongoing, i.Lost = t.run.Last, c.Closed.At == 0, time.Duration(t.run.Last-k.Since)
	if c.Closed.At > k.Since {
		i.End = max(c.Closed.At, k.Last)
		i.Lost = time.Duration(i.End - k.Since)
		i.show(c.Closed.Frame)
	}
	least := ""
	if i.Kind == NeverAnswered && t.midway(c, k) {
		least = "at least "
	}
	i.What = fmt.Sprintf("%v %s%s%s; %v %s.", &i.Local, sentAtLeast(k, least), t.within(" in %s", k.Last-k.Since), inAttempts(e), &i.Peer, hasNotAnswered(i.Kind, k))
	if least != "" {
		i.What = fmt.Sprintf("%v %s in %s; the capture holds nothing of %v on this connection.", &i.Local, sentAtLeast(k, least), span(k.Last-k.Since), &i.Peer)
		i.fact("begin", "the capture may have begun only after the connection did: what came on it before is not in it")
	}
	i.fact("request", retransmitted(&k.Request))
	i.fact("sent", t.when(k, least != "", attemptsAfter(e) == 0))
	tellAttempts(i, e, k)
	i.fact("gave up", t.gaveUp(c, from, k))
	if i.disconnected = closedBefore(c, from, k); i.disconnected {
		i.fact("DREQ", fmt.Sprintf("%v had asked to disconnect%s, in frame %d", i.Peer.Addr, t.within(" %s before that request", k.Since-c.Closed.At), c.Closed.Frame))
		i.show(c.Closed.Frame)
	}
	i.fact("waits", waiting(e, k, least, c.Closed.At == 0))
	i.fact("later", passedOver(i, k))
	t.cause(i, c, from, k)
	t.command(i, c)
	out := t.outlasted(c, from, k)
	on := t.sentBeside(c, from, k)
	if silent := i.Kind == Unanswered && !i.disconnected && t.hosts[i.Peer.Addr].last <= k.Begun; !out.happened() && (on.n > 0 || silent) {
		t.tellDeadWith(i, t.deadWith(c, from, k), k, &on)
	}
	switch {
	case out.happened():
	case on.n >= fewestBeside:
		i.besideStall(c, e, k, &on)
	default:
		t.peer(i, c, 1-from, k.Since, k.Last, "this request")
	}
	l := t.showsOf(c, 1-from, k)
	t.saidOf(i, &l, &c.Ends[1-from])
	t.peerLeftOff(i, c, from, k)
	if t.cutOff(i, k) {
		i.fact("but", fmt.Sprintf("of %v came only retransmissions in the end: nothing shows that packets still came to it", i.Peer.Addr))
	}
	t.others(i, c, k)
	if !out.happened() {
		t.stoppedToo(i, k)
	}
	t.after(i, c, k)
	returned := false
	if out.happened() {
		t.cameBack(i, c, out, k, t.paths(c, from).all)
	} else {
		returned = t.whyUnanswered(i, c, from, k, &l)
	}
	t.lossFits(i)
	if s := t.partitions(c, from); s != "" {
		i.explain(s)
		t.tellAs(i, partition(i))
		return
	}
	if w, is := t.toOtherPort(c, from); is {
		i.tellOtherPort(&w)
		t.tell(i, "other port")
		return
	}
	t.tellKeys(i, c, from)
	if i.gone = t.gone(i, k); out.happened() {
		i.gone = goneQuiet
	}
	if i.sized || returned {
		i.gone = notGone
	}
	what := ""
	switch {
	case i.disconnected, closedAtOnce(c, from, k):
		what = "disconnected" // not what another connection lost for which nobody had asked to disconnect
	case i.sized && k.Request.Op == wqe.Read:
		what = "responses" // which vanish the other way than requests do
	case i.version == 1:
		what = i.version.String() // which others of the same hosts may not use
	}
	t.tell(i, what)
}

// tellKeys tells which P_Keys the requests and their answers carry.
func (t *teller) tellKeys(i *Incident, c *agent.Connection, from int) {
	s := t.otherKey(c, from)
	if s == "" {
		i.fact("P_Keys", t.pkeys(c, from))
		return
	}
	i.explain(s)
	i.FitsWith[0] = "a P_Key that the port or queue pair of " + i.Peer.Addr.String() + " does not have: what carries it is dropped, and not answered"
}

// whyUnanswered adds when that began and what fits it. It reports whether an ICMP message says it.
func (t *teller) whyUnanswered(i *Incident, c *agent.Connection, from int, k *qp.Stall, l *life) (returned bool) {
	t.beganIn(i, c, k)
	sent := uint8(0)
	if c.Ends[1-from].Packets == 0 { // else the first packet may be of that end
		sent = c.FirstHops
	}
	if t.discardReasons(i, k.Since, sent) {
		return true
	}
	t.reasons(i, c, from, k, l)
	t.perhapsBySize(i, c, from, k)
	return false
}

// closedBefore reports whether the peer of end from of c had asked to disconnect before the request of stall k was sent.
func closedBefore(c *agent.Connection, from int, k *qp.Stall) bool {
	return c.Closed.At != 0 && c.Closed.At <= k.Since && closedByPeer(c, from)
}

// closedAtOnce reports whether it asked soon after that, as against when the requester began to retransmit: it is why nothing answered.
func closedAtOnce(c *agent.Connection, from int, k *qp.Stall) bool {
	return c.Closed.At > k.Since && tenth*(c.Closed.At-k.Since) <= k.Begun-k.Since && closedByPeer(c, from)
}

// closedByPeer reports whether the peer of end from of c, on another host, had CM disconnect.
func closedByPeer(c *agent.Connection, from int) bool {
	return c.Closed.By == c.Ends[1-from].Addr && c.Closed.By != c.Ends[from].Addr
}

// hasNotAnswered says of a peer that it has not answered the request of a stall.
func hasNotAnswered(kind Kind, k *qp.Stall) string {
	switch {
	case kind == NeverAnswered:
		return "has never sent anything on this connection"
	case k.Unshown:
		return "asked with a PSN sequence NAK for what comes before it, which the capture does not hold, and never acknowledged it"
	case k.OnlyNAKed:
		return "asked with a PSN sequence NAK for what comes after it, and the capture holds no response to it"
	case k.Rounds[qp.SequenceAsked] > 0 || k.Asked:
		return "asked for it with a PSN sequence NAK, and never acknowledged it"
	case k.Part > 0:
		return fmt.Sprintf("answered, and the capture holds only a part of that: no packet of it has more than %s", count(uint64(k.Part), "byte"))
	case k.Partly:
		return "answered it once, and the capture holds only a part of that"
	case k.Acked:
		return "had answered it before, and did not any more"
	case rest(&k.Request):
		return "never answered that"
	}
	return "never answered it"
}

// gone says what of the peer a requester has lost, whose request is not answered.
func (t *teller) gone(i *Incident, k *qp.Stall) gone {
	switch {
	case k.Rounds[qp.SequenceAsked] > 0 || !t.timed():
		return notGone
	case t.alive(i, k):
		return goneHere
	}
	return goneQuiet
}

// waits reports whether a request of an end has waited for long, at a time.
func waits(e *agent.End, now int64) bool {
	return e.Open > 0 && e.OpenSince != 0 && now-e.OpenSince >= silence
}

// silent tells of a request of end from that waits without having been retransmitted.
func (t *teller) silent(c *agent.Connection, from int) {
	e := &c.Ends[from]
	if c.Closed.At != 0 {
		t.desertion(c, from)
		return
	}
	if !t.timed() || !waits(e, t.run.Last) || onlyMidway(c, from) || t.flushedOver(e.OpenSince, t.run.Last) || t.neverCaptured(c, from) {
		return // of a message that has not ended, its peer need not answer any packet
	}
	open, lossy := e.Open, t.lossy()
	if lossy {
		open -= min(open, uint32(e.OpenEnded))
	}
	if open == 0 {
		return // what is missing of the answers the capture may have lost
	}
	i := t.between(Unanswered, c, from)
	i.Certainty = Likely // nothing shows that the requester lacks the answer
	i.Begin, i.End, i.Ongoing, i.Lost = e.OpenSince, t.run.Last, true, time.Duration(t.run.Last-e.OpenSince)
	i.show(e.OpenFrame)
	i.What = fmt.Sprintf("%v waits for %v to answer %s, and has retransmitted nothing%s.", &i.Local, &i.Peer, count(uint64(open), "request"), t.within(" for %s", t.run.Last-e.OpenSince))
	i.fact("request", fmt.Sprintf("the oldest begins in frame %d", e.OpenFrame))
	t.command(i, c)
	t.peer(i, c, 1-from, e.OpenSince, t.run.Last, i.Local.Addr.String()+" last asked, or was answered")
	i.FitsWith = []string{"a retransmission timer that is long or off (timeout 0)", "a requester that has stopped: its process, its host, or its queue pair in the error state"}
	i.Next = []string{"the queue pair's timeout and state on " + i.Local.Addr.String() + " (rdma resource show qp)", "what " + i.Peer.Addr.String() + " did since: it owes the answer"}
	if lossy {
		i.doubt(fmt.Sprintf("The capture, which lost packets, holds no answer of %v to %s of %v%s, nor a retransmission.", &i.Peer, count(uint64(open), "request"), &i.Local, t.within(" for %s", t.run.Last-e.OpenSince)))
	}
	t.tell(i, "silent")
}

// cause names the command of the protocol above that the READ or WRITE of a stall belongs to.
func (t *teller) cause(i *Incident, c *agent.Connection, from int, k *qp.Stall) {
	if o := c.Cause(from, k); o != nil {
		i.fact("for", fmt.Sprintf("%s, which began in frame %d", o.Name, o.Frame))
	}
}

// command names the command of the protocol above that waits.
func (t *teller) command(i *Incident, c *agent.Connection) {
	if c.Upper == nil || c.Upper.Oldest == nil {
		return
	}
	o := c.Upper.Oldest
	s := fmt.Sprintf("%s waits since frame %d%s", o.Name, o.Frame, t.within(", for %s", t.run.Last-o.Since))
	if c.Closed.At > o.Since {
		s = fmt.Sprintf("%s, in frame %d, had waited%s when %v disconnected", o.Name, o.Frame, t.within(" for %s", c.Closed.At-o.Since), c.Closed.By)
	}
	if o.Unsure {
		s += ", unless it ended where the capture has lost packets"
	}
	i.fact("command", s)
}

// when says when a request was retransmitted, and how regularly. midway says that it may have been before, once that it was sent in one attempt.
func (t *teller) when(k *qp.Stall, midway, once bool) string {
	n := k.Total()
	s := fmt.Sprintf("first retransmitted%s in frame %d", t.within(" %s after it was sent,", k.Begun-k.Since), k.Frames.Begun[0])
	if midway {
		s = fmt.Sprintf("retransmitted%s in frame %d", t.within(" %s after its first packet in the capture,", k.Begun-k.Since), k.Frames.Begun[0])
	}
	if n > 1 {
		s += fmt.Sprintf(", last in frame %d", k.Frames.Last)
	}
	if n > 1 && once {
		s += t.within("; on average every %s", (k.Last-k.Begun)/int64(n-1))
	}
	return s
}

// waiting says what else waits, or had no answer when the connection was over. least says that there may have been more before.
func waiting(e *agent.End, k *qp.Stall, least string, still bool) string {
	s := ""
	if e.Open > 1 {
		if s = " in all had no answer; "; still {
			s = " in all wait for an answer; "
		}
		s = least + count(uint64(e.Open), "request") + s
	}
	return s + least + count(uint64(k.Packets), "packet") + " retransmitted in vain, " + count(k.Bytes, "byte") + " of payload"
}

// after says what came of it.
func (t *teller) after(i *Incident, c *agent.Connection, k *qp.Stall) {
	if c.Closed.At > k.Since {
		after, went := t.within(" %s after the last of them", c.Closed.At-k.Last), ""
		if c.Closed.At < k.Last {
			after = t.within(" %s after this request was sent", c.Closed.At-k.Since)
			went = t.within("; it was retransmitted for %s after that", k.Last-c.Closed.At)
		}
		i.fact("then", fmt.Sprintf("%v disconnected%s, in frame %d%s", c.Closed.By, after, c.Closed.Frame, went))
	}
	next := t.nextOf(c, k.Begun)
	for next != nil && (next.First < k.Last && next.PairedBy != agent.ByCM || next.Lone != nil) {
		next = t.nextOf(c, next.First) // it may just have begun then, or be of answers only
	}
	t.askedAgain(i, k, next)
	if next == nil {
		return
	}
	since := k.Last
	if c.Closed.At > k.Last && c.Closed.At < next.First {
		since = c.Closed.At
	}
	asked, later := "", t.within(" %s later", next.First-since)
	if next.First < k.Last {
		later = t.within(" %s after this request was sent first", next.First-k.Since)
	}
	if q, said := t.notUp(i, next, later); said {
		i.sameWay(q, k)
		return
	}
	if next.PairedBy == agent.ByCM {
		asked = fmt.Sprintf(", for which %v asked (REQ)", next.Ends[0].Addr)
		if q := t.askedSince(next); q != nil {
			asked += fmt.Sprintf(" %s, first at %s", times(uint64(q.Times)), t.offset(q.First))
		}
	}
	failed, worked := "", false
	if n := answersBeside(t.siblings(next), next); n != nil {
		failed = fmt.Sprintf(", which was answered with PSNs that fit no request, from frame %d on: see there", n.FirstFrame)
	} else if i.Kind == NeverAnswered && neverAnswered(next) {
		failed = ", which was never answered either"
	} else if e := endOf(next, i.Local.Addr); e != nil && e.Stalled {
		failed, worked = failedToo(e)
	}
	e := endOf(next, i.Peer.Addr)
	if (failed == "" || worked) && next.First > k.Last && next.Ends[0].Packets > 0 && next.Ends[1].Packets > 0 { // it goes on there
		i.End, i.Ongoing, i.Lost = next.First, false, time.Duration(next.First-k.Since)
		i.otherQPN(e, next)
	}
	to := ""
	if failed != "" && e != nil && e.QPNKnown && i.Peer.QPNKnown && e.QPN == i.Peer.QPN {
		to = fmt.Sprintf(" to the same QPN (0x%x)", e.QPN)
		i.sameQPN()
	}
	if more := t.moreAttempts(i, next); to != "" && len(more) > 0 {
		i.fact("then", fmt.Sprintf("the same hosts began %s%s, none of which was ever answered: the first%s, in frame %d, and then in %s", count(uint64(1+len(more)), "more connection"), to, later, next.FirstFrame, inFrames(more)))
		return
	}
	i.fact("then", fmt.Sprintf("the same hosts began another connection%s%s, in frame %s%s%s", to, later, t.firstFrame(next), asked, failed))
}

// failedToo says what became of a requester on the next connection, on which a request waits too, and whether others were answered there before.
func failedToo(e *agent.End) (failed string, worked bool) {
	what, n := "a request was never answered either", e.Messages-min(e.Messages, uint64(e.Open))
	if e.Trouble != nil && e.Trouble.Now.NAKs > 0 {
		what = "a request was refused until it gave up, too (RNR NAK)"
	}
	if n < usualSent {
		return ", on which " + what, false
	}
	return fmt.Sprintf(", on which %s were answered, and then %s", count(n, "message"), what), true
}

// endOf is the end of a connection that a host has; nil: none, or both.
func endOf(c *agent.Connection, a packet.Addr) *agent.End {
	for e := range c.Ends {
		if c.Ends[e].Addr == a && c.Ends[1-e].Addr != a {
			return &c.Ends[e]
		}
	}
	return nil
}

// neverAnswered reports whether an end of a connection sent requests, and retransmitted some, and the other never sent anything.
func neverAnswered(c *agent.Connection) bool {
	return c.Ends[0].Packets == 0 && c.Ends[1].Stalled || c.Ends[1].Packets == 0 && c.Ends[0].Stalled
}
