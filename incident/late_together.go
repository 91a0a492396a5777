package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// lateTo is what one host retransmitted as the answers of a responder came late.
type lateTo struct {
	host        packet.Addr
	connections int
	wentBack
	known       uint64 // rounds that are known to be for late answers
	sent        uint64
	timer, took int64
	waits       []qp.Stall // that are kept
}

// lateTogether makes incidents one in which the answers of one responder came late to several hosts, whose timers ran out at the same times.
func (t *teller) lateTogether(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	if !t.timed() {
		return list
	}
	for n := range list {
		i := &list[n]
		if merged[i] || !i.onlyLate() {
			continue
		}
		var of []*Incident
		for m := range list[n+1:] {
			if o := &list[n+1+m]; o.onlyLate() && o.Peer.Addr == i.Peer.Addr {
				of = append(of, o)
			}
		}
		if !slices.ContainsFunc(of, func(o *Incident) bool { return o.Local.Addr != i.Local.Addr }) {
			continue
		}
		hosts := t.lateFrom(i.Peer.Addr)
		if together, all := overlapping(hosts); all < fewestTimes || 2*together < all {
			continue
		}
		for _, o := range of {
			merged[o] = true
		}
		i.includesAll(of)
		t.leadLate(i, hosts)
	}
	return t.lateAtOnce(without(list, merged))
}

// onlyLate reports whether an incident is of answers that came late, later than most, and of nothing else.
func (i *Incident) onlyLate() bool {
	return i.lateOnly() && slices.Contains(i.FitsWith, timeoutShorter)
}

// lateOnly reports whether an incident is of answers that came late, and of nothing else.
func (i *Incident) lateOnly() bool {
	if i.Kind != Loss && i.Kind != Retransmitting || !i.again.late || i.again.short || i.sum != nil || i.within != 0 || i.explained {
		return false
	}
	return !i.says("of these")
}

// lateFrom is what each host retransmitted as the answers of a responder came late.
func (t *teller) lateFrom(responder packet.Addr) (list []lateTo) {
	for _, c := range t.serves(responder) {
		for from := range c.Ends {
			e := &c.Ends[from]
			if c.Ends[1-from].Addr != responder || e.Trouble == nil || !c.Service.Reliable() {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			rounds := k.Sum.Total() - uint64(k.Sum.Rounds[qp.NotReady])
			if rounds == 0 || !mostlyLate(&k, rounds) {
				continue
			}
			at := slices.IndexFunc(list, func(l lateTo) bool { return l.host == e.Addr })
			if at < 0 {
				at, list = len(list), append(list, lateTo{host: e.Addr})
			}
			list[at].take(c, from, &k)
		}
	}
	slices.SortStableFunc(list, func(a, b lateTo) int { return cmp.Or(cmp.Compare(b.packets, a.packets), a.host.Compare(b.host)) })
	return list
}

// take adds what end from of a connection retransmitted.
func (l *lateTo) take(c *agent.Connection, from int, k *qp.Trouble) {
	sent, _, _ := requestsOf(c, from, k)
	l.connections, l.sent = l.connections+1, l.sent+sent
	var w wentBack
	if w.add(k); asAlways(c, from, k) > 0 {
		w.lost, w.longest = 0, 0
	}
	l.sum(&w)
	l.known += min(uint64(lateRounds(k)), w.rounds)
	if after, took := shortestTimer(k); took > 0 {
		if l.took = max(l.took, took); l.timer == 0 || after < l.timer {
			l.timer = after
		}
	}
	for n := range k.Longest {
		if s := &k.Longest[n]; cameLate(k, s) && s.Begun > s.Since {
			l.waits = append(l.waits, *s)
		}
	}
}

// overlapping is how many of the waits that are kept, of all, overlap with one of another host.
func overlapping(hosts []lateTo) (together, all int) {
	for n := range hosts {
		for _, s := range hosts[n].waits {
			all++
			with := func(o qp.Stall) bool { return o.Since < s.Ended && o.Ended > s.Since }
			for m := range hosts {
				if m != n && slices.ContainsFunc(hosts[m].waits, with) {
					together++
					break
				}
			}
		}
	}
	return together, all
}

// leadLate has an incident of late answers tell of all hosts to which they came late.
func (t *teller) leadLate(i *Incident, hosts []lateTo) {
	var s lateTo
	var names []string
	for n := range hosts {
		l := &hosts[n]
		s.sum(&l.wentBack)
		s.connections, s.known = s.connections+l.connections, s.known+l.known
		s.sent, s.took = s.sent+l.sent, max(s.took, l.took)
		if s.timer == 0 || l.timer > 0 && l.timer < s.timer {
			s.timer = l.timer
		}
		if l.host != i.Local.Addr && !slices.Contains(i.Also, l.host) {
			i.Also = append(i.Also, l.host)
		}
		names = append(names, fmt.Sprintf("%v (%s of %s, %s)", l.host, number(l.packets), count(l.sent, "packet"), count(l.rounds, "round")))
	}
	peer, none, each := i.Peer.Addr.String(), "nothing was lost", "each copy was answered, too"
	if s.known < s.rounds {
		none, each = "most likely nothing was lost", fmt.Sprintf("in %d of these rounds each copy was answered, too", s.known)
	}
	again := fmt.Sprintf("%s of %s to it (%s)", number(s.packets), count(s.sent, "packet"), share(s.packets, s.sent))
	i.What = fmt.Sprintf("%s answered %d hosts late, often at the same time: these retransmitted %s, in %s on %s, though %s: %s.",
		peer, len(hosts), again, count(s.rounds, "round"), count(uint64(s.connections), "connection"), none, each)
	together, all := overlapping(hosts)
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label != "marks" && f.Label != "command" })
	i.fact("hosts", listed(names))
	i.fact("caused", times(s.rounds)+" by the requesters' timers (nothing in the capture asked for it)")
	i.fact("cost", fmt.Sprintf("%s without progress in all of these connections; %s of payload retransmitted", span(s.lost), count(s.bytes, "byte")))
	i.fact("timer", fmt.Sprintf("they retransmitted after %s or more, and answers took up to %s", span(s.timer), span(s.took)))
	i.fact("together", fmt.Sprintf("%d of the %d longest of these waits overlap with one of another host", together, all))
	i.FitsWith = []string{
		"requesters' ACK timeouts that are shorter than an answer takes",
		peer + ", its adapter or the path to it, held up at these times: it is what they have in common",
	}
	i.Next = []string{
		"a longer ACK timeout of these queue pairs (rdma resource show qp)",
		"what held " + peer + " up at these times: its adapter, host memory and program",
	}
	i.Connections, i.listed = s.connections, true
}

// listed names the first few of a list.
func listed(names []string) string {
	if n := len(names) - mostPorts; n > 0 {
		names = append(names[:mostPorts:mostPorts], fmt.Sprintf("%d more", n))
	}
	return enumerate(names)
}
