package incident

import (
	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// From how many runs of packets on that a capture lost, in different places, one more says nothing of the time before it, and of how many PSNs that
// is at most.
const (
	runsLost    = 8
	mostLostPSN = 32
)

// idleBefore reports whether stall s of end from of a connection, which nothing shows but a later PSN, is most likely a connection that was idle, and
// then a packet that the capture lost, as it lost others in many places, while nothing was retransmitted: packets between the same hosts were
// captured all that time.
func (t *teller) idleBefore(c *agent.Connection, from int, s *qp.Stall) bool {
	if s.Total() > 0 || !s.Before || !t.lossy() || len(t.run.Taps) > 1 || len(t.run.Connections) > mostOthers || t.networkWell() == "" {
		return false
	}
	if x := c.Ends[from].Trouble; x == nil || x.Missing.Longest > mostLostPSN || max(t.unheld().runs, t.holes().runs) < runsLost {
		return false
	}
	joint := timing.Activity{}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		if d == c || d.Timing == nil || pairBy(d.Ends[0].Addr, d.Ends[1].Addr) != pairBy(c.Ends[0].Addr, c.Ends[1].Addr) || d.Service == packet.UD {
			continue
		}
		for e := range d.Timing.Ends {
			joint.Join(&d.Timing.Ends[e].Active)
		}
	}
	return joint.Sends(&timing.Silence{From: s.Since, To: s.Ended}, 2)
}
