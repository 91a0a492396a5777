package cq

import (
	"fmt"
	"slices"

	"ibwitness/rule"
)

// Of a shared receive queue the completions that name one queue pair come in the order of its messages. Where one does not, what it says of its data tells which message it is of: a
// later one, one that was passed over, or one that has completed before.

// mostApart is how many messages a completion is away from its turn at most.
const mostApart = 16

// sharedTurn finds the message whose turn it is with a completion of a shared receive queue. done says that the completion is compared, or, where ok is false, that it has to wait.
func (a *Agent) sharedTurn(q *queuePair, t *receiveCompletion) (n int, done, ok bool) {
	n = q.turn(t)
	if t.message != nil || a.misattributed(q, n, t) {
		return n, true, true
	}
	a.named(q, n, t)
	n = q.turn(t)
	a.covered(rule.CPLQP001)
	if !q.otherThan(n, t) || t.event.Completion.ByteLen == 0 || !q.receiving.arrived.has(n) {
		return n, false, true
	}
	done, ok = a.outOfSharedTurn(q, n, t)
	return n, done, ok
}

// outOfSharedTurn compares a completion that is not of message n, whose turn it is, with the one near that it is of.
func (a *Agent) outOfSharedTurn(q *queuePair, n int, t *receiveCompletion) (done, ok bool) {
	r := &q.receiving
	if i := slices.IndexFunc(r.passed, func(k int) bool { return r.arrived.has(k) && q.matches(r.arrived.at(k), t) }); i >= 0 {
		k := r.passed[i]
		r.passed = slices.Delete(r.passed, i, i+1)
		a.takesShared(q, k, t)
		return true, true
	}
	next, ahead, again := q.nextSuccess(), q.laterMessage(n, t), q.earlierMessage(n, t)
	switch until := t.event.Time + hold; {
	case ahead < 0 && again < 0:
		return false, true
	case next == nil && !a.passed(q.src, until) && !a.ended:
		a.wait(q, until)
		return true, false
	case ahead >= 0 && q.goesOn(n, ahead, next):
		a.passesMessages(q, n, ahead, t)
		r.matched = ahead + 1
		a.takesShared(q, ahead, t)
		return true, true
	case ahead < 0 && (next == nil || q.matches(r.arrived.at(n), next)):
		a.messageAgain(q, r.arrived.at(again), t)
		return true, true
	}
	return false, true
}

// laterMessage is the first message after n that a completion is of, or -1.
func (q *queuePair) laterMessage(n int, t *receiveCompletion) int {
	r := &q.receiving
	for k := n + 1; k <= n+mostApart && r.arrived.has(k) && q.certain(k); k++ {
		if q.matches(r.arrived.at(k), t) {
			return k
		}
	}
	return -1
}

// earlierMessage is the newest message before n that a completion is of, or -1.
func (q *queuePair) earlierMessage(n int, t *receiveCompletion) int {
	r := &q.receiving
	for k := n - 1; k >= n-mostApart && r.arrived.has(k); k-- {
		if q.matches(r.arrived.at(k), t) {
			return k
		}
	}
	return -1
}

// goesOn reports whether the completion after one of message k, whose turn was with message n, is of the one after that, or of one that was passed over.
func (q *queuePair) goesOn(n, k int, next *receiveCompletion) bool {
	r := &q.receiving
	if next == nil || !r.arrived.has(k+1) {
		return true
	}
	for i := n; i < k; i++ {
		if q.matches(r.arrived.at(i), next) {
			return true
		}
	}
	return q.laterMessage(k, next) >= 0
}

// passesMessages takes over that a completion is of message k, and none has come of those from n on. Where completions of requests that nobody posted were told, they may be theirs.
func (a *Agent) passesMessages(q *queuePair, n, k int, t *receiveCompletion) {
	r := &q.receiving
	if r.untold < k-n {
		of := "the next message"
		if k-n > 1 {
			of = "a later message"
		}
		a.passedOver(q, r.arrived.at(n), t, of)
	}
	r.untold = max(r.untold-(k-n), 0)
	for ; n < k; n++ {
		r.passed = append(r.passed, n)
	}
	if n := len(r.passed) - mostApart; n > 0 {
		r.passed = slices.Delete(r.passed, 0, n)
	}
}

// takesShared compares a completion with message k, which it is of.
func (a *Agent) takesShared(q *queuePair, k int, t *receiveCompletion) {
	r := &q.receiving
	m := r.arrived.at(k)
	r.place, t.message = max(r.place, k+1), m
	q.seesStored(m, t.event.Time)
	a.sharedTaken(q, m, t)
	a.same(q, m, t)
}

// messageAgain reports a second completion of a message.
func (a *Agent) messageAgain(q *queuePair, m *Message, t *receiveCompletion) {
	t.message = m
	a.covered(rule.CPLORD002)
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLORD002, Class: rule.Violation, Role: q.receiver(), Expected: fmt.Sprintf("one completion of the message that ends in frame %d", m.End.Frame),
			Actual: "a second completion", Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		at: m.End, event: t.event,
	})
}
