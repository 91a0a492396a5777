package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/packet"
)

// shortages makes incidents one in which one receiver was not ready for several requesters while the one that cost the most time lasted: they are short of the same receives, or of the same program.
func shortages(list []Incident) []Incident {
	of := map[packet.Addr][]*Incident{}
	var order []packet.Addr
	for n := range list {
		if i := &list[n]; i.Kind == NotReady {
			if of[i.Peer.Addr] == nil {
				order = append(order, i.Peer.Addr)
			}
			of[i.Peer.Addr] = append(of[i.Peer.Addr], i)
		}
	}
	merged := map[*Incident]bool{}
	for _, peer := range order {
		best := slices.MaxFunc(of[peer], func(a, b *Incident) int { return cmp.Compare(a.Lost, b.Lost) })
		var others []string
		naks := best.naks
		for _, i := range of[peer] {
			if i == best || 2*(min(i.End, best.End)-max(i.Begin, best.Begin)) < best.End-best.Begin {
				continue
			}
			merged[i] = true
			naks += i.naks
			if i.Local.Addr != best.Local.Addr && !slices.Contains(best.Also, i.Local.Addr) {
				best.Also = append(best.Also, i.Local.Addr)
				others = append(others, fmt.Sprintf("%v %s, %v in all", i.Local.Addr, times(i.naks), span(int64(i.Lost))))
			}
			best.Connections += i.Connections
			best.Begin, best.End = min(best.Begin, i.Begin), max(best.End, i.End)
			best.foundToo(i.Found)
		}
		if len(others) > 0 {
			best.What = fmt.Sprintf("%v was not ready for %d hosts at the same time, %s in %s; the one that lost the most time: %s",
				peer, len(best.Also)+1, times(naks), span(best.End-best.Begin), best.What)
			best.fact("hosts", "also "+enumerate(others))
		}
	}
	return without(list, merged)
}
