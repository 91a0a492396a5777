package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// retryLimit is how often end from of c may retransmit, where that is known.
func retryLimit(c *agent.Connection, from int) (n uint8, known bool) {
	for _, e := range []*agent.End{&c.Ends[from], &c.Ends[1-from]} {
		if e.Knows(qp.KnowsRetryCnt) {
			return e.RetryCnt, true
		}
	}
	return 0, false
}

// passedOver says that a request after the READ or atomic of a stall was acknowledged, which has no response of its own in the capture; "": none was.
func passedOver(i *Incident, k *qp.Stall) string {
	if k.PassedOver == 0 {
		return ""
	}
	frame := packet.FrameNear(k.Frames.Last, k.PassedOver)
	i.show(frame)
	if k.OnlyNAKed {
		return fmt.Sprintf("frame %d is a PSN sequence NAK for a request after it: %v had taken this one, and its own response, which that does not replace, was not sent or was lost before the tap", frame, &i.Peer)
	}
	return fmt.Sprintf("frame %d acknowledges a request after it: %v had taken this one too, and its own response, which that does not replace, was not sent or was lost before the tap", frame, &i.Peer)
}

// takesNone returns the stall of a request whose answer passed the tap each time, and that its requester retransmitted until it gave up: it has taken none of them. It returns whether it is so,
// as it seems: the newest answer may have been taken, and nothing more was to be sent.
func (t *teller) takesNone(c *agent.Connection, from int, k *qp.Trouble) (s qp.Stall, ok bool) {
	e, sum := &c.Ends[from], &k.Sum
	if !t.timed() || e.Stalled || sum.Count < 3 || sum.Rounds[qp.TimerExpired]+sum.Rounds[qp.ResponseLost] != sum.Count || !lacksAnswer(k) {
		return s, false
	}
	period := (sum.Last - sum.Begun) / int64(sum.Count-1)
	s = k.Longest[0]
	s.Since, s.Begun, s.Last, s.Rounds = sum.Begun-period, sum.Begun, sum.Last, sum.Rounds
	s.Part, s.Partly, s.Request.Copied = 0, false, false // all came, and all rounds are counted
	if e.Last-sum.Last >= period {
		return s, false // it went on
	}
	limit, known := retryLimit(c, from)
	if next := t.nextOf(c, s.Last); next != nil && next.First-s.Last < together {
		return s, true // it was replaced
	}
	return s, known && s.Total() == uint64(limit) && !t.lossy() || s.Total() >= qp.MostRetries || c.Closed.At > sum.Last+period/2 && c.Closed.At < sum.Last+4*period
}

// answersLost tells of such a request. It returns whether there is one.
func (t *teller) answersLost(c *agent.Connection, from int, k *qp.Trouble) bool {
	s, lost := t.takesNone(c, from, k)
	if !lost {
		return false
	}
	if t.neverTaken(c, 1-from) {
		return true // the requests of its peer, which it does not take either, tell of it
	}
	sum := &k.Sum
	i := t.between(Unanswered, c, from)
	i.Certainty, i.follows = Likely, c.Ends[1-from].Stalled // which tells of the same path
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
		&i.Local, sent(&s), t.within(" in %s", sum.Last-s.Since), &i.Peer)
	i.fact("request", retransmitted(&s.Request))
	i.fact("sent", fmt.Sprintf("first retransmitted in frame %d, last in frame %d; on average every %s", sum.Frames.Begun[0], sum.Frames.Last, span((sum.Last-sum.Begun)/int64(sum.Count-1))))
	i.fact("gave up", t.gaveUp(c, from, &s))
	t.command(i, c)
	t.after(i, c, &s)
	local := i.Local.Addr.String()
	fails := "a path that fails on the way from the tap to " + local
	i.FitsWith = []string{fails, "answers that " + local + " drops: by a filter, by their size, or since they are damaged there"}
	i.Next = []string{captureAt(local) + "whether the answers arrived there", "discards and errors of the switch ports on the way to it, and of its adapter (ethtool -S)"}
	if s.Request.Op == wqe.Read && !t.bySize(i, c, from, &s) {
		t.untakenSizes(i, c, from, &s)
		t.perhapsBySize(i, c, from, &s)
	}
	if i.sized { // smaller ones pass it
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == fails })
	}
	t.lossFits(i)
	t.tell(i, "answered")
	return true
}
