package report

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
)

// quietFor is a host that got one message less from another than it had sent to it when both went quiet, where they send in turn.
type quietFor struct {
	host     packet.Addr
	messages uint64 // that it sent on that connection
}

// quietWave says, where hosts that send to one another in turn went quiet, that all wait for the first: each other one has sent one message more
// than one of its neighbours, which had stopped before, has sent to it; "": that is not so of each.
func quietWave(among []*agent.Connection, last map[packet.Addr]int64) string {
	list := byLast(last)
	if len(list) < quietHosts {
		return ""
	}
	first := list[0]
	if last[first] == last[list[1]] {
		return ""
	}
	sent, on := map[packet.Addr]uint64{first: 0}, map[packet.Addr][]quietFor{}
	for _, c := range among {
		for k := range c.Ends {
			e, o := &c.Ends[k], &c.Ends[1-k]
			if e.Messages < quietMessages || o.Messages < quietMessages || c.Timing == nil {
				continue
			}
			if o.Addr == first {
				sent[first] = max(sent[first], o.Messages)
			}
			if e.Messages == o.Messages+1 && last[o.Addr] < last[e.Addr] && c.Timing.Ends[1-k].LastRequest() < c.Timing.Ends[k].LastRequest() {
				on[e.Addr] = append(on[e.Addr], quietFor{o.Addr, e.Messages})
			}
		}
	}
	if sent[first] == 0 {
		return ""
	}
	for _, a := range list[1:] {
		if len(on[a]) == 0 {
			return ""
		}
		for _, w := range on[a] {
			sent[a] = max(sent[a], w.messages)
		}
	}
	return fmt.Sprintf(" All wait for %v, directly or through one another: it stopped first, after %s on a connection, "+
		"and each other host has sent one message more than it got from a neighbour that had stopped before (%s)."+
		" What its neighbours sent to %v was acknowledged: its adapter works, so look at its program, "+
		"or at what that waits for which the capture does not show.", first, count(int(sent[first]), "message"), waves(list, sent), first)
}

// waves says how many messages hosts had sent on a connection, those with as many together, in the order in which they stopped.
func waves(list []packet.Addr, sent map[packet.Addr]uint64) string {
	var names []string
	for k := 0; k < len(list) && len(names) < quietTold; {
		n, hosts := sent[list[k]], []string(nil)
		for ; k < len(list) && sent[list[k]] == n; k++ {
			hosts = append(hosts, list[k].String())
		}
		if len(hosts) > quietHosts {
			hosts = append(hosts[:quietHosts-1], fmt.Sprintf("%d more", len(hosts)-quietHosts+1))
		}
		names = append(names, fmt.Sprintf("%s: %s", enumerate(hosts), number(n)))
	}
	return enumerate(names)
}
