package verifier

import (
	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/outgoing"
	"ibwitness/wqe"
)

// Compare puts the packet of a verdict beside the one that was expected of its sender. It is called only for a verdict that becomes a finding. c is the
// connection, or nil. The result is nil where no field of the packet is wrong, or the packet is that of another than the accused.
//
// What is expected comes from four places, each of which outranks those before it: the format of the headers, the connection with its flow, the verdict, and the
// work request of the packet, where events tell of that.
// Where the connection expects another value and the verdict is not about that, the field counts as free: whether that is wrong is for a rule to say.
func (v *Verifier) Compare(c *qp.Pair, accused int, p *packet.Packet, d rule.Verdict) *expect.Comparison {
	if d.Class == rule.Event || !whole(p) || c != nil && c.Ends[accused].Addr != p.Src || d.Role == rule.Network || d.Role == rule.Capture {
		return nil
	}
	fields := judged[d.Rule]
	if fields == nil {
		if qp.Strict && !d.Wants.None() {
			panic(d.Rule.String() + ": a verdict says what fields should hold, and verifier/expected_rules.go has no entry for its rule that says which: add one")
		}
		return nil
	}
	x := &comparing{Expected: expect.Like(p), p: p, d: &d}
	if c != nil {
		x.pmtu, x.own, x.peer = c.PMTU, &c.Ends[accused], &c.Ends[1-accused]
	}
	x.Format()
	if c != nil {
		x.Keep(expect.Opcode)
	}
	if c != nil && c.End(p) == accused {
		x.partition = c.Ends[accused].Knows(qp.KnowsPKey)
		x.flow(c, accused)
		x.connected(c, accused)
	}
	fields(x)
	return v.beside(x, c, accused)
}

// beside compares the packet with the expected one. What the work request of the packet determines, where events tell of that, outranks all else.
func (v *Verifier) beside(x *comparing, c *qp.Pair, from int) *expect.Comparison {
	if v.Posted == nil || c == nil || c.End(x.p) != from {
		return x.Compare()
	}
	e := x.Clone()
	if !v.posted(x, c, from) {
		return x.Compare()
	}
	if k := x.Compare(); k != nil {
		return k
	}
	return e.Compare()
}

// whole reports whether p has the headers that it was sent with. What is kept of a packet from before has no network header, and one that an ICMP message quotes is not whole.
func whole(p *packet.Packet) bool {
	if p.Encap != packet.NoEncap && p.Has&(packet.HasLRH|packet.HasGRH|packet.HasIPv6|packet.HasIPv4) == 0 {
		return false
	}
	return p.Has&(packet.HasBTH|packet.HasLRH) != 0 && p.Has&packet.HasQuote == 0
}

// posted says what the work request determines of a packet of end from, or of a response to one, by the PSN that is expected. It reports whether that is known.
func (v *Verifier) posted(x *comparing, c *qp.Pair, from int) bool {
	p := x.Packet()
	in := p.Info()
	requester := &c.Ends[from]
	if in.Response {
		requester = &c.Ends[1-from]
	}
	if !requester.Numbered || !in.Defined {
		return false
	}
	var w cq.Posted
	i, ok := v.Posted(requester.Addr, requester.Number, p.PSN, x.p.PayloadLen, &w)
	switch {
	case !ok:
	case in.Response:
		outgoing.ExpectResponse(x.Expected, &w, i)
	default:
		outgoing.Expect(x.Expected, &w, i)
	}
	return ok
}

// comparing is the expected packet of a verdict.
type comparing struct {
	*expect.Expected
	p *packet.Packet
	d *rule.Verdict
	// partition says that the P_Key is known by its partition only: the membership bit is the port's.
	partition bool
	pmtu      uint32 // path MTU of the connection; 0: not known
	own, peer *qp.QP // the accused, and the other end; nil: the connection is not known
}

// is says that a field of the packet, where it has that, holds v.
func (x *comparing) is(id expect.ID, v uint64) {
	x.Hold(id, v)
}

// zero says that fields hold 0.
func (x *comparing) zero(ids ...expect.ID) {
	for _, id := range ids {
		x.is(id, 0)
	}
}

// either takes over what the connection expects of a field, where the packet has that: else it is for the verdict to say.
func (x *comparing) either(id expect.ID, v uint64) {
	if !x.Has(id) {
		return
	}
	if x.holds(id, v) {
		x.Keep(id)
	}
}

// holds reports whether the packet has v in a field.
func (x *comparing) holds(id expect.ID, v uint64) bool { return id.Value(x.p) == v }

// flow says what a QP keeps constant in the packets that it sends.
func (x *comparing) flow(c *qp.Pair, from int) {
	end, peer := &c.Ends[from], &c.Ends[1-from]
	if x.p.Src == end.Addr && x.p.Dst == peer.Addr {
		x.Keep(expect.Src, expect.Dst, expect.SLID, expect.DLID)
	}
	if peer.Numbered && c.Service != packet.UD {
		x.either(expect.DestQP, uint64(peer.Number))
	}
	f := &end.Flow
	if !f.Known() {
		return
	}
	x.either(expect.PKey, uint64(f.PKey))
	if c.Service == packet.UD {
		x.either(expect.QKey, uint64(f.QKey()))
		return
	}
	x.either(expect.SrcPort, uint64(f.SrcPort))
	x.either(expect.FlowLabel, uint64(f.FlowLabel))
	x.either(expect.DSCP, uint64(f.TClass))
	x.either(expect.SL, uint64(f.SL))
	x.either(expect.MigReq, uint64(packet.Bit(f.MigReq)))
	if end.Knows(qp.KnowsHopLimit) {
		x.either(expect.HopLmt, uint64(end.Attr.HopLimit))
	}
}

// connected says what the stream of a connection determines.
func (x *comparing) connected(c *qp.Pair, from int) {
	p, in := x.p, x.p.Info()
	if c.Service == packet.UD || !in.Defined {
		return
	}
	if in.Response {
		x.answering(&c.Ends[1-from].SQ)
		return
	}
	x.requesting(&c.Ends[from].SQ)
	if (in.First || in.Middle) && c.PMTU != 0 && p.PayloadLen == int(c.PMTU) {
		x.Length(p.PayloadLen)
	}
}

// answering says which PSN the next response to a READ has. q is the send queue of the requester.
func (x *comparing) answering(q *qp.SendQueue) {
	if w, _ := q.Messages.Find(x.p.PSN); w != nil && w.Op == wqe.Read && x.p.Opcode.Fn() != packet.Acknowledge {
		x.either(expect.PSN, uint64(w.RespNext()))
	}
}

// requesting says which PSN the next request has, and what one has that was sent before. q is the send queue of its sender.
func (x *comparing) requesting(q *qp.SendQueue) {
	p := x.p
	w, _ := q.Messages.Find(p.PSN)
	x.either(expect.PSN, uint64(q.Next))
	if w != nil && w.First == p.PSN && w.Frame != uint32(p.Frame) && w.Has(wqe.Whole) && w.Op == wqe.OpOf(p.Opcode.Fn()) {
		x.either(expect.VA, w.VA)
		x.either(expect.RKey, uint64(w.RKey))
		x.either(expect.DMALen, uint64(w.Length))
	}
	if p.Info().Only && w != nil && w.Op == wqe.Write {
		x.either(expect.DMALen, uint64(p.PayloadLen))
	}
}
