package cq

import (
	"fmt"
	"math"
	"sort"

	"ibwitness/expect"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// operations are what the operations of work requests are on the wire.
var operations = [256]wqe.Op{
	wqe.OpSend: wqe.Send, wqe.OpSendImm: wqe.Send, wqe.OpSendInv: wqe.Send, wqe.OpWrite: wqe.Write,
	wqe.OpWriteImm: wqe.Write, wqe.OpRead: wqe.Read, wqe.OpCmpSwap: wqe.CmpSwap, wqe.OpFetchAdd: wqe.FetchAdd,
	wqe.OpFlush: wqe.Flush, wqe.OpAtomicWrite: wqe.AtomicWrite,
}

// role of a queue pair that sends requests.
func (q *queuePair) sender() rule.Role {
	if q.reliable() {
		return rule.Requester
	}
	return rule.Sender
}

// whole reports whether the log tells of all that was posted to the queue pair, as far as it goes.
func (q *queuePair) whole() bool { return q.known && !q.src.cut && !q.doubt && (q.gone || q.src.exact) }

// complete reports whether the log tells of all that was posted to the queue pair up to a time of the packets.
func (q *queuePair) complete(at int64) bool { return q.whole() && (q.gone || q.src.goesOn(at)) }

// compares reports whether the packets that a queue pair sends can be compared with its work requests. Those of management are posted elsewhere.
func (q *queuePair) compares() bool {
	return q.known && q.out.followed() && q.typ != qp.TypeSMI && q.typ != qp.TypeGSI
}

// sent holds the messages on the wire against the work requests.
func (a *Agent) sent(q *queuePair) {
	s, list := &q.sending, &q.out.msgs
	if n := list.end(); s.drained == n && s.compared == n && !q.out.opens && len(q.out.departed) == 0 && s.skipped == nil {
		return // nothing has come
	}
	for ; s.drained < list.end(); s.drained++ {
		a.draining(q, list.at(s.drained))
	}
	if !q.compares() {
		s.compared = list.end()
		return
	}
	for ; s.compared < list.end() && q.unmatched == nil; s.compared++ {
		if !a.request(q, list.at(s.compared)) {
			return
		}
	}
	a.notSent(q)
	if s.compared == list.end() && q.unmatched == nil {
		a.opening(q)
	}
	if len(q.out.departed) > 0 {
		q.out.compared(s.wire(q.out) - s.unsent)
	}
}

// opening compares the first packet of a message that goes on with its work request, so that what is wrong there is reported at that packet.
func (a *Agent) opening(q *queuePair) {
	m := q.out.opened()
	if m == nil || q.typ == qp.TypeUD || q.stopped != nil {
		return
	}
	posted := q.sending.posted.all()
	ord, has := q.sending.ordinal(m)
	k := sort.Search(len(posted), func(i int) bool { return posted[i].first >= ord })
	if !has || k == len(posted) || posted[k].first != ord {
		return
	}
	w := posted[k]
	if wqe.OpOf(m.Op.Fn()) != operations[w.req().Op] {
		return // it may be the message of the request before once more
	}
	if a.heads(q, m, w) || k > 0 && a.heads(q, m, posted[k-1]) || a.elsewhere(q, m, k) {
		return
	}
	w.opened = true
	a.headers(q, m, w, a.departs(q, m, w))
}

// elsewhere reports whether a message that does not begin as that of request k may be of another one: the whole message tells, and what follows.
func (a *Agent) elsewhere(q *queuePair, m *Message, k int) bool {
	posted := q.sending.posted.all()
	n := q.overtaking(m, k)
	switch {
	case n >= 0 && posted[n].event.Summed && (!q.src.exact || posted[k].resembles(m)), q.unordered() && !q.src.exact:
		return true
	}
	return a.overtakes(q, m, k)
}

// heads reports whether a message begins as that of a request.
func (a *Agent) heads(q *queuePair, m *Message, w *sendRequest) bool {
	if wqe.OpOf(m.Op.Fn()) != operations[w.req().Op] {
		return false
	}
	is := true
	a.headers(q, m, w, func(rule.ID, expect.ID, string, string) { is = false })
	return is
}

// goesOn reports whether a source whose clock is that of the packets has told of events up to a time: its log does not end before.
func (s *Source) goesOn(at int64) bool { return s.pushed || s.complete || s.newest > at }

// comes reports whether the event that belongs to a packet of a time may yet come.
func (s *Source) comes(at int64) bool { return !s.ended && !(s.exact && s.goesOn(at)) }

// request compares a message with the work requests. It returns false where the request may yet come.
func (a *Agent) request(q *queuePair, m *Message) bool {
	if q.typ == qp.TypeUD {
		q.sending.longest = max(q.sending.longest, m.Length)
	}
	posted := q.sending.posted.all()
	ord, has := q.sending.ordinal(m)
	if !has || q.sending.forgotten(ord+int64(m.Packets)) {
		return true
	}
	k, unsent := q.sending.place(posted, ord), int64(0) // datagrams that took no PSN
	for n := beyondMTU(posted[k:], m.Length, q.longestSent()); n > 0; n-- {
		unsent += int64(posted[k].packets)
		k++
	}
	if k == len(posted) && q.src.comes(m.Begin.Time) && q.out.msgs.end()-q.sending.compared < mostWaiting {
		return false
	}
	q.sending.unsent += unsent
	a.covered(rule.RCSEQ006)
	switch ord += unsent; {
	case k == len(posted):
		a.unrequested(q, m)
	case q.stopped != nil && ord >= q.stopped.first: // what failed or was flushed there took no PSN
		q.unmatched = noWork
	case ord == posted[k].first && q.unordered():
		return a.takes(q, m, k)
	case ord == posted[k].first:
		a.compareNext(q, m, k)
	case !m.Partial:
		a.cutShort(q, m, posted[k])
	}
	return true
}

// forgotten reports whether the packets before an ordinal are of requests that are forgotten.
func (s *sending) forgotten(ord int64) bool {
	posted := s.posted.all()
	return s.posted.first() > 0 && len(posted) > 0 && ord <= posted[0].first
}

// unrequested reports a message that no work request asks for.
func (a *Agent) unrequested(q *queuePair, m *Message) {
	if next := a.qp(q.src, q.qpn); next != q && next.early[0] { // it took requests in RESET, as was reported
		q.unmatched = noWork
		return
	}
	class, detail := rule.Violation, ""
	if !q.complete(m.Begin.Time) {
		class, detail = rule.Unproven, "the log may end before the request was posted"
	} else if q.sending.unposted {
		class, detail = rule.Unproven, "a request completed that was not posted: the log does not tell of all"
	}
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: class, Role: q.sender(), Expected: "no packet: no further request was posted",
			Actual: m.Op.String(), Detail: detail,
		},
		at: m.Begin,
	})
	q.unmatched = &sendRequest{n: q.src.n + 1} // what is posted later has other PSNs
	q.sending.strayed = class == rule.Violation || q.sending.unposted
}

// cutShort reports a message that begins before the PSNs of a request have ended. A READ of the rest of what a request reads is its retransmission.
func (a *Agent) cutShort(q *queuePair, m *Message, w *sendRequest) {
	if r := w.req(); r.Op == wqe.OpRead && wqe.OpOf(m.Op.Fn()) == wqe.Read && m.RKey == r.RKey && m.VA >= r.RemoteVA && m.VA+uint64(m.DMALen) == r.RemoteVA+uint64(w.length) {
		return
	}
	a.accuse(q, q.out.shows(m, expect.Opcode, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: rule.Violation, Role: q.sender(),
			Expected: fmt.Sprintf("the rest of request %d", w.req().ID), Actual: m.Op.String(),
		},
		event: w.event,
	}))
	q.unmatched, q.sending.strayed = w, true
}

// compareNext compares a message with the k-th of the posted requests, in whose place it comes, or with the one that it is of where that has overtaken it.
func (a *Agent) compareNext(q *queuePair, m *Message, k int) {
	if k == 0 && m.First == 0 && q.out.early && !q.src.exact && !a.startsEarly(q, m) {
		return
	}
	if !q.unordered() {
		a.overtakes(q, m, k)
	}
	posted := q.sending.posted.all()
	w := posted[k]
	untold := q.untold(m, w)
	again := k > 0 && !untold && a.repeats(q, m, posted[k-1], w)
	if again && q.unordered() && !q.src.exact {
		return // the next message is that of the next request, or which it is of is found
	}
	if untold || again || !a.compare(q, m, w) {
		q.unmatched, q.sending.strayed = w, true
		return
	}
	a.begun(q, m, w)
}

// startsEarly judges a message that comes before the start PSN in the place of the first request. It reports whether it is that of the request: else it is rather of an earlier queue pair of
// that number.
func (a *Agent) startsEarly(q *queuePair, m *Message) bool {
	if !q.sending.posted.all()[0].fits(m) {
		q.unmatched = noWork
		return false
	}
	a.starts(q)
	return true
}

// untold reports whether a message in the place of request w is rather that of one that has completed without having been posted, as was reported.
func (q *queuePair) untold(m *Message, w *sendRequest) bool {
	return len(q.sending.unknown) > 0 && !q.unordered() && w.unlike(m)
}

// noWork says that what is sent is not compared any more, and what follows in the queue is certain nonetheless.
var noWork = &sendRequest{n: math.MaxInt}

// begun judges that a request may be on the wire, as its message is.
func (a *Agent) begun(q *queuePair, m *Message, w *sendRequest) {
	a.wasPosted(q, m, w)
	if w.foreign {
		a.foreignSent(q, w, m)
	}
	if w.req().Flags&wqe.Fence != 0 {
		a.fence(q, m, w)
	}
}

// wasPosted takes over that a request was posted before its message was on the wire. Where the line of its posting is misplaced, that shows nothing.
func (a *Agent) wasPosted(q *queuePair, m *Message, w *sendRequest) {
	if w.moved || w.renames != nil {
		return
	}
	a.leaves(q.src, w.event.Time, m.Begin.Time)
	for _, v := range q.sending.settling {
		if !v.later.Seen() && w.n > v.doneN && w.event.Time >= v.done.Time {
			v.later = m.Begin
		}
	}
}

// repeats judges that a message is not that of the request before once more.
func (a *Agent) repeats(q *queuePair, m *Message, before, w *sendRequest) bool {
	is := func(w *sendRequest) bool {
		return wqe.OpOf(m.Op.Fn()) == operations[w.req().Op] && m.Length == w.length && w.event.Summed && m.CRC == w.event.Sum
	}
	if m.Partial || m.Cut || m.Length == 0 || m.Response != nil || !w.event.Summed || !is(before) || is(w) {
		return false
	}
	class, why := rule.Violation, ""
	if q.sending.departed == before {
		class, why = rule.Unproven, "the message before it was another than that of its request: the log may not tell of a request before both"
	}
	a.accuse(q, q.out.shows(m, expect.Payload, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: class, Role: q.sender(), Detail: why,
			Expected: fmt.Sprintf("the message of request %d", w.req().ID),
			Actual:   fmt.Sprintf("the message of request %d again", before.req().ID),
		},
		event: w.event,
	}))
	return true
}

// leastMTU is the smallest MTU of a port.
const leastMTU = 256

// longestSent is a length up to which datagrams of a queue pair surely fit its port; of other queue pairs all do.
func (q *queuePair) longestSent() uint32 {
	if q.typ != qp.TypeUD {
		return math.MaxUint32
	}
	return max(leastMTU, q.sending.longest)
}

// beyondMTU counts the datagrams before one of length bytes which may have been too long for the port, and were not sent then (rule UD-LEN-002).
func beyondMTU(posted []*sendRequest, length, fits uint32) int {
	for i, w := range posted {
		switch {
		case w.length == length:
			return i
		case w.length <= fits:
			return 0
		}
	}
	return 0
}
