package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// servesAgain says how long it took from when the peer of an incident was back until it served the hosts again: how long no program listened, and
// how long nobody asked.
func (t *teller) servesAgain(i *Incident, d *hostSilence, list []Incident, merged map[*Incident]bool) {
	hosts := append([]packet.Addr{i.Local.Addr}, i.Also...)
	next := t.nextAfter(i.Peer.Addr, d, hosts)
	if next == nil {
		return
	}
	said := fmt.Sprintf("%v was there again with %s", i.Peer.Addr, t.back(d))
	first, last, n, services := t.unservedUntil(i.Peer.Addr, d.to, next.First)
	asked, answered := next.First, ""
	if q := t.askedSince(next); q != nil {
		asked, answered = q.First, fmt.Sprintf(": its REQ, sent %s, was answered at %s", times(uint64(q.Times)), t.offset(q.End))
	}
	if asked < d.to {
		i.fact("back", fmt.Sprintf("%s; the next connection had been asked for since %s, by %s%s", said, t.offset(asked), next.Ends[0].Addr, answered))
		return
	}
	if n == 0 {
		after := span(next.First - d.to)
		i.fact("back", fmt.Sprintf("%s; the next connection began %s after that: with the reconnect delay of %s", said, after, next.Ends[0].Addr))
		return
	}
	next = t.nextAfter(i.Peer.Addr, d, nil) // whoever asked for it, a program listened
	far, _ := farEnd(next, i.Peer.Addr)
	service := enumerate(services)
	i.What = strings.Replace(i.What, nothingOf, fmt.Sprintf("; no program of it listened until %s at least, and the next connection began at %s%s", t.offset(last), t.offset(next.First), nothingOf), 1)
	refused := count(n, "REQ")
	if first > d.to {
		refused += fmt.Sprintf(", from %s on", t.offset(first))
	}
	i.fact("back", fmt.Sprintf("%s; no program of it listened on %s until %s at least: it refused %s (invalid service ID, reason 8)",
		said, service, t.offset(last), refused))
	i.fact("outage", fmt.Sprintf("%s until it was back, %s or more until a program listened, %s or less for the reconnect delay of %v",
		span(d.length()), span(last-d.to), span(next.First-last), far))
	for k := range list {
		o := &list[k]
		if o.Peer.Addr == i.Peer.Addr && slices.Contains(hosts, o.Local.Addr) && !merged[o] && o.follow(d, last) {
			merged[o] = true
			i.foundToo(o.Found)
			i.toldHere()
		}
	}
}

// nextAfter returns the first connection of a host, with one of some others or nil for any, after it was down; nil: it had none.
func (t *teller) nextAfter(a packet.Addr, d *hostSilence, hosts []packet.Addr) (next *agent.Connection) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		far, with := farEnd(c, a)
		after := with && (hosts == nil || slices.Contains(hosts, far)) && c.PairedBy == agent.ByCM && c.First != d.to && d.begunAfter(c, a)
		if after && (next == nil || c.First < next.First) {
			next = c
		}
	}
	return next
}

// follow reports whether an incident is of CM, and follows from it that its peer was down, and then had no program that listens until a time.
func (i *Incident) follow(d *hostSilence, until int64) bool {
	return i.Kind == Rejected && i.Begin >= d.to && i.Begin <= until && i.unserviced || i.Kind == Ignored && i.Begin >= d.owed && i.Begin < d.to
}

// toldHere has what an incident says of REQs point to no other, as it tells of them itself.
func (i *Incident) toldHere() {
	for n := range i.Facts {
		if f := &i.Facts[n]; f.Label == "then" && strings.Contains(f.Text, "REQ") {
			f.Text = strings.TrimSuffix(strings.TrimSuffix(f.Text, ", see there"), ": see there")
		}
	}
}

// unservedUntil is when a host refused REQs between two times for services that no program listened for, first and last, how many, and which.
func (t *teller) unservedUntil(a packet.Addr, since, until int64) (first, last int64, n uint64, services []string) {
	of, order := t.unserviced()
	for _, l := range order {
		for _, f := range of[l] {
			if l.host != a || f.Time < since || f.Time > until {
				continue
			}
			if n == 0 || f.Time < first {
				first = f.Time
			}
			n, last = n+1, max(last, f.Time)
			if !slices.Contains(services, l.service) {
				services = append(services, l.service)
			}
		}
	}
	slices.Sort(services)
	return first, last, n, services
}
