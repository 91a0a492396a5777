package incident

import (
	"fmt"

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
	if on := t.livedOn(c, from, c.Ends[from].Trouble.Now.Since); on.n > 0 {
		i.fact("others", fmt.Sprintf("%s between the same hosts went on%s, and retransmitted nothing", count(on.n, "other connection"), onPorts(on.ports)))
		way = onePathFails(local, other, e) + ": ECMP, LAG"
		i.Next = append(i.Next, hashedOn(local, other, e))
	}
	if with := t.exchanged(i.Local.Addr, i.Peer.Addr, e.Trouble.Now.Last); len(with) > 0 {
		i.fact("control", fmt.Sprintf("%s exchanged packets with %s meanwhile: its own adapter and link work", local, sorted(with)))
	}
	i.FitsWith = append(i.FitsWith, way, "a filter that drops this flow")
	i.Next = append(i.Next, "discards and errors of the switch ports from "+local+" to "+other+" (ethtool -S)")
	return true
}
