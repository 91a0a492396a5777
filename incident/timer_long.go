package incident

import (
	"ibwitness/agent"
	"ibwitness/qp"
)

// fewestTimers is how many stalls that its timer ended show how long the timer of a requester is.
const fewestTimers = 2

// asLongAsTimer reports whether a command took as long as the timer of its server has others wait between the same hosts: the end of a message that was lost before the tap comes then, and
// what the tap shows of it is no retransmission.
func (t *teller) asLongAsTimer(c *agent.Connection, o *agent.Operation) bool {
	server, took, alike := c.Ends[1-o.From].Addr, o.Ended-o.Since, 0
	for _, d := range t.siblings(c) {
		for k := range d.Ends {
			x := d.Ends[k].Trouble
			if x == nil || d.Ends[k].Addr != server {
				continue
			}
			s := x.Settled(false)
			for n := range s.Longest {
				if l := &s.Longest[n]; l.Rounds[qp.TimerExpired] > 0 && took*10 >= l.Lost()*9 && took*10 <= l.Lost()*11 {
					alike++
				}
			}
		}
	}
	return alike >= fewestTimers
}
