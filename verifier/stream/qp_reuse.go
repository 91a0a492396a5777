package stream

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// IdleTime is how long a connection is silent, in nanoseconds, for another one to be possible that has its QP numbers.
const IdleTime = int64(10 * time.Second)

// ReusesQP reports whether a packet is of another connection of its QPs: it confirms or answers the one before it, whose PSN was far from the stream,
// or it comes after a long silence and does not go on with what was before.
func ReusesQP(c *qp.Pair, from int, p *packet.Packet) bool {
	q, in := &c.Ends[from].SQ, p.Info()
	if p.Opcode.Service() != c.Service {
		return false
	}
	if in.Response && c.Paired && ResponseContinuity(c, 1-from, p) == newConnection {
		return true
	}
	if in.Request && continuesJump(q, p) && requestContinuity(c, from) == newConnection {
		return true
	}
	if last := newestTime(c); last != 0 {
		return p.Time-last > IdleTime && leavesStream(c, from, p)
	}
	return unused(c, p) && (in.Response || !q.Joined || p.PSN != q.Next)
}

// leavesStream reports whether a packet neither goes on with the requests of its end nor answers those of its peer.
func leavesStream(c *qp.Pair, from int, p *packet.Packet) bool {
	in := p.Info()
	return in.Request && !continuesStream(&c.Ends[from].SQ, p) || in.Response && !answersOutstanding(&c.Ends[1-from].SQ, p)
}

// unused reports whether a connection that CM has shown, and of which there was no packet in a stream, was without one for long.
func unused(c *qp.Pair, p *packet.Packet) bool {
	return c.CMTime != 0 && p.Time-c.CMTime > IdleTime
}

// JudgeReuse has the owner of the connections begin one again, and reports whether it did.
func (v *Verifier) JudgeReuse(c *qp.Pair, from int, p *packet.Packet) bool {
	return v.Reuse != nil && ReusesQP(c, from, p) && v.Reuse(c, from, p)
}

// answersOutstanding reports whether a response can be to one of the requests that are outstanding.
func answersOutstanding(q *qp.SendQueue, p *packet.Packet) bool {
	return !q.Joined || !p.PSN.Before(q.Una) && p.PSN.Before(q.High)
}

// LongIdle reports whether neither end of a connection has sent anything for long.
func LongIdle(c *qp.Pair, p *packet.Packet) bool {
	last := newestTime(c)
	return last != 0 && p.Time-last > IdleTime
}

// IsOfReusedQP reports whether response p comes after a long silence of its connection, of which only one direction was seen, and answers requests that
// began within that silence: they are of another connection of its QPs.
func IsOfReusedQP(c *qp.Pair, p *packet.Packet, began int64) bool {
	return LongIdle(c, p) && began > newestTime(c)
}

// newestTime is the time of the newest packet of a connection that belongs to one of its streams.
func newestTime(c *qp.Pair) int64 {
	return max(c.LastTime(0), c.LastTime(1))
}

// continuesStream reports whether a request can be the next one of its stream, or one that is retransmitted.
func continuesStream(q *qp.SendQueue, p *packet.Packet) bool {
	if !q.Joined || q.Fresh || p.PSN == q.Next || q.Una.Before(q.High) && p.PSN.In(q.Una, q.High) {
		return q.Joined
	}
	s := q.History().Get(p.PSN)
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
	first, requests := q.Jump, append([]packet.Packet(nil), q.JumpRequests()...)
	q.CloseJump()
	v.Reconnected(c, from, first)
	v.Join(c, from, first)
	v.continueAtJump(c, from, first, requests)
}
