package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
)

const (
	outagesShown = 8
	waysNamed    = 6
)

// pathOutages has the stalls and losses of several connections that are of the outages of one path be one incident, before the first of them.
func (t *teller) pathOutages(list []Incident) []Incident {
	if !slices.ContainsFunc(list, func(i Incident) bool { return i.Kind == Interrupted }) || slices.ContainsFunc(list, func(i Incident) bool { return i.Kind == Paused && i.costsMore || i.storm != 0 }) {
		return list
	}
	p := t.pathOutagesOf()
	if p == nil {
		return list
	}
	i, merged, first := t.tellOutages(p), map[*Incident]bool{}, -1
	for n := range list {
		if o := &list[n]; t.inOutages(p, o) {
			if first < 0 {
				first = n
			}
			merged[o] = true
			i.foundToo(o.Found)
		}
	}
	if first < 0 {
		return list
	}
	return slices.Concat(without(list[:first], merged), []Incident{*i}, without(list[first:], merged))
}

// inOutages reports whether an incident is of stalls in the outages, of requests that did not outlast one, or of losses between hosts of connections that were hit, all of which were in the outages.
func (t *teller) inOutages(p *pathOutages, o *Incident) bool {
	if p.ofDied(o) {
		return true
	}
	if o.Kind != Interrupted && o.Kind != Loss && o.Kind != Retransmitting || o.within != 0 || len(o.Also) > 0 || o.End < p.times[0].begin {
		return false
	}
	if o.Kind == Interrupted {
		return p.stalls(o)
	}
	of := pairBy(o.Local.Addr, o.Peer.Addr)
	elsewhere := func(c agent.Connection) bool {
		return pairOf(&c) == of && lost(&c.Ends[0])+lost(&c.Ends[1]) > 0 && !p.onlyIn(&c)
	}
	return slices.ContainsFunc(p.hit, func(c *agent.Connection) bool { return pairOf(c) == of }) && !slices.ContainsFunc(t.run.Connections, elsewhere)
}

// stalls reports whether interruptions were all in the outages, and of connections that these hit.
func (p *pathOutages) stalls(o *Incident) bool {
	for _, s := range o.each {
		if !slices.ContainsFunc(p.times, func(x commonOutage) bool { return s[0] < x.end+together && s[1] >= x.begin }) {
			return false
		}
	}
	for k := range o.on {
		if !slices.ContainsFunc(p.hit, func(c *agent.Connection) bool {
			a, b := party(&c.Ends[0]), party(&c.Ends[1])
			return k == [2]Party{a, b} || k == [2]Party{b, a}
		}) {
			return false
		}
	}
	return len(o.on) > 0
}

// tellOutages makes the incident.
func (t *teller) tellOutages(p *pathOutages) *Incident {
	first := &p.times[0].ends[slices.IndexFunc(p.times[0].ends, func(h heldEnd) bool { return !h.before })]
	i := t.between(Interrupted, first.c, first.from)
	i.Certainty, i.listed, i.onePath = Likely, true, true
	i.Begin, i.Connections = p.times[0].begin, len(p.hit)
	var begun, each []string
	shortest, longest := p.times[0].length(), int64(0)
	for n := range p.times {
		o := &p.times[n]
		shortest, longest = min(shortest, o.length()), max(longest, o.length())
		begun = append(begun, t.offset(o.begin))
		each = append(each, fmt.Sprintf("%s for up to %s (%s)", t.offset(o.begin), span(o.length()), count(uint64(len(o.connections())), "connection")))
		i.End, i.Lost = max(i.End, o.end), i.Lost+time.Duration(o.length())
		for _, h := range o.ends {
			i.show(h.frames[:]...)
			i.End = max(i.End, h.until)
		}
		i.each = append(i.each, [2]int64{o.begin, o.end})
	}
	i.What = fmt.Sprintf("%d outages, from %s on, each for %s to %s, held up %d connections, two or more in each, while %s of the same hosts went on: likely one path of several that fails and comes back (a member of a LAG or ECMP group).",
		len(p.times), firstOf(begun, outagesShown), span(shortest), span(longest), len(p.hit), count(uint64(len(p.spared)), "other connection"))
	if len(p.times) == 1 {
		i.What = fmt.Sprintf("An outage at %s, for up to %s, held up %d connections, while %s of the same hosts went on: likely one path of several that failed and came back (a member of a LAG or ECMP group).",
			begun[0], span(longest), len(p.hit), count(uint64(len(p.spared)), "other connection"))
	}
	i.fact("outages", strings.Join(each[:min(len(each), outagesShown)], "; ")+": from the first request that waited to when the first of these connections went on")
	for _, f := range p.hitSaid() {
		i.fact("hit", f)
	}
	i.fact("silent", p.silentSaid())
	i.fact("not hit", p.sparedSaid())
	i.fact("lost", t.diedSaid(i, p))
	n, bytes := p.retransmitted()
	i.fact("cost", fmt.Sprintf("%s retransmitted, %s of payload, all in these times or near them", count(n, "packet"), count(bytes, "byte")))
	i.FitsWith = []string{"one path of several (a member of a LAG, a next hop of ECMP), which the hit flows are hashed to, that fails and comes back again and again: not a host, nor its adapter or its port, as others on the same go on"}
	if len(p.times) == 1 {
		i.FitsWith[0] = strings.Replace(i.FitsWith[0], "that fails and comes back again and again", "that failed and came back", 1)
	}
	i.Next = []string{
		"the links to which these UDP source ports are hashed (members of a LAG, next hops of ECMP, between the switches): their link events, and the errors that they count, at these times",
		"the one that fails taken out, then its cable and optics; what takes it out at once when it fails (LACP with short timeouts, BFD)",
	}
	return i
}

// hitSaid says of the connections that were hit whose packets were lost where.
func (p *pathOutages) hitSaid() (said []string) {
	var after, before, either []*agent.Connection
	ways := map[string][]wayPorts{}
	for n := range p.times {
		for k := range p.times[n].ends {
			h := &p.times[n].ends[k]
			list, label := &either, "either"
			switch {
			case h.before:
				list, label = &before, "before"
			case p.peerSends(h.c, h.from):
				list, label = &after, "after"
			}
			if !slices.Contains(*list, h.c) {
				*list = append(*list, h.c)
			}
			e := &h.c.Ends[h.from]
			ways[label] = append(ways[label], wayPorts{way{e.Addr, h.c.Ends[1-h.from].Addr}, withPort(nil, h.c, e)})
		}
	}
	if len(after) > 0 {
		said = append(said, fmt.Sprintf("what one end sent on %s, which had passed the tap, was lost after it or not answered%s; what the other end sent on them came to the tap meanwhile", count(uint64(len(after)), "connection"), waysOf(ways["after"])))
	}
	if len(before) > 0 {
		said = append(said, fmt.Sprintf("on %s nothing came to the tap, and then one end went on with a later PSN%s: it was lost on the way to the tap", count(uint64(len(before)), "connection"), waysOf(ways["before"])))
	}
	if len(either) > 0 {
		said = append(said, fmt.Sprintf("requests on %s were not answered%s", count(uint64(len(either)), "connection"), waysOf(ways["either"])))
	}
	return said
}

// peerSends reports whether the other end of one is known to have sent something in each outage that holds this one up.
func (p *pathOutages) peerSends(c *agent.Connection, from int) bool {
	for n := range p.times {
		o := &p.times[n]
		within := o.silence()
		if slices.ContainsFunc(o.ends, func(h heldEnd) bool { return h.c == c && h.from == from }) && !c.Timing.Ends[1-from].Active.Sent(&within) {
			return false
		}
	}
	return true
}

// silentSaid tells of connections that show nothing in each.
func (p *pathOutages) silentSaid() string {
	if len(p.silent) == 0 {
		return ""
	}
	var ways []wayPorts
	for _, c := range p.silent {
		ways = append(ways, wayPorts{way{c.Ends[0].Addr, c.Ends[1].Addr}, withPort(nil, c, &c.Ends[0])})
	}
	return fmt.Sprintf("nothing at all of %s came to the tap in most of each of these times%s", count(uint64(len(p.silent)), "connection"), waysOf(ways))
}

// sparedSaid names the connections that went on.
func (p *pathOutages) sparedSaid() string {
	var ways []wayPorts
	for _, c := range p.spared {
		for k := range c.Ends {
			ways = append(ways, wayPorts{way{c.Ends[k].Addr, c.Ends[1-k].Addr}, withPort(nil, c, &c.Ends[k])})
		}
	}
	said := fmt.Sprintf("%s between the same hosts, which sent in each of these times that fell into theirs, and retransmitted nothing%s", count(uint64(len(p.spared)), "connection"), waysOf(ways))
	if len(p.beside) > 0 {
		var pairs []string
		for _, c := range p.beside {
			if s := fmt.Sprintf("%v with %v", c.Ends[0].Addr, c.Ends[1].Addr); !slices.Contains(pairs, s) {
				pairs = append(pairs, s)
			}
		}
		were := "were"
		if len(p.beside) == 1 {
			were = "was"
		}
		said += fmt.Sprintf("; nor %s %s of %s", were, count(uint64(len(p.beside)), "connection"), enumerate(pairs))
	}
	return said
}

// diedSaid tells of connections that did not outlast an outage.
func (t *teller) diedSaid(i *Incident, p *pathOutages) string {
	var said []string
	for _, d := range p.died {
		c := d.c
		a, b, last := party(&c.Ends[0]), party(&c.Ends[1]), max(c.Ends[0].Last, c.Ends[1].Last)
		i.show(c.Closed.Frame, d.next.FirstFrame)
		what := fmt.Sprintf("%v with %v, which carries nothing after %s", &a, &b, t.offset(last))
		if d.from >= 0 {
			k := &c.Ends[d.from].Trouble.Now
			i.show(k.Request.Frame, k.Frames.Last)
			what = fmt.Sprintf("%v with %v, on which %s of %v at %s was never answered, though retransmitted in %s until %s", &a, &b, article(operation(&k.Request)), c.Ends[d.from].Addr, t.offset(k.Since), count(k.Total(), "round"), t.offset(k.Last))
		}
		what += fmt.Sprintf("; the next connection between these hosts began at %s, in frame %d", t.offset(d.next.First), d.next.FirstFrame)
		if c.Closed.At != 0 {
			what += fmt.Sprintf(", and %v disconnected this one at %s, in frame %d", c.Closed.By, t.offset(c.Closed.At), c.Closed.Frame)
		}
		said = append(said, what)
	}
	return strings.Join(said, "; ")
}

// retransmitted is what was retransmitted on the connections that were hit.
func (p *pathOutages) retransmitted() (n, bytes uint64) {
	for _, c := range p.hit {
		for k := range c.Ends {
			if e := c.Ends[k].Trouble; e != nil {
				n, bytes = n+e.Again.Packets, bytes+e.Again.Bytes
			}
		}
	}
	return n, bytes
}

// waysOf names UDP source ports by direction, more of these than portsByWay does; "": none is known.
func waysOf(list []wayPorts) string {
	by := map[way][]uint16{}
	var ways []way
	for _, w := range list {
		if len(w.ports) == 0 {
			continue
		}
		if by[w.way] == nil {
			ways = append(ways, w.way)
		}
		by[w.way] = withPorts(by[w.way], w.ports)
	}
	slices.SortFunc(ways, func(a, b way) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
	var said []string
	for _, w := range ways[:min(len(ways), waysNamed)] {
		said = append(said, strings.TrimSuffix(strings.TrimPrefix(onPorts(by[w]), " ("), ")")+fmt.Sprintf(" from %v to %v", w.from, w.to))
	}
	switch {
	case len(ways) > waysNamed:
		said = append(said, "…")
	case len(said) == 0:
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}
