package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// outage is a time in which nothing that was sent to a host was answered on other connections that had begun, and after which these went on.
type outage struct {
	others  int             // connections on which it was so
	unknown int             // more of them, of which it is not known
	until   int64           // when the first of the others was answered again
	away    bool            // the others are those of other hosts
	hushed  int             // where there are no others: connections of the host that was asked which were busy, carried nothing meanwhile, and went on
	resumed int64           // about when the first of these did
	silent  *timing.Silence // in which the host that was asked sent nothing on any connection, where another shows that it would have; nil: that is not known
}

// happened reports whether there was one.
func (o *outage) happened() bool { return o.others+o.hushed > 0 || o.silent != nil }

// mostOthers is how many connections two hosts have at most, and a run where those with other hosts count, which are looked at for each that may have shared an outage.
const mostOthers = 4096

// outlasted returns the outage in which the retries of stall k of end from of c were used up, if there was one.
func (t *teller) outlasted(c *agent.Connection, from int, k *qp.Stall) outage {
	if !t.timed() || k.Total() == 0 {
		return outage{}
	}
	list := t.siblings(c)
	if len(list) > mostOthers {
		return outage{} // each that was lost would look at all others
	}
	o, went := outlastedOn(list, c, k, c.Ends[1-from].Addr, packet.Addr{})
	if o.others > 0 {
		return o
	}
	if t.ended()[c] {
		return outage{} // who has nothing to send at the end of a program is silent, too
	}
	if s := t.silentFor(c.Ends[1-from].Addr, k.Begun, k.Last); s != nil && t.shown(c, c.Ends[1-from].Addr, s) {
		return outage{silent: s}
	}
	if went {
		return o
	}
	p, went := outlastedOn(t.withOthers(c, from), c, k, c.Ends[1-from].Addr, c.Ends[1-from].Addr)
	switch {
	case p.others > 0:
		p.away = true
		return p
	case went && o.hushed == 0:
		return outage{}
	case p.hushed > 0 && (o.resumed == 0 || p.resumed < o.resumed):
		o.resumed = p.resumed
	}
	o.hushed += p.hushed
	return o
}

// thatStopped is what fits where several wait for a host.
func thatStopped(host packet.Addr) string {
	return "the link or adapter of " + host.String() + ", or the host itself, that stopped for that long"
}

// silentToAll says that the peer of end from of c carried nothing with other hosts either during stall s, which was over then.
func (t *teller) silentToAll(i *Incident, c *agent.Connection, from int, s *qp.Stall) {
	if !t.timed() || s.AnswerLost || s.Total() == 0 {
		return
	}
	peer := c.Ends[1-from].Addr
	whole := *s
	whole.Begun = s.Since
	o, went := outlastedOn(t.withOthers(c, from), c, &whole, peer, peer)
	if went || o.hushed == 0 {
		return
	}
	i.fact("peer", fmt.Sprintf("%v carried nothing meanwhile with other hosts either, on %s which had been busy", peer, count(uint64(o.hushed), "connection")))
	i.FitsWith = slices.Insert(i.FitsWith, 0, thatStopped(peer))
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(f string) bool { return f == hostStopped })
	i.Next = slices.DeleteFunc(i.Next, func(f string) bool { return f == othersToo })
}

// silentBetween says that the other connections between the hosts of c carried nothing either during stall s, which was over then. It reports whether that is so.
func (t *teller) silentBetween(i *Incident, c *agent.Connection, s *qp.Stall) bool {
	list := t.siblings(c)
	if !t.timed() || s.AnswerLost || s.Late || s.Total() == 0 || len(list) > mostOthers {
		return false
	}
	whole := *s
	whole.Begun = s.Since
	o, went := outlastedOn(list, c, &whole, i.Peer.Addr, i.Peer.Addr)
	if went || o.hushed == 0 || o.others > 0 {
		return false
	}
	i.fact("between", fmt.Sprintf("%s between the hosts, which had been busy, carried nothing meanwhile either, and went on there about %s after this request", count(uint64(o.hushed), "other connection"), span(o.resumed-s.Since)))
	i.Next = slices.DeleteFunc(i.Next, func(f string) bool { return f == othersToo })
	return true
}

// withOthers returns the connections of the service that the peer of end from of c has with other hosts than that of the end; nil where there are many.
func (t *teller) withOthers(c *agent.Connection, from int) (list []*agent.Connection) {
	if len(t.run.Connections) > mostOthers {
		return nil
	}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if far, ok := farEnd(d, c.Ends[1-from].Addr); ok && far != c.Ends[from].Addr && d.Service == c.Service {
			list = append(list, d)
		}
	}
	return list
}

// outlastedOn returns the outage in which the retries of stall k of c were used up, as far as a list of other connections shows it: what host asked has
// sent on them does not count, and it is the peer that goes on. went says that one of them may have carried traffic meanwhile: there was none.
func outlastedOn(list []*agent.Connection, c *agent.Connection, k *qp.Stall, peer, asked packet.Addr) (o outage, went bool) {
	for _, d := range list {
		if d == c || d.First > k.Since || max(d.Ends[0].Last, d.Ends[1].Last) < k.Since || stalledBy(d, k.Last) {
			continue // itself, one that began later, one that was over, one that did not outlast it either
		}
		switch until := answeredAfter(d, k, asked); {
		case until != 0:
			if o.others == 0 || until < o.until {
				o.until = until
			}
			o.others++
		case busyIn(d, k.Begun, k.Last):
			at, nothing := carriedNothing(d, k.Begun, k.Last)
			if at = wentOnAt(d, peer, k, at); !nothing || at == 0 {
				return outage{}, true
			}
			if o.hushed == 0 || at < o.resumed {
				o.resumed = at
			}
			o.hushed++
		default:
			o.unknown++
		}
	}
	return o, false
}

// wentOnAt is when host peer sent its first packet on d after the retransmissions of stall k, where about that time something came on d, perhaps of the
// other host only, which then asks in vain; 0: it sent none.
func wentOnAt(d *agent.Connection, peer packet.Addr, k *qp.Stall, about int64) (at int64) {
	for e := range d.Ends {
		if d.Timing == nil || d.Ends[e].Addr != peer {
			continue
		}
		a := &d.Timing.Ends[e].Active
		if a.Last < k.Last {
			continue
		}
		first := max(about, a.First)
		if s := a.Silent(k.Begun, k.Last); s != nil {
			first = s.To
		}
		if at == 0 || first < at {
			at = first
		}
	}
	return at
}

// stalledBy reports whether a request of a connection that is never answered was sent by some time.
func stalledBy(d *agent.Connection, at int64) bool {
	for k := range d.Ends {
		if e := &d.Ends[k]; e.Stalled && (e.Trouble == nil || e.Trouble.Now.Since <= at) {
			return true
		}
	}
	return false
}

// beganIn tells that stall k of a request on c began in an outage that other connections between the hosts have outlasted, while this request was retransmitted in vain for longer.
func (t *teller) beganIn(i *Incident, c *agent.Connection, k *qp.Stall) {
	list := t.siblings(c)
	if !t.timed() || k.Total() == 0 || k.Last == k.Begun || len(list) > mostOthers {
		return
	}
	first := *k
	first.Last = k.Begun
	o, went := outlastedOn(list, c, &first, i.Peer.Addr, packet.Addr{})
	if went || o.others == 0 || o.until >= k.Last {
		return
	}
	peer := i.Peer.Addr.String()
	i.fact("outage", fmt.Sprintf("when this was retransmitted first, %s had answered nothing on %s between them either, until %s after this request; there it went on", peer, count(uint64(o.others), "other connection"), span(o.until-k.Since)))
	i.FitsWith = append(i.FitsWith, "a link, switch or route between the hosts, or "+peer+" itself, that failed and came back, and a queue pair of "+peer+" that is in the error state since")
	i.Next = append(i.Next, "link events in the logs of both hosts and of the switches at the time when this began")
}

// answeredAfter returns when a request on connection d, of another host than one, was answered that waited during all retransmissions of stall k; 0: none did.
func answeredAfter(d *agent.Connection, k *qp.Stall, asked packet.Addr) int64 {
	for e := range d.Ends {
		if d.Ends[e].Trouble == nil || d.Ends[e].Addr == asked {
			continue
		}
		x := d.Ends[e].Trouble.Settled(false)
		for j := range x.Longest {
			if s := &x.Longest[j]; interrupts(s) && s.Total() > 0 && s.Since < k.Begun && s.Ended > k.Last {
				return s.Ended
			}
		}
	}
	return 0
}

// cameBack tells of an outage that a request has not outlasted. all says that all queue pairs between the hosts lost packets: it is not one path of several.
func (t *teller) cameBack(i *Incident, c *agent.Connection, o outage, k *qp.Stall, all bool) {
	peer := i.Peer.Addr.String()
	i.outlasted = true
	if s := o.silent; s != nil {
		where := "the link of " + peer + " or its switch port, or the host itself,"
		if !t.silentOnAll(i, s) {
			where = "a link, switch or route of " + peer + ", or the host itself,"
		}
		i.outage(where, "that was down or stopped for that long at most")
		t.silentWith(i, c, s)
		t.silentAgain(i, s)
		t.outlastedBy(i, c, s)
		return
	}
	if o.others == 0 {
		i.fact("peer", fmt.Sprintf("%s carried nothing meanwhile on %s either, which had been busy, and went on there about %s after this request", peer, count(uint64(o.hushed), "other connection"), span(o.resumed-k.Since)))
		i.outage("a link, switch or route of "+peer+", or the host itself,", "that failed or stopped, and came back when these retries were used up")
		return
	}
	on, where, path, unknown := "the other connection", "between them", "a link, switch or route between the hosts", ""
	switch {
	case o.others > 1 && (o.away || o.unknown > 0):
		on = fmt.Sprintf("%d other connections", o.others)
	case o.others > 1:
		on = fmt.Sprintf("the %d other connections", o.others)
	case o.away || o.unknown > 0:
		on = "another connection"
	}
	if o.unknown > 0 {
		unknown = fmt.Sprintf("; what %s more carried meanwhile is not known", number(uint64(o.unknown)))
	}
	switch {
	case o.away:
		where, path = "with another host", "a link, switch or route on the way to "+peer
		if o.others > 1 {
			where = "with other hosts"
		}
	case o.unknown > 0 && !all:
		path = "one path of several between the hosts, which these queue pairs take, or " + path
	}
	i.fact("peer", fmt.Sprintf("%s answered nothing on %s %s either, until %s after this request%s", peer, on, where, span(o.until-k.Since), unknown))
	i.outage(path+", or "+peer+" itself,", "that failed and came back when these retries were used up, and those of the others were not")
}

// outage says what fits an outage, and what to look at.
func (i *Incident) outage(who, what string) {
	i.FitsWith = append(i.FitsWith, who+" "+what)
	i.Next = append(i.Next, "link events in the logs of both hosts and of the switches at that time", "the timeout and retry_cnt of "+i.Local.String()+", if it is to outlast such a time")
}
