package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/link"
	"ibwitness/packet"
)

// A switch whose buffer fills while a host has it pause hands that on: it has its senders pause, too, for the rest of that time. Each of these
// pauses begins after the one of the host and ends right after it. Then what these send to others waits, too.

const (
	endsWith  = 10             // by which part of its length, one in so many, a pause that is handed on ends after that which it follows at most
	inFlight  = int64(20_000)  // for how long, in nanoseconds, packets come after a pause frame that were sent before it came
	handedFew = int64(100_000) // how long a pause is at least that is compared
	standing  = 2              // how many times as long as each other time without a message of a sender the longest one in these pauses is, at least
	eachTold  = 6              // of how many pauses it is told when each was
)

// handed is a pause of a port, and the one of another port that it follows.
type handed struct{ of, pause link.Lasting }

// handsOn reports whether the pauses of port q are those of p, nearly all of their time, that a switch handed on.
func handsOn(p, q *link.Paused) bool {
	if !exact(p) || !exact(q) || len(p.Hosts) == 0 {
		return false
	}
	long := int64(0)
	for _, h := range handedOf(p, q) {
		long += h.pause.To - h.pause.From
	}
	return 10*long >= 9*int64(q.Most)
}

// exact reports whether it is known for how long a port had the other end of its link pause.
func exact(p *link.Paused) bool { return p.Most > 0 && (p.Most == p.Least || throughout(p)) }

// handedOf are the pauses of port q that began while one of p lasted, and ended right after it.
func handedOf(p, q *link.Paused) (list []handed) {
	for _, s := range q.Each {
		length := s.To - s.From
		n := slices.IndexFunc(p.Each, func(o link.Lasting) bool {
			return s.From > o.From && s.From < o.To && s.To >= o.To && s.To-o.To <= min(length/endsWith, passedWithin)
		})
		if n >= 0 && length >= handedFew {
			list = append(list, handed{p.Each[n], s})
		}
	}
	return list
}

// handed reports whether the pauses of port q are those of p, which lets go, that a switch handed on.
func (t *teller) handed(p, q *link.Paused) bool {
	return letsGo(p) && t.spreadsTo(p, q) && t.overAnotherLink(p, q)
}

// overAnotherLink reports whether pauses that port q has after those of p are of another link than that of p: other ports of the tap hand them
// on too, or
// a host sends on until they begin. Else they may be of the other end of the link of p.
func (t *teller) overAnotherLink(p, q *link.Paused) bool {
	if p.Tap != q.Tap || slices.ContainsFunc(t.run.Paused, func(o link.Paused) bool {
		return o.Tap == q.Tap && o.From != q.From && o.Begun > 0 && t.spreadsTo(p, &o)
	}) {
		return true
	}
	_, one := t.otherEnd(handedOf(p, q), p.Hosts)
	return one
}

// handedOn tells which ports of a switch had their senders pause while port p had the switch pause, who these are as far as their silence
// tells, and what
// they send to others that waited.
func (t *teller) handedOn(i *Incident, p *link.Paused, ports []*link.Paused) {
	var list, victims, waits []string
	var held, from, to []packet.Addr
	longest, followed := int64(0), map[link.Lasting]bool{}
	for _, q := range ports {
		pauses := handedOf(p, q)
		for _, h := range pauses {
			followed[h.of] = true
		}
		text := t.portName(q)
		if q.Tap == p.Tap {
			i.show(q.Frame)
		} else {
			text += fmt.Sprintf(" at tap %d", q.Tap)
		}
		if host, one := t.otherEnd(pauses, p.Hosts); one {
			text += " (likely to " + host.String() + ", which began and ended no message meanwhile)"
			held = append(held, host)
			for _, v := range t.victims(host, pauses) {
				victims, longest = append(victims, v.text), max(longest, v.longest)
				from, to = append(from, host), append(to, v.to)
			}
		} else if host, peers := t.linkOf(q.Tap); q.Tap != p.Tap && peers != nil {
			text += fmt.Sprintf(" (likely to %v, as all that tap %d shows is of it)", host, q.Tap)
			held = append(held, host)
			waits = append(waits, fmt.Sprintf("What %v sends to %s in that priority waits too", host, someOf(t.sameLink(q, p))))
		}
		list = append(list, text+t.handedTimes(q, pauses))
	}
	i.What += fmt.Sprintf(" In %s the switch had the other end of %s pause too, until right after%s.",
		followedOf(p, len(followed)), anotherLink(len(ports)), likelyTo(held, len(ports)))
	if len(victims) > 0 {
		i.What += fmt.Sprintf(" What %s to %s waited too, for up to %s.", sendsOf(eachOnce(from)), someOf(eachOnce(to)), span(longest))
	}
	for _, s := range waits[:min(len(waits), 2)] {
		i.What += " " + s + "."
	}
	i.fact("pauses", t.eachPause(p))
	if more := len(victims) - stalledTold; more > 0 {
		victims = append(victims[:stalledTold], count(uint64(more), "more way"))
	}
	if len(victims) > 0 {
		i.fact("victims", strings.Join(victims, "; ")+": no message began or ended then, and who it goes to does not pause")
	}
	i.fact("spread", fmt.Sprintf("the port with Ethernet address %s; likely of a switch, whose buffer fills with what waits for %s",
		strings.Join(list, ", and "), addresses(p.Hosts)))
}

// followedOf says of how many pauses of a port others follow.
func followedOf(p *link.Paused, n int) string {
	switch {
	case p.Begun == 1:
		return "it"
	case uint64(n) == p.Begun:
		return "each of these pauses"
	}
	return fmt.Sprintf("%d of these pauses", n)
}

// likelyTo names the hosts at the other ends of some links, where all are known.
func likelyTo(hosts []packet.Addr, links int) string {
	switch {
	case len(hosts) < links:
		return ""
	case links == 1:
		return ", likely that to " + hosts[0].String()
	}
	return ", likely those to " + someOf(eachOnce(slices.Clone(hosts)))
}

// sendsOf names some hosts, and that they send.
func sendsOf(hosts []packet.Addr) string {
	if len(hosts) == 1 {
		return hosts[0].String() + " sends"
	}
	return someOf(hosts) + " send"
}

// eachOnce are some hosts in order, each once.
func eachOnce(hosts []packet.Addr) []packet.Addr {
	slices.SortFunc(hosts, packet.Addr.Compare)
	return slices.Compact(hosts)
}

// handedTimes says for how long a port had the other end pause after another, and how much later that began.
func (t *teller) handedTimes(q *link.Paused, pauses []handed) string {
	if !t.timed() {
		return ""
	}
	sum, longest, least, most := int64(0), int64(0), int64(0), int64(0)
	for _, h := range pauses {
		n, later := h.pause.To-h.pause.From, h.pause.From-h.of.From
		if sum, longest, most = sum+n, max(longest, n), max(most, later); least == 0 || later < least {
			least = later
		}
	}
	text := fmt.Sprintf(" %s for %s in all, up to %s, from %s after the beginning of these on",
		times(uint64(len(pauses))), span(sum), span(longest), between(span(least), span(most)))
	if n := sub(q.Begun, uint64(len(pauses))); n > 0 {
		text += fmt.Sprintf(" (%s of %s in all besides)", count(n, "pause"), span(int64(q.Most)-sum))
	}
	return text
}

// eachPause says when each pause of a port was; "": that is not known, or they are many.
func (t *teller) eachPause(p *link.Paused) string {
	if !t.timed() || len(p.Each) > eachTold || uint64(len(p.Each)) != p.Begun {
		return ""
	}
	var list []string
	for _, s := range p.Each {
		list = append(list, fmt.Sprintf("%+.6f s for %s", float64(s.From-t.run.First)/1e9, span(s.To-s.From)))
	}
	return strings.Join(list, ", ")
}
