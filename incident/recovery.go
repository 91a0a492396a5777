package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// noRecovery is how long after the last CNP messages have to be sent slowly to show that their sender does not come up again.
const noRecovery = int64(10 * time.Millisecond)

// slowness is how long messages of one size took to be sent, from their first packet to their last, nanoseconds.
type slowness struct {
	bytes         uint32
	before, after int64 // median until the first CNP, and after the last
	lasted        int64 // from the last CNP to the end of the newest message
}

// staysSlow is how slowly the messages of an end of a connection are sent after the last of CNPs x; false: one was sent nearly as fast as before, or they become faster, or that is not known. While
// a message is sent, its sender has data to send: pauses between them do not count.
func staysSlow(c *agent.Connection, from int, x *qp.Notified) (s slowness, ok bool) {
	bytes, known := sizeOfAll(c, from)
	if !known {
		return s, false
	}
	var before, after []int64
	for _, m := range c.Timing.Ends[from].Sent {
		switch took := m.End - m.Begin; {
		case m.End <= x.First:
			before = append(before, took)
		case m.Begin >= x.Last:
			after = append(after, took)
			s.lasted = m.End - x.Last
		}
	}
	if min(len(before), len(after)) < fewestBefore || s.lasted < noRecovery || float64(after[len(after)-1]) < asFast*float64(after[0]) {
		return s, false
	}
	slices.Sort(before)
	slices.Sort(after)
	s.bytes, s.before, s.after = bytes, before[len(before)/2], after[len(after)/2]
	return s, after[0] >= collapsed*s.before
}

// told says of a sender how slowly its messages are sent.
func (s *slowness) told(from packet.Addr) string {
	return fmt.Sprintf("%v sent a message of %s in %s until the first CNP (%s), and in %s after the last (%s), no faster up to %s after it", from, count(uint64(s.bytes), "byte"),
		span(s.before), rate(uint64(s.bytes), s.before), span(s.after), rate(uint64(s.bytes), s.after), span(s.lasted))
}

// recovery tells which senders stay slow though no CNP comes to them any more, and which were as fast as before again; false: none stays slow.
func (t *teller) recovery(i *Incident, list []sender) bool {
	if !t.timed() {
		return false
	}
	var slow, again []packet.Addr
	var told []string
	for _, s := range list {
		if worst := t.slowest(s.onWay); worst != nil {
			slow, told = append(slow, s.from), append(told, worst.told(s.from))
		} else if around := t.around(s.way); around.n > 0 && around.pace.reacted(around.n) {
			again = append(again, s.from)
		}
	}
	if len(slow) == 0 {
		return false
	}
	text, beside := enumerate(told[:min(len(told), portsShown)]), ""
	if len(again) > 0 {
		text += fmt.Sprintf("; %s slowed down too, and %s as fast as before again later", someOf(again), were(uint64(len(again))))
		beside = ", beside that of " + again[0].String()
	}
	i.fact("recovery", text)
	i.What = fmt.Sprintf("%s; the rate of %s does not come up again after the last.", i.What[:len(i.What)-1], someOf(slow))
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("congestion control of %s (DCQCN, reaction point) that does not raise the rate again, or so slowly that this capture does not show it", someOf(slow)))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("how the reaction point of %s raises the rate again (ecn/roce_rp: rpg_time_reset, rpg_ai_rate, rpg_hai_rate, rpg_max_rate, clamp_tgt_rate)%s, and its firmware", someOf(slow), beside))
	return true
}

// slowest is how slowly the slowest queue pair of a host sends of those that stay slow; nil: none does, or the network still marks what the host sends.
func (t *teller) slowest(w *onWay) (worst *slowness) {
	for c, from := range t.notified(w.way) {
		x := c.Ends[from].Trouble.Notified
		if w.marked.n > 0 && w.marked.last.time-x.Last >= tellingTime {
			continue
		}
		if s, ok := staysSlow(c, from, x); ok && (worst == nil || s.after > worst.after) {
			worst = &s
		}
	}
	return worst
}
