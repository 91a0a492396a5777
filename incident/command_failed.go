package incident

import (
	"fmt"

	"ibwitness/agent"
)

// lostStates says, beside times without an answer, that the peer did not know the session or state of its client after that: a host that only stopped or was cut off keeps those.
func (t *teller) lostStates(list []Incident) {
	for n := range list {
		i := &list[n]
		switch i.Kind {
		case Unanswered, NeverAnswered, Waiting, Interrupted, Rejected:
		default:
			continue
		}
		if c, f := t.lostAfter(i); f != nil {
			i.fact("state", fmt.Sprintf("%v answered %s of %v, in frame %d%s, with %s: it has no such session or state of %v any more, as after a restart of its service, or once a lease has run out",
				i.Peer.Addr, f.Name, i.Local.Addr, f.Answer, t.within(", %s after the beginning of this", f.Ended-i.Begin), f.Status, c.Ends[f.From].Addr))
			if f.Tap == i.Tap {
				i.show(f.Answer)
			}
		}
	}
}

// lostAfter returns the first answer of the peer of an incident to its host, after it began, that says so; nil: there is none.
func (t *teller) lostAfter(i *Incident) (at *agent.Connection, first *agent.Failed) {
	if !t.timed() {
		return nil, nil
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.Upper == nil {
			continue
		}
		for k := range c.Upper.Failures {
			f := &c.Upper.Failures[k]
			if f.Lost && f.Ended > i.Begin && c.Ends[f.From].Addr == i.Local.Addr && c.Ends[1-f.From].Addr == i.Peer.Addr && (first == nil || f.Ended < first.Ended) {
				at, first = c, f
			}
		}
	}
	return at, first
}
