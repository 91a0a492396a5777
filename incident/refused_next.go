package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// refusedNext tells which requests had been sent after a refused one: the responder took none of them. answer is the frame in which the command
// was answered that had named the memory, where that is known: the answer may be among them.
func (t *teller) refusedNext(i *Incident, c *agent.Connection, k *qp.Refusal, n *agent.Named) {
	b := k.SentAfter
	if b == nil {
		return
	}
	op := b.Op.String()
	if b.Invalidates {
		op += " with Invalidate"
	}
	s := fmt.Sprintf("%s, PSN %v, in frame %d, had been sent after it: it was not delivered, and is flushed (WR_FLUSH_ERR)", article(op), b.PSN, b.Frame)
	if b.Count > 1 {
		s = fmt.Sprintf("%s had been sent after it, the first %s, PSN %v, in frame %d: none was delivered, and all are flushed (WR_FLUSH_ERR)",
			count(uint64(b.Count), "request"), article(op), b.PSN, b.Frame)
	}
	i.show(b.Frame)
	if n != nil && n.Answer == b.Frame {
		s += fmt.Sprintf("; it is the answer to %s, which did not complete at %v", n.Of.Name, i.Peer.Addr)
		if open := c.Upper.Open; (open == 0 || open == 1 && !n.Done) && !t.lossy() {
			s += "; no other was open on the connection"
		}
	}
	i.fact("after", s)
}
