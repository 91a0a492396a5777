package incident

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"ibwitness/packet"
	"ibwitness/timing"
)

// Of what is lost after the tap nothing shows how many packets in a row it was. That packets of several hosts were lost at the same time shows a full
// queue there only where it was far more often than chance has it, by how much these hosts sent at those times: losses of a bad cable are at the same
// time, too, where much is sent at once.

const (
	fewestTimesAfter = 8 // such times, from which on that is no chance
	overChance       = 3 // times as often as by chance
)

// lostTogetherAfter says how often packets of several hosts of a sum were lost at the same time after the tap; "": that is not so, or chance.
func (t *teller) lostTogetherAfter(s *lossSum) string {
	if !s.to || s.side() != afterTap || len(s.others) < 2 || !t.timed() || t.run.RDMA == 0 || t.run.Forgotten.Events > 0 {
		return ""
	}
	sent, until := t.sentOn(s)
	naks := slices.DeleteFunc(t.sequenceNAKs()[s.host], func(l lostOf) bool { return len(sent[l.from]) == 0 })
	first := ""
	if n := slices.IndexFunc(naks, func(l lostOf) bool { return l.time > until }); n >= 0 {
		naks, first = naks[:n], "the first "
	}
	times, within := ofSeveral(naks)
	if times < fewestTimesAfter || togetherOfNAKs*within < len(naks) {
		return ""
	}
	chance := lossesByChance(naks, sent)
	if float64(within) < overChance*chance {
		return ""
	}
	return fmt.Sprintf("%d times packets of several of these hosts were lost within %s (%d of %s%d PSN sequence NAKs are for such; "+
		"by chance about %.0f would be): so a full queue loses packets", times, span(lostWithin), within, first, len(naks), math.Ceil(chance))
}

// sentOn is when the hosts of a sum sent messages to its host, in order, and until when that is known of all.
func (t *teller) sentOn(s *lossSum) (sent map[packet.Addr][]timing.Sent, until int64) {
	sent, until = map[packet.Addr][]timing.Sent{}, t.run.Last
	for _, x := range t.sendersTo()[s.host] {
		from := x.c.Ends[x.end].Addr
		if x.c.Timing == nil || len(x.c.Timing.Ends[x.end].Sent) == 0 || !slices.Contains(s.others, from) {
			continue
		}
		list := x.c.Timing.Ends[x.end].Sent
		if len(list) == timing.MostSent {
			until = min(until, list[len(list)-1].Begin)
		}
		sent[from] = append(sent[from], list...)
	}
	for _, list := range sent {
		slices.SortFunc(list, func(a, b timing.Sent) int { return cmp.Compare(a.Begin, b.Begin) })
	}
	return sent, until
}

// lossesByChance is how many of some NAKs would come with one for a packet of another host, if each packet were as likely to be lost as any other.
func lossesByChance(naks []lostOf, sent map[packet.Addr][]timing.Sent) (n float64) {
	lost, all := map[packet.Addr]float64{}, map[packet.Addr]float64{}
	for _, l := range naks {
		lost[l.from]++
	}
	hosts := slices.SortedFunc(maps.Keys(sent), packet.Addr.Compare) // sums of fractions depend on their order
	for _, from := range hosts {
		all[from] = sendingFor(sent[from], math.MinInt64, math.MaxInt64)
	}
	for _, l := range naks {
		others := 0.0
		for _, from := range hosts {
			if from != l.from {
				others += lost[from] * sendingFor(sent[from], l.time-drains-lostWithin, l.time+lostWithin) / all[from]
			}
		}
		n += 1 - math.Exp(-others)
	}
	return n
}

// sendingFor is for how long messages, in order, were sent between two times, nanoseconds: one of a single packet for one.
func sendingFor(list []timing.Sent, since, until int64) (sum float64) {
	first, _ := slices.BinarySearchFunc(list, since, func(s timing.Sent, at int64) int { return cmp.Compare(s.Begin+askedWithin, at) })
	for _, s := range list[first:] {
		if s.Begin >= until {
			break
		}
		end := max(min(s.End, s.Begin+askedWithin), s.Begin) + 1 // what of it comes later may have waited for something else
		if part := min(end, until) - max(s.Begin, since); part > 0 {
			sum += float64(part)
		}
	}
	return sum
}

// ofFullQueue has an incident of losses after the tap fit a queue that overflows, why being the fact that shows it.
func (i *Incident) ofFullQueue(s *lossSum, why string) {
	i.Facts = slices.Insert(i.Facts, 0, Fact{"together", why})
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == badCable })
	i.FitsWith = slices.Insert(i.FitsWith, 0, "a link after the tap that all of this takes, and that loses packets in bursts")
	i.ofQueueTo(s.host, "several")
}
