package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// Marks of the network that receivers answer are what congestion control is for: they are told where there are so many, or of so large a part of the packets, one in so many.
const (
	manyMarks  = 16
	marksShare = 1000
)

// sender is who sent what met congestion on the way to a receiver, and in how many bytes a second meanwhile; 0: that is not known.
type sender struct {
	*onWay
	rate  float64
	least bool // at least so many
}

// congested tells of the hosts that what was sent to met congestion.
func (t *teller) congested(ways []*onWay) {
	var receivers []packet.Addr
	of := map[packet.Addr][]*onWay{}
	for _, w := range ways {
		if w.marked.n+w.notified.n == 0 {
			continue
		}
		if of[w.to] == nil {
			receivers = append(receivers, w.to)
		}
		of[w.to] = append(of[w.to], w)
	}
	t.countMarks(ways)
	for _, to := range receivers {
		if list := of[to]; !t.slight(list) {
			t.congestion(to, list, t.answersBeside(to, of))
		}
	}
}

// countMarks takes, of the ways on which packets were marked, how many were from what was measured of their connections, where the events are fewer: of these, not all are kept.
func (t *teller) countMarks(ways []*onWay) {
	if !slices.ContainsFunc(ways, func(w *onWay) bool { return w.marked.n > 0 }) {
		return
	}
	measured := map[way]uint64{}
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if c.Timing != nil {
				measured[way{c.Ends[e].Addr, c.Ends[1-e].Addr}] += c.Timing.Ends[e].Marked
			}
		}
	}
	for _, w := range ways {
		if w.marked.n > 0 {
			w.marked.n = max(w.marked.n, measured[w.way])
		}
	}
}

// slight reports whether congestion is no more than what congestion control takes care of: few packets were marked, and the receiver answered.
func (t *teller) slight(ways []*onWay) bool {
	marked, notified, sent := uint64(0), uint64(0), uint64(0)
	on := map[way]bool{}
	for _, w := range ways {
		marked, notified, on[w.way] = marked+w.marked.n, notified+w.notified.n, true
	}
	if marked == 0 || notified == 0 {
		return false
	}
	t.eachOn(on, func(e *agent.End) { sent += e.Packets })
	return marked < max(manyMarks, sent/marksShare)
}

// retransmittedOn is how many packets were retransmitted on some ways, and how many NAKs were sent there.
func (t *teller) retransmittedOn(ways []*onWay) (n uint64) {
	on := map[way]bool{}
	for _, w := range ways {
		on[w.way], on[way{w.to, w.from}] = true, true
	}
	t.eachOn(on, func(e *agent.End) { n += uint64(e.Retransmissions) + uint64(e.NAKs) })
	return n
}

// costOn says how many packets of some hosts, which are named, to a receiver were retransmitted; "": none.
func (t *teller) costOn(from string, to packet.Addr, ways []*onWay) string {
	on := map[way]bool{}
	for _, w := range ways {
		on[w.way] = true
	}
	again, sent := uint64(0), uint64(0)
	t.eachOn(on, func(e *agent.End) { again, sent = again+uint64(e.Retransmissions), sent+e.Packets })
	if again == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s from %s to %v were retransmitted (%s)", number(again), count(sent, "packet"), from, to, share(again, sent))
}

// droppedOn says how often packets on some ways were lost before the tap, and that timers had to run out for them; "": they had not, or packets were
// damaged, trimmed or overtaken too.
func (t *teller) droppedOn(ways []*onWay) string {
	on, before, timers, timer, other := map[way]bool{}, uint64(0), uint64(0), int64(0), !t.timed()
	for _, w := range ways {
		on[w.way], other = true, other || t.damaged[w.way] || t.cut[w.way]
	}
	t.eachOn(on, func(e *agent.End) {
		if e.Trouble == nil {
			return
		}
		p := placesOf(e.Trouble)
		other = other || e.Trouble.Overtaking.All().Packets > 0
		if before, timers = before+uint64(p.before+p.unseen), timers+uint64(p.unseen); p.unseen > 0 && e.Timer > 0 && (timer == 0 || e.Timer < timer) {
			timer = e.Timer
		}
	})
	if other || timer == 0 || timers < tellingRounds {
		return ""
	}
	return fmt.Sprintf("packets were lost before the tap at least %s, as where a full queue drops them; %s a timer of %s or longer had to run out for them", times(before), times(timers), span(timer))
}

// eachOn calls a function with each end of a connection that sends on one of some ways.
func (t *teller) eachOn(on map[way]bool, do func(e *agent.End)) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if on[way{c.Ends[e].Addr, c.Ends[1-e].Addr}] {
				do(&c.Ends[e])
			}
		}
	}
}

// congestion tells of what met congestion on the way to a receiver; other is one that answers marks, where this one does not; nil: there is none.
func (t *teller) congestion(to packet.Addr, ways []*onWay, other *answering) {
	var all onWay
	for _, w := range ways {
		all.marked.merge(&w.marked)
		all.notified.merge(&w.notified)
	}
	all.to = to
	i := all.about(Congestion, &all.marked, &all.notified)
	list := t.senders(ways, i)
	i.Local.Addr = list[0].from
	for _, s := range list[1:] {
		i.Also = append(i.Also, s.from)
	}
	from, marks := list[0].from.String(), t.atLeast(all.marked.n, "packet")
	if len(list) > 1 {
		from = fmt.Sprintf("%d hosts", len(list))
	}
	t.marksAndNotices(i, &all, from+t.nearlyAll(list), marks, len(list) == 1)
	bursts := t.burstsTo(to, i.Begin, i.End)
	t.inEpisodes(i, bursts, all.marked.n)
	unequal := t.unmarkable(i, list)
	if !unequal {
		unequal = t.several(i, list, bursts, &all) // what congestion control leaves to a sender
		unequal = t.recovery(i, list) || unequal
	}
	slumps := !unequal && all.marked.n > 0 && all.notified.n > 0 && t.retransmittedOn(ways) == 0 && t.slump(i, list, bursts)
	switch {
	case other != nil:
		t.unlikeOther(i, other, marks, from)
	case all.notified.n == 0:
		i.pointsOff(to)
	}
	if i.unequal = unequal || slumps; !i.unequal && bursts != nil && all.notified.n > 0 {
		i.fact("bursts", bursts.falls)
	}
	t.loneBursts(i, list, bursts)
	slow := !unequal && all.marked.n > 0 && all.notified.n > 0 && t.slowPort(i, to)
	if t.hosts[to].last != 0 && t.retransmittedOn(ways) == 0 {
		i.fact("lost", "nothing: no packet of these connections was retransmitted")
		i.harmless = all.notified.n > 0 && !unequal && !slumps
		if all.marked.n > 0 && i.harmless && !slow {
			t.controlled(i, list)
		}
	} else {
		i.fact("cost", t.costOn(from, to, ways))
		i.fact("dropped", t.droppedOn(ways))
	}
	for _, s := range list {
		t.reaction(i, s.way, len(list) == 1)
	}
	if how := t.malformedCNPs(to); how != "" && all.notified.n > 0 {
		drop := "an adapter may drop them"
		if i.heeding != "" {
			drop = "that has not kept queue pairs from slowing down after them, of " + i.heeding
		}
		i.fact("CNPs", fmt.Sprintf("each breaks rule CNG-CNP-003 (%s): %s", how, drop))
	}
	if !i.unequal {
		t.unmarkedBeside(i, list)
	}
	t.tellAs(i, group{kind: Congestion, peer: to})
}

// marksAndNotices says how much congestion a receiver's marks and notifications tell of, on the way from one host, or several.
func (t *teller) marksAndNotices(i *Incident, all *onWay, from, marks string, single bool) {
	to, whom, unmarked, notices := all.to, "them", "them", t.atLeast(all.notified.n, "CNP")
	if single {
		whom, unmarked = "the sender", from
	}
	switch {
	case all.notified.n == 0:
		i.What = fmt.Sprintf("The network marked %s from %v to %v as having met congestion, and no notification (CNP) of %v is in the capture.", marks, from, to, to)
		i.FitsWith = []string{pointOff}
		if t.hosts[to].last == 0 {
			i.FitsWith = append(i.FitsWith, "a capture that does not hold the way back")
		}
		i.Next = []string{pointOf(to)}
	case all.marked.n == 0:
		i.What = fmt.Sprintf("%v asked %v to slow down with %s; no packet from %v is marked in the capture.", to, from, notices, unmarked)
		i.FitsWith = []string{"a tap before the switch that marks: it shows the packets unmarked"}
		i.Next = []string{"the queues of the switches between this tap and " + to.String()}
	default:
		i.What = fmt.Sprintf("The network marked %s from %v to %v as having met congestion, and %v asked %s to slow down with %s.", marks, from, to, to, whom, notices)
		i.FitsWith = []string{"more senders to " + to.String() + " than its link has room for (incast)", slowerLink}
		i.Next = []string{"the marking threshold and the queues of the switches between"}
		if single {
			i.Next = slices.Insert(i.Next, 0, "who else sends to "+to.String()+" at that time")
		}
	}
}

// several tells of senders, where there are several, which of them sends how much. It reports whether one does not slow down while others do.
func (t *teller) several(i *Incident, list []sender, bursts *burstsTo, all *onWay) bool {
	if len(list) < 2 {
		return t.flowKeeps(i, list)
	}
	idle := bursts != nil && bursts.idle
	how := ""
	if bursts != nil && bursts.few {
		for k := range list {
			list[k].rate = 0 // averages tell nothing
		}
		sortSenders(list)
	}
	if idle {
		how = bursts.rates(list)
		sortSenders(list)
	}
	i.fact("senders", t.shares(list, how))
	if t.flowKeeps(i, list) || bursts != nil && (t.keepsOn(i, list, bursts) || t.keepsRate(i, list, bursts) || idle && t.neverSlows(i, list, bursts)) || !idle && t.doesNotSlow(i, list) || t.atFullRate(i, list) {
		return true
	}
	t.ratesOfAll(i, list, all.marked.n > 0, bursts)
	if !idle {
		i.greedy(list, t.limited(), all.notified.n)
	}
	return false
}

// merge adds what was seen elsewhere.
func (s *seen) merge(o *seen) {
	if o.n == 0 {
		return
	}
	if s.n == 0 || o.first.time < s.first.time {
		s.first = o.first
	}
	if s.n == 0 || o.last.time > s.last.time {
		s.last = o.last
	}
	s.n += o.n
}
