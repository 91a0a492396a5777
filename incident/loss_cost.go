package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// cost says what retransmissions cost.
func (t *teller) cost(c *agent.Connection, from int, k *qp.Trouble) string {
	payload := count(k.Again.Bytes, "byte") + " of payload retransmitted"
	if k.Sum.Rounds[qp.ResponseLost] > 0 {
		payload += ", READ responses that came once more not counted"
	}
	if !t.timed() {
		return payload
	}
	if took := asAlways(c, from, k); took > 0 {
		return fmt.Sprintf("no time: answers took as long as always, up to %s; %s", span(took), payload)
	}
	lost := k.Sum.Lost - k.Sum.Refused
	without := span(lost) + " without progress in all"
	if whole := c.Ends[from].Last - c.First; whole > 0 {
		without += fmt.Sprintf(", of %s (%s)", span(whole), share(uint64(min(lost, whole)), uint64(whole)))
	}
	return without + "; " + payload
}

// asAlways is how long the answers took at most to requests of end from, which a timer had retransmitted though none was lost, where they took no longer than most: it delayed nothing. 0: they did, or that is not known.
func asAlways(c *agent.Connection, from int, k *qp.Trouble) int64 {
	n := k.Sum.Total() - uint64(k.Sum.Rounds[qp.NotReady])
	_, took := shortestTimer(k)
	if usual := usuallyTook(c, from); uint64(lateRounds(k)) < n || took > usual+usual/8 {
		return 0
	}
	return took
}

// wentBack is what requesters retransmitted, and how long they waited without progress.
type wentBack struct {
	rounds         uint64 // that nothing refused
	packets, bytes uint64 // retransmitted, and their payload
	lost, longest  int64  // time without progress: in all, and at a time, nanoseconds
}

// add adds what trouble k cost a requester.
func (w *wentBack) add(k *qp.Trouble) {
	w.rounds += k.Sum.Total() - uint64(k.Sum.Rounds[qp.NotReady])
	w.packets, w.bytes = w.packets+k.Again.Packets, w.bytes+k.Again.Bytes
	w.lost += k.Sum.Lost - k.Sum.Refused
	for n := range k.Longest {
		if x := &k.Longest[n]; x.NAKs == 0 && x.Total() > 0 {
			w.longest = max(w.longest, x.Lost())
		}
	}
}

// sum adds what others cost.
func (w *wentBack) sum(o *wentBack) {
	w.rounds, w.packets, w.bytes = w.rounds+o.rounds, w.packets+o.packets, w.bytes+o.bytes
	w.lost, w.longest = w.lost+o.lost, max(w.longest, o.longest)
}
