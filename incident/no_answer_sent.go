package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// noAnswerSent says that no answer to the request of stall s was lost, where its peer gives its packets numbers and the capture holds all of them until the answer to the retransmission.
func (t *teller) noAnswerSent(i *Incident, s *qp.Stall) {
	if i.FitsWith[0] != oneLost {
		return // it was lost before the tap, or dropped as damaged
	}
	h := agent.NumberingOf(t.run.Numbered, i.Peer.Addr, i.Tap)
	if h == nil || !h.Holds(s.Request.Frame, s.Frames.Ended) {
		return
	}
	i.fact("lost", fmt.Sprintf("no answer: the IPv4 identifications of all that %v sent until frame %d follow one another, so that it had sent none", h.Host, s.Frames.Ended))
	i.FitsWith[0] = fmt.Sprintf("one packet that was lost after the tap, on the way to %v or there, and a retransmission timer as long as that; or a responder that left it without an answer", h.Host)
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("discards and errors of the switch ports on the way to %v, and of its adapter (ethtool -S)", h.Host))
}
