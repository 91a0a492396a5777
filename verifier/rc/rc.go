package rc

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// Packet judges one RC packet of connection c that end from sent: the outgoing verifier of its sender, then the incoming verifier of
// its receiver.
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	e := &expectations[p.Opcode]
	if e.known {
		if d := c.Ends[from&1].Direction; p.PSN != 0 && v.expectedRequest(c, d, p, e) {
			if e.ends && !v.Uncounted {
				length := uint32(p.PayloadLen) | p.DMALen&e.read
				v.runs.ended[p.Opcode][length&3]++
				if !e.begins || !coverage.Plain(length, c.PMTU) || length&e.read > stream.LeastMTU || c.PMTU != v.runs.pmtu[p.Opcode] {
					v.ends(c, &d.SQ, p, e)
				}
			}
			return
		}
	} else if e.answers != 0 && v.expectedResponse(c, c.Ends[^from&1].Direction, p, e) {
		return
	}
	v.Left++
	p.Rest()
	c.ClearAssumed()
	v.judge(c, from, p)
	progresses(c, p)
	v.settle(c)
	c.ClearAssumed()
}

// judge judges what the fast path has left.
func (v *Verifier) judge(c *qp.Pair, from int, p *packet.Packet) {
	if v.JudgeReuse(c, from, p) {
		return
	}
	v.Show(p)
	v.recovered(c, &c.Ends[0].SQ)
	v.recovered(c, &c.Ends[1].SQ)
	switch in := p.Info(); {
	case in.Request:
		if v.request(c, from, p) {
			v.arrives(c, from, p)
		}
		if len(c.Early()) > 0 {
			v.judgeEarly(c, p.Time)
		}
	case in.Response && ackOpcode(c, from, p):
		v.reservedOpcode(c, from, p)
	case in.Response:
		v.measureAnswer(c, from, p)
		v.response(c, from, p)
	case !in.Defined:
		v.reservedOpcode(c, from, p)
	}
}

// ackOpcode reports whether p is the next packet of the message that its sender has begun, with the opcode of an Acknowledge: that has a payload, which was
// reported.
func ackOpcode(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	return p.PayloadLen > 0 && p.Opcode.Fn() == packet.Acknowledge && q.Joined && q.Open != wqe.None && p.PSN == q.Next
}

// request is the requester's outgoing verifier: the place of the packet in its PSN stream decides which step judges it. It
// reports whether the packet belongs to the stream.
func (v *Verifier) request(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if d := q.ReadDispute(); d != nil {
		v.resolve(c, from, p, d)
	}
	if !q.Joined {
		v.Join(c, from, p)
	}
	if q.ReadLen != 0 {
		v.settleRead(c, from, p)
	}
	v.measureRetransmission(c, from, p)
	if psn, foreign := q.Foreign(); foreign && psn == p.PSN && !v.Broken {
		q.CloseForeign() // it was retransmitted as it should be: nobody has answered it
		v.Covered(rule.PKY003)
	}
	d := p.PSN.Diff(q.Next)
	if q.Jump != nil || stream.Far(d) {
		if !v.farPSN(c, from, p, d) {
			return false
		}
		d = p.PSN.Diff(q.Next)
	}
	switch {
	case d != 0 && v.lateFirst(c, from, p):
		v.takeLateFirst(c, from, p)
	case d == 0:
		if c.Misdirected != nil {
			v.MisdirectedRetransmission(c, from, p)
		}
		v.newRequest(c, from, p)
	case d > 0:
		v.aheadOfNext(c, from, p)
	default:
		v.earlierRequest(c, from, p)
	}
	q.Last.Came(p)
	return true
}

// earlierRequest judges a request with a PSN before the next one, which the one before it may have overtaken.
func (v *Verifier) earlierRequest(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	s, retry := q.History().Get(p.PSN), q.Retransmission.Next
	late := (s == nil || s.Trace.IPID != p.IPID) && v.Overtaken(c, from, p, q.Last.ID, q.Last.Frame, q.Last.Time)
	v.beforeNext(c, from, p)
	if late && q.Retransmission.Active {
		q.ContinueRetransmission(packet.Later(q.Retransmission.Next, retry)) // which has come already
	}
}

// farPSN deals with a PSN far from the stream of a requester.
func (v *Verifier) farPSN(c *qp.Pair, from int, p *packet.Packet, d int) bool {
	return v.JudgeFarPSN(c, from, p, d, rule.RCPSN004, rule.Requester)
}

// reservedOpcode lets a packet with a reserved opcode take its PSN; header rules have reported it.
func (v *Verifier) reservedOpcode(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if q.Joined && p.PSN == q.Next {
		if r.EPSN == q.Next {
			r.Expect(q.Next.Add(1))
		}
		q.Advance(q.Next.Add(1))
		q.Sequence.SetUnsure(true)
		r.MSN.Lose()
		q.Break()
		q.ExplainNextGap() // it may have been a READ, which takes more
		return
	}
	if q.Retransmission.Active && p.PSN == q.Retransmission.Next {
		retransmittedAs(c, from, p)
		return
	}
	if w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN); w != nil && w.Op.Responded() {
		q.ExplainNextGap() // the response that will be missing
		w.Flags |= wqe.Accused
	}
	if q.Joined {
		c.Misplace(q.Next) // its receiver may take it for a later request, and ask for the next
	}
}

// retransmittedAs notes that a request was retransmitted as p, whose opcode is wrong: what is retransmitted goes on after it, and its responder may have taken it.
func retransmittedAs(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	q.BeginRetransmission(p.PSN.Add(1))
	if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op == wqe.Read {
		q.ContinueRetransmission(w.Last.Add(1))
	}
	if (r.State == qp.RNRNAKed || r.State == qp.SequenceNAKed) && p.PSN == r.NAK.PSN {
		q.MayCross()
	}
	if q.Gap.Open() && p.PSN == q.Gap.From {
		q.ExplainGap()
	}
}
