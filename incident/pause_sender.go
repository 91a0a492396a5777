package incident

import (
	"fmt"
	"slices"

	"ibwitness/link"
	"ibwitness/packet"
)

// manySenders is from how many hosts on that send to one, it may be more than the link of that one has room for.
const manySenders = 3

// pausedSender says which host a port of a switch has pause, where all that its tap shows is of one, and what of it waits: for whichever of its peers the switch cannot send to. It names the one that
// several send to.
func (t *teller) pausedSender(i *Incident, p *link.Paused) {
	host, peers := t.linkOf(p.Tap)
	if !p.Unowned || len(peers) < 2 {
		return
	}
	slices.SortFunc(peers, packet.Addr.Compare)
	i.fact("paused", fmt.Sprintf("likely %v, as all that tap %d shows is of it: what it sends to %s in that priority waits, whichever of these the switch has no room for", host, p.Tap, someOf(peers)))
	most, second, to := 0, 0, packet.Addr{}
	for _, a := range peers {
		var from []packet.Addr
		for _, s := range t.sendersTo()[a] {
			if e := &s.c.Ends[s.end]; e.Bytes > 0 {
				from = append(from, e.Addr)
			}
		}
		switch n := len(eachOnce(from)); {
		case n > most:
			most, second, to = n, most, a
		case n > second:
			second = n
		}
	}
	if most < manySenders || most == second {
		return
	}
	i.fact("senders", fmt.Sprintf("%d hosts send to %v, at most %d to any other of these", most, to, second))
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf("incast: more is sent to %v at once than its link has room for, so that the switch has the senders pause, and what %v sends to others waits too", to, host))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf("the load of the switch port to %v (its speed, and its egress queue), and ECN marking on it, so that senders slow down before it pauses them", to))
}
