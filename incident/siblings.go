package incident

import (
	"cmp"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// pair is two hosts and a service, in either order of the hosts.
type pair struct {
	a, b    packet.Addr
	service packet.Service
}

func pairOf(c *agent.Connection) pair {
	p := pairBy(c.Ends[0].Addr, c.Ends[1].Addr)
	p.service = c.Service
	return p
}

// pairBy is a pair of hosts without a service.
func pairBy(a, b packet.Addr) pair {
	if b.Compare(a) < 0 {
		a, b = b, a
	}
	return pair{a: a, b: b}
}

// siblings returns the connections of the service between the hosts of c, itself among them, in the order in which they began.
func (t *teller) siblings(c *agent.Connection) []*agent.Connection {
	if t.pairs == nil { // few runs ask
		t.pairs = map[pair][]*agent.Connection{}
		for i := range t.run.Connections {
			d := &t.run.Connections[i]
			t.pairs[pairOf(d)] = append(t.pairs[pairOf(d)], d)
		}
		for _, list := range t.pairs {
			slices.SortStableFunc(list, func(x, y *agent.Connection) int { return cmp.Compare(x.First, y.First) })
		}
	}
	return t.pairs[pairOf(c)]
}

// nextOf returns the first connection of the service between the hosts of c that began after a time; nil: there is none.
func (t *teller) nextOf(c *agent.Connection, after int64) *agent.Connection {
	list := t.siblings(c)
	if i, _ := slices.BinarySearchFunc(list, after+1, func(d *agent.Connection, at int64) int { return cmp.Compare(d.First, at) }); i < len(list) {
		return list[i]
	}
	return nil
}
