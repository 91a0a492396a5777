package stream

import (
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Requests that go on at a PSN far from their stream are of a QP that was connected again, or their requester has jumped to another PSN. They
// wait for evidence: a response to them, or what came with them.

const (
	// mostJumpRequests is how many of them wait.
	mostJumpRequests = 256
	// jumpSpan is how far apart they are at most: a READ among them takes many PSNs.
	jumpSpan = 1 << 13
	// reconnectTime is too short to destroy a QP, create another one and connect it to its peer.
	reconnectTime = int64(time.Millisecond)
)

// continuity says why requests are far from their stream.
type continuity uint8

const (
	ContinuityUnknown continuity = iota
	sameConnection               // their requester has jumped
	newConnection                // the QP was connected again
)

// continuesJump reports whether a request goes on from those that are far from the stream.
func continuesJump(q *qp.SendQueue, p *packet.Packet) bool {
	return q.Jump != nil && p.PSN.In(q.Jump.PSN, q.JumpEnd().Add(jumpSpan))
}

// requestContinuity is what the headers of requests far from the stream show, and what both ends have sent.
func requestContinuity(c *qp.Pair, from int) continuity {
	a, b := &c.Ends[from], &c.Ends[1-from]
	switch {
	case c.Closed, b.SQ.Jump != nil, a.Flow.Known() && !a.Agrees(a.SQ.Jump):
		return newConnection
	case c.Reliable(): // the next response shows it
		return ContinuityUnknown
	}
	return presumed(c, from)
}

// presumed is what is likely where no response shows it: a connection that CM makes is seen, and making one takes time.
func presumed(c *qp.Pair, from int) continuity {
	q := &c.Ends[from].SQ
	switch {
	case c.Closed:
		return ContinuityUnknown
	case c.Ends[from].Knows(qp.KnowsSQPSN), q.Jump.Time-newestTime(c) < reconnectTime, q.Open != wqe.None && (q.Jump.Info().Middle || q.Jump.Info().Last):
		return sameConnection
	}
	return ContinuityUnknown
}

// ResponseContinuity is what response p shows of the requests of end from that are far from their stream. A responder that was connected again
// counts messages from 0; one that was not goes on counting, or asks for the PSN that it expects.
func ResponseContinuity(c *qp.Pair, from int, p *packet.Packet) continuity {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if q.Jump == nil || p.Has&packet.HasAETH == 0 || !p.PSN.In(q.Jump.PSN, q.JumpEnd()) {
		return ContinuityUnknown
	}
	begun, ended := jumpMessages(q, p)
	outstanding := q.Messages.Len() - q.Messages.UpTo(q.Una.Add(-1))
	more := packet.PSN(p.MSN).Diff(packet.PSN(r.MSN.Last))
	begins, continues := int(p.MSN) <= begun, r.Last.Positive && more >= ended && more <= outstanding+begun
	switch {
	case continues && (!begins || presumed(c, from) == sameConnection):
		return sameConnection
	case begins || p.Syndrome.Type() != packet.ACK || r.Last.Positive:
		return newConnection
	}
	return presumed(c, from)
}

// jumpMessages counts the messages that the requests far from the stream begin, and those that they end and response p says have been executed.
func jumpMessages(q *qp.SendQueue, p *packet.Packet) (begun, ended int) {
	for _, b := range q.JumpRequests() {
		if in := b.Info(); in.First || in.Only {
			begun++
		}
		if Executed(&b, p) {
			ended++
		}
	}
	return begun, ended
}

// AnswersJump reports whether response p, to another QP of the same host, answers requests of end from that are far from their stream: its responder is
// connected to that QP now.
func AnswersJump(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	return c.Paired && c.Reliable() && !c.Closed && q.Jump != nil && p.PSN.In(q.Jump.PSN, q.JumpEnd())
}

// Executed reports whether response p says that the message that request b ends has been executed.
func Executed(b, p *packet.Packet) bool {
	in := b.Info()
	return (in.Last || in.Only) && (b.PSN.Before(p.PSN) || b.PSN == p.PSN && p.Syndrome.Type() == packet.ACK)
}

// FollowJump reports the first request of end from that is far from its stream, and follows it and those after it from there.
func (v *Verifier) FollowJump(c *qp.Pair, from int, id rule.ID, role rule.Role, class rule.Class, evidence ...uint64) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	first, startKnown := q.Jump, r.MSN.StartKnown
	requests := append([]packet.Packet(nil), q.JumpRequests()...)
	v.WrongPSN(c, from, id, role, class, evidence...)
	v.Join(c, from, first)
	r.MSN.SetStartKnown(startKnown)
	v.continueAtJump(c, from, first, requests)
}

// continueAtJump has the stream of end from, which was joined at first, go on with what came far from it.
func (v *Verifier) continueAtJump(c *qp.Pair, from int, first *packet.Packet, requests []packet.Packet) {
	if c.Reliable() {
		for i := range requests {
			v.acknowledged.Follow(c, from, &requests[i])
		}
		return
	}
	c.Ends[from].SQ.Expect(first.PSN.Add(1))
}

// jumpRequest takes request p, which goes on from those that are far from their stream. It reports whether p is to be judged in the stream: those
// before it have been followed there. Where nothing can show any more whether the QP was connected again, it is taken for connected again, and what shows no
// more than that is not proven.
func (v *Verifier) jumpRequest(c *qp.Pair, from int, p *packet.Packet, id rule.ID, role rule.Role) bool {
	q := &c.Ends[from].SQ
	switch tells := requestContinuity(c, from); {
	case tells == newConnection:
		v.reconnect(c, from) // where Reuse did not
		return true
	case tells == sameConnection:
		v.FollowJump(c, from, id, role, rule.Proven(c.Sees(from)), p.Frame)
		return true
	case c.Reliable() && len(q.JumpRequests()) < mostJumpRequests:
		q.ExtendJump(p.Bare())
		return false
	case c.Reliable() && presumed(c, from) == sameConnection:
		v.FollowJump(c, from, id, role, rule.Proven(c.Sees(from)), p.Frame)
		return true
	}
	v.jumpUnproven(c, from, id, role, p.Frame)
	if v.Reuse != nil && v.Reuse(c, from, p) {
		return false
	}
	v.reconnect(c, from)
	return true
}

// jumpUnproven reports the first request of end from that is far from its stream, where nothing shows whether its QP was connected again.
func (v *Verifier) jumpUnproven(c *qp.Pair, from int, id rule.ID, role rule.Role, evidence ...uint64) {
	q := &c.Ends[from].SQ
	v.Covered(id)
	v.Report(c, from, q.Jump, rule.Verdict{
		Rule: id, Class: rule.Unproven, Role: role, Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "PSN " + q.Next.String(), Actual: "PSN " + q.Jump.PSN.String(),
		Detail: "far from the expected PSN, and the PSN stream continues there: the capture does not show whether the QP was connected again", Evidence: evidence,
	})
}

// jumpAtEnd judges requests that are far from their stream when the capture ends.
func (v *Verifier) jumpAtEnd(c *qp.Pair, from int, id rule.ID, role rule.Role) {
	q := &c.Ends[from].SQ
	switch {
	case q.Jump == nil:
	case len(q.JumpRequests()) > 1 && presumed(c, from) == sameConnection:
		v.WrongPSN(c, from, id, role, rule.Proven(c.Sees(from)))
	case len(q.JumpRequests()) > 1:
		v.jumpUnproven(c, from, id, role)
	default:
		v.WrongPSN(c, from, id, role, rule.Unproven)
	}
}
