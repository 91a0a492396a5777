package cq

import (
	"fmt"
	"sort"

	"ibwitness/qp"
	"ibwitness/rule"
)

// On UC and UD nothing but its content tells which request a message is of, once a message is on the wire that was not posted, or a request is not sent: the PSNs go on, and all later
// ones are those of other requests. A message that does not fit the request of its PSN is therefore looked for among the requests near, and those among the messages that follow it.

const (
	// mostUnposted is how many messages after one that fits no request are waited for, until one fits the request in its place.
	mostUnposted = 32
	// mostFollowing is how many messages after one are looked at to tell which request that is of.
	mostFollowing = 3
)

// realignment is the newest change of how many PSNs lie between the messages and their requests.
type realignment struct {
	from, at int64 // messages from one ordinal up to the other have no request
	before   int64 // what unsent was for those before them
}

// ordinal is that of a message among the packets of requests; ok is false for one that has no request, as was reported. One that the network held up belongs where those of its PSN did.
func (s *sending) ordinal(m *Message) (ord int64, ok bool) {
	switch r := &s.realigned; {
	case m.First >= r.at:
		return m.First + s.unsent, true
	case m.First >= r.from:
		return 0, false
	default:
		return m.First + r.before, true
	}
}

// realign takes over that from an ordinal on the messages lie so many PSNs further before their requests, and that those from another up to it have none.
func (a *Agent) realign(s *sending, from, at, by int64) {
	s.realigned = realignment{from: from, at: at, before: s.unsent}
	s.unsent += by
	a.generation++
}

// unordered reports whether only their content tells which requests the messages of a queue pair are of.
func (q *queuePair) unordered() bool { return q.typ == qp.TypeUC || q.typ == qp.TypeUD }

// identity is which request a message is of.
type identity struct {
	k        int   // the request
	exchange bool  // with the one in its place
	unposted int64 // how many PSNs messages take before that of it, from this one on
	open     bool  // what follows may tell
}

// identify finds which request a message is of whose PSN is that of request k.
func (a *Agent) identify(q *queuePair, m *Message, k int) identity {
	s := &q.sending
	posted := s.posted.all()
	if m.Partial || posted[k].fits(m) {
		return identity{k: k}
	}
	if n := s.late(m, k); n >= 0 {
		return identity{k: n}
	}
	f := following{q: q, m: m, k: k}
	wait := !q.src.exact && !a.ended && q.out.msgs.end()-s.compared <= mostUnposted
	switch e := f.place(k, 1, 0); {
	case e == confirmed:
		return f.exchanged(wait)
	case e == undecided && wait:
		return identity{k: k, open: true}
	}
	return a.outOfPlace(&f, wait)
}

// late is the request before k that a message is of, as later ones have passed over it, or -1.
func (s *sending) late(m *Message, k int) int {
	posted := s.posted.all()
	for n := k - 1; n >= 0 && k-n <= mostPassed; n-- {
		if posted[n].passed && !posted[n].moved && posted[n].fits(m) {
			return n
		}
	}
	return -1
}

// outOfPlace finds which request a message is of where those that follow it are not those of the requests in their places.
func (a *Agent) outOfPlace(f *following, wait bool) identity {
	n, open := a.skipsTo(f, false)
	if n > f.k || open && wait {
		return identity{k: max(n, f.k), open: n < 0}
	}
	if !f.q.src.exact {
		if n := f.unposted(); n > 0 {
			return identity{k: f.k, unposted: n}
		}
		if wait {
			return identity{k: f.k, open: true}
		}
	}
	if n, _ = a.skipsTo(f, true); n < 0 && f.q.src.exact && f.q.sending.posted.all()[f.k].unlike(f.m) {
		return identity{k: f.k, unposted: int64(f.m.Packets)}
	}
	return identity{k: max(f.k, n)}
}

// exchanged finds, where the messages that follow are those of the requests in their places, whether that of request k comes in the place of the one that m is of.
func (f *following) exchanged(wait bool) identity {
	s := &f.q.sending
	posted := s.posted.all()
	w := posted[f.k]
	for n := f.k + 2; n < len(posted) && n-f.k <= mostUnposted; n++ {
		v := posted[n]
		if v.packets != w.packets || !v.fits(f.m) {
			continue
		}
		switch x := f.at(f.m.First + v.first - w.first); {
		case x == nil && wait && (f.q.out.high <= f.m.First+v.first-w.first):
			return identity{k: f.k, open: true}
		case x != nil && w.fits(x) && (v.distinct(f.m) || w.distinct(x)):
			return identity{k: n, exchange: true}
		}
	}
	return identity{k: f.k}
}

// at is the message of an ordinal that has come after m, or nil.
func (f *following) at(ord int64) *Message {
	list := &f.q.out.msgs
	for j := f.q.sending.compared + 1; j < list.end() && j-f.q.sending.compared <= mostUnposted; j++ {
		if x := list.at(j); x.First == ord && !x.Partial {
			return x
		}
	}
	return nil
}

// skipsTo is the request after k that a message is of, or -1; open says that it may be of one. Where what follows speaks against it, only its data tells whether it may.
func (a *Agent) skipsTo(f *following, byData bool) (n int, open bool) {
	q, m, posted := f.q, f.m, f.q.sending.posted.all()
	for n = f.k + 1; n < len(posted) && n-f.k <= mostPassed; n++ {
		v := posted[n]
		if !v.fits(m) || v.over == nil && v.renames == nil && q.src.clock.after(v.event.Time, m.Begin.Time) {
			continue // or it was not posted then
		}
		e := f.place(n, 1, 0)
		if e == confirmed || v.distinct(m) && (byData || e == undecided) {
			return n, false
		}
		open = open || e == undecided
	}
	return -1, open
}

// following is what the messages after one that does not fit request k say of where it belongs.
type following struct {
	q *queuePair
	m *Message
	k int
}

type evidence int

const (
	refuted evidence = iota
	undecided
	confirmed
)

// place reports what the messages from the i-th after m on say, were m, or the one after messages that take so many PSNs, that of request n.
func (f *following) place(n, i int, unposted int64) evidence {
	s, list := &f.q.sending, &f.q.out.msgs
	posted := s.posted.all()
	by := posted[n].first - f.m.First - unposted
	seen, sure, late := 0, false, lateRequests(0)
	for j := s.compared + i; j < list.end() && seen < mostFollowing; j++ {
		x := list.at(j)
		if x.Partial || x.First < f.m.First {
			continue
		}
		w := s.requestAt(x.First + by)
		switch {
		case w == nil:
			return f.beyond()
		case w.first == x.First+by && w.fits(x):
			if sure = sure || w.distinct(x); sure && n == f.k && unposted == 0 {
				return confirmed
			}
		case late.takes(posted[f.k:n], x):
			by -= int64(x.Packets)
			continue
		default:
			return refuted
		}
		seen++
	}
	if sure {
		return confirmed
	}
	return undecided
}

// beyond is what a message says that would be that of a request after all that the log has told so far.
func (f *following) beyond() evidence {
	if f.q.src.comes(f.m.Begin.Time) {
		return undecided
	}
	return refuted
}

// requestAt is the first of the posted requests that ends at an ordinal or after it, or nil.
func (s *sending) requestAt(ord int64) *sendRequest {
	posted := s.posted.all()
	if p := sort.Search(len(posted), func(i int) bool { return posted[i].last() >= ord }); p < len(posted) {
		return posted[p]
	}
	return nil
}

// lateRequests are those, of up to 64 that a message has passed over, that were sent after it.
type lateRequests uint64

// takes reports whether a message is that of one of them that was not sent yet.
func (late *lateRequests) takes(passed []*sendRequest, m *Message) bool {
	for i, w := range passed {
		if *late>>i&1 == 0 && w.fits(m) {
			*late |= 1 << i
			return true
		}
	}
	return false
}

// unposted is how many PSNs the messages take before that of request k, from m on, or 0.
func (f *following) unposted() int64 {
	s, list := &f.q.sending, &f.q.out.msgs
	w := s.posted.all()[f.k]
	for j := s.compared + 1; j < list.end() && j-s.compared <= mostUnposted; j++ {
		x := list.at(j)
		if x.Partial || x.First <= f.m.First || !w.fits(x) {
			continue
		}
		n := x.First - f.m.First
		if e := f.place(f.k, j-s.compared+1, n); e == confirmed || e == undecided && w.distinct(x) {
			return n
		}
	}
	return 0
}

// takes compares a message with the request that it is of, where its PSN is that of request k. It returns false where what follows may yet tell which that is.
func (a *Agent) takes(q *queuePair, m *Message, k int) bool {
	s := &q.sending
	posted := s.posted.all()
	if k == 0 && q.out.early {
		a.compareNext(q, m, k)
		return true
	}
	is := a.identify(q, m, k)
	if is.open {
		if !m.departs {
			a.another(q, m)
		}
		return false
	}
	if is.k != k || is.unposted > 0 {
		m.departs = false
	}
	switch {
	case is.unposted > 0:
		a.notPosted(q, m, posted[k])
		a.realign(s, m.First, m.First+is.unposted, -is.unposted)
	case is.exchange:
		a.exchange(q, m, k, is.k)
		a.compareNext(q, m, k)
	case is.k > k:
		a.skipsRequests(q, m, k, is.k)
		a.realign(s, m.First, m.First, posted[is.k].first-posted[k].first)
		a.compareNext(q, m, is.k)
	case is.k < k:
		posted[is.k].moved = true
		a.realign(s, m.First, m.First+int64(m.Packets), -int64(m.Packets))
		a.compareNext(q, m, is.k)
	default:
		a.compareNext(q, m, k)
	}
	return true
}

// skipsRequests takes over that a message whose PSN is that of request k is of request n: those between were not sent, or the log tells of them too early.
func (a *Agent) skipsRequests(q *queuePair, m *Message, k, n int) {
	posted := q.sending.posted.all()
	w, v := posted[k], posted[n]
	told := v.told()
	for _, x := range posted[k:n] {
		x.passed = true
	}
	v.moved = true
	if !told {
		a.tellPassed(q, m, w, v)
	} else if q.sending.skipped == nil {
		q.sending.skipped = &skipped{of: w, compared: q.sending.compared, verdict: q.passes(m, w, v)}
	}
}

// exchange takes over that the messages of requests k and n come in the place of each other.
func (a *Agent) exchange(q *queuePair, m *Message, k, n int) {
	posted := q.sending.posted.all()
	w, v := posted[k], posted[n]
	if !v.told() { // else a completion has
		a.tellPassed(q, m, w, v)
	}
	posted[k], posted[n] = v, w
	w.first, v.first = v.first, w.first
	w.passed, w.moved, v.moved = true, true, true
	a.generation++
}

// skipped is a request whose message did not come in its turn, where a completion has told that a later request was carried out before it.
type skipped struct {
	of       *sendRequest
	compared int     // how many messages were compared before
	verdict  verdict // if it was not sent
}

// mostOverdue is how many messages a request is sent late at most whose posting is told too early: one that was not sent by then is not sent at all.
const mostOverdue = 8

// notSent reports a request that was not sent in its turn, nor later.
func (a *Agent) notSent(q *queuePair) {
	s := q.sending.skipped
	if s == nil || q.sending.compared-s.compared <= mostOverdue && !(a.ended && q.sending.compared == q.out.msgs.end()) {
		return
	}
	if !s.of.moved {
		a.accuse(q, s.verdict)
	}
	q.sending.skipped = nil
}

// notPosted reports that a message is of no request, and the ones after it are of those from w on.
func (a *Agent) notPosted(q *queuePair, m *Message, w *sendRequest) {
	class, detail := rule.Violation, "a later message is that of the request"
	if q.src.exact {
		detail = ""
	}
	if q.sending.unposted {
		class, detail = rule.Unproven, "a request completed that was not posted: the log does not tell of all"
	}
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: class, Role: q.sender(), Expected: fmt.Sprintf("the message of request %d", w.req().ID),
			Actual: m.Op.String() + " that no request asks for", Detail: detail,
		},
		at: m.Begin, event: w.event,
	})
	q.sending.strayed = true
}
