package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// deliveredRefused says, of requests of end from that were refused as the receiver was not ready, that they came to it, and which other hosts it was
// ready for all that time; "": other packets of the connection may have been lost.
func (t *teller) deliveredRefused(c *agent.Connection, from int, k *qp.Trouble) string {
	e, s := &c.Ends[from], &k.Now
	rounds := &k.Sum.Rounds
	if !t.timed() || t.lossy() || s.NAKs < 2 || len(t.run.Connections) > mostOthers || rounds[qp.TimerExpired] > 0 || rounds[qp.SequenceAsked] > 0 ||
		s.Rounds[qp.TimerExpired] > 0 || c.Ends[1-from].SequenceNAKs > 0 {
		return ""
	}
	said := "each RNR NAK answers a request that had come, and nothing else was retransmitted but what followed those: it is not the network"
	if hosts := t.readyFor(c.Ends[1-from].Addr, e.Addr, &timing.Silence{From: s.Since, To: s.Last}); len(hosts) > 0 {
		said += fmt.Sprintf("; %v was ready meanwhile for all that %s sent", c.Ends[1-from].Addr, sorted(hosts))
	}
	return said
}

// readyFor are the hosts but one that sent a receiver messages all of a time, which it was always ready for.
func (t *teller) readyFor(receiver, but packet.Addr, in *timing.Silence) (hosts []packet.Addr) {
	refused := map[packet.Addr]bool{}
	for n := range t.run.Connections {
		d := &t.run.Connections[n]
		far, with := farEnd(d, receiver)
		if !with || far == but || far == receiver || d.Timing == nil || !d.Service.Reliable() {
			continue
		}
		for k := range d.Ends {
			x := &d.Ends[k]
			switch {
			case x.Addr != far || x.Messages == 0 || takesNoReceive(d, k):
			case x.Stalled || x.Trouble != nil && x.Trouble.RNR.NAKs > 0:
				refused[far] = true
			case !slices.Contains(hosts, far) && d.Timing.Ends[k].Active.Sends(in, 2) && d.Timing.Ends[k].Active.Sent(in):
				hosts = append(hosts, far)
			}
		}
	}
	return slices.DeleteFunc(hosts, func(a packet.Addr) bool { return refused[a] })
}
