package incident

import (
	"fmt"

	"ibwitness/rule"
)

// uncompleted tells of requests that were over on the wire, and of which the adapter never told its consumer.
func (t *teller) uncompleted() {
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; completionMissing(f) {
			t.tell(missed(f), "")
		}
	}
}

func completionMissing(f *rule.Finding) bool {
	return f.Rule == rule.CPLSTS016 && f.Class == rule.Violation
}

// missed is what the finding of a missing completion tells.
func missed(f *rule.Finding) *Incident {
	i := &Incident{
		Kind: Uncompleted, Certainty: Proven, Local: Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}, Peer: Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown}, Connections: 1,
		Begin: f.Time, End: f.Time, Tap: f.Tap,
	}
	i.show(f.Frame)
	who := "a request was answered"
	if f.Accused.Role == rule.Responder {
		who = "a message was received and acknowledged"
	}
	i.What = fmt.Sprintf("On %v %s, and its consumer, which polls on, finds no completion: a program that waits for it hangs.", &i.Local, who)
	i.fact("missing", f.Expected)
	if f.Line > 0 {
		i.fact("posted", fmt.Sprintf("line %d of %s", f.Line, f.Log))
	}
	i.FitsWith = []string{"an adapter or driver that lost the completion, or wrote it into another completion queue", "a completion queue that overran without telling of it", "a thread whose polls the log does not tell"}
	i.Next = []string{"the completion queue on " + i.Local.Addr.String() + ": its depth, and asynchronous events of the device (rdma resource show cq)", "the versions of driver and firmware: it is a defect of theirs if the log tells all"}
	return i
}
