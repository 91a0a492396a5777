package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// tooLate returns the stall with which the retries of end from of a connection were used up before its answer came, as it seems: it has sent nothing
// since it came, though the peer had requests of its own,
// which nothing answers either, or though it should have retransmitted more before the answer came; nil: there is none.
func (t *teller) tooLate(c *agent.Connection, from int) *qp.Stall {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if e.Trouble == nil || e.Stalled || e.Trouble.Refusal.Time != 0 || !t.timed() || t.lossy() {
		return nil
	}
	limit := uint64(qp.MostRetries)
	if n, known := retryLimit(c, from); known {
		limit = uint64(n)
	}
	k := e.Trouble.Settled(false)
	for n := range k.Longest {
		s := &k.Longest[n]
		if s.Begun != 0 && s.NAKs == 0 && s.Total() == uint64(s.Rounds[qp.TimerExpired]) && s.Total() >= max(limit, 1) && s.Ended > s.Last && e.Last < s.Ended && (answersNothing(peer, s) || triesNoMore(s, e.Last)) {
			return s
		}
	}
	return nil
}

// answersNothing reports whether requests of the peer, sent after the newest round of a stall, are not answered.
func answersNothing(peer *agent.End, s *qp.Stall) bool {
	return peer.Stalled && peer.Trouble != nil && peer.Trouble.Now.Since > s.Last && peer.Trouble.Now.Total() > 1
}

// triesNoMore reports whether a requester, whose newest packet was sent at a time, did not retransmit once more though the answer took twice as long
// as its timer, after all the retries that there are.
func triesNoMore(s *qp.Stall, newest int64) bool {
	n := int64(s.Total())
	if n < qp.MostRetries {
		return false
	}
	period := (s.Last - s.Begun) / (n - 1)
	return newest < s.Last+period && s.Ended-s.Last > 2*period
}

// answeredTooLate tells of such a stall.
func (t *teller) answeredTooLate(c *agent.Connection, from int) {
	s := t.tooLate(c, from)
	if s == nil {
		return
	}
	i := t.between(Unanswered, c, from)
	i.Certainty = Likely // it may have had nothing more to send, and its host another reason to answer nothing
	i.during(s)
	i.Ongoing = c.Closed.At == 0
	i.What = fmt.Sprintf("%v %s in %s, and nothing since: the answer came only %s after its last retransmission.", &i.Local, sent(s), span(s.Last-s.Since), span(s.Ended-s.Last))
	i.fact("request", retransmitted(&s.Request))
	i.fact("timer", fmt.Sprintf("it first retransmitted after %s, and the answer took %s", span(s.Begun-s.Since), span(s.Ended-s.Since)))
	i.fact("gave up", fmt.Sprintf("its %d retries were used up, as it seems, which completes in error as transport retry counter exceeded", s.Total()))
	if peer := &c.Ends[1-from]; answersNothing(peer, s) {
		first := peer.Trouble.Now.Request.Frame
		i.show(first)
		i.fact("then", fmt.Sprintf("it answers nothing on this connection any more: first the request in frame %d", first))
	} else if quiet := t.run.Last - c.Ends[from].Last; quiet > s.Ended-s.Last {
		i.fact("then", fmt.Sprintf("it has sent nothing more on this connection in the last %s of the capture", span(quiet)))
	}
	i.FitsWith = []string{tooShort, "a responder, its host or the path that was held up meanwhile"}
	i.Next = []string{timeoutOf(i), "what " + i.Peer.Addr.String() + " did at that time"}
	t.tell(i, "too late")
}
