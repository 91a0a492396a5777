package agent

import (
	"cmp"
	"slices"

	"ibwitness/fabricagent"
)

// mostNeighbors is how many are kept; of more none is known.
const mostNeighbors = 256

// neighbors are the ports that LLDP names, each once.
type neighbors struct {
	list []fabricagent.Neighbor
	many bool
}

// frame takes a frame that holds no RDMA packet.
func (n *neighbors) frame(f *fabricagent.Frame) {
	if x, ok := fabricagent.NeighborOf(f); ok {
		n.add(x)
	}
}

func (n *neighbors) add(x fabricagent.Neighbor) {
	if !slices.Contains(n.list, x) {
		n.many = n.many || len(n.list) == mostNeighbors
		if !n.many {
			n.list = append(n.list, x)
		}
	}
}

func (n *neighbors) addAll(o *neighbors) {
	for _, x := range o.list {
		n.add(x)
	}
	n.many = n.many || o.many
}

// all lists them by Ethernet address; nil: there are none, or too many.
func (n *neighbors) all() []fabricagent.Neighbor {
	if n.many {
		return nil
	}
	slices.SortFunc(n.list, func(a, b fabricagent.Neighbor) int {
		return cmp.Or(cmp.Compare(a.Station, b.Station), cmp.Compare(a.System, b.System), cmp.Compare(a.Port, b.Port))
	})
	return n.list
}
