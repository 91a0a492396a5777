package incident

import (
	"fmt"

	"ibwitness/agent"
)

// skewed tells that two clocks stamp what hosts send and what they receive.
func (t *teller) skewed() {
	if len(t.run.Skewed) == 0 {
		return
	}
	var all agent.Skew
	for k := range t.run.Skewed {
		all.Add(&t.run.Skewed[k])
	}
	if len(t.run.Apart) > 0 {
		t.clocksDiffer(&all)
		return
	}
	most := widest(t.run.Skewed)
	i := &Incident{Kind: Untrusted, Certainty: Proven, Begin: t.run.First, End: t.run.Last, Tap: most.Tap, foremost: true}
	i.show(most.Answer, most.Request)
	also := ""
	if n := len(t.run.Skewed) - 1; n > 0 {
		also = fmt.Sprintf(" and %s more", count(uint64(n), "host"))
	}
	i.What = fmt.Sprintf("The two directions of the capture have different clocks: what %v%s received is stamped at least %s too early, compared with what it sent. Of %s whose request the capture holds, %s before it.",
		most.Host, also, span(int64(most.By)), count(all.Answers, "answer"), come(all.Early, all.Answers))
	i.fact("sound", "order, counts and retransmissions within one direction; latencies, waits, and what came first of two directions, are not")
	t.lostAllTheSame(i, &all)
	i.FitsWith = []string{"two captures, one of each direction, by two cards or hosts, that were merged", "one card that stamps what it sends at another place than what it receives"}
	i.Next = []string{
		"capture again with one clock (PTP, or one card for both directions)",
		fmt.Sprintf("or merge again with corrected time: editcap -t %.6f on what %v received, or more, as the round trip comes on top, and then mergecap", most.By.Seconds(), most.Host),
	}
	t.order = append(t.order, i)
}

// lostAllTheSame says that the network lost packets, whatever the clocks are.
func (t *teller) lostAllTheSame(i *Incident, all *agent.Skew) {
	if all.NAKs == 0 || all.Again == 0 || t.copied() {
		return
	}
	i.show(all.NAK)
	i.fact("lost", fmt.Sprintf("packets in the network, all the same: %s for a PSN sequence error came, the first in frame %d, and %s %s retransmitted",
		count(all.NAKs, "NAK"), all.NAK, count(all.Again, "request packet"), were(all.Again)))
}

// widest is the host of which the clocks differ most.
func widest(list []agent.Skew) *agent.Skew {
	most := &list[0]
	for k := range list {
		if list[k].By > most.By {
			most = &list[k]
		}
	}
	return most
}

// come says how many of all come.
func come(n, of uint64) string {
	switch {
	case n == of:
		return "all come"
	case n == 1:
		return "1 comes"
	}
	return number(n) + " come"
}
