package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/link"
	"ibwitness/packet"
)

// mostKeptPauses is of how many long pauses of a port it is known when each was.
const mostKeptPauses = 32

// pausesShown is of how many of them it is told.
const pausesShown = 6

// eachStorm tells of a port that did not let go when each long pause was, apart from the short ones, and which hosts' packets did not come to it then.
func (t *teller) eachStorm(i *Incident, p *link.Paused) {
	if letsGo(p) || len(p.Long) == 0 || len(p.Long) >= mostKeptPauses || !t.timed() || p.Begun < 2 {
		return
	}
	var list []string
	long := int64(0)
	for k, s := range p.Long {
		if long += s.To - s.From; k < pausesShown {
			list = append(list, fmt.Sprintf("%s for %s", t.offset(s.From), span(s.To-s.From)))
		}
	}
	if more := len(p.Long) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	text := fmt.Sprintf("%d of %d lasted long: %s", len(p.Long), p.Begun, strings.Join(list, ", "))
	if short := int64(p.Begun) - int64(len(p.Long)); short > 0 && int64(p.Most) > long {
		atMost := " at most"
		if throughout(p) {
			atMost = ""
		}
		text += fmt.Sprintf("; the %s took %s in all%s", count(uint64(short), "short one"), span(int64(p.Most)-long), atMost)
	}
	i.fact("pauses", text)
	if held := t.heldHosts(i, p); held != "" || int(p.Begun) > len(p.Long) {
		were := "was long,"
		if len(p.Long) > 1 {
			were = "were long, up to"
		}
		i.What += fmt.Sprintf(" %d of these pauses %s %s%s.", len(p.Long), were, span(int64(p.Longest)), held)
	}
}

// heldHosts says which hosts a port with long pauses got no packet of meanwhile, though it did before and after, and they are not as silent at other times.
func (t *teller) heldHosts(i *Incident, p *link.Paused) string {
	var names []string
	var held []packet.Addr
	longest := int64(0)
	for _, a := range t.sendersToAny(p.Hosts) {
		n, length := t.silentIn(a, p.Long)
		if n == 0 {
			continue
		}
		held, longest = append(held, a), max(longest, length)
		if len(names) < stalledTold {
			names = append(names, fmt.Sprintf("%v in %d of these, for up to %s", a, n, span(length)))
		}
	}
	if len(held) == 0 {
		return ""
	}
	if more := len(held) - len(names); more > 0 {
		names = append(names, count(uint64(more), "more host"))
	}
	i.fact("held", enumerate(names)+": what they send waits for the end of the pause")
	return fmt.Sprintf(", and no packet of %s came then, for up to %s", someOf(held), span(longest))
}

// sendersToAny returns the hosts that send packets to one of some, in order.
func (t *teller) sendersToAny(hosts []packet.Addr) (list []packet.Addr) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			if a := c.Ends[e].Addr; slices.Contains(hosts, c.Ends[1-e].Addr) && !slices.Contains(hosts, a) && c.Ends[e].Packets > 0 && c.Timing != nil && !slices.Contains(list, a) {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, packet.Addr.Compare)
	return list
}

// silentIn is in how many of some pauses a host sent nothing most of the time, as far as the tap shows, and for how long at most; 0: in none, or it is as silent at other times.
func (t *teller) silentIn(a packet.Addr, pauses []link.Lasting) (n int, longest int64) {
	least, other, covered := int64(0), int64(0), map[link.Lasting]bool{}
	for _, s := range t.activityOf(a).Silences {
		in := slices.IndexFunc(pauses, func(p link.Lasting) bool { return 10*(min(s.To, p.To)-max(s.From, p.From)) >= most*(p.To-p.From) })
		if in < 0 {
			other = max(other, s.Length())
			continue
		}
		if covered[pauses[in]] = true; least == 0 || s.Length() < least {
			least = s.Length()
		}
		longest = max(longest, s.Length())
	}
	if 2*other > least {
		return 0, 0
	}
	return len(covered), longest
}

// holdsFor reports whether the pause of an incident holds back what is sent to a host.
func (i *Incident) holdsFor(a packet.Addr) bool { return slices.Contains(i.held, a) }
