package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
)

// halfOf returns the REPs of a connection that had no effect, on which no packets are in the capture: it did not come up; nil: it may have.
func (t *teller) halfOf(next *agent.Connection) *cm.Unanswered {
	passive, asker := &next.Ends[1], &next.Ends[0]
	if next.PairedBy != agent.ByCM || passive.Packets+asker.Packets > 0 {
		return nil
	}
	for k := range t.run.REQs {
		if q := &t.run.REQs[k]; q.Waits == cm.ForRTU && q.From == passive.Addr && q.To == asker.Addr &&
			passive.QPNKnown && q.QPN == passive.QPN {
			return q
		}
	}
	return nil
}

// notUp says of hosts that tried to connect again, from which time on is told, what became of it, where it did not come up; false: it may have.
func (t *teller) notUp(i *Incident, next *agent.Connection, later string) (*cm.Unanswered, bool) {
	q := t.halfOf(next)
	if q == nil {
		return nil, false
	}
	i.show(q.Frame)
	i.fact("then", fmt.Sprintf("%v asked %v for a connection again%s: it does not come up either: %v answered (REP) %s, first in frame %d, and %s",
		q.To, q.From, later, q.From, times(uint64(q.Times)), next.FirstFrame, effectOfRTU(q)))
	return q, true
}

// sameWay says, where REPs have no effect on the way on which a request or its answers had none, that it is not one queue pair.
func (i *Incident) sameWay(q *cm.Unanswered, k *qp.Stall) {
	requests, answers := q.From == i.Local.Addr && !k.AnswerLost, q.From == i.Peer.Addr && k.AnswerLost
	if q.RTU != 0 || !requests && !answers {
		return
	}
	i.fact("so", fmt.Sprintf("it seems to be the path from %v to %v, or %v itself, and not one queue pair: the REPs, which go to its queue pair 1, had no effect there either",
		q.From, q.To, q.To))
}
