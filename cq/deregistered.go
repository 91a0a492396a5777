package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// mostUndecided is how many messages of a queue pair are kept until the clocks of packets and log are known best.
const mostUndecided = 64

// over reports whether what an event ends has ended for certain before a time of the packets. Where the clock is that of the packets, but its lines are stamped by a host, the verb may
// have taken some time after its line was stamped.
func (s *Source) over(e *Event, at int64) bool {
	if s.clock.exact && !s.pushed {
		at -= slackBase
	}
	return s.clock.before(e.Time, at)
}

// close takes over that a region is deregistered, or a window deallocated.
func (r *region) close(e *Event) {
	if r.uncertain = true; r.closed == nil {
		r.closed = e
	}
}

// noMore says why a message is to be refused whose R_Key was deregistered before it came, "" where that is not certain.
func (s *Source) noMore(m *Message) string {
	r := s.region(m.RKey)
	if r == nil || r.closed == nil || !s.over(r.closed, m.Begin.Time) {
		return ""
	}
	if r.window {
		return fmt.Sprintf("R_Key %#x was deallocated", m.RKey)
	}
	return fmt.Sprintf("R_Key %#x was deregistered", m.RKey)
}

// tellsClosed reports whether a region that was deregistered is used for the first time after that: what uses it later has the same cause.
func (s *Source) tellsClosed(rkey uint32) bool {
	if s.closing(rkey) == nil {
		return true
	}
	r := s.region(rkey)
	told := r.told
	r.told = true
	return !told
}

// undecided keeps an executed message whose key was deregistered, or whose operation is not permitted any more, until the clocks of packets and log are known best.
func (q *queuePair) undecided(x execution) {
	r := &q.receiving
	if q.src.exact || !x.done || x.refused != nil || !q.withdrawn(x) && !q.src.isClosed(x.RKey) {
		return
	}
	m := *x.Message
	if x.Message = &m; len(r.undecided) == mostUndecided {
		r.undecided[mostUndecided-1] = x // the newest is the likeliest to be proven
		return
	}
	r.undecided = append(r.undecided, x)
}

func (s *Source) isClosed(rkey uint32) bool { return s.closing(rkey) != nil && !s.region(rkey).told }

// closing is the event that deregistered the region of an R_Key; nil: none did.
func (s *Source) closing(rkey uint32) *Event {
	if r := s.region(rkey); r != nil {
		return r.closed
	}
	return nil
}

// decide judges the messages that were kept. Where the log ends early, it may have told of more.
func (a *Agent) decide(q *queuePair) {
	list := q.receiving.undecided
	if q.receiving.undecided = nil; !q.whole() {
		return
	}
	for _, x := range list {
		if q.withdrawn(x) {
			a.permitted(q, x)
		}
		if why := q.src.noMore(x.Message); why != "" && q.src.tellsClosed(x.RKey) {
			id := keyRule(x.Message)
			a.covered(id)
			a.executedDespite(q, x, q.src.closing(x.RKey), id, packet.NAKRemoteAccess, ": "+why)
		}
	}
}

// grant is what a queue pair permits its peer from an event on.
type grant struct {
	access wqe.Access
	from   *Event
}

// mostGrants is how many changes of the access flags are kept.
const mostGrants = 16

// permit takes over the access flags that a queue pair was given.
func (q *queuePair) permit(e *Event) {
	access := e.Attr.Access
	q.permits |= access
	if n := len(q.grants); n > 0 && q.grants[n-1].access == access {
		return
	}
	if len(q.grants) == mostGrants { // the first two are taken for one
		q.grants[0].access |= q.grants[1].access
		q.grants = append(q.grants[:1], q.grants[2:]...)
	}
	q.grants = append(q.grants, grant{access, e})
}

// permitsFrom is all that a queue pair may permit from a time of the packets on.
func (q *queuePair) permitsFrom(at int64) (access wqe.Access) {
	for i, g := range q.grants {
		if i+1 == len(q.grants) || !q.src.over(q.grants[i+1].from, at) {
			access |= g.access
		}
	}
	return access
}

// withdrawn reports whether a queue pair has permitted the operation of a message, and been given other access flags, that do not.
func (q *queuePair) withdrawn(x execution) bool {
	access, _, _ := x.needs()
	n := len(q.grants)
	return n > 1 && q.permits&access != 0 && q.grants[n-1].access&access == 0 && !q.receiving.denied
}
