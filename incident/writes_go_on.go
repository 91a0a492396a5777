package incident

import (
	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// writesGoOn says that the peer which has no receive for the request of stall s of end from of c went on to acknowledge RDMA WRITEs, which
// take none, on other connections between the two hosts; "": it did not, or nothing shows it.
func (t *teller) writesGoOn(c *agent.Connection, from int, s *qp.Stall) string {
	list := t.siblings(c)
	if len(list) > mostOthers || !t.timed() {
		return ""
	}
	n, last := uint64(0), int64(0)
	for _, d := range list {
		for e := range d.Ends {
			x, peer := &d.Ends[e], &d.Ends[1-e]
			if d == c || x.Addr != c.Ends[from].Addr || d.Timing == nil || x.Trouble != nil || peer.Messages > 0 || peer.Packets == 0 || peer.Last <= s.Begun {
				continue
			}
			if ops := &d.Timing.Ends[e].Ops; ops[wqe.Write] != nil && ops[wqe.Send] == nil && ops[wqe.Read] == nil {
				n, last = n+1, max(last, peer.Last)
			}
		}
	}
	if n == 0 {
		return ""
	}
	return c.Ends[1-from].Addr.String() + " went on to acknowledge RDMA WRITEs, which take no receive, on " +
		count(n, "other connection") + " between the same hosts, " +
		"the last " + span(last-s.Begun) + " after it first refused this: its adapter and the path work"
}
