package incident

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"ibwitness/link"
	"ibwitness/packet"
)

// passedWithin is within which time of a pause at one port another has to begin at least where a switch passes it on.
const passedWithin = int64(5 * time.Millisecond)

// alikeShare is by which part of its time, one in so many, the pause of another port may differ that was passed on.
const alikeShare = 20

// passesOn reports whether the pauses of port q are those of p which a switch has passed on: as many, as long, each of them a little later, from a port that no host is known to have.
func passesOn(p, q *link.Paused) bool {
	most, alike := p.Most, p.Most-q.Most
	return p.Tap == q.Tap && p.All == q.All && p.Priority == q.Priority && p.From != q.From && p.Begun == q.Begun && len(q.Hosts) == 0 &&
		q.Time > p.Time && q.Time-p.Time <= passedWithin && max(q.LastTime-p.LastTime, p.LastTime-q.LastTime) <= max(int64(most)/alikeShare, passedWithin) && max(alike, -alike) <= most/alikeShare
}

// pausedBy returns which port the pauses of port q were passed on from, over others or not; nil: they were not.
func (t *teller) pausedBy(q *link.Paused) (first *link.Paused) {
	for k := range t.run.Paused {
		if p := &t.run.Paused[k]; p.Begun > 0 && passesOn(p, q) && !t.handed(p, q) && (first == nil || p.Time < first.Time) {
			first = p
		}
	}
	if first != nil {
		if before := t.pausedBy(first); before != nil {
			return before
		}
	}
	return first
}

// passesOn tells which ports passed the pauses of port p on.
func (t *teller) passesOn(i *Incident, p *link.Paused) {
	var list []string
	for k := range t.run.Paused {
		if q := &t.run.Paused[k]; q.Begun > 0 && t.pausedBy(q) == p {
			list = append(list, t.portName(q)+t.within(" began %s later", q.Time-p.Time))
			i.show(q.Frame)
		}
	}
	if len(list) == 0 {
		return
	}
	i.fact("passed on", fmt.Sprintf("to the senders, as often and as long, by the port with Ethernet address %s: no host is known to have it, so that it is likely a switch which cannot send to %v", strings.Join(list, ", "), net.HardwareAddr(p.From[:])))
}

// spreadsTo reports whether the pauses of port q follow from those of p: of one that does not let go each long one, and they are nearly all of the time, begins while one of those lasts, and ends with it, and the port is
// likely of a switch: packets for no host go to it, and, at another tap, those for the host of p and for others go over its link. What waits there for the
// end of the pause fills its buffer, until it has others wait that send nothing to the host of p. Of one that lets go handsOn says it.
func (t *teller) spreadsTo(p, q *link.Paused) bool {
	if p == q || p.All != q.All || p.Priority != q.Priority || !q.Unowned || p.Tap != q.Tap && len(t.sameLink(q, p)) == 0 {
		return false
	}
	if letsGo(p) {
		return handsOn(p, q)
	}
	long, before := time.Duration(0), stretches(p)
	for _, later := range withoutBreaks(q.Long) {
		long += time.Duration(later.To - later.From)
		if !slices.ContainsFunc(before, func(s link.Lasting) bool {
			return later.From > s.From && later.From < s.To && later.To <= s.To+passedWithin && later.To >= s.To-passedWithin
		}) {
			return false
		}
	}
	return long > 0 && 10*long >= 9*q.Most
}

// stretches are the long pauses of a port, each, where it does not let go, with those that follow it at once.
func stretches(p *link.Paused) []link.Lasting {
	list := p.Long
	switch {
	case letsGo(p):
		return list
	case uint64(len(p.Each)) == p.Begun:
		list = p.Each
	}
	return slices.DeleteFunc(withoutBreaks(list), func(s link.Lasting) bool { return s.To-s.From < link.LongPause })
}

// withoutBreaks are pauses, where those between which next to nothing can pass are one: a port that resumes for a moment does not empty the buffer that
// fills before it.
func withoutBreaks(list []link.Lasting) (out []link.Lasting) {
	for _, s := range list {
		if n := len(out) - 1; n >= 0 && s.From-out[n].To < int64(briefPause) {
			out[n].To = max(out[n].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// sameLink is which hosts are reached over the link of port q, at another tap, as those of port p are: all at one address, or from the one host
// whose link it is; nil: none, or it is not known that those of p are.
func (t *teller) sameLink(q, p *link.Paused) []packet.Addr {
	lists := q.Over
	if _, peers := t.linkOf(q.Tap); peers != nil {
		lists = append(slices.Clone(lists), peers)
	}
	for _, list := range lists {
		others := slices.DeleteFunc(slices.Clone(list), func(a packet.Addr) bool { return slices.Contains(p.Hosts, a) })
		if len(others)+len(p.Hosts) == len(list) {
			return others
		}
	}
	return nil
}

// linkOf is the one host of which all is that a tap has seen first, and its peers there; nil: there is none, or one peer only.
func (t *teller) linkOf(tap uint16) (host packet.Addr, peers []packet.Addr) {
	common := t.commonHosts(tap)
	if len(common) != 1 {
		return host, nil
	}
	for n := range t.run.Connections {
		if c := &t.run.Connections[n]; c.FirstTap == tap {
			k := 0
			if c.Ends[0].Addr == common[0] {
				k = 1
			}
			peers = append(peers, c.Ends[k].Addr)
		}
	}
	return common[0], eachOnce(peers)
}

// begunLater is how much later the long pauses of port q began than those of p in whose time they did, at least and at most.
func begunLater(p, q *link.Paused) (least, most int64) {
	before := stretches(p)
	for _, later := range withoutBreaks(q.Long) {
		for _, s := range before {
			if later.From > s.From && later.From < s.To {
				if d := later.From - s.From; most == 0 {
					least, most = d, d
				} else {
					least, most = min(least, d), max(most, d)
				}
			}
		}
	}
	return least, most
}

// spreadFrom returns the port of a host from which the pauses of port q spread; nil: none did.
func (t *teller) spreadFrom(q *link.Paused) *link.Paused {
	for k := range t.run.Paused {
		if p := &t.run.Paused[k]; p.Begun > 0 && len(p.Hosts) > 0 && t.spreadsTo(p, q) && t.pausedBy(p) == nil && (!letsGo(p) || t.handed(p, q)) {
			return p
		}
	}
	return nil
}

// spread tells which ports had others pause too while port p did not let go. It reports whether one did.
func (t *teller) spread(i *Incident, p *link.Paused) bool {
	var list, held []string
	var ports []*link.Paused
	for k := range t.run.Paused {
		q := &t.run.Paused[k]
		if q.Begun == 0 || t.spreadFrom(q) != p {
			continue
		}
		if letsGo(p) {
			ports = append(ports, q)
			continue
		}
		if q.Tap != p.Tap {
			list = append(list, t.portName(q)+t.before(p, q))
			held = append(held, t.heldFor(p, q)...)
			continue
		}
		list = append(list, t.portName(q)+t.within(" began %s later", q.Time-p.Time))
		i.show(q.Frame)
	}
	if len(ports) > 0 {
		t.handedOn(i, p, ports)
		return true
	}
	if len(list) == 0 {
		return false
	}
	i.What += " The switch then had the other end of " + anotherLink(len(list)) + " pause too"
	if len(held) > 0 {
		i.What += ": " + enumerate(held)
	}
	i.What += "."
	i.fact("spread", fmt.Sprintf("the port with Ethernet address %s: each of its long pauses began while one of these lasted, and ended with it; likely a switch, whose buffer fills with what waits for %s", strings.Join(list, ", "), addresses(p.Hosts)))
	return true
}

// overSpread is which other hosts are reached over links at other taps that had to pause too, after port p.
func (t *teller) overSpread(p *link.Paused) (hosts []packet.Addr) {
	for k := range t.run.Paused {
		if q := &t.run.Paused[k]; q.Begun > 0 && q.Tap != p.Tap && t.spreadFrom(q) == p {
			hosts = append(hosts, t.sameLink(q, p)...)
		}
	}
	return hosts
}

// before says of a port q at another tap when it passed the pauses of p on, and which packets wait for it too.
func (t *teller) before(p, q *link.Paused) string {
	later := ""
	if t.timed() {
		least, most := begunLater(p, q)
		later = " began " + between(span(least), span(most)) + " later each time"
	}
	return fmt.Sprintf(" at tap %d (packets for %s go over that link too)%s", q.Tap, someOf(t.sameLink(q, p)), later)
}

// heldFor says which host had to pause at another tap after port p, for how long, and what of it waits too, where that is known.
func (t *teller) heldFor(p, q *link.Paused) []string {
	host, peers := t.linkOf(q.Tap)
	if peers == nil || !t.timed() || !exact(q) {
		return nil
	}
	return []string{fmt.Sprintf("%v %s, for %s in all (what it sends to %s in that priority waits too)",
		host, times(q.Begun), span(int64(q.Most)), someOf(t.sameLink(q, p)))}
}

func anotherLink(n int) string {
	if n == 1 {
		return "another link"
	}
	return fmt.Sprintf("%d other links", n)
}
