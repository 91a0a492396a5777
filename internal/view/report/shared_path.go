package report

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/packet"
)

// way is what routers and switches that balance load tell packets on IP apart by: those of one way take one path.
type way struct {
	from, to packet.Addr
	port     uint16 // UDP source port
}

// wayOf is that of the packets of an end. ok is false where they have no UDP source port, none was seen, or their queue pair has no connection: each datagram may have another one.
func wayOf(c *agent.Connection, end int) (w way, ok bool) {
	e := &c.Ends[end]
	return way{e.Addr, c.Ends[1-end].Addr, e.Path.Port}, e.Path.Known && c.Encap.OnIP() && c.Service != packet.UD
}

// Shared tells how many queue pairs there are of each way. It has the hashes of theirs in order, as there may be very many: two ways are taken for one with a probability of n² / 2⁶⁵.
type Shared []uint64

// mostSharing is of how many connections it is told: of more it would take memory that the run has no room for.
const mostSharing = 1 << 15

// Sharing counts the queue pairs of each way, where there are not too many connections.
func Sharing(list []agent.Connection) Shared {
	if len(list) > mostSharing {
		return nil
	}
	n := make(Shared, 0, 2*len(list))
	for i := range list {
		for k := range list[i].Ends {
			if w, ok := wayOf(&list[i], k); ok {
				n = append(n, w.hash())
			}
		}
	}
	slices.Sort(n)
	return n
}

// of is how many there are of a way.
func (n Shared) of(w way) int {
	h := w.hash()
	from, _ := slices.BinarySearch(n, h)
	to, _ := slices.BinarySearch(n[from:], h+1)
	return to
}

// Tell says on the line of a connection how many queue pairs there are of its ways, where there are several.
func (n Shared) Tell(c *agent.Connection, line *ConnectionLine) {
	for k := range c.Ends {
		if w, ok := wayOf(c, k); ok {
			if count := n.of(w); count > 1 {
				line.Ends[k].Path.Shared = count
			}
		}
	}
}

func (w way) hash() (h uint64) {
	for _, x := range [...]uint64{w.from.Hi, w.from.Lo, w.to.Hi, w.to.Lo, uint64(w.port)} {
		h = bits.RotateLeft64((h^x)*0x9E3779B97F4A7C15, 29)
	}
	return h
}

// mostWays is how many paths are listed that queue pairs share, and of each how many of these.
const mostWays = 10

// sharedPaths writes which queue pairs share a path.
func (t *text) sharedPaths() {
	if len(t.res.Connections) > mostSharing {
		return
	}
	qps := map[way][]string{}
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for k := range c.Ends {
			if w, ok := wayOf(c, k); ok {
				qps[w] = append(qps[w], qp(c.Ends[k].QPN, c.Ends[k].QPNKnown))
			}
		}
	}
	var ways []way
	for w, list := range qps {
		if len(list) > 1 {
			ways = append(ways, w)
		}
	}
	if len(ways) == 0 {
		return
	}
	slices.SortFunc(ways, func(a, b way) int {
		return cmp.Or(cmp.Compare(len(qps[b]), len(qps[a])), a.from.Compare(b.from), a.to.Compare(b.to), cmp.Compare(a.port, b.port))
	})
	t.line("\n  %s", t.dim("Queue pairs whose packets have the same addresses and UDP source port take the same path:"))
	for i, w := range ways {
		if i == mostWays {
			t.line("  and %d more", len(ways)-mostWays)
			break
		}
		list, more := qps[w], ""
		if n := len(list) - mostWays; n > 0 {
			list, more = list[:mostWays], fmt.Sprintf(" and %d more", n)
		}
		t.flow("  ", fmt.Sprintf("%v → %v port %d: %d, %s%s", w.from, w.to, w.port, len(qps[w]), strings.Join(list, ", "), more))
	}
}
