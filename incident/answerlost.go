package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
)

// mostRetries is the most retries that an InfiniBand queue pair can be set to, and what most programs set (retry_cnt, 3 bits).
const mostRetries = 7

// retryLimit is how often end from of c may retransmit, where that is known.
func retryLimit(c *agent.Connection, from int) (n uint8, known bool) {
	for _, e := range []*agent.End{&c.Ends[from], &c.Ends[1-from]} {
		if e.Knows(qp.KnowsRetryCnt) {
			return e.RetryCnt, true
		}
	}
	return 0, false
}

// answersLost tells of a request whose answer passed the tap each time, and that its requester retransmitted until it gave up: it has taken none of them. It returns whether it is so.
func (t *teller) answersLost(c *agent.Connection, from int, k *qp.Trouble) bool {
	e, sum := &c.Ends[from], &k.Sum
	if !t.timed() || e.Stalled || sum.Count < 3 || sum.Rounds[qp.TimerExpired] != sum.Count || !lacksAnswer(k) {
		return false
	}
	period := (sum.Last - sum.Begun) / int64(sum.Count-1)
	s := k.Longest[0]
	s.Since, s.Begun, s.Last, s.Rounds = sum.Begun-period, sum.Begun, sum.Last, sum.Rounds
	if e.Last-sum.Last >= period {
		return false // it went on
	}
	i := t.between(Unanswered, c, from)
	switch limit, known := retryLimit(c, from); {
	case known && s.Total() == uint64(limit) && !t.lossy():
	case s.Total() >= mostRetries, c.Closed.At > sum.Last+period/2 && c.Closed.At < sum.Last+4*period:
		i.Certainty = Likely // its retries seem to be used up
	default:
		return false // the newest answer may have been taken, and nothing more was to be sent
	}
	end := t.run.Last
	if c.Closed.At > sum.Last {
		end = c.Closed.At
	}
	i.Begin, i.End, i.Ongoing, i.Lost, i.Tap = sum.Begun, end, c.Closed.At == 0, time.Duration(end-sum.Begun), sum.Tap
	i.show(sum.Frames.Begun[0], sum.Frames.Last)
	if c.Closed.At > sum.Last {
		i.show(c.Closed.Frame)
	}
	i.What = fmt.Sprintf("%v %s%s; %v answered each time, and the answers passed the tap, but were lost after it or not taken.",
		&i.Local, sent(&s.Request, s.Total()), t.within(" in %s", sum.Last-s.Since), &i.Peer)
	i.fact("request", retransmitted(&s.Request))
	i.fact("sent", fmt.Sprintf("first retransmitted in frame %d, last in frame %d; on average every %s", sum.Frames.Begun[0], sum.Frames.Last, span(period)))
	i.fact("gave up", t.gaveUp(c, from, &s))
	t.command(i, c)
	t.after(i, c, &s)
	local := i.Local.Addr.String()
	i.FitsWith = []string{"a path that fails on the way from the tap to " + local, "answers that " + local + " drops: by a filter, by their size, or since they are damaged there"}
	i.Next = []string{"a capture at " + local + ": whether the answers arrived there", "discards and errors of the switch ports on the way to it, and of its adapter (ethtool -S)"}
	t.lossFits(i)
	t.tell(i, "answered")
	return true
}
