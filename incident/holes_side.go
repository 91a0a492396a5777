package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// sidesOfHoles says of larger packets that vanish on a way whether such went from its sender to others meanwhile, or from others to its receiver:
// what these share with it takes them.
func (t *teller) sidesOfHoles(list []Incident) []Incident {
	if !t.timed() || len(t.run.Connections) > mostOthers {
		return list
	}
	for n := range list {
		i := &list[n]
		h := &i.hole
		if h.most == 0 || h.size == 0 {
			continue
		}
		to, from := t.largePassed(i, true), t.largePassed(i, false)
		if len(to) > 0 {
			i.fact("side", fmt.Sprintf("packets as large of %v to %s were answered meanwhile: "+
				"a smaller MTU would not be at the port of %v", h.from, sorted(to), h.from))
		}
		if len(from) > 0 {
			i.fact("side", fmt.Sprintf("packets as large of %s to %v were answered meanwhile: "+
				"a smaller MTU would not be at the port of %v", sorted(from), h.to, h.to))
		}
	}
	return list
}

// largePassed are the other hosts to which the sender of larger packets that vanish sent such, or from which their receiver got some, that were
// answered after the incident began; of connections whose path MTU is known.
func (t *teller) largePassed(i *Incident, sent bool) (hosts []packet.Addr) {
	h := &i.hole
	own, not := h.to, h.from
	if sent {
		own, not = not, own
	}
	for _, c := range t.serves(own) {
		far := otherThan(c, own)
		if c.Timing == nil || c.PMTU < h.size || far == not || slices.Contains(hosts, far) {
			continue
		}
		for e := range c.Ends {
			if (c.Ends[e].Addr == own) == sent && passesAsLarge(c, e, h.size, i.Begin) {
				hosts = append(hosts, far)
				break
			}
		}
	}
	return hosts
}

// passesAsLarge reports whether messages of an end, or responses of it, in packets of so many bytes were answered, of which those of about this size
// were after a time, too.
func passesAsLarge(c *agent.Connection, e int, size uint32, since int64) bool {
	for _, a := range []timing.Answered{c.Timing.Ends[e].Acked, c.Timing.Ends[1-e].Read} {
		if a.InPackets(c.PMTU); a.Most >= size && slices.Max(a.BySize[timing.SizeClass(size):]) > since {
			return true
		}
	}
	return false
}
