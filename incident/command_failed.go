package incident

import (
	"fmt"

	"ibwitness/agent"
)

// lostStates says, beside times without an answer, that the peer did not know the session or state of its client after that: a host that only stopped or was cut off keeps those.
func (t *teller) lostStates(list []Incident) {
	told := map[*agent.Failed]bool{}
	for n := range list {
		i := &list[n]
		switch i.Kind {
		case Unanswered, NeverAnswered, Waiting, Interrupted, Rejected:
		default:
			continue
		}
		if f := t.lostAfter(i); f != nil && !told[f] {
			told[f] = true
			i.fact("state", fmt.Sprintf("%v answered a command with %s in frame %d%s: it had lost the state of %v, as after a restart of its service, or once a lease has run out",
				i.Peer.Addr, f.Status, f.Answer, t.within(", %s after this began", f.Ended-i.Begin), i.Local.Addr))
			if f.Tap == i.Tap {
				i.show(f.Answer)
			}
		}
	}
}

// lostAfter returns the first answer of the peer of an incident to its host, after it began, that says so; nil: there is none.
func (t *teller) lostAfter(i *Incident) (first *agent.Failed) {
	if !t.timed() {
		return nil
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Upper == nil {
			continue
		}
		for k := range c.Upper.Failures {
			f := &c.Upper.Failures[k]
			if f.Lost && f.Ended > i.Begin && c.Ends[f.From].Addr == i.Local.Addr && c.Ends[1-f.From].Addr == i.Peer.Addr && (first == nil || f.Ended < first.Ended) {
				first = f
			}
		}
	}
	return first
}
