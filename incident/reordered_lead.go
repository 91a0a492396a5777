package incident

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Where packets to a receiver came after later ones, which it took for lost, and none is missing at the tap, the stalls and retransmissions of these connections are what that led to.

// underReordered has incidents of packets that came late tell of the stalls and losses that these led to, where such would come before them or follow from nothing else.
func (t *teller) underReordered(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		s, ok := t.lateSum(i)
		if !ok {
			continue
		}
		var of, stalls []*Incident
		for m := range list {
			o := &list[m]
			stall, follows := i.followsLate(o)
			if !follows || merged[o] {
				continue
			}
			if of = append(of, o); stall {
				stalls = append(stalls, o)
			}
		}
		switch {
		case !i.noneMissing(of):
			continue
		case slices.ContainsFunc(of, func(o *Incident) bool { return rank(o) < rank(i) }):
			i.leadLate(t, s, of, stalls)
		case i.late.naks > 0 && !slices.ContainsFunc(of, func(o *Incident) bool { return !o.noneLost }):
			i.includesAll(of)
		default:
			continue
		}
		for _, o := range of {
			merged[o] = true
		}
	}
	return withMerged(list, merged)
}

// followsLate reports whether an incident is of stalls, or of losses, that packets of the same connections which came late may have led to.
func (i *Incident) followsLate(o *Incident) (stall, follows bool) {
	if !i.lateOn(o.Local.Addr, o.Peer.Addr) || len(o.Also) > 0 || o.storm != 0 || o.within != 0 || !i.overlaps(o) {
		return false, false
	}
	switch o.Kind {
	case Interrupted:
		return true, o.amongLosses || o.lostAgain || o.eachLost
	case Loss, Retransmitting:
		return false, !o.again.late && !o.oneSided
	}
	return false, false
}

// noneMissing reports whether nothing is missing at the tap of what an incident tells of that it came late, or all losses of these connections are known to be most likely such packets.
func (i *Incident) noneMissing(of []*Incident) bool {
	return i.late.arrived != "" || i.late.whole || !slices.ContainsFunc(of, func(o *Incident) bool { return o.Kind != Interrupted && !o.explained && !o.noneLost })
}

// withMerged is without, in order: some of the others tell of more now.
func withMerged(list []Incident, merged map[*Incident]bool) []Incident {
	if len(merged) == 0 {
		return list
	}
	out := without(list, merged)
	slices.SortStableFunc(out, func(a, b Incident) int { return order(&a, &b) })
	return out
}

// leadLate has an incident of packets that came late tell of others, some of them stalls, of connections whose sum is s.
func (i *Incident) leadLate(t *teller, s *lossSum, of, stalls []*Incident) {
	i.led, i.costs = true, time.Duration(s.lost)
	i.includesAll(of)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" })
	cost := count(s.bytes, "byte") + " of payload retransmitted"
	if t.timed() {
		cost = fmt.Sprintf("%s without progress in all of these connections, up to %s at a time; %s", span(s.lost), span(s.longest), cost)
	}
	i.Facts = slices.Insert(i.Facts, 0, Fact{"cost", cost})
	i.stallsUntil(stalls, "until a timer ran out: a receiver that drops what comes out of order asks for it once")
}

// includesAll has an incident of packets that came late tell of what these led to, on connections that it tells of.
func (i *Incident) includesAll(of []*Incident) {
	on := i.Connections
	for _, o := range of {
		i.includes(o)
	}
	i.Connections = on
}

// lateOn reports whether requests from one host to another are among those of which an incident tells that they came late.
func (i *Incident) lateOn(from, to packet.Addr) bool {
	if len(i.Also) > 0 && i.common == i.Local.Addr {
		return from == i.Local.Addr && (to == i.Peer.Addr || slices.Contains(i.Also, to))
	}
	return to == i.Peer.Addr && (from == i.Local.Addr || slices.Contains(i.Also, from))
}

// lateSum adds up what was retransmitted on connections whose requests came late; false: an incident tells of no such, or their receiver does not ask for them, or some may have been lost.
func (t *teller) lateSum(i *Incident) (s *lossSum, ok bool) {
	if i.Kind != Reordered || i.late.name != requests.name || !i.late.asked() && !(i.late.whole && i.late.naks > 0) {
		return nil, false
	}
	s = &lossSum{ends: map[Party]bool{}}
	asked := uint32(0)
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			e := &c.Ends[from]
			if !i.lateOn(e.Addr, c.Ends[1-from].Addr) || e.Trouble == nil {
				continue
			}
			if t.damaged[way{e.Addr, c.Ends[1-from].Addr}] || t.cut[way{e.Addr, c.Ends[1-from].Addr}] {
				return nil, false
			}
			asked += t.addLate(s, e)
		}
	}
	if i.late.arrived != "" || i.late.whole { // copies come late too, and are asked for then
		return s, mostlyAlong*s.after <= asked || seldomAfter*s.after <= asked-min(asked, s.after)
	}
	return s, mostlyAlong*s.after <= asked
}

// addLate adds what an end retransmitted, and returns how many rounds NAKs asked for.
func (t *teller) addLate(s *lossSum, e *agent.End) uint32 {
	k := e.Trouble.Settled(e.Stalled)
	s.after += placesOf(&k).after
	s.addEnd(e, &k)
	return k.Sum.Rounds[qp.SequenceAsked]
}
