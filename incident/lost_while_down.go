package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// lostNamed is of how many connections that a host lost each is named.
const lostNamed = 4

// lostWhileDown says which connections the peer of an incident lost in the times in which it was down, where they are several, and when their hosts
// connected again.
func (t *teller) lostWhileDown(i *Incident, downs []hostSilence) {
	var said []string
	all := 0
	for n := range downs {
		list := t.lostIn(i.Peer.Addr, &downs[n])
		if all += len(list); len(list) == 0 {
			continue
		}
		s := t.namesOf(i.Peer.Addr, list) + t.connectedAgain(i.Peer.Addr, &downs[n], list)
		if len(downs) > 1 {
			s = fmt.Sprintf("the %s time ", ordinal(n+1)) + s
		}
		said = append(said, s)
	}
	if all > 1 { // else it is the one that is named anyhow
		i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "hosts" })
		i.fact("lost", enumerateSeparately(said))
	}
}

// lostIn are the connections that a host lost while it was down: on which a request waited for it, or that were disconnected then, and that carry
// nothing of it after that. One that nobody has disconnected, or set up again, may still be retried, unless it seems to be given up.
func (t *teller) lostIn(a packet.Addr, d *hostSilence) (list []*agent.Connection) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		e := endOf(c, a)
		if e == nil || !c.Service.Reliable() || e.Packets == 0 || c.First >= d.owed || e.Last > d.owed {
			continue
		}
		from := 0
		if &c.Ends[0] == e {
			from = 1
		}
		peer := &c.Ends[from]
		if c.Closed.At == 0 && t.firstAfter(a, d, c) == 0 && (peer.Trouble == nil || t.gaveUp(c, from, &peer.Trouble.Now) == "") {
			continue
		}
		in := func(at int64) bool { return at >= d.from-interruption && (at < d.to || d.to == 0) }
		if peer.Stalled && peer.Trouble != nil && in(peer.Trouble.Now.Since) || c.Closed.At >= d.owed && in(c.Closed.At) {
			list = append(list, c)
		}
	}
	return list
}

// namesOf names the queue pairs of the other hosts of connections of one, or counts them for each host where they are many.
func (t *teller) namesOf(a packet.Addr, list []*agent.Connection) string {
	var names []string
	var hosts []packet.Addr
	of := map[packet.Addr]uint64{}
	for _, c := range list {
		far, _ := farEnd(c, a)
		who := party(endOf(c, far))
		if names = append(names, who.String()); of[far] == 0 {
			hosts = append(hosts, far)
		}
		of[far]++
	}
	if len(list) <= lostNamed {
		return enumerate(names)
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	for n, far := range hosts {
		names[n] = count(of[far], "connection") + " of " + far.String()
	}
	return enumerate(names[:len(hosts)])
}

// connectedAgain says when the hosts that lost connections with one had others, in the order in which they did, or that they had none.
func (t *teller) connectedAgain(a packet.Addr, d *hostSilence, list []*agent.Connection) string {
	if d.to == 0 {
		return "" // it has not come back
	}
	type again struct {
		host packet.Addr
		at   int64
	}
	var had []again
	var said, never []string
	known := map[packet.Addr]bool{}
	for _, c := range list {
		far, _ := farEnd(c, a)
		if known[far] {
			continue
		}
		known[far] = true
		if at := t.firstAfter(a, d, c); at != 0 {
			had = append(had, again{far, at})
		} else {
			never = append(never, far.String())
		}
	}
	slices.SortStableFunc(had, func(x, y again) int { return cmp.Compare(x.at, y.at) })
	for _, k := range had {
		said = append(said, fmt.Sprintf("%v at %s", k.host, t.offset(k.at)))
	}
	switch {
	case len(had) == 0:
		return "; none of these hosts connected again in the capture"
	case len(never) > 0:
		return fmt.Sprintf("; connected again: %s; not in the capture: %s", enumerate(said), enumerate(never))
	}
	return "; connected again: " + enumerate(said)
}

// firstAfter is when the first connection between the hosts of another began after one of them was down, where that sent anything on it; 0: none did.
func (t *teller) firstAfter(a packet.Addr, d *hostSilence, c *agent.Connection) int64 {
	for next := t.nextOf(c, d.from); next != nil && d.to != 0; next = t.nextOf(c, next.First) {
		if e := endOf(next, a); e == nil || e.Packets == 0 || !d.begunAfter(next, a) {
			continue
		}
		if next.First >= d.to {
			return next.First
		}
		for e := range next.Ends {
			if next.Ends[e].Addr == a {
				return activeOn(next, e).First // it had been asked for before
			}
		}
	}
	return 0
}
