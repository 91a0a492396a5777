package incident

import (
	"cmp"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
)

// servicesStopped tells of the protocols of which a host answered no command of any client for a while, and then all that waited, where
// other programs of it may have gone on.
func (t *teller) servicesStopped() {
	type service struct {
		host     packet.Addr
		protocol string
	}
	done := map[service]bool{}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			a := c.Ends[e].Addr
			if servesAt(c, a) != e || c.Upper.Slowest == nil {
				continue
			}
			o, of := c.Upper.Slowest, service{a, c.Upper.Protocol}
			if o.Ended-o.Since < interruption || done[of] {
				continue
			}
			done[of] = true
			if t.groups[group{Interrupted, a, a, "programs"}] == nil {
				t.serviceStopped(a, c.Upper.Protocol)
			}
		}
	}
}

// serviceStopped tells of the first such time of one.
func (t *teller) serviceStopped(a packet.Addr, protocol string) {
	of := t.commandsOf(a, protocol)
	for _, s := range t.answeredNothing(of, a) {
		for _, slack := range []int64{aftermath, s.Length() / tenth} {
			if k := (&lull{Silence: s, protocol: protocol, slack: slack}); k.commandsWait(t, of, a) {
				t.tellServiceStopped(a, k, of)
				return
			}
			if s.Length() < upper.SlowAfter {
				break
			}
		}
	}
}

// servesAt is which end of a connection is a host that answers commands; -1: none is.
func servesAt(c *agent.Connection, a packet.Addr) int {
	if c.Upper == nil || c.Timing == nil || c.Service != packet.RC {
		return -1
	}
	if o := cmp.Or(c.Upper.Slowest, c.Upper.Oldest); o != nil && c.Ends[1-o.From].Addr == a {
		return 1 - o.From
	}
	return -1
}

// commandsOf is the connections on which a host answers commands of a protocol.
func (t *teller) commandsOf(a packet.Addr, protocol string) (of []*agent.Connection) {
	for n := range t.run.Connections {
		if c := &t.run.Connections[n]; servesAt(c, a) >= 0 && c.Upper.Protocol == protocol {
			of = append(of, c)
		}
	}
	return of
}

// answeredNothing returns the times in which a host sent no SEND or WRITE on any of some connections, in order.
func (t *teller) answeredNothing(of []*agent.Connection, a packet.Addr) (list []timing.Silence) {
	own := new(timing.Activity)
	for _, c := range of {
		x, all := c.Timing.Ends[servesAt(c, a)].Messages()
		if !all {
			return nil
		}
		own.Join(&x)
	}
	return slices.DeleteFunc(own.Silences, func(s timing.Silence) bool { return s.Length() < interruption })
}

// commandsWait finds the connections of some on which commands waited for a host in a time, and has it begin with the first of them. It
// reports whether they are several, all of which were acknowledged at once, and answered when the host went on, and for none of which it
// did anything before, or where it did not stop at once, of several clients.
func (k *lull) commandsWait(t *teller, of []*agent.Connection, a packet.Addr) bool {
	first, atOnce := k.To, k.atOnce()
	var clients []packet.Addr
	for _, c := range of {
		w := waitedOn{c: c, end: servesAt(c, a)}
		for _, o := range c.Upper.Longest {
			switch {
			case o.Since >= k.To || o.Ended < k.To || o.Lossy:
				continue
			case o.Since < k.From-k.slack, o.Ended > k.To+k.slack, atOnce && o.Moved.At > k.From+aftermath && o.Moved.At < k.To-aftermath:
				return false // it goes on for other reasons, or was worked on
			}
			if w.came == 0 || o.Since < w.came {
				w.came, w.answered, w.frame = o.Since, o.Ended, o.Answer
			}
		}
		if o := c.Upper.Oldest; o != nil && o.Since < k.To {
			return false
		}
		if w.came == 0 {
			continue
		}
		outlasts := func(l upper.LateTime) bool { return l.From < k.To && l.To > k.To+k.slack }
		if stalledIn(c, k) || !w.acked(k) || slices.ContainsFunc(c.Upper.Late.Times, outlasts) {
			return false
		}
		if client := c.Ends[1-w.end].Addr; !slices.Contains(clients, client) {
			clients = append(clients, client)
		}
		first, k.waits = min(first, w.came), append(k.waits, w)
	}
	slices.SortStableFunc(k.waits, func(x, y waitedOn) int { return cmp.Compare(x.came, y.came) })
	if k.From = max(k.From, first); k.Length() < interruption {
		return false
	}
	return len(k.waits) >= lullsOn && (atOnce || len(clients) > 1)
}

// atOnce reports whether all that waited did so from when a program stopped on, and was answered as soon as it went on.
func (k *lull) atOnce() bool { return k.slack <= aftermath }

// underStopped takes out what tells of late commands of a program that stopped, as an incident tells, where none was late at another time.
func (t *teller) underStopped(list []Incident) []Incident {
	gone := map[*Incident]bool{}
	for n := range list {
		by := &list[n]
		for m := range by.lulls {
			k := &by.lulls[m]
			for o := range list {
				i := &list[o]
				late := i.Kind == Slow && i.Peer.Addr == by.Peer.Addr && k.protocol != "" && i.protocol == k.protocol
				if late && t.lateOnlyIn(i, k) {
					gone[i] = true
					by.foundToo(i.Found)
				}
			}
		}
	}
	return without(list, gone)
}

// lateOnlyIn reports whether commands of the hosts of an incident were late only in a time in which the program stopped.
func (t *teller) lateOnlyIn(i *Incident, k *lull) bool {
	if i.Begin < k.From-k.slack || i.End > k.To+k.slack {
		return false
	}
	beyond := func(l upper.LateTime) bool { return l.From < k.From-k.slack || l.To > k.To+k.slack }
	return !slices.ContainsFunc(t.commandsOf(i.Peer.Addr, k.protocol), func(c *agent.Connection) bool {
		late, client := &c.Upper.Late, c.Ends[1-servesAt(c, i.Peer.Addr)].Addr
		return client == i.Local.Addr && (late.More || slices.ContainsFunc(late.Times, beyond))
	})
}
