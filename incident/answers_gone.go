package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// answersGone is how many of the rounds of retransmission that its timer began at end from of a connection were likely for an answer that was lost
// before the tap: by the IPv4 identifications of its peer, the first packet that the peer sent after the request was one which the capture does not
// hold, and no stream lacks a PSN there.
func (t *teller) answersGone(c *agent.Connection, from int, k *qp.Trouble) (n uint32) {
	h := agent.NumberingOf(t.run.Numbered, c.Ends[1-from].Addr, k.Sum.Tap)
	if h == nil || h.Late > 0 || len(t.run.Taps) > 1 || t.lossy() {
		return 0
	}
	for j := range k.Longest {
		s := &k.Longest[j]
		if s.Total() != 1 || s.Rounds[qp.TimerExpired] != 1 || s.Unseen > 0 || s.AnswerLost || s.Late || s.PassedOver != 0 {
			continue
		}
		if slices.ContainsFunc(h.Holes, func(o agent.Hole) bool { return !o.Lacks && o.From <= s.Since && o.To > s.Since && o.To < s.Last }) {
			n++
		}
	}
	return n
}
