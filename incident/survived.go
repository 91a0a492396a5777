package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// survivors has an incident of retries that were used up in an outage tell of the interruptions of other connections with the same host, which outlasted it: it is one outage.
func survivors(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		if i := &list[n]; i.outlasted && !merged[i] {
			i.survivors(list, merged)
		}
	}
	return without(list, merged)
}

// survivors takes the interruptions among incidents that are of the outage which incident i has not outlasted.
func (i *Incident) survivors(list []Incident, merged map[*Incident]bool) {
	x, connections, longest := i.Peer.Addr, 0, int64(0)
	var hosts []packet.Addr
	for n := range list {
		j := &list[n]
		if j.Kind != Interrupted || j.Certainty != Proven || merged[j] || j.Local.Addr != x && j.Peer.Addr != x || max(i.Begin-j.Begin, j.Begin-i.Begin) >= together || j.End < i.Begin+int64(j.Lost)/2 {
			continue
		}
		merged[j] = true
		connections, longest = connections+j.Connections, max(longest, int64(j.Lost))
		i.foundToo(j.Found)
		i.Connections += j.Connections
		for _, a := range append([]packet.Addr{j.Local.Addr, j.Peer.Addr}, j.Also...) {
			if a != x && !slices.Contains(hosts, a) {
				hosts = append(hosts, a)
			}
		}
	}
	unnamed := func(a packet.Addr) bool { return !slices.Contains(i.outlasting, a) }
	if connections <= len(i.outlasting) && !slices.ContainsFunc(hosts, unnamed) {
		return // none, or those that are named
	}
	slices.SortFunc(hosts, packet.Addr.Compare)
	i.fact("went on", fmt.Sprintf("%s of %v with %s, which made no progress at that time either, for %s at most", count(uint64(connections), "connection"), x, someOf(hosts), span(longest)))
}
