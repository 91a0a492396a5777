package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/qp"
)

// endsWith tells that the NAK of refusal k, on c, is the last that its responder's host sent on any connection while others went on: what goes away then is the process, memory first.
func (t *teller) endsWith(i *Incident, c *agent.Connection, k *qp.Refusal) {
	peer, others, goesOn := i.Peer.Addr, 0, false
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		for e := range d.Ends {
			switch end := &d.Ends[e]; {
			case end.Addr != peer:
				goesOn = goesOn || end.Last > k.Time
			case end.Last > k.Time:
				return
			case d != c && d.Service.Reliable() && end.Last != 0 && d.Closed.At == 0:
				others++
			}
		}
	}
	if others == 0 || !goesOn {
		return
	}
	i.fact("last", fmt.Sprintf("%v sent nothing after the NAK, neither here nor on %s", peer, count(uint64(others), "other connection")))
	i.FitsWith = slices.Insert(i.FitsWith, 0, "a process of "+peer.String()+" that ended or was killed: its memory is deregistered while its queue pairs still take packets")
	i.Next = slices.Insert(i.Next, 0, "whether the process on "+peer.String()+" still runs, and what ended it")
}
