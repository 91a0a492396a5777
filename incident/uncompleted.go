package incident

import (
	"fmt"
	"strings"

	"ibwitness/cq"
	"ibwitness/rule"
)

// uncompleted tells of requests that were over on the wire, and of which the adapter never told its consumer.
func (t *teller) uncompleted() {
	type queue struct {
		of   Party
		role rule.Role
	}
	told := map[queue]*Incident{}
	more := map[*Incident]uint64{}
	var order []*Incident
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if !completionMissing(f) && !completionDoubted(f) {
			continue
		}
		i := missed(f)
		if first := told[queue{i.Local, f.Accused.Role}]; first != nil {
			more[first]++
			continue
		}
		told[queue{i.Local, f.Accused.Role}] = i
		order = append(order, i)
	}
	for _, i := range order {
		if n := more[i]; n > 0 {
			i.fact("others", count(n, "more request")+" of the queue pair likewise")
		}
		t.tell(i, i.Certainty.String())
	}
}

// completionMissing reports whether a finding proves that a completion is missing.
func completionMissing(f *rule.Finding) bool {
	return (f.Rule == rule.CPLSTS016 || f.Rule == rule.CPLSIG003) && f.Class == rule.Violation
}

// completionDoubted reports whether a completion is missing that the consumer may not have polled for, or that may not be due.
func completionDoubted(f *rule.Finding) bool {
	return f.Rule == rule.CPLSTS016 && f.Class == rule.Unproven
}

// requestOf returns what the finding of a missing completion calls its request, and why that is over.
func requestOf(f *rule.Finding) (name, why string) {
	name, why, _ = strings.Cut(strings.TrimPrefix(f.Expected, "a completion of "), ": ")
	return name, why
}

// missed is what the finding of a missing completion tells.
func missed(f *rule.Finding) *Incident {
	i := &Incident{
		Kind: Uncompleted, Certainty: Proven, Local: Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}, Peer: Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown}, Connections: 1,
		Begin: f.Time, End: f.Time, Tap: f.Tap,
	}
	i.show(f.Frame)
	name, why := requestOf(f)
	who := name + " was answered"
	switch {
	case f.Accused.Role == rule.Responder:
		who = "the message of " + name + " was acknowledged"
	case why != "" && why != "it has a response":
		who = name + " is over"
	}
	polls := true
	switch {
	case f.Rule == rule.CPLSIG003:
		i.What = fmt.Sprintf("On %v %s never completed, though later ones of its queue pair did: a program that waits for it hangs.", &i.Local, name)
	case f.Class == rule.Violation:
		i.What = fmt.Sprintf("On %v %s, and its consumer, which polls on, finds no completion: a program that waits for it hangs.", &i.Local, who)
	case strings.HasPrefix(f.Detail, cq.NotPolled):
		i.Certainty, polls = Possible, false
		i.What = fmt.Sprintf("On %v %s, and its completion is not in the log, which shows no poll of its completion queue since: a program that waits for it hangs.", &i.Local, who)
	default:
		i.Certainty = Likely
		i.What = fmt.Sprintf("On %v %s, as far as the tap shows, and its consumer, which polls on, finds no completion: a program that waits for it hangs.", &i.Local, who)
	}
	i.fact("missing", f.Expected)
	if f.Line > 0 {
		i.fact("posted", fmt.Sprintf("line %d of %s", f.Line, f.Log))
	}
	i.FitsWith = []string{"an adapter or driver that lost the completion, or wrote it into another completion queue", "a completion queue that overran without telling of it", "a thread whose polls the log does not tell"}
	i.Next = []string{"the completion queue on " + i.Local.Addr.String() + ": its depth, and asynchronous events of the device (rdma resource show cq)", "the versions of driver and firmware: it is a defect of theirs if the log tells all"}
	if !polls {
		i.FitsWith = append([]string{"a program that has stopped polling, or has ended"}, i.FitsWith[:2]...)
		i.Next = []string{"whether the program on " + i.Local.Addr.String() + " polls its completion queue, and where it waits (a stack of its threads)", "asynchronous events of the device, and the depth of the completion queue (rdma resource show cq)"}
	}
	return i
}
