package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// reconnectedAfter tells when the hosts of c, which refusal k has ended, began the next connection, and for how long they had none where all others between them were disconnected, too.
func (t *teller) reconnectedAfter(i *Incident, c *agent.Connection, k *qp.Refusal) {
	next, list := t.nextOf(c, k.Time), t.siblings(c)
	if next == nil || next.PairedBy != agent.ByCM || !t.timed() || len(list) > mostOthers {
		return
	}
	s := fmt.Sprintf("reconnected by %v (REQ) %s after the NAK", next.Ends[0].Addr, span(next.First-k.Time))
	if next.FirstTap == i.Tap {
		s += fmt.Sprintf(", in frame %s", t.firstFrame(next))
		i.show(next.FirstFrame)
	}
	closed := uint64(0)
	for _, d := range list {
		switch {
		case d == c || d.First > k.Time || d.Closed.At != 0 && d.Closed.At < k.Time:
		case d.Closed.At == 0 || d.Closed.At > next.First:
			i.fact("then", s)
			return // it goes on there
		default:
			closed++
		}
	}
	if closed > 0 {
		s += fmt.Sprintf("; %s between the hosts had been disconnected, too", count(closed, "other connection"))
	}
	i.fact("then", s+": they had none until then")
}
