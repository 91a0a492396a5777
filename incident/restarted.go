package incident

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// disconnecting is within what time a host sends the DREQs of a program that ended.
const disconnecting = int64(5 * time.Second)

// restarted is a time in which a host refused REQs for a service as no program listens, which began after it had disconnected those that ask.
type restarted struct {
	host     packet.Addr
	service  string
	refusals []*rule.Finding     // REJs, in order
	closed   []*agent.Connection // that the host disconnected, the first before that, in the order in which it did
	accepted *agent.Connection   // the first that it accepted of these after them; nil: none
}

// listener is where a program listens.
type listener struct {
	host    packet.Addr
	service string
}

// restarts finds the times in which hosts refused REQs so. told is the refusals that they tell of.
func (t *teller) restarts() (list []restarted, told map[*rule.Finding]bool) {
	told = map[*rule.Finding]bool{}
	of, order := t.unserviced()
	for _, l := range order {
		for refusals := of[l]; len(refusals) > 0; {
			r := t.restart(l, refusals)
			if refusals = refusals[len(r.refusals):]; len(r.closed) == 0 {
				continue
			}
			list = append(list, r)
			for _, f := range r.refusals {
				told[f] = true
			}
		}
	}
	return list, told
}

// ended is the connections that a host disconnected as the program ended which had listened for them: no other one listens when their other ends ask for new ones.
func (t *teller) ended() map[*agent.Connection]bool {
	if t.programs == nil {
		t.programs = map[*agent.Connection]bool{}
		list, _ := t.restarts()
		for i := range list {
			for _, c := range list[i].closed {
				t.programs[c] = true
			}
		}
	}
	return t.programs
}

// unserviced finds the REJs of those that no program listens for, by where it would.
func (t *teller) unserviced() (of map[listener][]*rule.Finding, order []listener) {
	of = map[listener][]*rule.Finding{}
	if !t.timed() {
		return of, nil
	}
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvReject || f.Class != rule.Event {
			continue
		}
		if r, _ := cm.ParseRefusal(f.Detail); r.Reason == mad.RejInvalidService && r.Service != "" && !r.ByAsker {
			l := listener{f.Accused.Addr, r.Service}
			if of[l] == nil {
				order = append(order, l)
			}
			of[l] = append(of[l], f)
		}
	}
	return of, order
}

// restart is the first time in which a host refused REQs for a service, of all that it refused: until it accepted one of those that ask.
func (t *teller) restart(l listener, refusals []*rule.Finding) restarted {
	r := restarted{host: l.host, service: l.service, refusals: refusals}
	first, began := refusals[0].Time, int64(0) // when the host accepted the newest before
	asks := map[packet.Addr]bool{}
	for _, f := range refusals {
		asks[f.Peer.Addr] = true
	}
	for _, c := range t.serves(l.host) {
		switch {
		case c.PairedBy != agent.ByCM || c.Ends[1].Addr != l.host || !asks[c.Ends[0].Addr]:
		case c.First <= first:
			began = max(began, c.First)
		case r.accepted == nil || c.First < r.accepted.First:
			r.accepted = c
		}
	}
	if r.accepted != nil {
		if n := slices.IndexFunc(refusals, func(f *rule.Finding) bool { return f.Time > r.accepted.First }); n >= 0 {
			r.refusals = refusals[:n]
		}
	}
	until := first + disconnecting
	if r.accepted != nil {
		until = min(until, r.accepted.First)
	}
	r.closed = t.disconnected(l.host, asks, began, first, until)
	return r
}

// disconnected returns the connections with some others, begun before a REQ of theirs was first refused, that a host has disconnected since a time:
// the last of those before that refusal, and with them those soon after it, whose clients had not asked yet. They are in the order in which it did.
func (t *teller) disconnected(host packet.Addr, others map[packet.Addr]bool, since, refused, until int64) (list []*agent.Connection) {
	newest := int64(0)
	for _, c := range t.serves(host) {
		at := c.Closed.At
		if at == 0 || c.Closed.By != host || at < since || at > until || c.First > refused || !others[c.Ends[0].Addr] && !others[c.Ends[1].Addr] {
			continue
		}
		if list = append(list, c); at <= refused {
			newest = max(newest, at)
		}
	}
	slices.SortStableFunc(list, func(a, b *agent.Connection) int { return cmp.Compare(a.Closed.At, b.Closed.At) })
	return slices.DeleteFunc(list, func(c *agent.Connection) bool {
		return newest == 0 || max(newest-c.Closed.At, c.Closed.At-newest) > disconnecting
	})
}

// serves returns the connections with others of a host that refuses REQs.
func (t *teller) serves(host packet.Addr) []*agent.Connection {
	if t.served == nil {
		t.served = map[packet.Addr][]*agent.Connection{}
		for k := range t.run.Connections {
			if c := &t.run.Connections[k]; c.Ends[0].Addr != c.Ends[1].Addr {
				for e := range c.Ends {
					t.served[c.Ends[e].Addr] = append(t.served[c.Ends[e].Addr], c)
				}
			}
		}
	}
	return t.served[host]
}

// hosts are who was refused, in the order in which they were first.
func (r *restarted) hosts() (list []packet.Addr) {
	for _, f := range r.refusals {
		if !slices.Contains(list, f.Peer.Addr) {
			list = append(list, f.Peer.Addr)
		}
	}
	return list
}

// restartedAt tells of a host that disconnected, refused REQs as no program listened, and then accepted them, or not.
func (t *teller) restartedAt(r *restarted) {
	first, last, hosts := r.refusals[0], r.refusals[len(r.refusals)-1], r.hosts()
	gone := r.closed[len(r.closed)-1].Closed
	host := r.host.String()
	i := &Incident{
		Kind: Rejected, Certainty: Proven, Local: Party{Addr: first.Peer.Addr}, Peer: Party{Addr: r.host}, Connections: 1, Also: hosts[1:], Begin: r.closed[0].Closed.At, End: t.run.Last, Ongoing: r.accepted == nil, Tap: first.Tap,
	}
	i.show(r.closed[0].Closed.Frame, gone.Frame, first.Frame, last.Frame)
	then := ", and accepted none by the end of the capture"
	if r.accepted != nil {
		i.End = r.accepted.First
		i.show(r.accepted.FirstFrame)
		then = "; then it accepted one again"
	}
	i.Lost = time.Duration(i.End - gone.At)
	asked, times := t.askedMeanwhile(r)
	too := t.closedToo(r)
	and, since := "; then it", fmt.Sprintf("%s after the last DREQ", span(first.Time-gone.At))
	if first.Time < gone.At {
		and, since = ", and", fmt.Sprintf("%s before the last DREQ", span(gone.At-first.Time))
	}
	i.What = fmt.Sprintf("%s disconnected %s (DREQ)%s%s refused %s for %s, as no program listened (invalid service ID, reason %d): %s%s.",
		host, count(uint64(len(r.closed)), "connection"), disconnectedToo(r, too), and, count(uint64(len(r.refusals)), "REQ"), r.service,
		uint16(mad.RejInvalidService), t.refusedAt(r), then)
	i.fact("service", r.service)
	i.fact("DREQ", fmt.Sprintf("the last in frame %d", gone.Frame))
	t.lostWith(i, r, append(slices.Clone(r.closed), too...))
	refused := fmt.Sprintf("%s of %s; the first in frame %d, %s", count(uint64(len(r.refusals)), "REQ"), someOf(hosts), first.Frame, since)
	if first != last {
		refused += fmt.Sprintf(", the last in frame %d", last.Frame)
	}
	i.fact("refused", refused)
	if asked != 0 {
		i.fact("asked", fmt.Sprintf("%s of %s had no answer after that, the first in frame %d", count(times, "more REQ"), someOf(hosts), asked))
		i.show(asked)
	}
	if r.accepted == nil {
		i.FitsWith = []string{"a program on " + host + " that ended or was killed, for which its kernel disconnects, and that was not started again", "one that closed its connections and its listener itself"}
		i.Next = []string{"the log and the exit status of the program on " + host + ", and whether one listens on " + r.service + " (rdma resource show cm_id)"}
	} else {
		i.fact("then", fmt.Sprintf("a connection of %v was accepted in frame %d, %s after the last refusal%s", r.accepted.Ends[0].Addr,
			r.accepted.FirstFrame, span(r.accepted.First-last.Time), t.othersAccepted(r)))
		i.FitsWith = []string{"a program on " + host + " that was restarted: it ended or was killed, for which its kernel disconnects, and a new one listens", "one that closed its connections and its listener itself, and listens again"}
		i.Next = []string{"the log and the exit status of the program on " + host + " at that time: who stopped it, and how long it took to start"}
	}
	t.hostOf(i, r)
	if asked != 0 || r.unrefused() && r.least() <= disconnecting {
		i.FitsWith = append(i.FitsWith, deviceRemoved(host))
		i.Next = append(i.Next, "dmesg of "+host+" at that time: whether its RDMA device or driver was removed (rdma link)")
	}
	t.tell(i, "restarted "+r.service+fmt.Sprint(first.Frame))
}
