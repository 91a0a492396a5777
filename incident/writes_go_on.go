package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// writesGoOn says that the peer which has no receive for the request of stall s of end from of c went on to acknowledge RDMA WRITEs, which
// take none, on other connections between the two hosts, or else of other hosts; "": it did not, or nothing shows it.
func (t *teller) writesGoOn(c *agent.Connection, from int, s *qp.Stall) string {
	if len(t.run.Connections) > mostOthers || !t.timed() {
		return ""
	}
	local, receiver := c.Ends[from].Addr, c.Ends[1-from].Addr
	var hosts []packet.Addr
	n, last := [2]uint64{}, [2]int64{} // of others, and of the same host
	for k := range t.run.Connections {
		d := &t.run.Connections[k]
		for e := range d.Ends {
			x, peer := &d.Ends[e], &d.Ends[1-e]
			if d == c || peer.Addr != receiver || x.Addr == receiver || peer.Last <= s.Begun || !writesOnly(d, e) {
				continue
			}
			same := packet.Bit(x.Addr == local)
			if n[same], last[same] = n[same]+1, max(last[same], peer.Last); same == 0 && !slices.Contains(hosts, x.Addr) {
				hosts = append(hosts, x.Addr)
			}
		}
	}
	goes := receiver.String() + " went on to acknowledge RDMA WRITEs, which take no receive, "
	switch {
	case n[1] > 0:
		return goes + "on " + count(n[1], "other connection") + " between the same hosts, " +
			"the last " + span(last[1]-s.Begun) + " after it first refused this: its adapter and the path work"
	case n[0] > 0:
		return goes + "of " + sorted(hosts) + ", the last " + span(last[0]-s.Begun) + " after it first refused this: its adapter works"
	}
	return ""
}

// writesOnly reports whether end from of a connection sends nothing but WRITEs without immediate data, and its peer only acknowledges them.
func writesOnly(c *agent.Connection, from int) bool {
	x, peer := &c.Ends[from], &c.Ends[1-from]
	if c.Timing == nil || x.Trouble != nil || peer.Messages > 0 || peer.Packets == 0 || c.Timing.Exchange.Taking(from) > 0 {
		return false
	}
	ops := &c.Timing.Ends[from].Ops
	return ops[wqe.Write] != nil && ops[wqe.Send] == nil && ops[wqe.Read] == nil
}
