package incident

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"ibwitness/link"
	"ibwitness/packet"
)

// A host that has a switch pause in bursts fills the buffer of that switch, which has those before it pause in the same bursts. At the tap before
// it, the port has the address that packets for that host and for others go to.

// over are the hosts that packets go to over port q: by its Ethernet address, or, where that is of a switch port to which no packets go and all that its tap
// shows is of one host, those that this host sends to.
func (t *teller) over(q *link.Paused) []packet.Addr {
	if !q.Unowned {
		return q.Hosts
	}
	one := t.commonHosts(q.Tap)
	if len(one) != 1 {
		return nil
	}
	var to []packet.Addr
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if a := c.Ends[1-e].Addr; c.FirstTap == q.Tap && c.Ends[e].Addr == one[0] && c.Ends[e].Packets > 0 && !slices.Contains(to, a) {
				to = append(to, a)
			}
		}
	}
	slices.SortFunc(to, packet.Addr.Compare)
	return to
}

// beyond are the hosts that packets go to over port q, at another tap, other than the one whose own port p is, where the pauses of q lie in the bursts of those of p
// and packets for that host go to q first; nil: there are none, or it is not known.
func (t *teller) beyond(p, q *link.Paused) []packet.Addr {
	if p.Begun == 0 || q.Begun == 0 || p.Tap == q.Tap || p.From == q.From || p.All != q.All || p.Priority != q.Priority ||
		!ownPort(p) || !exact(p) || !exact(q) || !letsGo(p) || !letsGo(q) || !bunched(p) || len(burstsIn(p, q)) == 0 {
		return nil
	}
	to := t.over(q)
	if len(to) < 2 || !slices.Contains(to, p.Hosts[0]) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(to), func(a packet.Addr) bool { return a == p.Hosts[0] })
}

// burstsIn are the bursts of the pauses of port q, and those of port p in which they lie, for nine tenths at least; nil: they are few, or some that last for
// more than a small part of all do not lie in any.
func burstsIn(p, q *link.Paused) (list []handed) {
	if len(q.Bunches) < bunchesLeast || len(q.Bunches) >= link.MostBunches {
		return nil
	}
	all, outside := int64(0), int64(0)
	for _, b := range q.Bunches {
		all += b.To - b.From
		n := slices.IndexFunc(p.Bunches, func(o link.Bunch) bool {
			return b.To > b.From && 10*(min(b.To, o.To)-max(b.From, o.From)) >= 9*(b.To-b.From)
		})
		if n < 0 {
			outside += b.To - b.From
			continue
		}
		list = append(list, handed{p.Bunches[n].Lasting, b.Lasting})
	}
	if len(list) < bunchesLeast || 10*outside > all {
		return nil
	}
	return list
}

// filledBy returns the one port of a host in whose bursts the pauses of port q lie, which is before it; nil: there is none, or there are several.
func (t *teller) filledBy(q *link.Paused) (of *link.Paused) {
	for k := range t.run.Paused {
		if p := &t.run.Paused[k]; t.timed() && t.beyond(p, q) != nil {
			if of != nil {
				return nil
			}
			of = p
		}
	}
	return of
}

// fills tells which ports before port p had others pause in the same bursts, and what goes to other hosts that waited.
func (t *teller) fills(i *Incident, p *link.Paused) {
	for k := range t.run.Paused {
		q := &t.run.Paused[k]
		if t.filledBy(q) != p {
			continue
		}
		others := t.beyond(p, q)
		bursts := fmt.Sprintf("In each of the %d bursts of these pauses", len(p.Bunches))
		if n := len(burstsIn(p, q)); n < len(p.Bunches) {
			bursts = fmt.Sprintf("In %d of the %d bursts of these pauses", n, len(p.Bunches))
		}
		whose := "to which packets for " + addresses(q.Hosts) + " go, "
		if len(q.Hosts) == 0 {
			whose = fmt.Sprintf("that of the switch to which %v sends, ", t.commonHosts(q.Tap)[0])
		}
		i.What += fmt.Sprintf(" %s the port before it with Ethernet address %v (tap %d), %s"+
			"had the other end of its link pause too, %s, for %s in all: likely a switch whose buffer fills with what waits for %v.",
			bursts, net.HardwareAddr(q.From[:]), q.Tap, whose, times(q.Begun), span(int64(q.Most)), p.Hosts[0])
		var said []string
		longest := int64(0)
		var to []packet.Addr
		for _, v := range t.victimsBehind(q, others, burstsIn(p, q)) {
			said, to, longest = append(said, v.text), append(to, v.to), max(longest, v.longest)
		}
		if len(said) == 0 {
			i.What += fmt.Sprintf(" What goes to %s over that link in that priority waits too.", someOf(others))
			continue
		}
		i.What += fmt.Sprintf(" What goes to %s over that link waited too, for up to %s.", someOf(eachOnce(to)), span(longest))
		if more := len(said) - stalledTold; more > 0 {
			said = append(said[:stalledTold], count(uint64(more), "more way"))
		}
		i.fact("victims", strings.Join(said, "; ")+": no message began or ended then")
	}
}

// victimsBehind are what hosts get over the link of a port, and that made no progress in the bursts of its pauses.
func (t *teller) victimsBehind(q *link.Paused, hosts []packet.Addr, bursts []handed) (list []victim) {
	var ways []way
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for e := range c.Ends {
			w := way{c.Ends[e].Addr, c.Ends[1-e].Addr}
			if c.FirstTap == q.Tap && c.Ends[e].Messages > 0 && slices.Contains(hosts, w.to) && !slices.Contains(ways, w) {
				ways = append(ways, w)
			}
		}
	}
	slices.SortFunc(ways, func(a, b way) int {
		if n := a.to.Compare(b.to); n != 0 {
			return n
		}
		return a.from.Compare(b.from)
	})
	for _, w := range ways {
		if v, waited := t.stoodOn(w, bursts); waited {
			list = append(list, v)
		}
	}
	return list
}
