package incident

import (
	"fmt"
	"slices"
	"strings"
)

// hole is that only smaller packets pass on the way from one host to another.
type hole struct {
	way
	most  uint32 // bytes of payload of the largest packet that passed
	size  uint32 // bytes of payload of the packets that vanish; 0: that is not known
	pmtu  uint32 // path MTU of the queue pair, bytes; 0: that is not known
	said  string // what of it the sentence of its incident says in the end
	check string // how to check it
}

// vanishes says of an incident that larger packets vanish on a way, and has its sentence end with that.
func (i *Incident) vanishes(h hole) {
	i.hole, i.sized = h, true
	i.What += h.said
	i.Next = append([]string{h.check}, i.Next...)
}

// blackHoles makes incidents one in which the larger packets of two hosts vanish in both directions: it is one path whose MTU is smaller than the path MTU of their queue pairs. One that knows how large they are tells of both.
func blackHoles(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.hole.size == 0 || i.hole.most == 0 || merged[i] {
			continue
		}
		var back []*Incident
		for m := range list {
			if o := &list[m]; o != i && !merged[o] && o.hole.most > 0 && o.hole.from == i.hole.to && o.hole.to == i.hole.from {
				back = append(back, o)
				merged[o] = true
			}
		}
		if len(back) > 0 {
			i.bothWays(back)
		}
	}
	return without(list, merged)
}

// bothWays has an incident tell of those in which packets vanish the other way.
func (i *Incident) bothWays(back []*Incident) {
	h := i.hole
	most, largest, agreed := h.most, h.size, h.pmtu
	at := slices.Index(i.Next, h.check) + 1
	for _, o := range back {
		most, largest, agreed = max(most, o.hole.most), max(largest, o.hole.size), max(agreed, o.hole.pmtu)
		if !slices.Contains(i.Next, o.hole.check) {
			i.Next = slices.Insert(i.Next, at, o.hole.check)
		}
		i.otherWay(o)
	}
	though := fmt.Sprintf("though such of %s are sent or asked for", count(uint64(largest), "byte"))
	if agreed != 0 {
		though = fmt.Sprintf("though the path MTU of their queue pairs is %s", count(uint64(agreed), "byte"))
	}
	on := ""
	if i.Connections > 1 {
		on = fmt.Sprintf(" on %d connections", i.Connections)
	}
	i.What = fmt.Sprintf("Between %v and %v no packet with more than %s of payload arrives%s, in either direction, and smaller ones do, %s. %s", h.from, h.to, count(uint64(most), "byte"), on, though, strings.TrimSuffix(i.What, h.said))
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == smallerMTU(h.from.String(), h.to.String()) })
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("a path between %v and %v whose MTU is smaller than the path MTU of their queue pairs, in both directions: a switch port or an interface on it", h.from, h.to))
	i.Certainty = min(i.Certainty, Likely)
}

// otherWay takes over what another incident tells of packets that vanish the other way.
func (i *Incident) otherWay(o *Incident) {
	s := strings.TrimSuffix(o.What, ".")
	if o.Connections > 1 {
		s += fmt.Sprintf("; %s likewise", count(uint64(o.Connections-1), "more connection"))
	}
	i.fact("other way", s)
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
	if o.Local != i.Local && o.Local != i.Peer {
		i.Connections += o.Connections
	}
	i.foundToo(o.Found)
	i.Begin, i.End, i.Ongoing = min(i.Begin, o.Begin), max(i.End, o.End), i.Ongoing || o.Ongoing
	i.Lost = max(i.Lost, o.Lost)
}

// smallerMTU is what fits where larger packets vanish on the way between two hosts.
func smallerMTU(sender, receiver string) string {
	return "a path from " + sender + " to " + receiver + " whose MTU is smaller than the path MTU of the queue pair: larger packets vanish, smaller ones arrive"
}
