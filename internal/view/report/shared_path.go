package report

import (
	"cmp"
	"fmt"
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

// sharing counts the queue pairs of each way.
func sharing(list []agent.Connection) map[way]int {
	n := map[way]int{}
	for i := range list {
		for k := range list[i].Ends {
			if w, ok := wayOf(&list[i], k); ok {
				n[w]++
			}
		}
	}
	return n
}

// mostWays is how many paths are listed that queue pairs share, and of each how many of these.
const mostWays = 10

// sharedPaths writes which queue pairs share a path.
func (t *text) sharedPaths() {
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
		return cmp.Or(cmp.Compare(len(qps[b]), len(qps[a])), cmp.Compare(a.from.Hi, b.from.Hi), cmp.Compare(a.from.Lo, b.from.Lo),
			cmp.Compare(a.to.Hi, b.to.Hi), cmp.Compare(a.to.Lo, b.to.Lo), cmp.Compare(a.port, b.port))
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
