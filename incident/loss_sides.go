package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// lossSides is how often something was lost between one host and another, by the side of the tap.
type lossSides struct {
	host              packet.Addr // of the two, that not all connections have in common
	far, near, unsure uint32      // between it and the tap, between the tap and the other host, and not known where
	answers           uint32      // of those between it and the tap: answers, as far as that is known
	packets           uint64      // that the two sent
}

// sidesOfTap tells in an incident of losses, where all connections of the capture are those of host x, that packets were lost between some of the other hosts and the tap, and between others and it
// none, by too many for chance. It reports whether it is so.
func (t *teller) sidesOfTap(i *Incident, x packet.Addr) bool {
	if len(t.run.Taps) > 1 {
		return false
	}
	list := t.lossesBySide(x)
	var far, near, unsure uint32
	var sent uint64 // by those that lost something on their side
	var lossy, clean, both []string
	var beyond []packet.Addr
	for _, s := range list {
		far, near, unsure = far+s.far, near+s.near, unsure+s.unsure
		if s.near > 0 {
			both = append(both, fmt.Sprintf("%d with %v", s.near, s.host))
		}
		if s.far > 0 {
			sent += s.packets
			beyond = append(beyond, s.host)
			lossy = append(lossy, fmt.Sprintf("%v (%s)", s.host, times(uint64(s.far))))
		}
	}
	for _, s := range list {
		switch {
		case s.far > 0:
		case uint64(far)*s.packets < tellingMisses*sent:
			return false // too few to tell
		default:
			clean = append(clean, fmt.Sprintf("%v, with %s", s.host, count(s.packets, "packet")))
		}
	}
	if far < tellingRounds || len(clean) == 0 || unsure > (far+near)/4 {
		return false
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "others" }) // that is part of it
	said := fmt.Sprintf("between the tap and %s; between it and %s, nothing", enumerate(lossy), enumerate(clean))
	if near > 0 {
		said += fmt.Sprintf("; between it and %v, which all connections have in common, %s (%s)", x, times(uint64(near)), enumerate(both))
	}
	if i.lossyBeyond = beyond; len(beyond) > 1 || near > 0 || !t.scaleOfLosses(i, x, beyond[0], enumerate(clean)) {
		i.fact("sides", "lost "+said)
	}
	if near >= tellingRounds {
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("what is between the tap and %v", x))
	}
	switch {
	case len(beyond) == 1 && near == 0:
		i.lostBeyond(&list[slices.IndexFunc(list, func(s lossSides) bool { return s.far > 0 })])
	case len(beyond) == 1:
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("the link, adapter or switch port of %v, or what is between there and the tap", beyond[0]))
	default:
		i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a link, router or queue between the tap and %s that they have in common", someOf(beyond)),
			"the link, adapter or switch port of each of them")
	}
	if !i.ofAll && mostlyAlong*near <= far && !t.leadBeyond(i, x, beyond, enumerate(clean)) && near == 0 && len(beyond) > 1 {
		t.leadBothWays(i, x, beyond, list)
	}
	return true
}

// leadBothWays has an incident of losses tell of all that was lost between the tap and several hosts, on the way to host x and from it, where both is often.
func (t *teller) leadBothWays(i *Incident, x packet.Addr, beyond []packet.Addr, list []lossSides) {
	s := &lossSum{host: x, both: true, ends: map[Party]bool{}}
	t.addTo(s, func(a packet.Addr) bool { return slices.Contains(beyond, a) })
	if min(s.before, s.after) < tellingRounds {
		return
	}
	hosts, packets := 0, uint64(0)
	for _, k := range list {
		if k.far == 0 {
			hosts, packets = hosts+1, packets+k.packets
		}
	}
	t.lead(i, s, fmt.Sprintf("; between the tap and %s, with %s, nothing", count(uint64(hosts), "other host"), count(packets, "packet")))
}

// leadBeyond has an incident of losses tell of all that was lost between the tap and some hosts on the way to host x, or from it, where that is one direction. clean is those that nothing was lost with. It reports whether it is.
func (t *teller) leadBeyond(i *Incident, x packet.Addr, beyond []packet.Addr, clean string) bool {
	among := func(a packet.Addr) bool { return slices.Contains(beyond, a) }
	for _, to := range []bool{false, true} {
		if t.lead(i, t.sumOfLosses(x, to, among), "; between the tap and "+clean+", nothing") {
			return true
		}
	}
	return false
}

// lostBeyond says what fits where all losses are between the tap and one host: that is where those that the incident tells of were lost, too. Where answers were lost there too, no packets overtook one another.
func (i *Incident) lostBeyond(s *lossSides) {
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "where" && !i.ofAnswers })
	how := "packets are damaged"
	switch drops := slices.Contains(i.FitsWith, queueDrops); {
	case drops && !slices.Contains(i.FitsWith, badCable): // see tellTails
		how = "a full queue drops packets"
	case drops:
		how += ", or a full queue drops them"
	}
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == queueDrops || f == badCable })
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("the link, adapter or switch port of %v, or what is between there and the tap: %s", s.host, how))
	if s.answers >= tellingRounds {
		i.noOvertaking()
	}
}

// lossesBySide adds up what was lost between host x and each other.
func (t *teller) lossesBySide(x packet.Addr) (list []lossSides) {
	places := map[packet.Addr]int{} // in the list
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if !c.Service.Reliable() {
			continue
		}
		at := 0 // the end at x
		if c.Ends[1].Addr == x {
			at = 1
		}
		k, known := places[c.Ends[1-at].Addr]
		if !known {
			k, list = len(list), append(list, lossSides{host: c.Ends[1-at].Addr})
			places[list[k].host] = k
		}
		s := &list[k]
		for from := range c.Ends {
			e := &c.Ends[from]
			s.packets += e.Packets
			if e.Trouble == nil || t.onlyOvertaken(c, from) {
				continue
			}
			p := placesOf(e.Trouble)
			sender, receiver := p.before+p.unseen+p.short+p.back, p.after+p.unsent+p.over+p.missing // on the side of the requester, and on that of the responder
			answers := p.back                                                                       // to the other host
			if from == at {
				sender, receiver, answers = receiver, sender, p.over+p.missing
			}
			s.answers += answers
			s.far, s.near, s.unsure = s.far+sender, s.near+receiver, s.unsure+p.rest
		}
	}
	slices.SortFunc(list, func(a, b lossSides) int { return a.host.Compare(b.host) })
	return list
}
