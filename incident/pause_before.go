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

// beyond are the hosts that packets go to over port q, at another tap, other than the one whose own port p is, where the pauses of q lie in the bursts of those of p
// and packets for that host go to q first; nil: there are none, or it is not known.
func beyond(p, q *link.Paused) []packet.Addr {
	if p.Begun == 0 || q.Begun == 0 || p.Tap == q.Tap || p.From == q.From || p.All != q.All || p.Priority != q.Priority ||
		!ownPort(p) || len(q.Hosts) < 2 || !slices.Contains(q.Hosts, p.Hosts[0]) || !exact(p) || !exact(q) ||
		!letsGo(p) || !letsGo(q) || !bunched(p) || len(burstsIn(p, q)) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(q.Hosts), func(a packet.Addr) bool { return a == p.Hosts[0] })
}

// burstsIn are the bursts of the pauses of port q, and those of port p in which they lie, for nine tenths at least; nil: one does not, or they are few.
func burstsIn(p, q *link.Paused) (list []handed) {
	if len(q.Bunches) < bunchesLeast || len(q.Bunches) >= link.MostBunches {
		return nil
	}
	for _, b := range q.Bunches {
		n := slices.IndexFunc(p.Bunches, func(o link.Bunch) bool {
			return b.To > b.From && 10*(min(b.To, o.To)-max(b.From, o.From)) >= 9*(b.To-b.From)
		})
		if n < 0 {
			return nil
		}
		list = append(list, handed{p.Bunches[n].Lasting, b.Lasting})
	}
	return list
}

// filledBy returns the one port of a host in whose bursts the pauses of port q lie, which is before it; nil: there is none, or there are several.
func (t *teller) filledBy(q *link.Paused) (of *link.Paused) {
	for k := range t.run.Paused {
		if p := &t.run.Paused[k]; t.timed() && beyond(p, q) != nil {
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
		others := beyond(p, q)
		bursts := fmt.Sprintf("In each of the %d bursts of these pauses", len(p.Bunches))
		if n := len(q.Bunches); n < len(p.Bunches) {
			bursts = fmt.Sprintf("In %d of the %d bursts of these pauses", n, len(p.Bunches))
		}
		i.What += fmt.Sprintf(" %s the port before it with Ethernet address %v (tap %d), to which packets for %s go, "+
			"had the other end of its link pause too, %s, for %s in all: likely a switch whose buffer fills with what waits for %v.",
			bursts, net.HardwareAddr(q.From[:]), q.Tap, addresses(q.Hosts), times(q.Begun), span(int64(q.Most)), p.Hosts[0])
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
