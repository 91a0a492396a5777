package incident

import (
	"ibwitness/agent"
	"ibwitness/qp"
)

// nearPeriods is within how many retransmission periods of the beginning of the capture a connection begins that may be older than that: it shows at the next retransmission.
const nearPeriods = 2

// midway reports whether a connection, of one end of which the capture holds nothing, may have worked before that began: then it holds but the last of the retransmissions of stall k.
func (t *teller) midway(c *agent.Connection, k *qp.Stall) bool {
	n := int64(k.Total())
	if n == 0 || !t.timed() || c.PairedBy == agent.ByCM || c.Ends[0].Packets > 0 && c.Ends[1].Packets > 0 {
		return false
	}
	return c.First-t.run.First <= nearPeriods*max((k.Last-k.Since)/n, k.Begun-k.Since)
}

// mayBeGone says that the peer may be gone, where the connection may have worked before the capture began.
func (t *teller) mayBeGone(i *Incident, c *agent.Connection, k *qp.Stall) {
	if i.Kind == NeverAnswered && t.midway(c, k) {
		i.FitsWith = append(i.FitsWith, "a queue pair of "+i.Peer.Addr.String()+", its process or its host that is gone since, if the connection had worked before the capture began")
	}
}
