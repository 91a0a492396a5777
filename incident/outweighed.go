package incident

import "slices"

// outweighs is how many times as long losses, or receivers that were not ready, keep a connection from progress as a stall of it at least for that
// to be told after them.
const outweighs = 3

// afterCostlier has stalls come after what kept the same hosts from progress at the same time, and for much longer in all.
func afterCostlier(list []Incident) []Incident {
	for m := range list {
		o := list[m]
		if n := slices.IndexFunc(list[:m], func(i Incident) bool { return o.outweighs(&i) }); n >= 0 {
			copy(list[n+1:m+1], list[n:m])
			list[n] = o
		}
	}
	return list
}

// outweighs reports whether an incident lasted while a stall did, of no more connections between the same hosts, and cost much more time.
func (i *Incident) outweighs(stall *Incident) bool {
	switch i.Kind {
	case Damage, NotReady, Retransmitting, Loss, Reordered:
	default:
		return false
	}
	if stall.Kind != Interrupted || stall.foremost || stall.storm != 0 || stall.within != 0 || len(stall.Also) > 0 || stall.Connections > i.Connections {
		return false
	}
	if pairBy(i.Local.Addr, i.Peer.Addr) != pairBy(stall.Local.Addr, stall.Peer.Addr) {
		return false
	}
	both := min(i.End, stall.End) - max(i.Begin, stall.Begin)
	return 2*both >= stall.End-stall.Begin && i.cost() >= outweighs*stall.cost()
}
