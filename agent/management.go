package agent

import (
	"cmp"
	"slices"

	"ibwitness/packet"
	"ibwitness/subnet"
)

// unmanaged lists the management requests without an answer at time now, with the nodes that are known by their LIDs.
func (t *Transport) unmanaged(now int64) []subnet.Unanswered {
	list := append(t.gmp.Unanswered(now), t.smp.Unanswered(now)...)
	for i := range list {
		if u := &list[i]; u.Node == "" && u.Route == "" && u.To.IsLID() {
			if p := t.smp.Subnet.Port(packet.LIDOf(u.To)); p != nil {
				u.Node = p.Node.Description
			}
		}
	}
	return list
}

// sortMADs sorts unanswered management requests by when the first of them was sent.
func sortMADs(list []subnet.Unanswered) {
	slices.SortFunc(list, func(a, b subnet.Unanswered) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Tap, b.Tap), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Class, b.Class))
	})
	for i := range list {
		slices.SortStableFunc(list[i].Names, func(a, b subnet.AttributeCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
	}
}

// servedElsewhere notes what other ports have answered of the requesters of unanswered requests.
func servedElsewhere(list []subnet.Unanswered, agents []*Transport) {
	if len(list) == 0 {
		return
	}
	for _, t := range agents {
		for _, s := range t.gmp.Served() {
			for i := range list {
				list[i].Elsewhere(&s)
			}
		}
	}
}
