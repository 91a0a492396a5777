package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// mostHoles is how many holes of a host are told one by one.
const mostHoles = 3

// numbered is what the IPv4 identifications show of what the capture does not hold: of hosts whose packets the network has not lost before the tap, as far as can be told.
type numbered struct {
	packets, runs uint64
	hosts         []*agent.Numbering // that lack some, most first
	whole         []packet.Addr      // that lack none
}

// holes counts it.
func (t *teller) holes() (n numbered) {
	if len(t.run.Taps) > 1 {
		return n
	}
	lost := t.lostBefore()
	for k := range t.run.Numbered {
		switch h := &t.run.Numbered[k]; {
		case h.Whole():
			n.whole = append(n.whole, h.Host)
		case !lost[h.Host]:
			if packets, runs := lacking(h); runs > 0 {
				n.packets, n.runs, n.hosts = n.packets+packets, n.runs+runs, append(n.hosts, h)
			}
		}
	}
	slices.SortStableFunc(n.hosts, func(a, b *agent.Numbering) int {
		p, _ := lacking(a)
		q, _ := lacking(b)
		return cmp.Compare(q, p)
	})
	return n
}

// lacking counts the packets of a host that the capture does not hold, where a stream lacks PSNs, and in how many runs.
func lacking(h *agent.Numbering) (packets, runs uint64) {
	for _, k := range h.Holes {
		if k.Lacks {
			packets, runs = packets+uint64(k.Packets), runs+1
		}
	}
	return packets, runs
}

// lostBefore returns the hosts some packets of which the network lost before the tap, as they were retransmitted, or asked for again.
func (t *teller) lostBefore() map[packet.Addr]bool {
	lost := map[packet.Addr]bool{}
	for i := range t.run.Connections {
		c := &t.run.Connections[i]
		for k := range c.Ends {
			x := c.Ends[k].Trouble
			if x == nil {
				continue
			}
			s := x.Settled(c.Ends[k].Stalled).Sum
			if x.Missing.Filled.PSNs > 0 || s.Before > 0 {
				lost[c.Ends[k].Addr] = true
			}
			if s.Rounds[qp.ResponseLost] > 0 || x.Missing.Responses.PSNs > 0 && !responsesUnheld(&c.Ends[k]) {
				lost[c.Ends[1-k].Addr] = true
			}
		}
	}
	return lost
}

// tell says of which hosts packets are missing, where, and of which none is.
func (n *numbered) tell(t *teller, i *Incident) {
	if n.runs == 0 {
		return
	}
	list := make([]string, len(n.hosts))
	for k, h := range n.hosts {
		packets, runs := lacking(h)
		list[k] = fmt.Sprintf("%s of %v in %s", number(packets), h.Host, count(runs, "hole"))
	}
	whole := ""
	switch k := len(n.whole); {
	case k == 1:
		whole = fmt.Sprintf("; no number of %v is", n.whole[0])
	case k > 1:
		whole = fmt.Sprintf("; no number of %v and %s is", n.whole[0], count(uint64(k-1), "other host"))
	}
	i.fact("numbers", fmt.Sprintf("IPv4 identifications, which one counter of each host gives, are missing, at least: %s%s", enumerate(list), whole))
	i.fact("holes", t.largest(n.hosts))
}

// largest tells the largest holes, in the order of frames.
func (t *teller) largest(hosts []*agent.Numbering) string {
	var all []agent.Hole
	for _, h := range hosts {
		for _, k := range h.Holes {
			if k.Lacks {
				all = append(all, k)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b agent.Hole) int { return cmp.Compare(b.Packets, a.Packets) })
	of := ""
	if len(all) > mostHoles {
		all, of = all[:mostHoles], "the largest: "
	}
	slices.SortStableFunc(all, func(a, b agent.Hole) int { return cmp.Compare(a.Before, b.Before) })
	list := make([]string, len(all))
	for i, k := range all {
		at := ""
		if t.run.Clock.Count == 0 {
			at = " at +" + span(k.From-t.run.First)
		}
		list[i] = fmt.Sprintf("%s%s after frame %d", count(uint64(k.Packets), "packet"), at, k.Before)
	}
	return of + enumerate(list)
}

// hostsLacking names the hosts.
func hostsLacking(hosts []*agent.Numbering) string {
	if len(hosts) == 1 {
		return hosts[0].Host.String()
	}
	return count(uint64(len(hosts)), "host")
}
