package gmp

import (
	"time"

	"ibwitness/mad"
	"ibwitness/subnet"
)

// asked counts the requests of a pair of one class.
type asked struct {
	requests uint64
	answered int64 // when one was answered last; 0: none was
}

func (q *peer) askedOf(c mad.Class) *asked {
	t := q.asked[c]
	if t == nil {
		if q.asked == nil {
			q.asked = map[mad.Class]*asked{}
		}
		t = new(asked)
		q.asked[c] = t
	}
	return t
}

// unserved reports whether the capture holds no answer to a request.
func (x *exchange) unserved() bool { return x.asked && !x.answered && x.came == 0 }

// leave counts a request that is forgotten without having been answered.
func (t *table) leave(x *exchange) {
	if !x.unserved() {
		return
	}
	if t.left == nil {
		t.left = map[mad.Class]uint64{}
	}
	t.left[x.key.class]++
}

// late takes back that a request was left without an answer: its answer came after its successor with the same transaction ID.
func (t *table) late(c mad.Class) {
	if t.left[c] > 0 {
		t.left[c]--
	}
}

// shortly is for how long a request that was retransmitted waits at least before it counts as unanswered, and one of several.
const shortly = int64(time.Second)

// tells reports whether a request waits for longer at time end than responders take: for the time that its class has, or for a second, if it was retransmitted, since
// the last of its copies, or between three or more.
func (q *peer) tells(x *exchange, end int64) bool {
	most := limit(defaultRespTime)
	if r, ok := q.respTime(x.key.class); ok {
		most = max(limit(r), shortly)
	}
	waited := end - x.time
	return x.repeats > 0 && waited > shortly || x.repeats > 1 && x.time-x.began > shortly || waited > most
}

// Waiting returns how many requests have no answer yet, however shortly they wait, and since when the oldest of them does.
func (v *Verifier) Waiting() (n uint64, since int64) {
	for _, q := range v.list {
		for i := range q.table.ring {
			if x := &q.table.ring[i]; x.unserved() {
				if n++; since == 0 || x.began < since {
					since = x.began
				}
			}
		}
	}
	return n, since
}

// Unanswered returns the requests without an answer at time end, by pair and class, of those pairs and classes of which one waits for longer than responders take.
func (v *Verifier) Unanswered(end int64) (all []subnet.Unanswered) {
	for _, q := range v.list {
		begin := len(all)
		for i := range q.table.ring {
			x := &q.table.ring[i]
			if !x.unserved() || !q.tells(x, end) {
				continue
			}
			at := begin
			for at < len(all) && all[at].Class != x.key.class {
				at++
			}
			if at == len(all) {
				t := q.askedOf(x.key.class)
				all = append(all, subnet.Unanswered{
					From: q.pair.from, To: q.pair.to, Class: x.key.class, Asked: t.requests, Answered: t.answered, Tap: x.tap, PKey: x.pkey, Reached: q.reached(),
				})
			}
			all[at].Add(x.h.AttributeName(), uint64(x.repeats), x.began, x.time, x.first, x.frame)
		}
		for i := begin; i < len(all); i++ {
			all[i].Requests += q.table.left[all[i].Class]
		}
	}
	return all
}

// Served returns the classes of each pair of which all requests were answered.
func (v *Verifier) Served() (all []subnet.Served) {
	for _, q := range v.list {
		for class, t := range q.asked {
			if t.answered != 0 && q.table.left[class] == 0 && !q.lacks(class) {
				all = append(all, subnet.Served{From: q.pair.from, To: q.pair.to, Class: class, Asked: t.requests, Answered: t.answered})
			}
		}
	}
	return all
}

// lacks reports whether a request of a class has no answer yet.
func (q *peer) lacks(c mad.Class) bool {
	for i := range q.table.ring {
		if x := &q.table.ring[i]; x.key.class == c && x.unserved() {
			return true
		}
	}
	return false
}

// reached reports whether the port has answered any request of the pair.
func (q *peer) reached() bool {
	for _, t := range q.asked {
		if t.answered != 0 {
			return true
		}
	}
	return false
}
