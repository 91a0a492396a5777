package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/verifier/cm"
)

// tcpOf says which TCP a host that answered pings sent, to whom the capture has TCP of, too; "": none.
func (t *teller) tcpOf(a packet.Addr) string {
	for n := len(t.run.Signs) - 1; n >= 0; n-- {
		s := &t.run.Signs[n]
		if s.Host != a || s.By != fabricagent.ByTCP || s.Ports[0] == 0 {
			continue
		}
		if t.repliesTCP(s) {
			return fmt.Sprintf(", and spoke TCP from its port %d with %v, the last in frame %d", s.Ports[0], s.To, s.Frame)
		}
	}
	return ""
}

// passesIP reports whether TCP or answers to pings of the host that a REQ asks come to the address that asks, from the Ethernet address to which the
// REQ goes, since it was sent first: neither a route nor an address is why nothing answers it.
func (t *teller) passesIP(q *cm.Unanswered) bool {
	if q.Station == 0 || !t.timed() {
		return false
	}
	pinged := slices.ContainsFunc(t.run.Echoes, func(e agent.Echo) bool { return e.Addr == q.To && e.Last >= q.First })
	return slices.ContainsFunc(t.run.Signs, func(s agent.Sign) bool {
		if s.Host != q.To || s.To != q.From || s.Station != q.Station || s.At < q.First {
			return false
		}
		return s.By == fabricagent.ByICMP && pinged || s.By == fabricagent.ByTCP && t.repliesTCP(&s)
	})
}

// repliesTCP reports whether the capture has TCP of the host, too, to which a sign of TCP goes, on the same ports.
func (t *teller) repliesTCP(s *agent.Sign) bool {
	return slices.ContainsFunc(t.run.Signs, func(o agent.Sign) bool {
		return o.Host == s.To && o.To == s.Host && (o.By == fabricagent.ByTCP || o.By == fabricagent.ByFIN) && o.Ports == [2]uint16{s.Ports[1], s.Ports[0]}
	})
}

// askerWorks says with whom the host of a REQ that nothing answered exchanged packets of RC while it waited, on a connection on which nothing waits:
// its own adapter and its RDMA work.
func (t *teller) askerWorks(i *Incident, q *cm.Unanswered) {
	if with := t.exchanged(q.From, q.To, q.First); len(with) > 0 {
		i.fact("asker", fmt.Sprintf("%v exchanged packets with %s meanwhile: its own adapter and RDMA work", q.From, sorted(with)))
	}
}

// exchanged returns the hosts but one with which another exchanged packets of RC from a time on, on a connection on which nothing waits.
func (t *teller) exchanged(a, but packet.Addr, since int64) (with []packet.Addr) {
	if !t.timed() || len(t.run.Connections) > mostOthers {
		return nil
	}
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for e := range c.Ends {
			own, peer := &c.Ends[e], &c.Ends[1-e]
			if own.Addr != a || peer.Addr == a || peer.Addr == but || c.Service != packet.RC || own.Stalled || peer.Stalled {
				continue
			}
			if min(own.Last, peer.Last) > since && !slices.Contains(with, peer.Addr) {
				with = append(with, peer.Addr)
			}
		}
	}
	return with
}

// unreachedNext is where to look where a host answers pings, and no REQ.
func unreachedNext(from, to string) []string {
	return []string{
		fmt.Sprintf("rdma link on %s, and the GID of its address (show_gids)", to),
		fmt.Sprintf("rules for UDP port 4791 from %s to %s and back: firewalls of both hosts, filters of routers and switches; "+
			"rping fails alike", from, to),
		captureAt(to) + "whether the REQs arrive there, and whether an answer leaves",
	}
}
