package header

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// MisdirectedResponse reports a response to a QP that nothing else was ever sent to, and that answers a request of c (rule BTH-011).
func (v *Verifier) MisdirectedResponse(c *qp.Pair, from int, p *packet.Packet) {
	if stream.OwnRules(p.DestQP) {
		return
	}
	v.Covered(rule.BTH011)
	d := rule.Verdict{
		Rule: rule.BTH011, Class: rule.Proven(c.Sees(from)), Role: rule.Sender,
		Wants: rule.Want(expect.DestQP, uint64(c.Ends[1-from].Number)), Expected: fmt.Sprintf("DestQP 0x%x, which sent the request with this PSN", c.Ends[1-from].Number),
		Actual: fmt.Sprintf("DestQP 0x%x, to which nothing else was sent", p.DestQP),
	}
	if d.Class == rule.Unproven {
		d.Detail = "the capture may not hold another connection of this QP"
	}
	v.Report(c, from, p, d)
}

// PeerQP holds the DestQP of a packet against the peer that verbs events have given the queue pair which sent it (rule BTH-011).
func (v *Verifier) PeerQP(c *qp.Pair, from int, p *packet.Packet) {
	want := c.Ends[from].Attr.DestQPN
	v.Covered(rule.BTH011)
	if p.DestQP == want {
		return
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.BTH011, Class: rule.Violation, Role: rule.Sender,
		Wants: rule.Want(expect.DestQP, uint64(want)), Expected: fmt.Sprintf("DestQP 0x%x, the peer that the queue pair was given", want),
		Actual: fmt.Sprintf("DestQP 0x%x", p.DestQP),
	})
}

// MisdirectedRequest reports the first packet of end 0 of c, which went to a QP that nothing else was ever sent to (rule BTH-011). after is the frame
// of the next.
func (v *Verifier) MisdirectedRequest(c *qp.Pair, p *packet.Packet, after uint64) {
	if stream.OwnRules(p.DestQP) {
		return
	}
	v.Covered(rule.BTH011)
	d := rule.Verdict{
		Rule: rule.BTH011, Class: rule.Proven(c.Sees(0)), Role: rule.Sender,
		Wants: rule.Want(expect.DestQP, uint64(c.Ends[1].Number)), Expected: fmt.Sprintf("DestQP 0x%x, the destination of the packets after it", c.Ends[1].Number),
		Actual: fmt.Sprintf("DestQP 0x%x, to which nothing else was sent", p.DestQP), Evidence: []uint64{after},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the capture may not hold another connection of this QP"
	}
	v.Report(c, 0, p, d)
}

// Source reports a packet to end to of a connection that comes from an address that is not its peer's (rules ROC-V2-029, BTH-019,
// UC-ADR-001). own says that the peer's own packet is missing there, so that it sent this one; else only the address identifies the sender.
func (v *Verifier) Source(c *qp.Pair, to int, p *packet.Packet, class rule.Class, own bool) {
	d := rule.Verdict{
		Rule: rule.ROCV2029, Class: class, Role: rule.Sender,
		Expected: fmt.Sprintf("packets to QP 0x%x from %v, its peer", c.Ends[to].Number, c.Ends[1-to].Addr), Actual: p.Src.String(),
	}
	switch {
	case c.Service == packet.UC:
		d.Rule = rule.UCADR001
	case p.Encap == packet.Native:
		d.Rule = rule.BTH019
	}
	switch {
	case class == rule.Unproven:
		d.Detail = "the capture holds no CM exchange that names the owner of the QP"
	case c.CMCut():
		d.Class, d.Detail = rule.Unproven, verifier.CMCut
	}
	v.Covered(d.Rule)
	if own {
		v.Report(c, 1-to, p, d)
		return
	}
	v.ReportUnpaired(p, d)
}

// sourceGID holds the source address of a packet against the GID that its QP sends from, by the word of its own side (rule ROC-V2-011).
func (v *Verifier) sourceGID(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	if !end.Knows(qp.KnowsSourceAddr) || !p.Encap.OnIP() {
		return
	}
	v.Covered(rule.ROCV2011)
	gid := end.Attr.SourceAddr
	if gid == p.Src {
		return
	}
	d := rule.Verdict{
		Rule: rule.ROCV2011, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
		Expected: fmt.Sprintf("source %v, the GID of the path named in CM", gid), Actual: p.Src.String(),
	}
	if gid.IsIPv4() != p.Src.IsIPv4() {
		d.Class, d.Detail = rule.Unproven, "the GID of the path may be meant for another version of RoCE"
	}
	v.Report(c, from, p, d)
}

// Destination reports a packet of a connection that went to another address than that of end to (rules ROC-V2-012, NET-GRH-007).
func (v *Verifier) Destination(c *qp.Pair, to int, p *packet.Packet, complete bool) {
	id := rule.ROCV2012
	if p.Encap == packet.RoCEv1 {
		id = rule.NETGRH007
	}
	v.Covered(id)
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(complete), Role: rule.Sender,
		Expected: fmt.Sprintf("destination %v of the connection: the PSN is missing there", c.Ends[to].Addr), Actual: p.Dst.String(),
	}
	if p.Info().Response {
		d.Expected = fmt.Sprintf("destination %v of the connection, where the request was sent", c.Ends[to].Addr)
		if d.Class == rule.Unproven {
			d.Detail = "the capture may not hold another connection"
		}
	}
	v.Report(c, 1-to, p, d)
}
