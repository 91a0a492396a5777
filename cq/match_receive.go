package cq

import (
	"sort"
)

// arrive finds, of the messages that have come since, those that take a receive request, and how many of them come before anything that the
// capture does not hold.
func (a *Agent) arrive(q *queuePair) {
	r := &q.receiving
	for ; r.sorted < q.in.msgs.end(); r.sorted++ {
		m := q.in.msgs.at(r.sorted)
		r.answers = -1
		a.stores(q, m)
		q.src.invalidates(m)
		q.sequence(m)
		if !m.consumes() {
			continue
		}
		r.arrived.add(m)
		if !r.gap {
			r.sure = r.arrived.end()
		}
	}
}

// sequence takes over whether something is missing before a message, or of it, so that it is not certain any more which receive request a message takes.
func (q *queuePair) sequence(m *Message) {
	r := &q.receiving
	r.broken = r.broken || m.Partial || r.sorted > 0 && m.Begin.PSN != r.psn
	r.psn = m.Begin.PSN.Add(m.Packets)
	was := r.gap
	r.gap = was || !q.in.anchor || !q.reliable() || m.First != r.next || m.Partial || m.Mixed || m.unlike
	if r.gap && !was {
		r.gapAt = m.First
		if m.First == r.next && !m.unlike {
			r.gapAt = m.Last() + 1 // it is not whole itself
		}
	}
	r.next = m.First + int64(m.Packets)
}

// certain reports whether it is certain which receive request message n of those that take one has taken.
func (q *queuePair) certain(n int) bool {
	return n < q.receiving.sure && (!q.in.mixed || q.receiving.arrived.at(n).Last() < q.in.mixedAt)
}

// certainTo reports whether nothing is missing before an ordinal.
func (q *queuePair) certainTo(ord int64) bool { return !q.receiving.gap || ord < q.receiving.gapAt }

// ordered reports whether the n-th message takes the n-th receive request.
func (q *queuePair) ordered() bool { return q.reliable() && !q.recvs.shared && q.known }

// invented reports whether a device has invented a completion that does not fit the message of its place: the next one does.
func (q *queuePair) invented(n int, t, next *receiveCompletion) bool {
	return q.ordered() && next.of.place == t.of.place+1 && !q.matches(q.receiving.arrived.at(n), t) && q.matches(q.receiving.arrived.at(n), next) &&
		(n+1 >= q.receiving.arrived.end() || !q.matches(q.receiving.arrived.at(n+1), next))
}

// overlooked reports whether a completion that takes its request from a shared queue is not that of message n, but of the one after it.
func (q *queuePair) overlooked(n int, t *receiveCompletion) bool {
	return !q.ordered() && q.known && q.reliable() && q.receiving.arrived.has(n+1) && q.certain(n+1) && !q.matches(q.receiving.arrived.at(n), t) && q.matches(q.receiving.arrived.at(n+1), t)
}

// nextSuccess is the receive completion with success that comes after the oldest one that is not compared yet, or nil.
func (q *queuePair) nextSuccess() *receiveCompletion {
	for _, t := range q.receiving.waiting[1:] {
		if t.event.Completion.Status == Success {
			return t
		}
	}
	return nil
}

// messageAt is which of the messages that take a receive request for certain an ordinal belongs to; ok is false where it belongs to none.
func (q *queuePair) messageAt(ord int64) (n int, ok bool) {
	list := q.receiving.arrived.before(q.receiving.sure)
	n = sort.Search(len(list), func(i int) bool { return list[i].Last() >= ord })
	return q.receiving.arrived.first() + n, n < len(list) && ord >= list[n].First
}

// unsure takes over that it is not certain whether a message takes a receive request, and so which one any after it takes.
func (q *queuePair) unsure(m *Message) {
	r := &q.receiving
	r.broken = true
	if r.gap && r.gapAt <= m.First {
		return
	}
	r.gap, r.gapAt = true, m.First
	for r.sure > r.arrived.first() && r.arrived.at(r.sure-1).First >= m.First {
		r.sure--
	}
}
