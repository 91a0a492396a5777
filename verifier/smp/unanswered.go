package smp

import (
	"cmp"
	"maps"
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
	for _, x := range slices.SortedFunc(maps.Values(v.asking), inTurn) {
		first := x.oldest()
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
			all = append(all, subnet.Unanswered{From: packet.LIDAddr(x.src), To: packet.LIDAddr(x.dst), Route: to.route, Class: x.Class, Tap: first.tap})
		}
		if first.at.known() {
			all[i].Node, all[i].Reached = cmp.Or(all[i].Node, first.at.node.Description), true
		}
		copies := uint64(first.asked - 1)
		if x != first {
			copies += uint64(x.asked)
		}
		all[i].Add(x.AttributeName(), copies, first.time, x.last, first.frame, x.frame)
	}
	return all
}

// oldest is the first request that asked the same as x without an answer.
func (x *exchange) oldest() *exchange {
	if x.before != nil {
		return x.before
	}
	return x
}

// inTurn orders exchanges by when they began.
func inTurn(a, b *exchange) int {
	x, y := a.oldest(), b.oldest()
	return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.tap, y.tap), cmp.Compare(x.frame, y.frame), cmp.Compare(a.frame, b.frame))
}
