package cq

import (
	"iter"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Waits is what something outstanding waits for.
type Waits uint8

// The kinds.
const (
	WaitsForResponse          Waits = iota // requests on the wire
	WaitsForCompletion                     // work requests that were posted
	WaitsForMessage                        // completions of what no packet has shown yet
	WaitsForReceiveCompletion              // receive requests that messages which were acknowledged have taken
)

func (w Waits) String() string {
	return [...]string{"a response", "a completion", "the packets of a completion", "a receive completion"}[w]
}

// Outstanding is what waits at a queue pair.
type Outstanding struct {
	QP, Peer rule.Endpoint
	What     Waits
	Count    int
	Since    int64  // when the oldest was posted or completed
	ID       uint64 // of the oldest
}

// Outstanding lists the send requests without a completion, where they are signalled and the queue pair still works, the completions that no packet explains
// yet, and the receive requests without a completion whose messages are acknowledged, by queue pair in the order of their creation.
func (a *Agent) Outstanding() (list []Outstanding) {
	for _, q := range a.lives {
		if q.gone {
			continue
		}
		self := rule.Endpoint{Addr: q.addr(), QPN: q.qpn, QPNKnown: true}
		peer := rule.Endpoint{Addr: q.attr.DestAddr, QPN: q.attr.DestQPN, QPNKnown: q.attr.Has(qp.KnowsDestQPN)}
		add := func(what Waits, since int64, id uint64) {
			if n := len(list); n > 0 && list[n-1].QP == self && list[n-1].What == what {
				list[n-1].Count++
				return
			}
			list = append(list, Outstanding{self, peer, what, 1, since, id})
		}
		for _, w := range q.sends.from(q.oldest) {
			if w.done == nil && w.signaled(q) && !w.flushed {
				add(WaitsForCompletion, w.event.Time, w.req().ID)
			}
		}
		for _, w := range q.sending.settling {
			if !w.reportedEarly {
				add(WaitsForMessage, w.done.Time, w.req().ID)
			}
		}
		for _, t := range q.receiving.waiting {
			add(WaitsForMessage, t.event.Time, t.event.Completion.ID)
		}
		for n, m := range q.received() {
			add(WaitsForReceiveCompletion, m.End.Time, q.recvs.list.at(n).event.Receive.ID)
		}
	}
	return list
}

// received lists the messages that are acknowledged and whose receive requests have not completed, where it is certain which ones those are, by the places of their requests.
func (q *queuePair) received() iter.Seq2[int, *Message] {
	return func(yield func(int, *Message) bool) {
		r := &q.receiving
		if q.recvs == nil || !q.ordered() || q.inError() || r.invented != 0 || len(r.waiting) > 0 {
			return
		}
		for n := max(r.place, r.arrived.first()); n < r.sure && q.recvs.list.has(n); n++ {
			if m := r.arrived.at(n); q.recvs.list.at(n).done || q.in.ackOf(m.Last()) == nil || !yield(n, m) {
				return
			}
		}
	}
}

// Reset says that a device was reset: its queue pairs are gone.
func (a *Agent) Reset(device packet.Addr, now int64) {
	for _, q := range a.lives {
		if q.addr() == device && !q.gone {
			q.died, q.gone = now, true
			q.unbound()
		}
	}
	a.changes++
	a.stirred = true
}
