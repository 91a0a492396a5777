package cq

import (
	"math"
	"slices"
)

const (
	// kept is how many requests and messages are kept at least, of those that nothing waits for any more: what comes next is compared with them.
	kept = 64
	// mostKept is how many are kept of which nothing has come for so long: completions that nobody polls, or that no log tells of.
	mostKept = 1 << 16
	// mostNAKs is how many negative acknowledgements are kept, and how many times that a requester has gone back.
	mostNAKs = 1024
	// mostGone is how many queue pairs are kept that are gone and of which nothing is outstanding.
	mostGone = 1024
	// lifeKept is how long a queue pair is kept that was destroyed or reset: its completions may wait in their queue.
	lifeKept = int64(10e9)
)

// retire forgets the requests and messages of a queue pair that nothing is compared with any more.
func (a *Agent) retire(q *queuePair) {
	if q.sends.end()-q.sends.first() > 2*kept {
		a.retireSends(q)
	}
	if r := q.recvs; r.list.end()-r.list.first() > 2*kept {
		r.retire()
	}
	if q.receiving.arrived.end()-q.receiving.arrived.first() > 4*kept {
		q.retireArrived()
	}
	q.out.retire()
	if q.in != q.out {
		q.in.retire()
	}
}

// retireSends forgets send requests that are completed, whose completion was judged and whose message was compared.
func (a *Agent) retireSends(q *queuePair) {
	n, on := q.sends.first(), q.sending.wire(q.out)
	switch {
	case !q.out.first.Seen():
		on = 0
	case !q.known || q.unmatched != nil || !q.out.followed():
		on = math.MaxInt64
	}
	for end := min(q.oldest, q.sends.end()-kept); n < end && a.over(q, q.sends.at(n), on); n++ {
	}
	for n < q.sends.end()-mostKept {
		n++
	}
	for _, w := range q.sends.before(n) {
		q.past.add(w.req().ID)
	}
	q.sends.drop(n)
	q.sending.rests.set = false
	q.oldest = max(q.oldest, n)
	if q.sends.first() == q.sends.end() {
		return
	}
	list, since := q.sending.posted.all(), q.sends.at(q.sends.first()).n
	k := 0
	for k < len(list) && list[k].n < since {
		k++
	}
	if k > 0 {
		a.generation++
	}
	q.sending.posted.drop(q.sending.posted.first() + k)
}

// over reports whether nothing more is to be said of a send request, where messages were compared up to an ordinal: what has not been on the wire for long since
// it completed, the capture has missed.
func (a *Agent) over(q *queuePair, w *sendRequest, on int64) bool {
	switch {
	case w.done == nil:
		return w.last() < on && (q.answered(w) != nil || !q.reliable() || w.local() || on == math.MaxInt64)
	case !w.settled:
		return false
	}
	return w.local() || w.last() < on || a.passed(q.src, w.done.Time+patience)
}

// wire is the ordinal up to which the messages of a stream were compared with requests.
func (s *sending) wire(out *Requests) int64 {
	if out.msgs.has(s.compared) {
		return out.msgs.at(s.compared).First + s.unsent
	}
	return out.reportedTo() + s.unsent
}

// retire forgets receive requests that have completed, whose completion was judged.
func (r *receiveQueue) retire() {
	n := r.list.first()
	for end := r.list.end() - kept; n < end; n++ {
		if x := r.list.at(n); !x.done || !x.judged {
			break
		}
	}
	n = max(n, r.list.end()-mostKept)
	for _, x := range r.list.before(n) {
		id := x.event.Receive.ID
		if same := r.byID[id]; same.first == x {
			if same.first = x.next; x.next == nil {
				delete(r.byID, id)
			} else {
				r.byID[id] = same
			}
		}
		r.past.add(id)
	}
	r.list.drop(n)
	r.oldest = max(r.oldest, n)
}

// retireArrived forgets messages that take a receive request and whose completion was judged.
func (q *queuePair) retireArrived() {
	r := &q.receiving
	n := min(r.place, r.accepted, r.named) - 2*kept
	for _, x := range r.early {
		n = min(n, x.n)
	}
	r.arrived.drop(max(n, r.arrived.end()-mostKept))
	if len(r.skipped) > mostKept {
		r.skipped = r.skipped[kept:]
	}
}

// retire forgets messages that both ends have been judged by.
func (s *Requests) retire() {
	if s.msgs.end()-s.msgs.first() <= 4*kept {
		return
	}
	n, low := s.msgs.end()-2*kept, int64(math.MaxInt64)
	if q := s.requester; q != nil && q.out == s {
		from, ord := q.needsSent()
		n, low = min(n, from), min(low, ord)
	}
	receiver := s.responder
	if receiver != nil && receiver.in != s {
		receiver = nil
	}
	if receiver != nil {
		from, ord := receiver.needsReceived()
		n, low = min(n, from), min(low, ord)
	}
	n = max(n, s.msgs.end()-mostKept)
	k := s.msgs.first()
	for k < n && s.msgs.at(k).Last() < low {
		if receiver != nil {
			receiver.usedUp(s.msgs.at(k))
		}
		k++
	}
	s.msgs.drop(k)
	if k < s.msgs.end() {
		s.forget(s.msgs.at(k).First)
	}
}

// needsSent is which of the messages that a queue pair has sent are still to be judged: from a number on, and from an ordinal on.
func (q *queuePair) needsSent() (n int, ord int64) {
	n, ord = q.sending.drained, math.MaxInt64
	if q.known && q.unmatched == nil && q.out.followed() {
		n = min(n, q.sending.compared)
	}
	if list := q.sending.posted.all(); len(list) > 0 {
		ord = list[0].first - q.sending.unsent
	}
	return n, ord
}

// needsReceived is that of the messages that it has received.
func (q *queuePair) needsReceived() (n int, ord int64) {
	r := &q.receiving
	n, ord = min(r.sorted, r.executed), math.MaxInt64
	if list := r.arrived.all(); len(list) > 0 {
		ord = min(ord, list[0].First)
	}
	if list := r.stored.all(); len(list) > 0 {
		ord = min(ord, list[0].ord)
	}
	if i := r.naks - q.in.naksGone; i < len(q.in.naks) {
		ord = min(ord, q.in.naks[i].Ord)
	}
	return n, ord
}

// forget drops what is known of the answers to, and of retransmissions of, what came before an ordinal.
func (s *Requests) forget(ord int64) {
	s.answers++
	k := 0
	for k < len(s.acks)-1 && s.acks[k].ord < ord-1 {
		k++
	}
	if k > len(s.acks)/2 {
		s.acks = append(s.acks[:0], s.acks[k:]...)
	}
	if n := len(s.naks) - mostNAKs; n > mostNAKs {
		s.naks = append(s.naks[:0], s.naks[n:]...)
		s.naksGone += n
	}
	if n := len(s.backs) - mostNAKs; n > mostNAKs {
		s.backs = append(s.backs[:0], s.backs[n:]...)
	}
	if n := len(s.odd) - mostNAKs; n > mostNAKs {
		s.odd = append(s.odd[:0], s.odd[n:]...)
	}
	if len(s.again) > mostNAKs {
		for k := range s.again {
			if k < ord {
				delete(s.again, k)
			}
		}
	}
}

// usedUp counts a message that is forgotten among those that have taken a request of a shared receive queue.
func (q *queuePair) usedUp(m *Message) {
	if !m.mayConsume() {
		return
	}
	switch {
	case q.recvs.number != 0:
		q.recvs.used++
	case q.recvs.shared:
		if r := q.src.shared[srqOf(m)]; r != nil {
			r.used++
		}
	}
}

// forgottenIDs is the IDs of the newest requests that are forgotten.
type forgottenIDs struct {
	ids [kept]uint64
	n   int
}

func (p *forgottenIDs) add(id uint64) {
	p.ids[p.n%kept] = id
	p.n++
}

func (p *forgottenIDs) has(id uint64) bool {
	for _, x := range p.ids[:min(p.n, kept)] {
		if x == id {
			return true
		}
	}
	return false
}

// retireLives forgets queue pairs that were destroyed or reset long ago, and the oldest of many that were and that nothing is outstanding of.
func (a *Agent) retireLives() {
	many := -mostGone
	for _, q := range a.lives {
		if q.gone && q.idle() {
			many++
		}
	}
	left := a.lives[:0]
	for _, q := range a.lives {
		crowded := q.gone && many > 0 && q.idle()
		if !crowded && !(q.gone && a.passed(q.src, q.died+lifeKept)) {
			left = append(left, q)
			continue
		}
		if crowded {
			many--
		}
		a.step(q)
		a.conclude(q)
		list := slices.DeleteFunc(q.src.qps[q.qpn], func(x *queuePair) bool { return x == q })
		q.src.setLifetimes(q.qpn, list)
	}
	clear(a.lives[len(left):])
	a.lives = left
	for _, s := range a.sources {
		clear(s.toward)
	}
	for _, q := range a.lives {
		q.src.connects(q)
	}
	clear(a.flows)
	clear(a.recent[:])
}

// idle reports whether no request of a queue pair waits for its completion, and no completion for a packet.
func (q *queuePair) idle() bool {
	for _, w := range q.sends.from(q.oldest) {
		if w.done == nil && w.signaled(q) {
			return false
		}
	}
	for _, r := range q.recvs.list.from(q.recvs.oldest) {
		if !r.done && !q.recvs.shared {
			return false
		}
	}
	return len(q.sending.settling) == 0 && len(q.receiving.waiting) == 0
}
