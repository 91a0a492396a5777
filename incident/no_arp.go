package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// So many ARP requests for a host have no answer at least, the first of them for so long, where it is told that it answers none: a host asks three
// times, a second apart, before it gives up.
const (
	fewestARPs  = 3
	unansweredA = int64(2 * time.Second)
)

// asks are the ARP requests of a host for another since that sent its last frame.
type asks struct {
	way
	count       uint64
	first, last *agent.Sign
}

// noARP tells of hosts that answer ARP no more, of which nothing is in the capture since, and that others have connections with which nobody closed.
func (t *teller) noARP() {
	if !t.timed() || t.lossy() || len(t.run.Taps) > 1 {
		return
	}
	last := map[packet.Addr]int64{} // when a host sent its last frame
	for n := range t.run.Signs {
		last[t.run.Signs[n].Host] = t.run.Signs[n].At
	}
	of := map[way]*asks{}
	var order []*asks
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		h, known := t.hosts[s.To]
		if s.By != fabricagent.ByARP || s.To == s.Host || !known || h.last == 0 || s.At <= max(h.last, last[s.To]) {
			continue
		}
		k := of[way{s.Host, s.To}]
		if k == nil {
			k = &asks{way: way{s.Host, s.To}, first: s}
			of[k.way], order = k, append(order, k)
		}
		k.count, k.last = k.count+1, s
	}
	for _, k := range order {
		if k.count >= fewestARPs && k.last.At-k.first.At >= unansweredA {
			t.notAnswering(k, max(t.hosts[k.to].last, last[k.to]))
		}
	}
}

// notAnswering tells that a host answers the ARP requests of another no more, with a request that is not answered where there is one, since it
// sent its last frame.
func (t *teller) notAnswering(k *asks, since int64) {
	said := fmt.Sprintf("%v answered none of %s of %v in %s, from frame %d to %d",
		k.to, count(k.count, "ARP request"), k.from, span(k.last.At-k.first.At), k.first.Frame, k.last.Frame)
	for _, i := range t.order {
		if i.Kind == Unanswered && i.Local.Addr == k.from && i.Peer.Addr == k.to && i.Certainty == Proven {
			if !i.whole {
				i.fact("ARP", said+": its host is down, or cut off")
				i.showAt(k.first)
			}
			return
		}
	}
	var newest *agent.Connection
	open, end := 0, 0
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			if c.Ends[e].Addr == k.to && c.Ends[1-e].Addr == k.from && c.Closed.At == 0 && c.Ends[0].Packets > 0 && c.Ends[1].Packets > 0 && c.Service != packet.UD {
				if open++; newest == nil || c.Ends[e].Last > newest.Ends[end].Last {
					newest, end = c, e
				}
			}
		}
	}
	if newest == nil {
		return
	}
	i := t.between(Unanswered, newest, 1-end)
	i.Connections, i.Begin, i.End, i.Ongoing, i.Lost, i.listed = open, since, t.run.Last, true, time.Duration(t.run.Last-since), true
	i.showAt(k.first)
	i.showAt(k.last)
	i.What = fmt.Sprintf("%s, and nothing of it is in the capture since %s, though nobody had closed %s: it is down, or cut off.",
		said, t.offset(since), someConnections(open))
	i.fact("since",
		fmt.Sprintf("it went silent between its last frame, at %s, and the first of these, %s later; the capture goes on for %s after that",
			t.offset(since), span(k.first.At-since), span(t.run.Last-k.first.At)))
	i.FitsWith = []string{fmt.Sprintf("a host, %v, that crashed, was powered off, or hangs",
		k.to), fmt.Sprintf("an adapter or link of %v that went down, or a path that fails: a switch, a VLAN", k.to)}
	i.Next = []string{fmt.Sprintf("whether %v runs: its console and uptime; its link and the switch ports between", k.to), reached(k.to.String())}
	t.tell(i, "no ARP")
}

// someConnections names the connections of two hosts.
func someConnections(n int) string {
	if n == 1 {
		return "its connection"
	}
	return fmt.Sprintf("its %d connections", n)
}
