package incident

import (
	"cmp"
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

// takesNone returns the stall of a request whose answer passed the tap each time, and that its requester retransmitted until it gave up, or until the capture ended where others between the same hosts gave up so: it has
// taken none of them. It returns whether it is so, as it seems: the newest answer may have been taken, and nothing more was to be sent.
func (t *teller) takesNone(c *agent.Connection, from int, k *qp.Trouble) (s qp.Stall, ok bool) {
	s, ok = t.retriedUntaken(c, from, k)
	if !ok || t.gaveUpUntaken(c, from, k, &s) {
		return s, ok
	}
	return s, c.Closed.At == 0 && t.run.Last-s.Last < s.Begun-s.Since && t.untakenBefore(c, from)
}

// retriedUntaken returns the stall of a request whose answer passed the tap each time, and that its requester retransmitted last of all.
func (t *teller) retriedUntaken(c *agent.Connection, from int, k *qp.Trouble) (s qp.Stall, ok bool) {
	e, sum := &c.Ends[from], &k.Sum
	if !t.timed() || e.Stalled || sum.Count < 2 || sum.Rounds[qp.TimerExpired]+sum.Rounds[qp.ResponseLost] != sum.Count || !lacksAnswer(k) {
		return s, false
	}
	period := (sum.Last - sum.Begun) / int64(sum.Count-1)
	s = k.Longest[0]
	s.Since, s.Begun, s.Last, s.Rounds = sum.Begun-period, sum.Begun, sum.Last, sum.Rounds
	s.Part, s.Partly, s.Request.Copied = 0, false, false // all came, and all rounds are counted
	return s, e.Last-sum.Last < period                   // else it went on
}

// gaveUpUntaken reports whether the requester of such a stall retransmitted no more after it, as it seems.
func (t *teller) gaveUpUntaken(c *agent.Connection, from int, k *qp.Trouble, s *qp.Stall) bool {
	if k.Sum.Count < 3 {
		return false
	}
	period := s.Begun - s.Since
	limit, known := retryLimit(c, from)
	if next := t.nextOf(c, s.Last); next != nil && next.First-s.Last < together {
		return true // it was replaced
	}
	return known && s.Total() == uint64(limit) && !t.lossy() || s.Total() >= qp.MostRetries || c.Closed.At > s.Last+period/2 && c.Closed.At < s.Last+4*period
}

// untakenBefore reports whether a connection between the hosts of c that began before it ended so that the host of end from of c took none of the answers to a READ.
func (t *teller) untakenBefore(c *agent.Connection, from int) bool {
	list := t.siblings(c)
	for _, d := range list[:min(len(list), mostOthers)] {
		e := 0
		if d.Ends[0].Addr != c.Ends[from].Addr {
			e = 1
		}
		x := d.Ends[e].Trouble
		if d.First >= c.First || x == nil || x.Refusal.Time != 0 {
			continue
		}
		k := x.Settled(d.Ends[e].Stalled)
		if s, untaken := t.retriedUntaken(d, e, &k); untaken && s.Request.Op == wqe.Read && t.gaveUpUntaken(d, e, &k, &s) {
			return true
		}
	}
	return false
}

// lacksOwnREAD reports whether a READ or atomic of end from of a connection was retransmitted last of all though its answer had passed the tap, and nothing shows that the newest answer arrived.
func (t *teller) lacksOwnREAD(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	if e.Trouble == nil || e.Stalled || !t.timed() {
		return false
	}
	k := e.Trouble.Settled(false)
	if _, none := t.takesNone(c, from, &k); none {
		return true
	}
	end := cmp.Or(c.Closed.At, t.run.Last)
	if s, again := t.retriedUntaken(c, from, &k); again {
		return s.Request.Op.Responded() && end-s.Last < 2*(s.Begun-s.Since)
	}
	n := slices.IndexFunc(k.Longest[:], func(s qp.Stall) bool { return s.Begun != 0 && s.Last == k.Sum.Last })
	if n < 0 {
		return false // it was one of the short ones
	}
	s := &k.Longest[n]
	period := s.Last - s.Since
	return s.AnswerLost && s.Request.Op.Responded() && e.Last-s.Last < period && end-s.Last < 2*period
}

// commandsLike counts the commands that have no answer on connections between the hosts of c whose server lacks the answers to READs of its own likewise.
func (t *teller) commandsLike(i *Incident, c *agent.Connection) {
	list := t.siblings(c)
	if c.Upper == nil || c.Upper.Oldest == nil || len(list) > mostOthers {
		return
	}
	n, on := 0, 0
	for _, d := range list {
		if u := d.Upper; u != nil && u.Oldest != nil && u.Protocol == c.Upper.Protocol && d.Ends[u.Oldest.From].Addr == c.Ends[c.Upper.Oldest.From].Addr && t.lacksOwnREAD(d, 1-u.Oldest.From) {
			n, on = n+u.Open, on+1
		}
	}
	if n > 1 {
		i.fact("waits", fmt.Sprintf("%d commands on %s between the hosts have no answer, and their server lacks those to its own READs there", n, count(uint64(on), "connection")))
	}
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
	i.Certainty, i.retried, i.follows = Likely, true, c.Ends[1-from].Stalled // which tells of the same path
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
	t.commandsLike(i, c)
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
	if m := t.movedHop(c, 1-from); m != nil {
		t.tellHop(i, m)
	}
	t.tell(i, "answered")
	return true
}
