package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// consumes reports whether a message takes a receive request.
func (m *Message) consumes() bool {
	return !m.Partial && (wqe.OpOf(m.Op.Fn()) == wqe.Send || m.HasImm)
}

// mayConsume reports that also where it is not known, as what there is of the message is not all.
func (m *Message) mayConsume() bool { return m.Partial || m.consumes() }

func (q *queuePair) receiver() rule.Role {
	if q.reliable() {
		return rule.Responder
	}
	return rule.Receiver
}

// received compares the receive completions with the messages.
func (a *Agent) received(q *queuePair) {
	for len(q.receiving.waiting) > 0 {
		t := q.receiving.waiting[0]
		if q.known && !a.match(q, t) {
			return
		}
		a.unnotifiedReceive(q, t)
		if t.of != nil {
			t.of.judged = true
		}
		q.receiving.waiting[0] = nil
		q.receiving.waiting = q.receiving.waiting[1:]
	}
}

// hold is how long a completion that fits the message of its place in nothing waits for the next one, which may.
const hold = int64(1e6)

// match compares a receive completion with its message. It returns false where that is not certain yet.
func (a *Agent) match(q *queuePair, t *receiveCompletion) bool {
	if q.doubledFrom != 0 && t.n > q.doubledFrom {
		return true
	}
	if !a.reached(q.src, t.event.Time) {
		a.wait(q, t.event.Time)
		return false
	}
	if !a.hasCome(q) {
		return a.ended // the capture may begin later
	}
	if t.event.Completion.Status != Success {
		a.fails(q, t)
		return true
	}
	if q.typ == qp.TypeUC && !a.found(q, t) {
		q.in.giveUp()
		a.arrive(q)
	}
	n, done, ok := a.messageTurn(q, t)
	if done {
		return ok
	}
	if q.receiving.arrived.has(n) && q.certain(n) {
		return a.matchPlaced(q, n, t)
	}
	if !a.found(q, t) && a.mayArrive(q, t) {
		return false
	}
	q.receiving.matched++
	if q.reliable() && q.in.mixed {
		q.doubledFrom = -1 // which message it is of, and any later one, is not known any more
		return true
	}
	a.choose(q, t)
	return true
}

// messageTurn is the number of the message whose turn it is with a completion. done says that it is compared, or, where ok is false, that it has to wait.
func (a *Agent) messageTurn(q *queuePair, t *receiveCompletion) (n int, done, ok bool) {
	if q.recvs.shared {
		return a.sharedTurn(q, t)
	}
	return q.turn(t), false, true
}

// hasCome reports whether the capture shows anything that came to a queue pair, or may have.
func (a *Agent) hasCome(q *queuePair) bool {
	return q.in.first.Seen() || q.typ == qp.TypeUD && len(a.groupDatagrams) > 0
}

// turn is the number of the message whose turn it is with a completion. What the log does not tell was posted, and what the device made up, is accounted for once.
func (q *queuePair) turn(t *receiveCompletion) int {
	r := &q.receiving
	if q.ordered() {
		q.cameLater(t)
		r.invented, t.unlisted = r.invented-t.unlisted, 0
		return q.placed(t)
	}
	if t.unlisted > 0 && q.fitsTurn(r.matched, t) {
		r.untold += t.unlisted // and they are of later messages
	} else {
		r.matched += t.unlisted
	}
	t.unlisted = 0
	r.skipTaken()
	return r.matched
}

// mayArrive reports whether the message of a completion may yet come. The queue pair is judged again then.
func (a *Agent) mayArrive(q *queuePair, t *receiveCompletion) bool {
	if a.ended {
		return false
	}
	until := t.event.Time
	if a.proven(q) == rule.Unproven {
		until += patience // its message may have another way than by the tap
	}
	if a.passed(q.src, until) {
		return false
	}
	a.wait(q, until)
	return true
}

// placed is the number of the message that a completion is of, by the place of its request: after requests have completed out of order, the number of the completion where that
// fits better, as it is rather the line of their posting that is misplaced.
func (q *queuePair) placed(t *receiveCompletion) int {
	r := &q.receiving
	n, k := max(t.of.place-r.invented, 0), r.matched
	if !r.moved || n == k || !r.arrived.has(k) || !q.certain(k) {
		return n
	}
	if r.arrived.has(n) && q.certain(n) {
		here, there := q.differences(r.arrived.at(k), t), q.differences(r.arrived.at(n), t)
		if there < here || there == here && !r.turned {
			return n
		}
		r.turned = r.turned || here < there
	}
	return k
}

// matchPlaced compares a receive completion with message n, which is that of its place. It returns false where a later completion may show that the device made this
// one up.
func (a *Agent) matchPlaced(q *queuePair, n int, t *receiveCompletion) bool {
	m := q.receiving.arrived.at(n)
	next := q.nextSuccess()
	switch until := t.event.Time + hold; {
	case q.madeUp(n, t, next):
		q.receiving.matched++
		q.receiving.invented++
		a.noMessage(q, t)
		return true
	case next == nil && q.misplaced(n, t) && !a.passed(q.src, until) && !a.ended:
		a.wait(q, until)
		return false
	case q.overlooked(n, t) && q.followsOn(n+2, next):
		a.passedOver(q, m, t, "the next message")
		q.receiving.matched++
		n++
		m = q.receiving.arrived.at(n)
	}
	q.receiving.matched++
	q.receiving.place = max(q.receiving.place, n+1)
	t.message = m
	q.seesStored(m, t.event.Time)
	a.sharedTaken(q, m, t)
	if q.slipped(n, t, next) {
		q.receiving.invented-- // each later one is that of a message one further on
	}
	if q.ordered() && t.of.over != nil && n != max(t.of.place-q.receiving.invented, 0) && q.differences(m, t) > 0 {
		return true // it has come before its turn, as was reported: its own message is yet to come
	}
	a.same(q, m, t)
	return true
}

// slipped reports whether a completion, and the next, are those of the messages after theirs, as their data shows: the receive request of message n is none that was told, or has
// completed without a word. The first tells of it.
func (q *queuePair) slipped(n int, t, next *receiveCompletion) bool {
	list := &q.receiving.arrived
	return q.ordered() && !q.receiving.moved && t.event.Summed && next != nil && next.event.Summed && next.of != nil && next.of.place == t.of.place+1 && list.has(n+2) && q.certain(n+2) &&
		!q.matches(list.at(n), t) && q.matches(list.at(n+1), t) && !q.matches(list.at(n+1), next) && q.matches(list.at(n+2), next)
}

// madeUp reports whether a device has made up a completion whose place is that of message n: the message came later, or it is that of the next completion.
func (q *queuePair) madeUp(n int, t, next *receiveCompletion) bool {
	m := q.receiving.arrived.at(n)
	return q.ordered() && q.otherMessage(m, t) && q.src.exact && m.Begin.Time > t.event.Time || next != nil && q.invented(n, t, next)
}

// misplaced reports whether a completion is rather not that of message n, although that is its place. The next completion tells.
func (q *queuePair) misplaced(n int, t *receiveCompletion) bool {
	return q.ordered() && q.differences(q.receiving.arrived.at(n), t) > 1 || q.overlooked(n, t)
}

// followsOn reports whether the next completion, where there is one, is that of message n, where it has come.
func (q *queuePair) followsOn(n int, next *receiveCompletion) bool {
	return next == nil || !q.receiving.arrived.has(n) || q.matches(q.receiving.arrived.at(n), next)
}

// passedOver reports that a completion is not that of a message whose turn it is, but of one after it.
func (a *Agent) passedOver(q *queuePair, m *Message, t *receiveCompletion, of string) {
	a.covered(rule.CPLORD001)
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLORD001, Class: rule.Violation, Role: q.receiver(), Expected: fmt.Sprintf("the completion of the message that ends in frame %d", m.End.Frame),
			Actual: "that of " + of, Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		at: m.End, event: t.event,
	})
}

// found reports whether there is a message that a completion may be of, where their order is not certain.
func (a *Agent) found(q *queuePair, t *receiveCompletion) bool {
	n := a.pick(q, q.receiving.place, t)
	return n < q.receiving.arrived.end() && !(a.sees(q) && q.missed(q.receiving.arrived.at(n), t))
}

// choose finds the message of a completion where their order does not tell for certain, and compares the two.
func (a *Agent) choose(q *queuePair, t *receiveCompletion) {
	list, k := &q.receiving.arrived, q.receiving.place
	// The next message is that of the next completion, unless it was not received.
	aligned := q.in.joined <= 0 && (q.unbroken() || a.proven(q) == rule.Violation)
	switch n := a.pick(q, k, t); {
	case n < list.end() && q.src.clock.before(t.event.Time, list.at(n).End.Time) && a.outOfTurn(q, list.before(k), t):
		// not the one that came later, but one as long that the network held up
	case n < list.end():
		q.skips(k, n, t)
		m := list.at(n)
		q.receiving.place, m.used, t.guessed = n+1, true, !aligned
		a.keyless(q, n, t)
		a.overtook(q, list.all(), m, t)
		a.same(q, m, t)
	case a.outOfTurn(q, list.before(k), t):
	case aligned && list.has(k) && (q.reliable() || a.nothingElse(q, k)) && q.resembles(list.at(k), t):
		a.same(q, list.at(k), t)
		q.receiving.place++
	default:
		if q.ordered() && q.in.joined <= 0 {
			q.receiving.early = append(q.receiving.early, placedCompletion{t.of.place - q.receiving.invented, t})
		}
		a.noMessage(q, t)
	}
}

// skips keeps the datagrams to groups from message k to n that its receiver must take, and that a completion passes over.
func (q *queuePair) skips(k, n int, t *receiveCompletion) {
	for ; k < n; k++ {
		if m := q.receiving.arrived.at(k); m.Net != nil && m.Net.must {
			q.receiving.skipped = append(q.receiving.skipped, overtakenMessage{m, t})
		}
	}
}

// nothingElse reports whether a completion that fits none of the messages must be that of the next one, message k: each message so far has a completion, and
// no other can have come.
func (a *Agent) nothingElse(q *queuePair, k int) bool {
	if q.ofLater(q.receiving.arrived.at(k)) {
		return false
	}
	if a.proven(q) == rule.Violation {
		return k == q.receiving.matched-1
	}
	n := q.receiving.matched - 1
	for _, t := range q.receiving.waiting {
		if t.event.Completion.Status == Success {
			n++
		}
	}
	return a.ended && q.receiving.arrived.end() == n
}

// ofLater reports whether a message is rather that of a later completion.
func (q *queuePair) ofLater(m *Message) bool {
	for _, t := range q.receiving.waiting[1:] {
		if t.event.Completion.Status == Success && q.matches(m, t) {
			return true
		}
	}
	return false
}

// cameLater finds out of completions that came before a message of their place whether the device made them up: the message that came since is that of the
// next completion, which is t for the last of them.
func (q *queuePair) cameLater(t *receiveCompletion) {
	for r := &q.receiving; len(r.early) > 0; r.early = r.early[1:] {
		x, next := r.early[0], t
		if len(r.early) > 1 {
			next = r.early[1].t
		}
		if x.n >= r.arrived.end() {
			return
		}
		if q.invented(x.n, x.t, next) {
			r.invented++
			for i := range r.early[1:] {
				r.early[1+i].n--
			}
		}
	}
}

// outOfTurn reports whether a completion is that of a message before those that completed last: UC and UD take one that the network let
// others overtake, and take a copy that it made for another one. Near the receiver the copy is seen.
func (a *Agent) outOfTurn(q *queuePair, list []*Message, t *receiveCompletion) bool {
	if q.reliable() {
		return false
	}
	for _, m := range list {
		if q.matches(m, t) && (!m.used || !a.near(q.addr()) || q.in.again[m.Last()] > 0) {
			if !m.used {
				a.overtook(q, list, m, t)
			}
			m.used = true
			return true
		}
	}
	return false
}

// unbroken reports whether the capture holds every message to a queue pair, as far as their PSNs tell.
func (q *queuePair) unbroken() bool { return !q.receiving.broken }

// noMessage judges a completion without a message.
func (a *Agent) noMessage(q *queuePair, t *receiveCompletion) {
	for _, m := range q.in.dropped {
		if q.matches(m, t) {
			a.covered(rule.UDQKEY004)
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.UDQKEY004, Class: rule.Violation, Role: q.receiver(),
					Expected: fmt.Sprintf("no completion: the Q_Key is not %#x", q.attr.QKey), Actual: "a receive completion",
					Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
				},
				at: m.End, event: t.event,
			})
			return
		}
	}
	if a.spoiled(q, t) || a.duplicateGroupCompletion(q, t) || q.in.joined > 0 || !a.passed(q.src, t.event.Time) || a.broken(q, t) {
		return
	}
	a.covered(rule.CPLSTS014)
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS014, Class: a.proven(q), Role: q.receiver(), Expected: "a message that was received",
			Actual: "none that matches the completion", Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		event: t.event, at: q.in.newest,
	}
	switch {
	case q.in.mixed:
		v.Class = rule.Unproven
		v.Detail += "; several packets have one PSN, and which of them was accepted is unknown"
	case v.Class == rule.Unproven:
		v.Detail += "; " + notShown
	}
	a.accuse(q, v)
}
