package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// trimmed tells of packets that came cut short with another DSCP, by receiver.
func (t *teller) trimmed(ways []*onWay) {
	told := map[packet.Addr]bool{}
	for n, w := range ways {
		if w.trimmed.n == 0 || told[w.to] {
			continue
		}
		told[w.to] = true
		all, most := *w, w
		all.bursts = slices.Clone(w.bursts)
		var also []packet.Addr
		for _, o := range ways[n+1:] {
			if o.to != w.to || o.trimmed.n == 0 {
				continue
			}
			for _, b := range o.bursts {
				all.bursts = all.bursts.add(b)
			}
			if all.trimmed.merge(&o.trimmed); o.trimmed.n > most.trimmed.n {
				o, most = most, o
			}
			also = append(also, o.from)
		}
		all.from = most.from
		t.trimmedTo(&all, also)
	}
}

// trimmedTo tells of packets that came cut short to a host, most of them from that of the way, and from others.
func (t *teller) trimmedTo(w *onWay, also []packet.Addr) {
	i := w.about(Trimmed, &w.trimmed)
	from := w.from.String()
	if i.Also = also; len(also) > 0 {
		from = fmt.Sprintf("%d hosts", len(also)+1)
	}
	i.What = fmt.Sprintf("%s from %s to %v came cut short, with another DSCP than the others of their connection.", t.atLeast(w.trimmed.n, "packet"), from, w.to)
	i.bursts, i.damaged = w.bursts, w.trimmed.n
	i.fact("cables", "do not do this: bit errors damage packets, but neither cut them nor give them another DSCP")
	cost, r := t.costOfTrims(w.to), t.repairsTo(w.to)
	cost.asked = max(cost.asked, uint32(min(r.asked, uint64(cost.naks))))
	r.takeTimers(&cost)
	i.fact("recovery", cost.recovered(w.to))
	i.fact("cost", t.trimmingCost(i, w.to, &cost, r))
	i.fact("bursts", t.said(w.bursts))
	f := &w.trimmed.first
	i.fact("first", fmt.Sprintf("frame %d, %v, PSN %v: %s", f.frame, f.op, f.psn, f.said))
	receiver := "drops each of them: what its ICRC covers is not there"
	i.FitsWith = []string{"a switch whose queue was full and that trims packets in place of dropping them (packet trimming), so that the receiver learns of the loss"}
	if cost.lacked(w.trimmed.n) {
		receiver += "; it asked for what was cut with " + cost.naksSaid() + ", and as much was retransmitted: neither a snap length nor a tap cut it"
	} else if cost.askedForTrims(r.asked, w.trimmed.n) {
		receiver += fmt.Sprintf("; %s: neither a snap length nor a tap cut it", r.asksForTrims(uint64(cost.naks)))
	} else {
		i.FitsWith = append(i.FitsWith, "a tap or mirror that cuts frames, on a path that sets the DSCP")
	}
	i.fact("receiver", receiver)
	i.tellDSCP(r.dscps)
	t.unmarkedTrims(i)
	i.Next = []string{"ECN thresholds and pacing of the senders, where many of them send at once (incast); trimming off for this traffic class, where the adapters do not know it", "the queues and the trimming profile of the switches between, and which DSCP they give to what they trim", "whether the adapter of " + w.to.String() + " knows trimmed packets: one that does not waits for the next packet, or the timer of the sender"}
	t.tellRepairs(i, w.to, r)
	t.tellAs(i, group{kind: Trimmed, peer: w.to})
}

// burstGap is for how long no packet is trimmed between two bursts at least: until the queue is full again.
const burstGap = int64(5 * time.Millisecond)

// mostBursts is how many bursts are kept of a way; those after these belong to the last.
const mostBursts = 64

// bursts are when packets were trimmed, first and last, without a break, in the order of time.
type bursts [][2]int64

// add takes a burst.
func (b bursts) add(x [2]int64) bursts {
	at, _ := slices.BinarySearchFunc(b, x, func(a, x [2]int64) int { return cmp.Compare(a[1], x[0]-burstGap) })
	end := at
	for ; end < len(b) && b[end][0] <= x[1]+burstGap; end++ {
		x = [2]int64{min(x[0], b[end][0]), max(x[1], b[end][1])}
	}
	b = slices.Replace(b, at, end, x)
	if len(b) > mostBursts {
		b[mostBursts-1][1] = b[mostBursts][1]
		b = b[:mostBursts]
	}
	return b
}

// said says when the bursts were, where there are several, in the time of the capture.
func (t *teller) said(b bursts) string {
	if len(b) < 2 || len(b) >= mostBursts || !t.timed() {
		return ""
	}
	const shown = 6
	list := []string(nil)
	for _, x := range b[:min(len(b), shown)] {
		at := fmt.Sprintf("%+.6f s", float64(x[0]-t.run.First)/1e9)
		if x[1] > x[0] {
			at += " for " + span(x[1]-x[0])
		}
		list = append(list, at)
	}
	if more := len(b) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%d: %s", len(b), strings.Join(list, ", "))
}

// trimsCost is what those that sent to a host what came trimmed lost by it.
type trimsCost struct {
	wentBack
	naks         uint32     // PSN sequence NAKs in all
	sent         uint64     // packets
	pairs, open  int        // queue pairs, and those of which something waits for an answer when the capture ends
	timers       uint32     // rounds that a timer began
	senders      []timedOut // how often timers ran out, where nothing shows that it was for something else
	asked, whole uint32     // PSN sequence NAKs of what was trimmed or lost before the tap, and of what had passed it whole
}

// costOfTrims adds up what it cost to send to a host what came trimmed.
func (t *teller) costOfTrims(to packet.Addr) (s trimsCost) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if c.Ends[1-from].Addr != to || !t.cut[way{e.Addr, to}] {
				continue
			}
			if s.pairs++; !c.Service.Reliable() || e.Open > 0 || e.Stalled || c.Ends[1-from].Open > 0 || c.Ends[1-from].Stalled {
				s.open++ // of another service it is not known
			}
			if s.sent += e.Packets; e.Trouble == nil {
				continue
			}
			k := e.Trouble.Settled(false)
			s.add(&k)
			timers := timersThatFit(e, &k)
			s.timers += timers
			if p := placesOf(&k); p.earlier+p.late+p.back+p.over+p.unsent == 0 { // else others may have run out for something else
				s.timed(e.Addr, timers)
			}
			s.naks += c.Ends[1-from].SequenceNAKs
			s.asked, s.whole = s.asked+k.Asked.Before, s.whole+k.Asked.After
		}
	}
	return s
}

// timersThatFit is how many rounds of retransmission a timer began, of which no more fit into the time without progress than there is room for, by how long one ran, and hardly an adapter has one
// shorter than a millisecond: what comes before trimmed packets that overtook it looks like one.
func timersThatFit(e *agent.End, k *qp.Trouble) uint32 {
	n := int64(k.Sum.Rounds[qp.TimerExpired])
	if e.Timer > 0 && k.Sum.Lost >= e.Timer {
		n = min(n, (k.Sum.Lost+e.Timer/2)/e.Timer) // one differs from the other by less
	}
	if k.Sum.Lost > 0 {
		n = min(n, k.Sum.Lost/soonestTimer)
	}
	return uint32(n)
}

// soonestTimer is how long the timer of a requester runs at least, of hardly any adapter for less, nanoseconds.
const soonestTimer = int64(time.Millisecond)

// timed takes n rounds of a sender that a timer began.
func (s *trimsCost) timed(from packet.Addr, n uint32) {
	if n > 0 {
		s.senders = addTimed(s.senders, from, uint64(n))
	}
}

// naksSaid says how many PSN sequence NAKs asked for what was cut: of some it may not be known.
func (s *trimsCost) naksSaid() string {
	if s.naks > s.asked {
		return fmt.Sprintf("at least %s of its %s", number(uint64(s.asked)), count(uint64(s.naks), "PSN sequence NAK"))
	}
	return count(uint64(s.asked), "PSN sequence NAK")
}

// lacked reports whether a receiver had not got what came trimmed, n packets: it asked for it, and for nothing that had passed the tap whole, and as much was retransmitted.
func (s *trimsCost) lacked(n uint64) bool {
	return s.asked >= tellingRounds && s.whole == 0 && s.packets >= n
}

// askedOften is how many NAKs that ask for just what came trimmed, at least half of all, are no chance, and of how many packets one was trimmed at most then.
const askedOften, trimmedOf = 16, 4

// askedForTrims reports whether a receiver had not got what came trimmed, n packets, as so many NAKs ask for just these.
func (s *trimsCost) askedForTrims(asked, n uint64) bool {
	return asked >= askedOften && 2*asked >= uint64(s.naks) && trimmedOf*n <= s.sent
}

// recovered says whether all that came trimmed to a host was retransmitted and came whole, by its answers; "": it had asked for nothing.
func (s *trimsCost) recovered(to packet.Addr) string {
	if s.rounds == 0 {
		return ""
	}
	timer := "no timer ran out"
	if s.timers > 0 {
		timer = "timers ran out " + times(uint64(s.timers))
	}
	if s.open > 0 {
		return fmt.Sprintf("when the capture ends, %d of %s to which that happened, or with the same host, are not known to have an answer to all that they sent; %s", s.open, count(uint64(s.pairs), "queue pair"), timer)
	}
	return fmt.Sprintf("complete: %v has answered all that these hosts sent to it: each of these packets came whole in the end; %s", to, timer)
}

// trimmingCost says how long those waited that had to retransmit to a host what came trimmed, for late NAKs too, and what they retransmitted; "": none
// had to.
func (t *teller) trimmingCost(i *Incident, to packet.Addr, cost *trimsCost, r *repairs) string {
	if cost.rounds == 0 {
		return ""
	}
	s := fmt.Sprintf("at least %s retransmitted to %v that came whole, in %s, %s of payload",
		count(cost.packets, "packet"), to, count(cost.rounds, "round"), count(cost.bytes, "byte"))
	if !t.timed() || cost.lost == 0 {
		return s
	}
	lost, longest, least := cost.lost, cost.longest, ""
	if r.late > 0 {
		if lost, longest = lost+r.waited, max(longest, r.latest); t.limited() {
			least = "at least "
		}
	}
	i.Lost = time.Duration(lost)
	return fmt.Sprintf("%s%s without progress in all of the queue pairs that send to it, up to %s at a time; %s", least, span(lost), span(longest), s)
}

// ofTrims has losses on a way on which packets were trimmed fit that. all says that no packet was lost which had passed the tap whole, as far as NAKs tell.
func (i *Incident) ofTrims(all bool) {
	if all {
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == badCable || s == queueDrops })
		i.Next = slices.DeleteFunc(i.Next, func(s string) bool { return s == portDiscards || s == flowControl })
	}
	i.FitsWith = append([]string{"the packets that were trimmed, see there: their receivers drop them"}, i.FitsWith...)
	i.Next = append([]string{"the switch that trims, see there"}, i.Next...)
}
