package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
)

// Where the losses of several connections have a host, a direction and a side of the tap in common, that is what happened, and the stalls and storms of the connections are what it led to.

// lead has an incident of losses tell of all of a sum, for which why gives more; what it said of one connection becomes a fact. It reports whether the sum tells something.
func (t *teller) lead(i *Incident, s *lossSum, why string) bool {
	if !s.tells() || t.damagedOn(s) {
		return false
	}
	t.askedBefore(i, s)
	worst := strings.TrimSuffix(strings.TrimSuffix(i.What, "."), ": packets or their answers were lost, late or overtaken")
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool {
		return slices.Contains([]string{"sides", "caused", "cost", "where", "missing", "goodput", "each", "all", "host", "also", "others", "slowest", "lost"}, f.Label)
	})
	incast := ""
	if len(s.senders) == 0 {
		incast = t.incastOf(s)
	}
	if incast != "" {
		s.incast = true
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "paths" }) // of one host, and it is none
		why = ", when many of them sent at once" + why
	}
	storm := i.Kind == Retransmitting && s.to && len(s.others) > 1 && len(s.senders) == 0 && (incast != "" || s.implied == 0)
	if storm {
		why += fmt.Sprintf("; %s of %s that these sent were retransmitted (%s)", number(s.packets), count(s.sent, "packet"), share(s.packets, s.sent))
	}
	i.What = s.what() + why + "."
	asked, each := s.asked(t.shortestTimerOf(s)), s.packets/max(uint64(s.naks+s.implied+s.timers), 1)
	if storm && each >= goBackEach && (incast != "" || !s.mostlyTimers()) {
		i.fact("storm", costsEach(each)+"; "+asked)
	} else {
		i.fact("caused", asked)
	}
	i.fact("cost", s.cost(t))
	i.fact("missing", s.gaps())
	t.tellTails(i, &s.tails, s.askedAfter)
	i.fact("goodput", t.goodput(s))
	if incast != "" {
		i.fact("largest", t.largestBurst(s))
		short, next := t.shortTimers(s)
		if i.fact("timers", short); short != "" {
			i.Next = append(i.Next, next)
		}
	}
	i.fact("worst", worst)
	if incast == "" {
		t.lostAsSeveralSend(i, s)
	} else if s.side() == beforeTap { // what was lost after it is told of later, of all such hosts
		t.ofIncast(i, s, Fact{"incast", incast}, "many")
	}
	if !s.mostlyTimers() { // their receivers miss packets
		i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == tooShort })
	}
	if t.onlyCopiesCame(s) {
		i.noOvertaking()
	}
	i.sum, i.Connections, i.listed = s, s.lossy, true
	i.Begin, i.End = s.begin, s.end
	i.common, i.Also = s.host, nil
	for _, a := range slices.Concat(s.senders, s.others) {
		if a != i.Local.Addr && a != i.Peer.Addr {
			i.Also = append(i.Also, a)
		}
	}
	return true
}

// damagedOn reports whether packets of a sum were damaged: that is why they were lost then.
func (t *teller) damagedOn(s *lossSum) bool {
	hosts := s.senders
	if len(hosts) == 0 {
		hosts = []packet.Addr{s.host}
	}
	return slices.ContainsFunc(s.others, func(a packet.Addr) bool {
		return slices.ContainsFunc(hosts, func(h packet.Addr) bool { return t.damaged[way{a, h}] || t.damaged[way{h, a}] })
	})
}

// led has the incident that tells of a sum of losses tell of those of its connections, too, and of the stalls that they led to.
func led(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.sum == nil || i.ofAll { // what that tells of is found later
			continue
		}
		var stalls []*Incident
		for m := range list {
			o := &list[m]
			if o == i || merged[o] || o.sum != nil || !i.sum.takes(o) {
				continue
			}
			switch {
			case i.sum.stalled(o):
				stalls = append(stalls, o)
			case !o.losses():
				continue
			}
			begin, end, lost := i.Begin, i.End, i.Lost
			i.includes(o)
			merged[o], i.Connections, i.Lost = true, i.sum.lossy, max(lost, o.Lost)
			i.Begin, i.End = min(begin, i.Begin), max(end, i.End)
		}
		i.stalls(stalls)
	}
	if len(list) == 0 || !slices.ContainsFunc(list, func(i Incident) bool { return i.sum != nil }) {
		return list
	}
	out := without(list, merged)
	slices.SortStableFunc(out, func(a, b Incident) int { return order(&a, &b) })
	return out
}

// losses reports whether an incident is of losses whose cause is not known to be another.
func (i *Incident) losses() bool {
	return (i.Kind == Loss || i.Kind == Retransmitting) && !i.again.late && !i.explained && !i.harmless && !i.noneLost && !i.oneSided && !i.ofTrimmed && !i.ofMarked && i.within == 0
}

// takes reports whether all that an incident tells of is on the connections of a sum.
func (s *lossSum) takes(o *Incident) bool {
	return s.between(o) && (len(s.senders) == 0 || s.ends[o.Local] && (o.Connections == 1 || !s.apart[pairBy(o.Local.Addr, o.Peer.Addr)]))
}

// between reports whether all that an incident tells of is between the hosts of a sum.
func (s *lossSum) between(o *Incident) bool {
	if len(s.senders) > 0 {
		all := slices.Concat(s.senders, s.others)
		return slices.Contains(s.senders, o.Local.Addr) != slices.Contains(s.senders, o.Peer.Addr) &&
			slices.Contains(all, o.Local.Addr) && slices.Contains(all, o.Peer.Addr) &&
			!slices.ContainsFunc(o.Also, func(a packet.Addr) bool { return !slices.Contains(all, a) })
	}
	far := o.otherThan(s.host)
	return (o.Local.Addr == s.host || o.Peer.Addr == s.host) && slices.Contains(s.others, far) && !slices.ContainsFunc(o.Also, func(a packet.Addr) bool { return !slices.Contains(s.others, a) })
}

// stalled reports whether an incident is a stall that the losses of a sum led to: what was lost is shown to have been lost again, or was one of many.
func (s *lossSum) stalled(o *Incident) bool {
	if o.Kind != Interrupted || o.storm != 0 || o.within != 0 || !s.ends[o.Local] || o.Begin > s.end || o.End < s.begin {
		return false
	}
	return o.lostAgain || o.answersGone || o.tailsLost && s.lastTap || len(o.Also) == 0 && (o.amongLosses || o.allChance || (o.endLost || o.eachLost) && s.before >= manyLosses || o.answerLost && s.after >= manyLosses ||
		o.onceLost && s.timers >= fewestTimers && s.before+s.after >= fewestLostOfClass)
}

// stallsNamed is of how many stalls it is told how long they were.
const stallsNamed = 3

// stalls tells of the stalls that losses led to.
func (i *Incident) stalls(list []*Incident) {
	i.stallsUntil(list, "until a timer brought what was lost again")
}

// stallsUntil tells of stalls, and until when they lasted.
func (i *Incident) stallsUntil(list []*Incident, until string) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b *Incident) int { return cmp.Compare(b.Lost, a.Lost) })
	var said []string
	for _, o := range list[:min(len(list), stallsNamed)] {
		said = append(said, fmt.Sprintf("%s of %v", span(int64(o.Lost)), &o.Local))
	}
	all := uint64(0)
	for _, o := range list {
		all += uint64(max(len(o.each), 1)) + o.unkept
	}
	if n := all - uint64(len(said)); n > 0 {
		said = append(said, number(n)+" more")
	}
	text := enumerate(said) + ", " + until
	at := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "worst" || f.Label == "first" || f.Label == "share" })
	if at < 0 {
		at = len(i.Facts)
	}
	i.Facts = slices.Insert(i.Facts, at, Fact{"stalls", text})
}

// cost is the time by which an incident is put among others of its kind.
func (i *Incident) cost() time.Duration {
	if i.sum != nil {
		return max(i.Lost, time.Duration(i.sum.lost))
	}
	return max(i.Lost, i.costs)
}
