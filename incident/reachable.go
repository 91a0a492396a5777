package incident

import (
	"fmt"
	"slices"

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
		for k := range t.run.Signs {
			o := &t.run.Signs[k]
			if o.Host == s.To && o.To == a && (o.By == fabricagent.ByTCP || o.By == fabricagent.ByFIN) && o.Ports == [2]uint16{s.Ports[1], s.Ports[0]} {
				return fmt.Sprintf(", and spoke TCP from its port %d with %v, the last in frame %d", s.Ports[0], s.To, s.Frame)
			}
		}
	}
	return ""
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
