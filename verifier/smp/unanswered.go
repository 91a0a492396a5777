package smp

import (
	"cmp"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// shortly is for how long a request that was repeated waits at least before it counts as unanswered: a second.
const shortly = int64(1_000_000_000)

// responder is who requests of subnet management go to: by LIDs, or on a directed route.
type responder struct {
	src, dst uint16
	route    string
}

// Unanswered returns the requests without an answer at time end, by requester and responder, whose nodes had their time, or that were repeated for a second.
func (v *Verifier) Unanswered(end int64) (all []subnet.Unanswered) {
	at := map[responder]int{}
	for _, x := range v.asking {
		first := x
		if x.before != nil {
			first = x.before
		}
		again := x != first || x.asked > 1 || first.asked > 1
		if !first.due(end) && !(again && first.waits() && end-first.last > shortly) {
			continue
		}
		to := responder{x.src, x.dst, ""}
		if x.Class == mad.ClassSubnetDirected {
			to.route = "0," + pathText(x.initial[:], int(x.ClassSpecific&0xFF))
		}
		i, ok := at[to]
		if !ok {
			i = len(all)
			at[to] = i
			all = append(all, subnet.Unanswered{From: packet.LIDAddr(x.src), To: packet.LIDAddr(x.dst), Route: to.route, Class: x.Class, Tap: first.tap, Reached: first.at.known()})
			if first.at.known() {
				all[i].Node = first.at.node.Description
			}
		}
		copies := uint64(first.asked - 1)
		if x != first {
			copies += uint64(x.asked)
		}
		all[i].Add(x.AttributeName(), copies, first.time, x.last, first.frame, x.frame)
	}
	slices.SortFunc(all, func(a, b subnet.Unanswered) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame))
	})
	return all
}
