package cq

import (
	"fmt"
	"slices"

	"ibwitness/rule"
)

// Of queue pairs with one shared receive queue each names itself in the completions of its messages. Which message a completion is of, tells its number among those that name
// the queue pair, unless one names another: then the message is that of another queue pair, and each completion after it is of a message one further on.

// sharing calls f for each queue pair that takes its receive requests from the same queue as q, until it returns false.
func (a *Agent) sharing(q *queuePair, f func(p *queuePair) bool) {
	for _, p := range a.lives {
		if p != q && p.src == q.src && p.recvs == q.recvs && p.known && p.reliable() && !f(p) {
			return
		}
	}
}

// misattributed judges a completion that names q, where that is not of message n, whose turn it is, but of the message whose turn it is with another queue pair. It reports whether it is.
func (a *Agent) misattributed(q *queuePair, n int, t *receiveCompletion) (is bool) {
	if !q.otherThan(n, t) {
		return false
	}
	a.sharing(q, func(p *queuePair) bool {
		k := p.turnOf(t)
		if !p.fitsTurn(k, t) {
			return true
		}
		a.namesOther(q, p, k, t)
		is = true
		return false
	})
	return is
}

// named judges the completions that name another queue pair than q and are of message n of q, whose turn it is with completion t, which is not of that.
func (a *Agent) named(q *queuePair, n int, t *receiveCompletion) {
	if !q.otherThan(n, t) {
		return
	}
	a.sharing(q, func(p *queuePair) bool {
		for _, x := range p.receiving.waiting {
			if x.n < t.n && q.fitsTurn(n, x) && p.otherThan(p.turnOf(x), x) {
				a.namesOther(p, q, n, x)
				return false
			}
		}
		return true
	})
}

// otherThan reports whether a completion is for certain not of message n, as its data shows.
func (q *queuePair) otherThan(n int, t *receiveCompletion) bool {
	r := &q.receiving
	return q.recvs.shared && q.known && q.reliable() && t.message == nil && t.event.Summed && t.event.Completion.Status == Success &&
		(!r.arrived.has(n) || q.certain(n) && !q.matches(r.arrived.at(n), t))
}

// fitsTurn reports whether a completion is like message n of q, in its data too.
func (q *queuePair) fitsTurn(n int, t *receiveCompletion) bool {
	r := &q.receiving
	return r.arrived.has(n) && q.certain(n) && t.message == nil && t.event.Summed && t.event.Completion.ByteLen > 0 && q.matches(r.arrived.at(n), t)
}

// turnOf is the number of the message whose turn it is with q when completion t comes.
func (q *queuePair) turnOf(t *receiveCompletion) int {
	r := &q.receiving
	n := r.matched
	for _, x := range r.waiting {
		if x.n < t.n && x.message == nil && x.event.Completion.Status == Success {
			n++
		}
	}
	for _, k := range r.taken {
		if k <= n {
			n++
		}
	}
	return n
}

// namesOther reports that a completion names q, and its message, the k-th, went to p.
func (a *Agent) namesOther(q, p *queuePair, k int, t *receiveCompletion) {
	m := p.receiving.arrived.at(k)
	a.covered(rule.CPLQP001)
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLQP001, Class: rule.Violation, Role: q.receiver(), Expected: fmt.Sprintf("queue pair %#x, which the message went to", p.qpn),
			Actual: fmt.Sprintf("queue pair %#x", q.qpn), Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		at: m.End, event: t.event,
	})
	t.message = m
	p.receiving.taken = append(p.receiving.taken, k)
	slices.Sort(p.receiving.taken)
	p.seesStored(m, t.event.Time)
}

// skipTaken goes on after messages that completions were of which name another queue pair.
func (r *receiving) skipTaken() {
	for len(r.taken) > 0 && r.taken[0] <= r.matched {
		r.matched, r.taken = r.matched+1, r.taken[1:]
		r.place = max(r.place, r.matched)
	}
}
