package stream

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Slept is how long a connection is silent, in nanoseconds, for another one to be possible that has its QP numbers.
const Slept = int64(10 * time.Second)

// Renews reports whether a packet is of another connection of its QPs: it confirms or answers the one before it, whose PSN was far from the stream,
// or it comes after a long silence and does not go on with what was before.
func Renews(c *qp.Pair, from int, p *packet.Packet) bool {
	q, in := &c.Ends[from].SQ, p.Info()
	if p.Opcode.Service() != c.Service {
		return false
	}
	if in.Response && c.Paired && ResponseContinuity(c, 1-from, p) == newConnection {
		return true
	}
	return in.Request && confirms(q, p) && requestContinuity(c, from) == newConnection || HasSlept(c, p) && leaves(c, from, p) ||
		unused(c, p) && (in.Response || !q.Joined || p.PSN != q.Next)
}

// leaves reports whether a packet neither goes on with the requests of its end nor answers those of its peer.
func leaves(c *qp.Pair, from int, p *packet.Packet) bool {
	in := p.Info()
	return in.Request && !goesOn(&c.Ends[from].SQ, p) || in.Response && !answers(&c.Ends[1-from].SQ, p)
}

// unused reports whether a connection that CM has shown was without any packet for long.
func unused(c *qp.Pair, p *packet.Packet) bool {
	return newest(c) == 0 && c.Told != 0 && p.Time-c.Told > Slept
}

// Renewed has the owner of the connections begin one again, and reports whether it did.
func (v *Verifier) Renewed(c *qp.Pair, from int, p *packet.Packet) bool {
	return v.Renew != nil && Renews(c, from, p) && v.Renew(c, from, p)
}

// answers reports whether a response can be to one of the requests that are outstanding.
func answers(q *qp.SendQueue, p *packet.Packet) bool {
	return !q.Joined || !p.PSN.Before(q.Una) && p.PSN.Before(q.High)
}

// HasSlept reports whether neither end of a connection has sent anything for long.
func HasSlept(c *qp.Pair, p *packet.Packet) bool {
	last := newest(c)
	return last != 0 && p.Time-last > Slept
}

// Outlived reports whether response p comes after a long silence of its connection, of which only one direction was seen, and answers requests that
// began within that silence: they are of another connection of its QPs.
func Outlived(c *qp.Pair, p *packet.Packet, began int64) bool {
	return HasSlept(c, p) && began > newest(c)
}

// newest is the time of the newest packet of a connection that belongs to one of its streams.
func newest(c *qp.Pair) int64 {
	a, b := &c.Ends[0], &c.Ends[1]
	return max(a.SQ.LastTime, a.RQ.LastTime, b.SQ.LastTime, b.RQ.LastTime)
}

// goesOn reports whether a request can be the next one of its stream, or one that is retransmitted.
func goesOn(q *qp.SendQueue, p *packet.Packet) bool {
	if !q.Joined || q.Fresh || p.PSN == q.Next || q.Una.Before(q.High) && p.PSN.In(q.Una, q.High) {
		return q.Joined
	}
	s := q.History.Get(p.PSN)
	return s != nil && packet.SameContent(p, s.Trace)
}

// Reconnected reports that end from of a connection began again, with packet first.
func (v *Verifier) Reconnected(c *qp.Pair, from int, first *packet.Packet) {
	role := rule.Requester
	switch {
	case c.Service == packet.UC:
		role = rule.Sender
	case first.Info().Response:
		role = rule.Responder
	}
	v.Event(c, from, role, first, rule.EvReconnect, "the PSN stream continues from another start PSN: the QP was connected again")
}

// reconnect takes the packet that was far from the stream as the first of another connection of the QP.
func (v *Verifier) reconnect(c *qp.Pair, from int) {
	q := &c.Ends[from].SQ
	first, requests := q.Stray, append([]packet.Packet(nil), q.Leap()...)
	q.Unstray()
	v.Reconnected(c, from, first)
	v.Join(c, from, first)
	v.leapFrom(c, from, first, requests)
}
