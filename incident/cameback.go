package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/qp"
)

// outage is a time in which nothing that a host sent to another was answered on any connection that had begun, and after which the others went on.
type outage struct {
	others int   // connections on which it was so
	until  int64 // when the first of them was answered again
}

// outlasted returns the outage in which the retries of stall k of c were used up; others is 0 where there was none.
func (t *teller) outlasted(c *agent.Connection, k *qp.Stall) (o outage) {
	if !t.timed() || k.Total() == 0 {
		return o
	}
	for _, d := range t.siblings(c) {
		if d.First > k.Since {
			break
		}
		if d == c || max(d.Ends[0].Last, d.Ends[1].Last) < k.Since || d.Ends[0].Stalled || d.Ends[1].Stalled {
			continue // another, one that was over, one that did not outlast it either
		}
		until := answeredAfter(d, k)
		if until == 0 {
			return outage{} // it may have carried traffic meanwhile
		}
		if o.others == 0 || until < o.until {
			o.until = until
		}
		o.others++
	}
	return o
}

// answeredAfter returns when a request on connection d was answered that waited during all retransmissions of stall k; 0: none did.
func answeredAfter(d *agent.Connection, k *qp.Stall) int64 {
	for e := range d.Ends {
		if d.Ends[e].Trouble == nil {
			continue
		}
		x := d.Ends[e].Trouble.Settled(false)
		for j := range x.Longest {
			if s := &x.Longest[j]; interrupts(s) && s.Total() > 0 && s.Since < k.Begun && s.Ended > k.Last {
				return s.Ended
			}
		}
	}
	return 0
}

// cameBack tells of an outage that a request has not outlasted.
func (i *Incident) cameBack(o outage, k *qp.Stall) {
	peer := i.Peer.Addr.String()
	on := "the other connection between them"
	if o.others > 1 {
		on = fmt.Sprintf("the %d other connections between them", o.others)
	}
	i.fact("peer", fmt.Sprintf("%s answered nothing on %s either, until %s after this request", peer, on, span(o.until-k.Since)))
	i.FitsWith = append(i.FitsWith, "a link, switch or route between the hosts, or "+peer+" itself, that failed and came back when these retries were used up, and those of the others were not")
	i.Next = append(i.Next, "link events in the logs of both hosts and of the switches at that time", "the timeout and retry_cnt of "+i.Local.String()+", if it is to outlast such a time")
}
