package cq

import (
	"ibwitness/qp"
	"ibwitness/rule"
)

const eventsLost = "events of the device are missing before that"

// lostEvents takes over that events of a device are missing: what its queue pairs owe, and what they were given, is not certain any more. A queue pair that is made later
// is judged as any other, but for what was there before.
func (a *Agent) lostEvents(s *Source) {
	a.timeOver(s)
	s.lost = true
	for _, q := range a.lives {
		if q.src != s {
			continue
		}
		if q.doubt = true; q.unmatched == nil {
			q.unmatched = &sendRequest{n: s.n}
		}
		if q.doubledFrom == 0 {
			q.doubledFrom = s.n
		}
		q.drain = drainEvent{}
	}
	for _, r := range s.regions {
		r.uncertain, r.closed = true, nil
	}
	clear(s.lkeys)
	clear(s.mrs)
	clear(s.mws)
	clear(s.ahs)
	clear(s.handles)
	clear(s.cqs)
	clear(s.recentCQs[:])
	s.notices, s.rebinds, s.received, s.uncertain = nil, nil, true, true
	if s.content != nil {
		s.content.lost = true
	}
	a.changes++
}

// doubtful reports whether events are missing that a finding against a queue pair may rest on.
func (q *queuePair) doubtful() bool { return q.doubt || q.src.lost && q.recvs.shared }

// doubts makes a finding one that is not proven.
func doubts(f *rule.Finding, why string) {
	if f.Class != rule.Violation {
		return
	}
	if f.Class = rule.Unproven; f.Detail != "" {
		f.Detail += "; "
	}
	f.Detail += why
}

// lost takes over that events of the device are missing: what queue pairs there are, and in which state, is not known.
func (d *device) lost() {
	for _, q := range d.qps {
		q.known, q.failed, q.gone, q.sends = false, false, false, outstanding{}
		if q.state < qp.RTR {
			q.state = qp.RTR // it may be
		}
	}
	clear(d.created)
}
