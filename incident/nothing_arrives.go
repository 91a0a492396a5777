package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
)

// nothingArrives reports, and says, that on connection c nothing which end from sends arrives, though what its peer sends does: the peer takes none of its answers either.
func (t *teller) nothingArrives(i *Incident, c *agent.Connection, from int) bool {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if peer.Trouble == nil || peer.Stalled {
		return false
	}
	k := peer.Trouble.Settled(false)
	s, none := t.takesNone(c, 1-from, &k)
	if !none {
		return false
	}
	local, other := i.Local.Addr.String(), i.Peer.Addr.String()
	i.show(k.Sum.Frames.Last)
	i.fact("arrives", fmt.Sprintf("nothing: %s retransmitted a request of its own %s on this connection, the last time in frame %d, though %s answered each: it is there, and nothing that %s sends comes to it", other, times(s.Total()), k.Sum.Frames.Last, local, local))
	way := fmt.Sprintf("a path that fails from %s to %s, and not the other way", local, other)
	if n := t.goOn(c, from); n > 0 {
		port := ""
		if e.Path.Known && e.Path.Port != 0 {
			port = fmt.Sprintf(" (UDP source port %d)", e.Path.Port)
		}
		i.fact("others", fmt.Sprintf("%s between the same hosts went on, and retransmitted nothing", count(n, "other connection")))
		way = fmt.Sprintf("one path of several from %s to %s that fails, which this queue pair takes%s: ECMP, LAG", local, other, port)
		i.Next = append(i.Next, fmt.Sprintf("the links between the switches that the flow from %s to %s%s is hashed to, and their counters", local, other, port))
	}
	i.FitsWith = append(i.FitsWith, way, "a filter that drops this flow")
	i.Next = append(i.Next, "discards and errors of the switch ports from "+local+" to "+other+" (ethtool -S)")
	return true
}

// goOn is how many other connections between the hosts of c carried packets both ways after the newest answer to end from of it, and had nothing retransmitted.
func (t *teller) goOn(c *agent.Connection, from int) (n uint64) {
	list := t.siblings(c)
	if len(list) > mostOthers {
		return 0
	}
	since := c.Ends[from].Trouble.Now.Since
	for _, d := range list {
		if d != c && d.Ends[0].Last > since && d.Ends[1].Last > since && !slices.ContainsFunc(d.Ends[:], func(e agent.End) bool { return e.Stalled || e.Retransmissions > 0 }) {
			n++
		}
	}
	return n
}
