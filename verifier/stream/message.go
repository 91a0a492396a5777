package stream

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// SequenceRules names the rules of opcode sequence that a service has, by what is open.
type SequenceRules struct {
	Send, Write rule.ID // another packet than the next of an open SEND, RDMA WRITE
	None        rule.ID // Middle or Last while none is open
	Between     rule.ID // a READ, an atomic … within an open message
	Role        rule.Role
}

// Sequence judges the opcode of a new packet against the message that is open. After a finding an odd Middle or Last counts as part of
// the open message, and a second of its kind is believed, so that one fault gives one finding.
func (v *Verifier) Sequence(c *qp.Pair, from int, p *packet.Packet, rules *SequenceRules) {
	q := &c.Ends[from].SQ
	in := p.Info()
	odd := q.Sequence.Odd
	q.Sequence.SetOdd(wqe.None)
	switch {
	case !q.Sequence.Unsure && q.Open == wqe.None:
		v.betweenMessages(c, from, p, rules, odd)
	case !q.Sequence.Unsure:
		v.withinMessage(c, from, p, rules, odd)
	case !in.Middle && !in.Last:
		q.EndMessage()
	case q.Open != wqe.OpOf(p.Opcode.Fn()):
		q.CloseMessage() // Message begins a partial message
	}
}

// betweenMessages judges the opcode of a new packet where no message is open: it begins one. odd is the operation of the Middle or Last before it that was odd.
func (v *Verifier) betweenMessages(c *qp.Pair, from int, p *packet.Packet, rules *SequenceRules, odd wqe.Op) {
	q, in, op := &c.Ends[from].SQ, p.Info(), wqe.OpOf(p.Opcode.Fn())
	v.Covered(rules.None)
	interrupted := q.Sequence.Interrupted
	q.Sequence.Interrupt(wqe.None)
	if !in.Middle && !in.Last {
		return
	}
	if op == interrupted || op == odd {
		c.RQ(1 - from).MSN.Lose()
		q.Sequence.SetUnsure(true)
		q.Break()
		return
	}
	v.outOfSequence(c, from, p, rules.None, rules.Role, "the first packet of a message: no message is open")
	if in.Middle {
		q.Sequence.SetOdd(op) // it may have been an Only packet
	}
}

// withinMessage judges the opcode of a new packet while a message is open: it continues that. odd is the operation of the Middle or Last before it that was odd.
func (v *Verifier) withinMessage(c *qp.Pair, from int, p *packet.Packet, rules *SequenceRules, odd wqe.Op) {
	q, in, op := &c.Ends[from].SQ, p.Info(), wqe.OpOf(p.Opcode.Fn())
	continues := in.Middle || in.Last
	id := rules.Send
	if q.Open == wqe.Write {
		id = rules.Write
	}
	v.Covered(id)
	if rules.Between != id {
		v.Covered(rules.Between)
	}
	switch {
	case continues && op == q.Open:
		return
	case continues && op == odd:
		q.CloseMessage()
		return
	case op.Responded():
		id = rules.Between
	}
	v.outOfSequence(c, from, p, id, rules.Role, q.Open.String()+" Middle or Last")
	if continues {
		q.Sequence.SetOdd(op)
		if in.Last {
			q.Sequence.Interrupt(q.Open) // only its operation may be wrong
		}
		return
	}
	if op.Responded() || in.Only {
		q.Sequence.Interrupt(q.Open) // it may go on after the interloper
	}
	if w := q.Messages.Newest(); w != nil {
		w.Flags |= wqe.Ended | wqe.Broken
		w.Epoch = q.Epoch
	}
	q.CloseMessage()
	v.abandoned = true
}

func (v *Verifier) outOfSequence(c *qp.Pair, from int, p *packet.Packet, id rule.ID, role rule.Role, want string) {
	v.WithdrawPad(p)
	if p.SE {
		v.Withdraw(p, rule.BTH012) // which a packet with another opcode may have
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: id, Class: rule.Violation, Role: role, Expected: want, Actual: p.Opcode.String(), Evidence: previous(&c.Ends[from].SQ, p),
	})
	c.RQ(1 - from).MSN.Lose()
	c.Ends[from].SQ.Break()
}

// WithdrawPad takes back that p has a pad (rule BTH-007), where its opcode or its length is reported: a packet with another opcode may have one.
func (v *Verifier) WithdrawPad(p *packet.Packet) {
	if p.Info().Payload && p.PadCnt != 0 {
		v.Withdraw(p, rule.BTH007)
	}
}

// Withdraw takes back that p breaks a rule.
func (v *Verifier) Withdraw(p *packet.Packet, id rule.ID) {
	for k := len(v.Rec.Findings) - 1; k >= 0 && v.Rec.Findings[k].Frame == p.Frame && v.Rec.Findings[k].Tap == p.Tap; k-- {
		if v.Rec.Findings[k].Rule == id {
			v.Rec.Remove(k)
			return
		}
	}
}

// previous cites the packet before p in the PSN stream.
func previous(q *qp.SendQueue, p *packet.Packet) []uint64 {
	if s := q.History().Get(p.PSN.Add(-1)); s != nil {
		return []uint64{packet.FrameNear(p.Frame, s.Frame)}
	}
	if w := q.Messages.Newest(); w != nil && w.Last == p.PSN.Add(-1) {
		return []uint64{packet.FrameNear(p.Frame, w.Frame)}
	}
	return nil
}

// Message returns the WQE that a new request belongs to: the first packet of a message synthesises it, later ones extend it.
func (v *Verifier) Message(c *qp.Pair, from int, p *packet.Packet) *wqe.SendWQE {
	end := &c.Ends[from]
	q := &end.SQ
	in := p.Info()
	w := q.Messages.Newest()
	if !(in.Middle || in.Last) || q.Open == wqe.None || w == nil {
		w = v.newMessage(c, q, p)
	}
	w.Last = p.PSN
	w.Take(uint32(p.PayloadLen))
	if in.First || in.Middle {
		w.Take(uint32(p.PadCnt))
	}
	if in.Middle || in.First {
		if q.Sequence.Odd == wqe.None {
			q.OpenMessage(w.Op)
		} else {
			w.Flags |= wqe.Blamed
			if q.Open == wqe.None {
				w.Flags |= wqe.Ended
			}
		}
		if in.Middle && !w.Has(wqe.Whole) {
			q.Sequence.SetUnsure(false) // whatever it began with, a message of this kind is open now
		}
		return w
	}
	q.EndMessage()
	if w.Flags |= wqe.Ended; q.Sequence.Odd != wqe.None {
		w.Flags |= wqe.Blamed // by its opcode: the message may go on
	}
	end.CountMessage()
	return w
}

// newMessage synthesises the WQE of a message from p, the first packet of it that was seen.
func (v *Verifier) newMessage(c *qp.Pair, q *qp.SendQueue, p *packet.Packet) *wqe.SendWQE {
	in := p.Info()
	w := q.Messages.Push(q.RequesterUna(), c, p, v.Accepted)
	w.Op, w.First, w.Frame, w.Ordinal, w.Epoch = wqe.OpOf(p.Opcode.Fn()), p.PSN, uint32(p.Frame), q.Count, q.Epoch
	w.VA, w.RKey, w.Length = p.VA, p.RKey, p.DMALen
	w.AwaitResponse(p.PSN)
	if !(in.Middle || in.Last) && p.Has&in.Headers == in.Headers {
		w.Flags |= wqe.Whole // of one whose RETH was cut off, the length is not known
	}
	q.CountMessage()
	if v.abandoned {
		w.Flags |= wqe.Blamed // its opcode may be wrong, so its length shows nothing
		v.abandoned = false
	}
	return w
}

// Payload judges the payload length of a packet by its place in message w. first, last and only are the rules for First and
// Middle, for Last, and for Only packets; UC has the same shape under its own rules. It reports whether the length is right. Where one packet of the
// message was reported, those after it are cut by the same fault.
func (v *Verifier) Payload(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, role rule.Role, first, last, only rule.ID) bool {
	in := p.Info()
	n := p.PayloadLen
	if in.First || in.Middle {
		n += int(p.PadCnt) // which is to be 0, and is reported as BTH-007
	}
	mtu := int(c.PMTU)
	id, want := rule.ID(0), ""
	bad := false
	switch {
	case in.First || in.Middle:
		id = first
		bad, want = v.fullPayload(c, from, p, w, n)
	case in.Last:
		id = last
		bad = n == 0 || n > wqe.MostPayload(mtu)
		want = "1 to PMTU bytes"
	default:
		id = only
		bad = n > wqe.MostPayload(mtu)
		want = "at most PMTU bytes"
	}
	v.Covered(id)
	switch {
	case !bad:
		if mtu == 0 {
			c.ShowPayload(uint32(n))
		}
	case (p.PayloadLen+int(p.PadCnt))&3 != 0 && n < wqe.MostPayload(mtu): // it was reported as BTH-006
	default:
		v.wrongPayload(c, from, p, w, n, rule.Verdict{Rule: id, Role: role, Expected: want})
	}
	return !bad
}

// fullPayload compares the n bytes of payload of a First or Middle with the path MTU, or learns that from them. It reports whether they are wrong, and how many
// are expected.
func (v *Verifier) fullPayload(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) (bad bool, want string) {
	mtu := int(c.PMTU)
	if mtu == 0 {
		if bad = !wqe.ValidMTU(n); !bad {
			v.LearnPMTU(c, p, uint32(n))
		}
		return bad, "256, 512, 1024, 2048 or 4096 bytes"
	}
	bad = n != mtu
	if bad && c.OddPayloadLen() == uint32(n) && wqe.ValidMTU(n) && (v.OneClock || !c.Ends[0].Knows(qp.KnowsPMTU) && !c.Ends[1].Knows(qp.KnowsPMTU)) &&
		(w == nil || !pmtuShown(&c.Ends[from].SQ, w.First, uint32(mtu))) {
		v.LearnPMTU(c, p, c.OddPayloadLen()) // the first was the odd one, or all depart from what the queue pair was given, which was told
		bad = false
	}
	if bad {
		c.OddPayload(uint32(n))
	} else if c.OddPayloadLen() != 0 {
		c.OddPayload(0)
	}
	return bad, "exactly PMTU bytes"
}

// wrongPayload reports the n bytes of payload of packet p of message w, unless a packet before it in the message was.
func (v *Verifier) wrongPayload(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int, d rule.Verdict) {
	in := p.Info()
	v.WithdrawPad(p)
	if (in.Middle || in.Last) && w != nil && w.Has(wqe.Blamed) && c.PMTU != 0 {
		return
	}
	if c.PMTU != 0 {
		d.Expected = fmt.Sprintf("%s of payload, the path MTU is %d", d.Expected, c.PMTU)
	}
	d.Class, d.Actual = rule.Proven(c.PMTU == 0 || c.Complete()), fmt.Sprintf("%d bytes", n)
	v.Report(c, from, p, d)
}

// pmtuShown reports whether packets before a message have shown a path MTU, and not only one that may be the odd one: others of a SEND or WRITE, or the answer to
// a READ.
func pmtuShown(q *qp.SendQueue, psn packet.PSN, mtu uint32) bool {
	const most = 64
	for i, n := 1, 0; i <= most; i++ {
		s := q.History().Get(psn.Add(-i))
		if s == nil {
			continue
		}
		if in := s.Trace.Opcode.Info(); (in.First || in.Middle) && uint32(s.Trace.Len) == mtu {
			if n++; n > 1 {
				return true
			}
		}
	}
	return false
}

// MayEnd notes that the length of p, which is reported, does not suit its place: what its opcode says of the end of its message may be wrong instead, and that
// the message ends here, or goes on, is the same fault.
func MayEnd(q *qp.SendQueue, p *packet.Packet) {
	switch in := p.Info(); {
	case in.First || in.Middle:
		q.Sequence.SetUnsure(true)
	case in.Last:
		q.Sequence.Interrupt(wqe.OpOf(p.Opcode.Fn()))
	}
}

// WriteSum judges that the payloads of an RDMA WRITE add up to its DMALen: exactly at its end, and not reached before.
func (v *Verifier) WriteSum(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, id rule.ID, role rule.Role) {
	ended := w.Has(wqe.Ended)
	if ended && w.Got() == w.Length || !ended && w.Got() < w.Length {
		return
	}
	w.Flags |= wqe.Blamed
	c.RQ(1 - from).MSN.Lose()
	c.Ends[from].SQ.Break()
	MayEnd(&c.Ends[from].SQ, p)
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(!w.Has(wqe.Guessed)), Role: role,
		Expected: fmt.Sprintf("payloads that add up to DMALen %d", w.Length), Actual: fmt.Sprintf("%d bytes with this packet", w.Got()),
	}
	if w.First != p.PSN {
		d.Evidence = []uint64{packet.FrameNear(p.Frame, w.Frame)}
	}
	v.Report(c, from, p, d)
}
