package verifier

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Nearly every packet of a healthy connection is the expected one: the request with the next PSN that carries its message on, or the
// Acknowledge of a message whose MSN follows. This file takes those in one step. Whatever is not exactly so, or stands beside anything
// out of the ordinary, is left untouched for the verifiers proper, which say what is wrong. The result is the same to the last count
// of coverage: TestExpected holds both ways against each other. A new check on RC packets thus needs a condition here, unless it
// can only fail where one of the conditions already does.

// expectation is what an opcode tells the fast path.
type expectation struct {
	known   bool   // a request of the fast path
	op      wqe.Op // that it belongs to
	open    wqe.Op // that must be open before it
	opens   wqe.Op // that is open after it
	begins  bool   // First, Only
	ends    bool   // Last, Only
	full    bool   // carries PMTU bytes of payload
	some    bool   // carries payload at all
	covered []rule.ID
}

// expectations is by opcode.
var expectations = buildExpectations()

func buildExpectations() (t [256]expectation) {
	for i := range t {
		in := packet.Opcode(i).Info()
		fn := in.Opcode.Fn()
		if in.Opcode.Service() != packet.RC || !in.Defined {
			continue
		}
		e := &t[i]
		if fn == packet.Acknowledge {
			e.covered = []rule.ID{rule.RCRSP006, rule.RCRSP013, rule.RCRSP005, rule.RCACK003}
			continue
		}
		if fn == packet.AtomicAck {
			e.covered = []rule.ID{rule.RCRSP010, rule.RCRES004, rule.RCRSP013, rule.RCRSP005, rule.RCACK003}
			continue
		}
		if fn >= packet.ReadRespFirst && fn <= packet.ReadRespOnly {
			e.covered = []rule.ID{rule.RCRES001, rule.RCRES002, rule.RCRSP005, rule.RCACK003}
			if in.Headers&packet.HasAETH != 0 {
				e.covered = append(e.covered, rule.RCRES004, rule.RCRSP013)
			}
			continue
		}
		if !in.Request || fn == packet.SendLastInv || fn == packet.SendOnlyInv || fn == packet.Flush || fn == packet.AtomicWrite {
			continue
		}
		*e = expectation{known: true, op: wqe.OpOf(fn), begins: in.First || in.Only, ends: in.Last || in.Only, full: in.First || in.Middle, some: in.Payload}
		e.covered = []rule.ID{rule.RCPSN002, rule.RCPSN004, rule.RCPSN005}
		if e.begins {
			e.covered = append(e.covered, rule.RCSEQ003)
		} else {
			e.open = e.op
			id := rule.RCSEQ001
			if e.op == wqe.Write {
				id = rule.RCSEQ002
			}
			e.covered = append(e.covered, id, rule.RCSEQ004)
		}
		if !e.ends {
			e.opens = e.op
		}
		e.covered = append(e.covered, e.lengths(fn)...)
	}
	return t
}

// lengths are the rules on lengths and operands that a request exercises.
func (e *expectation) lengths(fn packet.Fn) (ids []rule.ID) {
	switch {
	case e.full:
		ids = append(ids, rule.RCLEN001)
	case e.some && !e.begins:
		ids = append(ids, rule.RCLEN002)
	case e.some:
		ids = append(ids, rule.RCLEN003)
	}
	switch e.op {
	case wqe.Write:
		if e.begins {
			ids = append(ids, rule.RCLEN004)
		}
		if e.begins && !e.ends {
			ids = append(ids, rule.RCSEQ005)
		}
		ids = append(ids, rule.RCLEN005)
	case wqe.Read:
		ids = append(ids, rule.RCLEN004, rule.RCPSN003)
	case wqe.CmpSwap, wqe.FetchAdd:
		ids = append(ids, rule.RCATM001)
		if fn == packet.FetchAdd {
			ids = append(ids, rule.RCATM002)
		}
	}
	return ids
}

// coverExpected counts the rules that the packets of the fast path exercised.
func (v *Verifier) coverExpected() {
	for o, n := range v.expected {
		for _, id := range expectations[o].covered {
			v.Rec.Cover[id].Exercised += n
		}
		v.expected[o] = 0
	}
}

// rcExpectedRequest takes p if it is the expected request of end from, and reports whether it did.
func (v *Verifier) rcExpectedRequest(c *qp.Pair, from int, p *packet.Packet) bool {
	e := &expectations[p.Opcode]
	end, peer := &c.Ends[from&1], &c.Ends[^from&1]
	q, r := &end.SQ, &peer.RQ
	if !e.known || v.broken || p.PSN != q.Next || p.PSN != q.High || p.PSN != r.EPSN || q.Open != e.open || !c.Paired || !q.Joined || !r.Joined ||
		q.Fresh || q.Unsure || q.Odd != wqe.None || q.Interrupted != wqe.None || q.Credited || c.Invalidated || q.ReadLen != 0 || q.Stray != nil || q.HasHole() || r.Nak != qp.NakNone ||
		c.Odd != 0 || q.Retrying && q.Retry.Before(q.Next) && !q.Retry.Before(q.Una) || len(c.Early) != 0 || p.Cut || p.PSN.Diff(q.Una) < -farJump || farFirst(q, p.PSN) {
		return false
	}
	length := uint32(p.PayloadLen)
	if e.full {
		length += uint32(p.PadCnt)
	}
	if e.some && (c.PMTU == 0 && length > c.Least || length > uint32(most(int(c.PMTU))) || e.full && (length != c.PMTU || length == 0) || !e.begins && length == 0) {
		return false
	}
	n := 1
	var w *wqe.SendWQE
	if e.begins {
		if !e.operands(c, end, peer, p) {
			return false
		}
		if e.op == wqe.Read {
			if n = span(c, p); n == 0 {
				return false
			}
		}
		w = q.Messages.Push(q.Taken())
		w.Op, w.First, w.Frame, w.Ordinal, w.Epoch = e.op, p.PSN, uint32(p.Frame), q.Count, q.Epoch
		w.VA, w.RKey, w.Length = p.VA, p.RKey, p.DMALen
		w.RespFirst, w.RespNext, w.Missing = p.PSN, p.PSN, p.PSN
		w.Flags, w.Got = wqe.Whole, length
		q.Count = (q.Count + 1) & packet.PSNMask
	} else {
		w = q.Messages.Newest()
		if w == nil {
			return false
		}
		if e.op == wqe.Write && (!w.Has(wqe.Whole) || w.Has(wqe.Blamed) || e.ends && w.Got+length != w.Length || !e.ends && w.Got+length >= w.Length) {
			return false
		}
		w.Got += length
	}
	if e.ends {
		w.Flags |= wqe.Ended
		end.Sums.Messages++
	}
	responded := e.op.Responded()
	if responded {
		q.RdOut++
	}
	if p.AckReq || responded {
		q.AskedAt = p.Time
		w.Flags |= wqe.AckWanted
	}
	next := p.PSN.Add(n)
	w.Last = next.Add(-1)
	q.Open, q.Retrying = e.opens, false
	q.Next, q.High, r.EPSN = next, next, next
	q.History.Put(p.PSN, p.Frame, v.trace(p), next.Diff(q.Una))
	q.LastPSN, q.LastTime, q.LastID, q.LastFrame, q.LastTap = p.PSN, p.Time, p.IPID, p.Frame, p.Tap
	v.expected[p.Opcode]++
	return true
}

// operands judges what the first packet of a message says of the whole.
func (e *expectation) operands(c *qp.Pair, end, peer *qp.QP, p *packet.Packet) bool {
	switch e.op {
	case wqe.Send:
		return true
	case wqe.Write:
		length := uint32(p.PayloadLen) + uint32(p.PadCnt)
		if e.ends {
			return p.DMALen == uint32(p.PayloadLen)
		}
		return p.DMALen > length && p.DMALen > c.PMTU && p.DMALen <= 1<<31
	case wqe.Read:
		return p.DMALen <= 1<<31 && end.Attr == nil && peer.Attr == nil
	}
	return p.VA&7 == 0 && (e.op != wqe.FetchAdd || p.Compare == 0) && end.Attr == nil && peer.Attr == nil
}

// rcExpectedResponse takes p, sent by end from, if it is the Acknowledge of the whole of a SEND or WRITE, the answer to an atomic or the
// next response to a READ, passes over nothing that needs its own answer, has the MSN that follows and no end-to-end credits, and
// reports whether it did.
func (v *Verifier) rcExpectedResponse(c *qp.Pair, from int, p *packet.Packet) bool {
	end := &c.Ends[from&1]
	q, r := &c.Ends[^from&1].SQ, &end.RQ
	aeth := p.Has&packet.HasAETH != 0
	if aeth && p.Syndrome != packet.CreditInvalid || p.Cut || !c.Paired || !q.Joined || q.Next != q.High || !p.PSN.Before(q.Next) || p.PSN.Before(q.Una) ||
		q.HasHole() || q.Passed || q.Retrying && !p.PSN.Before(q.Retry) || q.ReadLen != 0 || q.Stray != nil || r.Owed != nil || r.Nak != qp.NakNone || r.Repeated || r.MSN != qp.MSNKnown || r.Anchor != nil ||
		end.Attr != nil && end.Attr.Has(hcaagent.KnowsCredits) && !end.Attr.Credits {
		return false
	}
	w, i := q.Messages.Find(p.PSN)
	if w == nil || aeth && (w.Epoch != r.Epoch || (p.MSN-r.MSNBase-w.Ordinal-1)&packet.PSNMask != 0) {
		return false
	}
	others := int(q.RdOut) // READs and atomics that are outstanding beside w
	if w.Op.Responded() {
		others--
	}
	if others < 0 || others > 0 && passes(q, i) {
		return false
	}
	over := others > 0 // the verifiers proper look for what p passes over
	switch fn := p.Opcode.Fn(); {
	case fn == packet.Acknowledge:
		if p.PSN != w.Last || !w.Has(wqe.Ended) || w.Op.Responded() {
			return false
		}
	case fn >= packet.ReadRespFirst && fn <= packet.ReadRespOnly:
		if p.IPID == r.LastID || p.ICRC == r.LastICRC || !nextOfRead(c, w, p) {
			return false
		}
		over = true
		if c.PMTU == 0 {
			c.Least = max(c.Least, uint32(p.PayloadLen))
		}
		w.RespNext, w.Missing, w.RespFrame = p.PSN.Add(1), p.PSN.Add(1), uint32(p.Frame)
		if p.PSN == w.Last {
			w.Flags |= wqe.Answered
			q.RdOut--
		}
	case fn == packet.AtomicAck:
		if !w.Op.Atomic() || w.Flags&wqeUnusual != 0 || w.RespFrame != 0 {
			return false
		}
		w.Orig, w.RespFrame = fold(p.OrigData), uint32(p.Frame)
		w.Flags |= wqe.Answered
		q.RdOut--
	default:
		return false
	}
	if over {
		v.covered(rule.RCRSP007)
	}
	if aeth {
		q.Credited, r.LastMSN = false, p.MSN
	}
	q.Una, q.Restarts, q.AskedAt = p.PSN.Add(1), 0, p.Time
	if q.Una.After(r.EPSN) {
		r.EPSN = q.Una
	}
	r.Unseen, r.RNRs = 0, 0
	r.LastPSN, r.Answered = p.PSN, true
	r.LastID, r.LastICRC, r.LastFrame, r.LastTime = p.IPID, p.ICRC, uint32(p.Frame), p.Time
	v.expected[p.Opcode]++
	return true
}

// wqeUnusual is what a READ or atomic has to which something happened, or that was answered.
const wqeUnusual = wqe.Unsized | wqe.Answered | wqe.Blamed | wqe.Again | wqe.Gapped | wqe.Accused

// passes reports whether a response to message i may pass over a READ or atomic before it: see rcPassedOver.
func passes(q *qp.SendQueue, i int) bool {
	for i--; i >= 0; i-- {
		w := q.Messages.At(i)
		if w.Last.Before(q.Una) && w.Flags&(wqe.Again|wqe.Gapped) == 0 {
			return false
		}
		if w.Op.Responded() {
			return true
		}
	}
	return false
}

// nextOfRead reports whether p is the next response to a READ to which nothing unusual has happened, with the length of its place.
func nextOfRead(c *qp.Pair, w *wqe.SendWQE, p *packet.Packet) bool {
	if w.Op != wqe.Read || w.Flags&wqeUnusual != 0 || p.PSN != w.RespNext || p.PSN != w.Missing || w.RespFirst != w.First || p.Opcode != readOpcode(p, w.First, w.Last) {
		return false
	}
	if w.First == w.Last {
		return p.PayloadLen == int(w.Length)
	}
	if c.PMTU == 0 {
		return false
	}
	if p.PSN == w.Last {
		return p.PayloadLen == int(w.Length)-w.Last.Diff(w.First)*int(c.PMTU)
	}
	return p.PayloadLen == int(c.PMTU)
}
