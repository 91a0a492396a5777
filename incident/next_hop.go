package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// hopMoved is that the next hop of what an end sends moved to another Ethernet address, and the end went on sending to the one before.
type hopMoved struct {
	of, peer *agent.End
	was, is  uint64
	at       int64 // when the first frame shows it
	arp      *agent.Sign
	before   *agent.Sign // ARP of the same address from the Ethernet address before; nil: the capture has none
	arrives  bool        // the packets of the peer came from the one, and then from the other
	other    *agent.Sign // the first of others that came likewise, and is neither ARP nor of the peer; nil: none
	later    *agent.Connection
}

// movedHop returns that of what end of sends on a connection, of which nothing is acknowledged any more; nil: it does not show. Two things that
// agree show it, of ARP from both addresses, the peer's packets, those of others and where later connections send; nothing comes from the address before any more, and nothing that goes there is answered.
func (t *teller) movedHop(c *agent.Connection, of int) *hopMoved {
	e, peer := &c.Ends[of], &c.Ends[1-of]
	if e.Hop == nil || e.Hop.To == 0 || virtualRouter(e.Hop.To) != "" || !t.timed() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers {
		return nil
	}
	m := &hopMoved{of: e, peer: peer, was: e.Hop.To}
	for _, is := range t.hopsAfter(m) {
		if m.is = is; m.shown(t, c) && !m.forwards(t) {
			return m
		}
	}
	return nil
}

// hopsAfter lists the Ethernet addresses to which the next hop may have moved.
func (t *teller) hopsAfter(m *hopMoved) (list []uint64) {
	if h := m.peer.Hop; h != nil && h.From == m.was && h.Turned != 0 {
		return []uint64{h.Turned}
	}
	for n := range t.run.Signs {
		s := &t.run.Signs[n]
		if s.By == fabricagent.ByARP && s.Station != m.was && t.firstARP(s.Host, m.was, s.At) != nil && !slices.Contains(list, s.Station) {
			list = append(list, s.Station)
		}
	}
	return list
}

// firstARP returns the first ARP of a host from an Ethernet address, before a time; nil: none.
func (t *teller) firstARP(of packet.Addr, station uint64, before int64) *agent.Sign {
	n := slices.IndexFunc(t.run.Signs, func(s agent.Sign) bool {
		return s.By == fabricagent.ByARP && s.Host == of && s.Station == station && s.At < before
	})
	if n < 0 {
		return nil
	}
	return &t.run.Signs[n]
}

// shown reports whether it shows that the next hop moved from one to the other.
func (m *hopMoved) shown(t *teller, c *agent.Connection) bool {
	m.at, m.arp, m.before, m.other, m.later, m.arrives = 0, nil, nil, nil, nil, false
	if slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool {
		return s.By == fabricagent.ByARP && s.Host == m.peer.Addr && (s.Station == m.was || s.Station == m.is)
	}) {
		return false // it is the peer that moved
	}
	n := 0
	if h := m.peer.Hop; h != nil && h.From == m.was && h.Turned == m.is {
		m.arrives, m.at, n = true, h.Turn.At, n+1
	}
	came := map[packet.Addr]bool{} // from the one before
	for k := range t.run.Signs {
		s := &t.run.Signs[k]
		switch own := s.Host == m.of.Addr || s.Host == m.peer.Addr; {
		case s.By == fabricagent.ByARP && s.Station == m.is && m.arp == nil && !own:
			if before := t.firstARP(s.Host, m.was, s.At); before != nil || gratuitous(s) {
				m.arp, m.before = s, before
			}
		case s.By < fabricagent.ByFIN || own:
		case s.Station == m.was:
			came[s.Host] = true
		case s.Station == m.is && m.other == nil && came[s.Host] && (m.arp == nil || s.Host != m.arp.Host):
			m.other = s
		}
	}
	for _, s := range [...]*agent.Sign{m.arp, m.other} {
		if s != nil {
			n++
			m.at = sooner(m.at, s.At)
		}
	}
	for _, d := range t.siblings(c) {
		if x := senderOn(d, m.of.Addr); d.First > c.First && x.Hop != nil && x.Hop.To == m.is && m.at != 0 && d.First > m.at {
			m.later, n = d, n+1
			break
		}
	}
	return n > 1 && (m.arp != nil || m.other != nil) // n of the others than ARP at least: it is no address of the peer that moved
}

// forwards reports whether the address before still sends, or what is sent there is answered, or the end sent nothing there any more.
func (m *hopMoved) forwards(t *teller) bool {
	since := m.at + interruption
	if m.of.Last <= since {
		return true
	}
	if slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool {
		return s.Station == m.was && s.At > since && s.By >= fabricagent.ByFIN
	}) {
		return true
	}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		for e := range d.Ends {
			x, far := &d.Ends[e], &d.Ends[1-e]
			if x.Hop == nil {
				continue
			}
			from := x.Hop.From
			if x.Hop.Turned != 0 {
				from = x.Hop.Turned
			}
			answered := x.Hop.To == m.was && !x.Stalled && !far.Stalled && x != m.of && far != m.of && min(x.Last, far.Last) > since
			if from == m.was && x.Last > since || answered {
				return true
			}
		}
	}
	return false
}

// gateway names the next hop of an end.
func (m *hopMoved) gateway() string {
	if m.arp == nil {
		return "next hop"
	}
	return "next hop " + m.arp.Host.String()
}

// tellHop says it, and what fits, before all else.
func (t *teller) tellHop(i *Incident, m *hopMoved) {
	who := Party{Addr: m.of.Addr, QPN: m.of.QPN, QPNKnown: m.of.QPNKnown}
	i.hop = &hopTold{was: m.was, is: m.is, at: m.at, of: who, next: "the failover of the router at " + t.offset(m.at)}
	i.hop.said = fmt.Sprintf("%v kept sending to the Ethernet address %s after its %s had moved to %s.", &who, station(m.was), m.gateway(), station(m.is))
	i.What = i.hop.said + " " + i.What
	var said []string
	if s := m.arp; s != nil {
		arp := "ARP"
		if gratuitous(s) {
			arp = "gratuitous ARP"
		}
		at := fmt.Sprintf("%v is at %s since %s, by %s in frame %d", s.Host, station(m.is), t.offset(s.At), arp, s.Frame)
		if m.before != nil {
			at += fmt.Sprintf("; it had been at %s, by ARP in frame %d", station(m.was), m.before.Frame)
		}
		said = append(said, at)
		i.showAt(s)
	}
	if m.arrives {
		h := m.peer.Hop
		said = append(said, fmt.Sprintf("what %v sends came from %s, and from %s in frame %d, at %s, and after it", m.peer.Addr, station(m.was), station(m.is), h.Turn.Frame, t.offset(h.Turn.At)))
		i.show(h.Turn.Frame)
	}
	if s := m.other; s != nil {
		said = append(said, fmt.Sprintf("%v of %v came from %s before, and from %s in frame %d", s.By, s.Host, station(m.was), station(m.is), s.Frame))
	}
	if m.later != nil {
		said = append(said, fmt.Sprintf("the connection that the same hosts began later, in frame %d, sends to %s", m.later.FirstFrame, station(m.is)))
	}
	said = append(said, fmt.Sprintf("of this queue pair, all packets that were looked at went to %s; its last was sent at %s", station(m.was), t.offset(m.of.Last)))
	i.Facts = append([]Fact{{"next hop", strings.Join(said, "; ")}}, i.Facts...)
	i.FitsWith = []string{fmt.Sprintf("a next hop that failed over to another router without a virtual Ethernet address (VRRP, MLAG), or was replaced: a queue pair keeps "+
		"the address that was resolved when it was connected, and what %v sends there is not forwarded any more", m.of.Addr)}
	i.Next = []string{
		i.hop.next + ": its log, VRRP or MLAG, and a virtual Ethernet address that both routers have",
		fmt.Sprintf("a restart of the programs on %v whose queue pairs were connected before that: new queue pairs take the new address", m.of.Addr),
	}
	i.follows = i.follows || m.of.Addr != i.Local.Addr
}

// sooner is the first of two times, of which the former is 0 where it is not known.
func sooner(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}
