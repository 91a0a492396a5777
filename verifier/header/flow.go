package header

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/congestion"
	"ibwitness/verifier/stream"
)

// Flow judges what a connected QP must keep constant in the packets that it sends, or what its attributes give (rules NET-GRH-006,
// NET-GRH-013, PKY-004, PKY-006, BTH-013, LNK-SL-001, ROC-V2-004, -009, -011, -013, -018).
func (v *Verifier) Flow(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	f := &end.Flow
	if f.Known() && end.Agrees(p) && c.Encap == p.Encap {
		if odd := end.Odd(); odd.Opcode != 0 && !odd.OpcodeAgrees {
			if odd.Opcode == p.Opcode && acks(p) {
				end.AgreeOddOpcode()
			}
			return
		}
		if f.State != qp.FlowPlain && !v.Thorough && !c.Closed && p.Encap == packet.RoCEv2IPv4 && plain(p) {
			f.State = qp.FlowPlain
		}
		return
	}
	if !f.Known() {
		v.flowFirst(c, from, p)
		return
	}
	v.flowChanged(c, from, p)
}

// acks reports whether a response has no AETH, or one of type ACK.
func acks(p *packet.Packet) bool { return p.Has&packet.HasAETH == 0 || p.Syndrome.Type() == packet.ACK }

// flowFirst notes the first packet of a QP, and compares it with the attributes that are known.
func (v *Verifier) flowFirst(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	end.BeginFlow(qp.Flow{
		FlowLabel: p.FlowLabel, PKey: p.PKey, SrcPort: p.SrcPort, TClass: p.TClass >> 2, SL: p.SL, MigReq: p.MigReq,
		GRH: p.Has&packet.HasGRH != 0, State: qp.FlowKnown, Reported: end.Flow.Reported & qp.ReportedPKey,
	}, qp.FoldGIDs(p))
	c.Tagged(from, p.VLAN)
	if p.TClass&3 == 0 && p.Encap.OnIP() {
		end.Flow.Reported |= congestion.NotECT(p)
	}
	if end.Knows(qp.KnowsPKey) {
		v.Covered(rule.PKY004)
		if p.PKey&0x7FFF != end.Attr.PKey&0x7FFF {
			end.Flow.PKey = end.Attr.PKey // else CM gives the partition; the membership bit is the port's
			v.pkey(c, from, p, rule.Violation)
		}
	}
	if peer := &c.Ends[1-from]; peer.Knows(qp.KnowsMaxDestRdAtomic) && peer.Attr.MaxDestRdAtomic == 0 {
		v.Covered(rule.RCRDA003)
	}
	v.limited(c, from, p)
	v.serviceLevel(c, from, p)
	v.addressVector(c, from, p)
	if peer := &c.Ends[1-from].Flow; c.Paired && peer.Known() && (end.Flow.Reported|peer.Reported)&qp.ReportedPKey == 0 {
		v.Covered(rule.PKY002)
		if peer.PKey&0x7FFF != p.PKey&0x7FFF {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.PKY002, Class: rule.Proven(c.Ends[1-from].Packets() > 1 || c.Ends[1-from].Knows(qp.KnowsPKey)), Role: rule.Sender,
				Wants: rule.Want(expect.PKey, uint64(peer.PKey)), Expected: fmt.Sprintf("the partition of the peer, P_Key 0x%04x", peer.PKey), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
			})
		}
	}
}

// addressVector compares a packet with the address vector of its QP, as far as that is known.
func (v *Verifier) addressVector(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	v.dscp(c, from, p)
	v.sourceGID(c, from, p)
	if end.Knows(qp.KnowsHopLimit) && p.Has&(packet.HasIPv4|packet.HasIPv6) != 0 {
		v.Covered(rule.ROCV2009)
		if p.HopLmt != end.Attr.HopLimit {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.ROCV2009, Class: rule.Proven(c.Sees(from) && v.Untouched(p)), Role: rule.Sender, Basis: rule.OnPacket,
				Wants: rule.Want(expect.HopLmt, uint64(end.Attr.HopLimit)), Expected: fmt.Sprintf("hop limit %d of the address vector", end.Attr.HopLimit), Actual: fmt.Sprintf("%d", p.HopLmt),
			})
		}
	}
	if end.Knows(qp.KnowsGRH) && p.Has&packet.HasLRH != 0 {
		v.Covered(rule.NETGRH006)
		if end.Attr.GRH != (p.Has&packet.HasGRH != 0) {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.NETGRH006, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
				Expected: fmt.Sprintf("GRH %t by the address vector", end.Attr.GRH), Actual: fmt.Sprintf("GRH %t", !end.Attr.GRH),
			})
		}
	}
	if end.Knows(qp.KnowsMigState) {
		v.Covered(rule.BTH013)
		v.migrationState(c, from, p, end.Attr.MigState)
	}
}

// migrationState compares a packet with the migration state of its QP (rule BTH-013). A QP that is armed may have migrated, and a device that does not migrate may send 0.
func (v *Verifier) migrationState(c *qp.Pair, from int, p *packet.Packet, state qp.MigState) {
	end := &c.Ends[from]
	want := state == qp.Migrated
	if p.MigReq == want {
		return
	}
	d := rule.Verdict{
		Rule: rule.BTH013, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
		Wants: rule.Want(expect.MigReq, uint64(packet.Bit(want))), Expected: fmt.Sprintf("M %t by the migration state", want), Actual: fmt.Sprintf("M %t", p.MigReq),
	}
	if want && !end.Knows(qp.KnowsAltPath) {
		d.Class, d.Detail = rule.Unproven, "a device without path migration may send 0"
	}
	v.Report(c, from, p, d)
}

// dscp holds the DSCP of a packet against the address vector of its QP (rules ROC-V2-004, ROC-V2-013). It reports whether it did not match.
func (v *Verifier) dscp(c *qp.Pair, from int, p *packet.Packet) bool {
	end := &c.Ends[from]
	if !end.Knows(qp.KnowsTClass) || p.Has&(packet.HasIPv4|packet.HasIPv6) == 0 {
		return false
	}
	byCM := !end.KnowsDirectly(qp.KnowsTClass) && end.Flow.TClass != end.Attr.TClass>>2
	if byCM && end.Attr.TClass == 0 {
		return false // the program asked for none, and adapters or their drivers give data the one that they are set to
	}
	id := rule.ROCV2013
	if p.Encap == packet.RoCEv2IPv4 {
		id = rule.ROCV2004
	}
	v.Covered(id)
	if p.TClass>>2 == end.Attr.TClass>>2 {
		return false
	}
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Sees(from) && v.Untouched(p)), Role: rule.Sender,
		Wants: rule.Want(expect.DSCP, uint64(end.Attr.TClass>>2)), Expected: fmt.Sprintf("DSCP %d of the address vector", end.Attr.TClass>>2), Actual: fmt.Sprintf("DSCP %d", p.TClass>>2),
	}
	if byCM {
		d.Class, d.Detail = rule.Unproven, "the traffic class is that of CM; an adapter may be configured to use another one"
	}
	v.Report(c, from, p, d)
	return true
}

// flowChanged judges a packet that differs from the first of its QP.
func (v *Verifier) flowChanged(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	if q := &end.SQ; q.Joined && p.Info().Request && (q.Jump != nil || stream.Far(p.PSN.Diff(q.Next))) || stream.ReusesQP(c, from, p) {
		return // it may be of another QP
	}
	f := &end.Flow
	if c.Encap != p.Encap {
		v.encapChanged(c, from, p)
		return
	}
	if f.PKey != p.PKey {
		v.pkeyChanged(c, from, p)
	}
	if f.MigReq != p.MigReq {
		v.migrationChanged(c, from, p)
	}
	if f.SL != p.SL {
		end.CountOddSL()
		v.serviceLevel(c, from, p)
	}
	if f.SrcPort != p.SrcPort && p.Has&packet.HasUDP != 0 && p.SrcPort >= leastPort { // else the header rule has reported it
		v.portChanged(c, from, p)
	}
	v.pathChanged(c, from, p)
}

// pkeyChanged judges a packet with another P_Key than the first of its QP (rule PKY-004).
func (v *Verifier) pkeyChanged(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	f := &end.Flow
	if p.PKey&0x7FFF != 0 {
		v.pkey(c, from, p, rule.Proven(end.Knows(qp.KnowsPKey) && f.PKey&0x7FFF != p.PKey&0x7FFF))
	}
	if f.Changes&15 < 15 {
		f.Changes++
	}
	v.limited(c, from, p)
}

// migrationChanged judges a packet with another migration state than the first of its QP (rules BTH-013, UC-MIG-001).
func (v *Verifier) migrationChanged(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	f := &end.Flow
	if v.Migration != nil && end.Numbered && c.Reliable() {
		if state, ok := v.Migration(end.Addr, end.Number); ok && (p.MigReq == (state == qp.Migrated) || state == qp.Armed) {
			f.MigReq = p.MigReq // as events tell, or may yet
			return
		}
	}
	if f.Changes < 15<<4 {
		f.Changes += 1 << 4
	}
	id := rule.BTH013
	if c.Service == packet.UC {
		id = rule.UCMIG001
	}
	v.changed(c, from, p, qp.ReportedMig, rule.Verdict{
		Rule: id, Class: rule.Unproven, Wants: rule.Want(expect.MigReq, uint64(packet.Bit(f.MigReq))), Expected: fmt.Sprintf("M %t as before", f.MigReq), Actual: fmt.Sprintf("M %t", p.MigReq),
		Detail: "legal where path migration is in use",
	})
}

// changed reports a change of the flow of an end, where none of its kind was reported.
func (v *Verifier) changed(c *qp.Pair, from int, p *packet.Packet, bit uint16, d rule.Verdict) {
	f := &c.Ends[from].Flow
	if f.Reported&bit != 0 {
		return
	}
	f.Reported |= bit
	d.Role = rule.Sender
	v.Report(c, from, p, d)
}

// encapChanged judges a packet with another encapsulation than the connection (rule ROC-V2-027).
func (v *Verifier) encapChanged(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	v.Covered(rule.ROCV2027)
	d := rule.Verdict{Rule: rule.ROCV2027, Class: rule.Violation, Expected: c.Encap.String() + " as before", Actual: p.Encap.String()}
	n, told := c.Ends[0].Packets()+c.Ends[1].Packets(), (c.Ends[0].Flow.Reported|c.Ends[1].Flow.Reported)&qp.ReportedEncap != 0
	if n == 2 || n == 3 && told {
		d.Class, d.Detail = rule.Unproven, "only the first packet of the connection has the other encapsulation: it may be the deviating one"
	}
	if q := &end.SQ; n == 2 && q.Joined {
		c.Misplace(q.First) // its receiver may not know that one
	}
	v.Broken = true // its receiver may not know it for a packet of the connection
	v.changed(c, from, p, qp.ReportedEncap, d)
	if n == 3 && told {
		c.Reencapsulate(p.Encap) // two against one: what comes next is compared with these
		c.ForgetFlows()
	}
}

// pathChanged judges the GRH, the GIDs, the DSCP and the flow label of a packet that differs from the first of its QP (rules NET-GRH-006, -007, -013).
func (v *Verifier) pathChanged(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	f := &end.Flow
	if grh := p.Has&packet.HasGRH != 0; f.GRH != grh {
		if end.Knows(qp.KnowsGRH) && end.Attr.GRH == grh { // the first packet was the wrong one, and was reported
			flow := *f
			flow.GRH, flow.FlowLabel, flow.TClass = grh, p.FlowLabel, p.TClass>>2
			end.BeginFlow(flow, qp.FoldGIDs(p))
			return
		}
		end.CountOddGRH()
		v.changed(c, from, p, qp.ReportedGRH, rule.Verdict{
			Rule: rule.NETGRH006, Class: rule.Proven(end.Knows(qp.KnowsGRH)), Expected: fmt.Sprintf("GRH %t as before", f.GRH), Actual: fmt.Sprintf("GRH %t", !f.GRH),
		})
		return
	}
	if end.GIDs() != qp.FoldGIDs(p) && !p.SGID.IsZero() && !p.SGID.IsMulticast() { // else NET-GRH-011
		end.CountOddGRH()
		v.changed(c, from, p, qp.ReportedGIDs, rule.Verdict{
			Rule: rule.NETGRH007, Class: rule.Unproven, Expected: "the GIDs of the connection as before", Actual: p.SGID.String() + " to " + p.DGID.String(),
			Detail: "legal after path migration or modify QP",
		})
		return
	}
	if f.TClass != p.TClass>>2 && f.Reported&qp.ReportedPath == 0 && v.dscp(c, from, p) {
		f.Reported |= qp.ReportedPath
		return
	}
	if f.FlowLabel != p.FlowLabel || f.TClass != p.TClass>>2 {
		end.CountOddPath()
		switch {
		case !v.Untouched(p) || p.Info().Response && !acks(p):
			end.DoubtPath()
		case p.Info().Response && end.Odd().Path == 1:
			end.SetOddOpcode(p.Opcode)
		}
		v.changed(c, from, p, qp.ReportedPath, rule.Verdict{
			Rule: rule.NETGRH013, Class: rule.Unproven,
			Wants:    rule.Want(expect.FlowLabel, uint64(f.FlowLabel)).And(expect.DSCP, uint64(f.TClass)),
			Expected: fmt.Sprintf("flow label 0x%05x and DSCP %d as before", f.FlowLabel, f.TClass),
			Actual:   fmt.Sprintf("0x%05x and %d", p.FlowLabel, p.TClass>>2), Detail: "a router or switch may rewrite the DSCP, and modify QP the address vector",
		})
	}
}

// pkey reports a P_Key that is not the QP's (rule PKY-004): one finding for each value that it changes to.
func (v *Verifier) pkey(c *qp.Pair, from int, p *packet.Packet, class rule.Class) {
	f := &c.Ends[from].Flow
	if f.Reported&qp.ReportedPKey != 0 {
		return
	}
	f.Reported |= qp.ReportedPKey
	v.Broken = true
	if class == rule.Violation {
		v.foreignPartition(c, from, p)
	}
	d := rule.Verdict{
		Rule: rule.PKY004, Class: class, Role: rule.Sender, Basis: rule.OnPacket,
		Wants: rule.Want(expect.PKey, uint64(f.PKey)), Expected: fmt.Sprintf("P_Key 0x%04x of the QP", f.PKey), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
	}
	if class == rule.Unproven {
		d.Detail = "the P_Key of the QP was learned from its first packet"
		if f.PKey&0x7FFF == p.PKey&0x7FFF {
			d.Detail = "the port may have become another member of the partition"
		}
	}
	v.Report(c, from, p, d)
}

// foreignPartition notes a request with the P_Key of another partition, so that its responder drops it.
func (v *Verifier) foreignPartition(c *qp.Pair, from int, p *packet.Packet) {
	if q := &c.Ends[from].SQ; p.Info().Request && c.Reliable() && c.Ends[1-from].Knows(qp.KnowsPKey) {
		q.OpenForeign(p.PSN)
	}
}

// serviceLevel holds the SL of a packet against that of the address vector or, where that is not known, of the packets before it and
// of the peer (rule LNK-SL-001): one finding a QP.
func (v *Verifier) serviceLevel(c *qp.Pair, from int, p *packet.Packet) {
	end, peer := &c.Ends[from], &c.Ends[1-from]
	f := &end.Flow
	d := rule.Verdict{Rule: rule.LNKSL001, Role: rule.Sender}
	want := f.SL
	switch {
	case p.Has&packet.HasLRH == 0 || f.Reported&qp.ReportedSL != 0:
		return
	case end.Knows(qp.KnowsSL):
		want, d.Class, d.Basis = end.Attr.SL, rule.Violation, rule.OnPacket
		d.Expected = fmt.Sprintf("SL %d of the address vector", want)
	case f.SL != p.SL:
		d.Class, d.Expected, d.Detail = rule.Unproven, fmt.Sprintf("SL %d as before", want), "legal after path migration or modify QP"
	case c.Paired && peer.Flow.Known() && peer.Flow.Reported&qp.ReportedSL == 0:
		want, d.Class = peer.Flow.SL, rule.Unproven
		d.Expected, d.Detail = fmt.Sprintf("SL %d of the peer", want), "without CM, the two directions may use different paths"
	}
	d.Wants = rule.Want(expect.SL, uint64(want))
	v.Covered(rule.LNKSL001)
	if want == p.SL {
		return
	}
	f.Reported |= qp.ReportedSL
	d.Actual = fmt.Sprintf("SL %d", p.SL)
	v.Report(c, from, p, d)
}

// limited judges that two limited members of a partition do not talk to each other (rule PKY-006).
func (v *Verifier) limited(c *qp.Pair, from int, p *packet.Packet) {
	peer := &c.Ends[1-from].Flow
	if p.PKey&0x8000 != 0 {
		c.Ends[from].Flow.Reported |= qp.FullMember // its peer may answer it, whatever came before
	}
	if !c.Paired || !peer.Known() {
		return
	}
	v.Covered(rule.PKY006)
	f := &c.Ends[from].Flow
	if p.PKey&0x8000 != 0 || peer.PKey&0x8000 != 0 || peer.Reported&qp.FullMember != 0 || p.PKey&0x7FFF == 0 || f.Reported&qp.ReportedLimited != 0 {
		return
	}
	f.Reported |= qp.ReportedLimited
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.PKY006, Class: rule.Violation, Role: rule.Sender,
		Expected: "at least one full member", Actual: fmt.Sprintf("P_Key 0x%04x from both ends: limited members", p.PKey),
	})
}

// CoverFlow counts, at the end, what Flow and the transport agent looked at in every packet of a connection without a word.
func (v *Verifier) CoverFlow(c *qp.Pair, learnedByCM bool) {
	n := c.Ends[0].Packets() + c.Ends[1].Packets()
	if n == 0 {
		return
	}
	add := func(ids ...rule.ID) {
		for _, id := range ids {
			if e := &v.Rec.Cover[id].Exercised; c.Service != packet.UD {
				*e += n
			}
		}
	}
	add(rule.BTH004, rule.BTH011, rule.PKY004)
	mig, peer := rule.BTH013, rule.ROCV2029
	switch {
	case c.Service == packet.UC:
		mig, peer = rule.UCMIG001, rule.UCADR001
	case c.Encap == packet.Native:
		peer = rule.BTH019
	}
	add(mig)
	if learnedByCM {
		add(peer)
	}
	switch {
	case c.Encap == packet.RoCEv1:
		add(rule.ROCV2027, rule.NETGRH013, rule.NETGRH007)
	case c.Encap != packet.Native:
		add(rule.ROCV2027, rule.NETGRH013, rule.ROCV2012)
	case c.Ends[0].Flow.GRH || c.Ends[1].Flow.GRH:
		add(rule.NETGRH006, rule.NETGRH007, rule.NETGRH013, rule.LNKSL001)
	default:
		add(rule.NETGRH006, rule.LNKSL001)
	}
}
