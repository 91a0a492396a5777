package incident

import (
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

const (
	// fewestOtherPSNs is from how many ACKs on, that fit no request, they are told to be the answers to one that was retransmitted, where only
	// their times say so.
	fewestOtherPSNs = 4
	// farPSNs is how far a PSN is at least from those of requests that are not answered, so that it is not of one just before them, which the
	// capture does not hold.
	farPSNs = 1 << 16
)

// answersBeside returns, of the connections between two hosts, the responses which seem to be the answers to what the only end of c sends,
// that fit none of its PSNs: those with its UDP source port, or else those that come while it sends. nil: there are none, or others may be
// their requester.
func answersBeside(list []*agent.Connection, c *agent.Connection) *agent.Connection {
	from, one := onlyEnd(c)
	if !one || c.Service != packet.RC || !c.Ends[from].Stalled || c.Ends[from].Trouble == nil || len(list) > mostOthers {
		return nil
	}
	if d := ofFlow(list, c, &c.Ends[from]); d != nil && mayAnswer(d, c, from) && otherStart(d, &c.Ends[from].Trouble.Now) {
		return d
	}
	return byTimes(list, c, from)
}

// ofFlow returns the only other connection of a list with the UDP source port of end e of c; nil: none or several have it.
func ofFlow(list []*agent.Connection, c *agent.Connection, e *agent.End) (found *agent.Connection) {
	port := withPort(nil, c, e)
	for _, d := range list {
		if d == c || len(port) == 0 || !sendsFrom(&d.Ends[0], port[0]) && !sendsFrom(&d.Ends[1], port[0]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

// sendsFrom reports whether an end sends with a UDP source port.
func sendsFrom(e *agent.End, port uint16) bool { return e.Path.Known && e.Path.Port == port }

// mayAnswer reports whether connection d is of responses to unknown requests that came from the peer of end from of c while that sent, and
// shortly after, no more than its packets.
func mayAnswer(d, c *agent.Connection, from int) bool {
	by, one := onlyEnd(d)
	e := &c.Ends[from]
	return one && d.Lone != nil && d.Ends[by].Addr != e.Addr && d.First >= c.First && d.Ends[by].Last-e.Last < silence && d.Ends[by].Packets <= e.Packets
}

// byTimes is answersBeside by times: the only responses that come while the only requester sends, about as many as its packets, or a NAK
// before it retransmits any.
func byTimes(list []*agent.Connection, c *agent.Connection, from int) (found *agent.Connection) {
	e := &c.Ends[from]
	for _, d := range list {
		by, one := onlyEnd(d)
		switch x := &d.Ends[by]; {
		case d == c || !one || d.First > e.Last+silence || overBefore(d, x, c.First):
		case x.Addr == e.Addr && x.Messages > 0:
			return nil // either may be the requester
		case d.Lone == nil || x.Addr == e.Addr:
		case found != nil || !mayAnswer(d, c, from) || !enough(d, x, e) || otherPort(list, d, by, c, from):
			return nil
		default:
			found = d
		}
	}
	return found
}

// overBefore reports whether end x of d, which no other one answers, sent its newest packet a while before a time; not where that is not
// known, as of responses.
func overBefore(d *agent.Connection, x *agent.End, at int64) bool {
	last := x.Last
	if x.Packets == 1 {
		last = d.First
	}
	return last != 0 && last+silence < at
}

// enough reports whether the responses of end x of d are as many as are expected of what end e, whose request is not answered, has sent.
func enough(d *agent.Connection, x, e *agent.End) bool {
	k := &e.Trouble.Now
	if d.Lone.NAK {
		return d.First < k.Begun && x.Packets <= k.Total()+1 && otherStart(d, k)
	}
	return x.Packets >= fewestOtherPSNs && 2*x.Packets >= uint64(e.Retransmissions)
}

// otherPort reports whether responses of end by of d have another UDP source port than the requests of end from of c, while others between the
// hosts have that of their requests.
func otherPort(list []*agent.Connection, d *agent.Connection, by int, c *agent.Connection, from int) bool {
	x, y := withPort(nil, d, &d.Ends[by]), withPort(nil, c, &c.Ends[from])
	if len(x) == 0 || len(y) == 0 || x[0] == y[0] {
		return false
	}
	return slices.ContainsFunc(list, func(o *agent.Connection) bool {
		return o.Ends[0].Packets > 0 && o.Ends[1].Packets > 0 && o.Ends[1].Path.Known && sendsFrom(&o.Ends[0], o.Ends[1].Path.Port)
	})
}

// otherStart reports whether the PSN of the responses of d is no other one of the requester of stall k: it is far from them, or the bytes of
// the first in reverse order.
func otherStart(d *agent.Connection, k *qp.Stall) bool {
	far := func(from packet.PSN) bool { n := d.Lone.Newest.Diff(from); return n > farPSNs || n < -farPSNs }
	psn, known := expects(d.Lone)
	return far(k.Request.First) && far(k.High) || known && swappedPSN(k.Request.First, psn) != ""
}
