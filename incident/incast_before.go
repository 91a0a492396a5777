package incident

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// lostAlike is how many times as often packets of one host are lost at most as those of another, for that to be alike.
const lostAlike = 4

// incastOf says that what was lost on the way of a sum to a host was lost when many sent to it at once, as said of what was lost before the
// tap, or after it; "": nothing shows that.
func (t *teller) incastOf(s *lossSum) string {
	if s.to && s.side() == afterTap && len(s.others) >= fewestAtOnce && t.run.RDMA > 0 && t.run.Forgotten.Events == 0 {
		if said := t.incastTo(s.host, t.sequenceNAKs()[s.host], t.sendersTo()[s.host]); said != "" {
			return said
		}
	}
	return t.incastBursts(s)
}

// asksOf is how many rounds of retransmission there are at most for each that a NAK began, where what was lost after the tap was lost in a queue: a
// receiver that stops for a while has all timers run out at once too, and asks for nothing.
const asksOf = 8

// incastBursts says that what was lost on one side of the tap, on the way of a sum to a host, was lost of many hosts alike, at the same times: a
// queue that all of it passes was full. The link of each of them is
// not why; "": nothing shows that.
func (t *teller) incastBursts(s *lossSum) string {
	if !s.to || s.side() == "" || len(s.others) < fewestAtOnce || t.run.RDMA == 0 || !t.timed() || !t.lostAlike(s) {
		return ""
	}
	after := s.side() == afterTap
	if after && (!s.mostlyTimers() || s.naks < tellingRounds || asksOf*s.naks < s.naks+s.timers) {
		return "" // of what NAKs asked for, incastTo tells more
	}
	asked := slices.DeleteFunc(t.sequenceNAKs()[s.host], func(l lostOf) bool { return !slices.Contains(s.others, l.from) })
	if said := t.burstsWith(s, asked, s.naks); !after && (said != "" || s.timers == 0) {
		return said
	}
	return t.burstsWith(s, t.withTimers(s, asked), s.naks+s.timers)
}

// burstsWith is incastBursts by when each of so many losses was, as far as that was kept, in the order of time; these are NAKs, or NAKs and timers.
func (t *teller) burstsWith(s *lossSum, losses []lostOf, of uint32) string {
	if 2*len(losses) < int(of) {
		return "" // not each was kept
	}
	bursts, within, most, least := burstsOfLosses(losses)
	lasted := int64(0)
	for _, b := range bursts {
		lasted += b[1] - b[0]
	}
	few := len(bursts) < fewestBursts && (len(bursts) < fewBursts || least < fewestAtOnce || within < int(of))
	if few || 4*within < 3*int(of) || most < fewestAtOnce || togetherOf*lasted > s.end-s.begin {
		return ""
	}
	all := max(of, uint32(len(losses))) // some NAKs are kept of rounds that were not counted
	said := fmt.Sprintf("%d bursts in which NAKs asked for what up to %d hosts had sent at once, of each host about as often; they last %s in all, and %s of %s PSN sequence NAKs came in them", len(bursts), most, span(lasted), number(uint64(within)), number(uint64(all)))
	wait := ""
	if timer := t.shortestTimerOf(s); timer > 0 && s.side() == afterTap {
		wait = fmt.Sprintf(", of %s or longer", span(timer))
	}
	after := "after %d of them, at least, something waited for a timer" + wait + ", as it was lost again, or nothing came after it"
	if of > s.naks {
		phases := t.inPhases(s, bursts)
		said = fmt.Sprintf("%d bursts%s in which packets of %s hosts were lost at once, of each of the %d about as often: %s of %s NAKs and timers are for what was sent in them", len(bursts), phases, upTo(fewestTogether, most), len(s.others), number(uint64(within)), number(uint64(all)))
		after = "after %d of them, at least, something waited for a timer" + wait + ", as nothing came after it, or it was lost again"
	}
	if n := t.waitedAfter(s, bursts); n > 0 {
		said += fmt.Sprintf("; "+after, n)
	}
	return said
}

// largestBurst says what the burst was in which the most of what was lost on the way of a sum was asked for: of all that send to its host, not
// of one.
func (t *teller) largestBurst(s *lossSum) string {
	var most []lostOf
	for burst := range togetherWithin(t.sequenceNAKs()[s.host], askedWithin) {
		if len(burst) > len(most) {
			most = burst
		}
	}
	if len(most) < fewestAtOnce {
		return ""
	}
	return fmt.Sprintf("NAKs asked for %s of %d hosts within %s, from +%s of the capture on", count(uint64(len(most)), "lost packet"), hostsOf(most), span(most[len(most)-1].time-most[0].time), span(most[0].time-t.run.First))
}

// withTimers adds to NAKs when what timers had requesters of a sum retransmit had been sent, about.
func (t *teller) withTimers(s *lossSum, asked []lostOf) []lostOf {
	after := map[Party]int64{} // how long timers wait
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			if e := &t.run.Connections[n].Ends[from]; s.ends[party(e)] {
				after[party(e)] = e.Timer
			}
		}
	}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvTimeout || !s.receives(f.Peer.Addr) {
			continue
		}
		if wait := after[Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}]; wait > 0 {
			asked = append(asked, lostOf{f.Time - wait, f.Accused.Addr})
		}
	}
	slices.SortStableFunc(asked, func(a, b lostOf) int { return cmp.Compare(a.time, b.time) })
	return asked
}

// burstsOfLosses lists when losses, in the order of time, were within a millisecond of one another, of what several hosts had sent, first and
// last, how many of them were, and of how many hosts each, at most and at least.
func burstsOfLosses(list []lostOf) (bursts [][2]int64, within, most, least int) {
	for burst := range togetherWithin(list, askedWithin) {
		if hosts := hostsOf(burst); hosts >= fewestTogether {
			if bursts = append(bursts, [2]int64{burst[0].time, burst[len(burst)-1].time}); len(bursts) == 1 {
				least = hosts
			}
			within, most, least = within+len(burst), max(most, hosts), min(least, hosts)
		}
	}
	return bursts, within, most, least
}

// togetherWithin parts losses, in the order of time, where one is longer after the one before it.
func togetherWithin(list []lostOf, apart int64) iter.Seq[[]lostOf] {
	return func(yield func([]lostOf) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].time-list[n-1].time <= apart {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// waitedAfter is after how many bursts of losses, in the order of time, something was retransmitted only when a timer ran out, at least: what
// the NAKs ask for comes sooner.
func (t *teller) waitedAfter(s *lossSum, bursts [][2]int64) (n int) {
	timer := t.shortestTimerOf(s)
	if timer == 0 {
		return 0
	}
	waited, asked := map[int]bool{}, map[packet.Addr]int64{} // when a NAK asked for what a host sent, the newest
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule == rule.EvSeqNAK && f.Accused.Addr == s.host {
			asked[f.Peer.Addr] = f.Time
		}
		if a := asked[f.Accused.Addr]; f.Rule != rule.EvRetransmission || f.Peer.Addr != s.host || a != 0 && f.Time-a <= askedWithin {
			continue
		}
		at, _ := slices.BinarySearchFunc(bursts, f.Time, func(b [2]int64, time int64) int { return cmp.Compare(b[0], time) })
		if at > 0 && f.Time-bursts[at-1][1] >= timer/2 && f.Time-bursts[at-1][1] <= 2*timer {
			waited[at-1] = true
		}
	}
	return len(waited)
}

// shortestTimerOf is after what time a requester of a sum retransmitted at the earliest what nothing had asked for, nanoseconds; 0: none did, or one did so soon that it was asked for.
func (t *teller) shortestTimerOf(s *lossSum) (least int64) {
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e := &t.run.Connections[n].Ends[from]
			switch {
			case !s.ends[party(e)] || e.Timer == 0:
			case !qp.OfTimer(e.Timer):
				return 0
			case least == 0 || e.Timer < least:
				least = e.Timer
			}
		}
	}
	return least
}

// hostsOf is of how many hosts packets were lost.
func hostsOf(list []lostOf) int {
	hosts := map[packet.Addr]bool{}
	for _, l := range list {
		hosts[l.from] = true
	}
	return len(hosts)
}

// lostAlike reports whether about as many packets of each host of a sum were lost, by what it sent.
func (t *teller) lostAlike(s *lossSum) bool {
	least, most := 0.0, 0.0
	for _, l := range t.lossesBySide(s.host) {
		if !slices.Contains(s.others, l.host) || l.packets == 0 {
			continue
		}
		lost := l.far
		if s.side() == afterTap {
			lost = l.near
		}
		part := float64(lost) / float64(l.packets)
		if most == 0 {
			least = part
		}
		least, most = min(least, part), max(most, part)
	}
	return most > 0 && most <= lostAlike*least
}

// ofIncast has an incident of losses before the tap fit a queue that overflows, why being the fact that shows it, when many or several send.
func (t *teller) ofIncast(i *Incident, s *lossSum, why Fact, many string) {
	i.Facts = slices.Insert(i.Facts, 0, why)
	if t.unmarked(s) {
		i.fact("marks", "none, though what these hosts send is ECN-capable: a queue that drops it does so without ECN marking, and without PFC")
	}
	i.FitsWith = []string{
		fmt.Sprintf("incast: a queue before the tap, as that of the switch port to %v, which overflows when %s send to it at once, as no flow control holds them back", s.host, many),
		"a link before the tap that all of this takes, and that loses packets",
	}
	i.Next = []string{
		fmt.Sprintf("what the switch port to %v, and those on the way to it, discard for lack of buffer (ethtool -S)", s.host),
		"priority flow control (PFC) and ECN of these ports for this traffic", "whether fewer hosts can send at once, or one after the other",
	}
}

// unmarked reports whether the network has marked nothing of what hosts of a sum sent, all of which was ECN-capable, as far as the first
// packets of their queue pairs show.
func (t *teller) unmarked(s *lossSum) bool {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			if e := &c.Ends[from]; s.ends[party(e)] && (!e.ECNCapable || c.Timing != nil && c.Timing.Ends[from].Marked > 0) {
				return false
			}
		}
	}
	return t.run.Forgotten.Events == 0 && !slices.ContainsFunc(t.run.Findings, func(f rule.Finding) bool { return f.Rule == rule.EvCE && f.Peer.Addr == s.host })
}
