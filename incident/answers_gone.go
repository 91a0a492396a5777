package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// answersGone is how many of the rounds of retransmission that its timer began at end from of a connection were likely for an answer that was lost
// before the tap: by the IPv4 identifications of its peer, the first packet that the peer sent after the request was one which the capture does not
// hold, and no stream lacks a PSN there. Where that makes up all that the peer sent and the capture does not hold, so it is for all of them.
func (t *teller) answersGone(c *agent.Connection, from int, k *qp.Trouble) (n uint32) {
	h := agent.NumberingOf(t.run.Numbered, c.Ends[1-from].Addr, k.Sum.Tap)
	if h == nil || h.Late > 0 || len(t.run.Taps) > 1 || t.lossy() {
		return 0
	}
	if t.onlyAnswersGone(h) {
		return placesOf(k).rest
	}
	for j := range k.Longest {
		s := &k.Longest[j]
		if !answerUnknown(s) || s.Total() != 1 {
			continue
		}
		first := func(o agent.Hole) bool { return !o.Lacks && o.From <= s.Since && o.To > s.Since && o.To < s.Last }
		if slices.ContainsFunc(h.Holes, first) {
			n++
		}
	}
	return n
}

// answerUnknown reports whether only a timer had the request of a stall retransmitted, and nothing in the stream shows what was lost, if
// anything was.
func answerUnknown(s *qp.Stall) bool {
	return s.Total() > 0 && uint64(s.Rounds[qp.TimerExpired]) == s.Total() && s.Unseen == 0 && !s.AnswerLost && !s.Late && s.PassedOver == 0 && !s.LackedEnd()
}

// onlyAnswersGone reports whether a host sent as many packets that the capture does not hold, each by itself, as timers ran out for answers of it,
// fewestAnswersGone or more, and as many of them within each of these stalls that is kept as it has rounds.
func (t *teller) onlyAnswersGone(h *agent.Numbering) bool {
	all, known := t.onlyGone[h]
	if known {
		return all
	}
	if t.onlyGone == nil {
		t.onlyGone = map[*agent.Numbering]bool{}
	}
	all = t.timersMatch(h)
	t.onlyGone[h] = all
	return all
}

// fewestAnswersGone is from how many on it is no chance that packets are missing where timers ran out, and nowhere else.
const fewestAnswersGone = 4

func (t *teller) timersMatch(h *agent.Numbering) bool {
	single := func(o agent.Hole) bool { return o.Packets == 1 && !o.Lacks }
	if len(h.Holes) < fewestAnswersGone || slices.ContainsFunc(h.Holes, func(o agent.Hole) bool { return !single(o) }) {
		return false
	}
	rounds := 0
	for _, c := range t.serves(h.Host) {
		for from := range c.Ends {
			e := &c.Ends[from]
			if e.Trouble == nil || c.Ends[1-from].Addr != h.Host {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			if rest := placesOf(&k).rest; rest == 0 {
				continue
			} else if rounds += int(rest); e.Stalled || k.Sum.Tap != h.Tap || !eachGone(h, &k) {
				return false
			}
		}
	}
	return rounds == len(h.Holes)
}

// eachGone reports whether a host sent as many packets within each stall that is kept, and of which only timers tell, as these ran out in it.
func eachGone(h *agent.Numbering, k *qp.Trouble) bool {
	for j := range k.Longest {
		s := &k.Longest[j]
		if !answerUnknown(s) {
			continue
		}
		n := uint64(0)
		for _, o := range h.Holes {
			if o.From < s.Last && o.To > s.Since {
				n++
			}
		}
		if n < s.Total() {
			return false
		}
	}
	return true
}

// answersNumbered reports whether what end from of a connection sends is answers of a host of which onlyAnswersGone is true: none of them was lost
// but those that had timers run out.
func (t *teller) answersNumbered(c *agent.Connection, from int) bool {
	e := &c.Ends[from]
	if e.Messages > 0 || len(t.run.Taps) > 1 || t.lossy() {
		return false
	}
	h := agent.NumberingOf(t.run.Numbered, e.Addr, c.FirstTap)
	return h != nil && h.Late == 0 && t.onlyAnswersGone(h)
}
