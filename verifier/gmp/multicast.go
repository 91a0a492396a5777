package gmp

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

var (
	mcMGID, mcPort     = mad.LayoutMCMemberRecord.Field("MGID"), mad.LayoutMCMemberRecord.Field("portGID")
	mcMLID             = mad.LayoutMCMemberRecord.Field("MLID")
	mcJoin             = mad.LayoutMCMemberRecord.Field("joinState")
	mcProxy            = mad.LayoutMCMemberRecord.Field("proxyJoin")
	mcMemberComponents = []component{
		{0, mcMGID},
		{1, mcPort},
		{2, mad.LayoutMCMemberRecord.Field("QKey")},
		{3, mcMLID},
		{6, mad.LayoutMCMemberRecord.Field("TClass")},
		{7, mad.LayoutMCMemberRecord.Field("PKey")},
		{12, mad.LayoutMCMemberRecord.Field("SL")},
		{13, mad.LayoutMCMemberRecord.Field("flowLabel")},
	}
)

func mc(name string) mad.Field { return mad.LayoutMCMemberRecord.Field(name) }

// mcSelectors are those that managers compare a join with. They refuse none for its packet lifetime.
var mcSelectors = []selector{{4, mc("MTUSelector"), mc("MTU"), asCode}, {8, mc("rateSelector"), mc("rate"), mbps}}

// The components that a request needs which creates a group: PortGID, Q_Key, TClass, P_Key, SL, FlowLabel, JoinState.
const (
	needed = 1<<1 | 1<<2 | 1<<6 | 1<<7 | 1<<12 | 1<<13 | 1<<16
	maskMG = 1 << 0
	maskJS = 1 << 16
)

// member names a member of a multicast group.
type member struct{ group, port packet.Addr }

// mcMember judges an MCMemberRecord that was returned.
func (v *Verifier) mcMember(d *datagram, x *exchange, b []byte) {
	if d.h.Method == mad.DeleteResp {
		return
	}
	v.covered(rule.MADMC001)
	g := mcMGID.Bytes(b)
	scope := g[1] & 15
	signature := uint16(g[2])<<8 | uint16(g[3])
	w := rule.Verdict{Rule: rule.MADMC001, Class: rule.Violation, Role: rule.Responder, Actual: fmt.Sprintf("MGID %x", g)}
	switch {
	case g[0] != 0xFF || g[1]&0xE0 != 0:
		w.Expected = "an MGID that begins with 0xFF and flags 000T"
	case signature == 0xA01B && scope == 2:
		if v.givenMGID(x, g) {
			w.Expected, w.Class = "no MGID of link-local scope with signature 0xA01B that a requester chose", rule.Unproven
			w.Detail = "the subnet administrator may have created the group for another requester, and the port may have joined it"
		}
	case scope == 0:
		w.Expected = "scope 2, 5, 8 or 0xE in the MGID"
	case scope != 2 && scope != 5 && scope != 8 && scope != 14:
		w.Expected, w.Class, w.Detail = "scope 2, 5, 8 or 0xE in the MGID", rule.Unproven, "some subnet managers accept any scope that a requester chooses"
	}
	if w.Expected != "" {
		v.report(d.p, w)
	}
	v.covered(rule.MADMC006)
	if n := mcMLID.Uint(b); n < mcMLIDFirst || n > mcMLIDLast {
		v.saBad(rule.MADMC006, d, x, "an MLID from 0xC000 to 0xFFFE", fmt.Sprintf("0x%04x", n))
	}
}

// givenMGID reports whether a group may have been created by an MGID that the requester gave: the administrator gives groups of its own such ones.
func (v *Verifier) givenMGID(x *exchange, mgid []byte) bool {
	if x == nil || !x.whole() {
		return false
	}
	q, g := v.peer(x.pair.from, x.pair.to), packet.GIDAddr(mgid)
	a := x.data[mad.SAHeaderSize:]
	creates := x.h.Method == mad.Set && needed&^x.s.ComponentMask == 0 && x.s.ComponentMask&maskMG != 0 && bytes.Equal(mcMGID.Bytes(a), mgid)
	if creates {
		return !q.groups[g]
	}
	if q.groups == nil || len(q.groups) > maxKnown {
		q.groups = map[packet.Addr]bool{}
	}
	q.groups[g] = true
	return false
}

// multicastMembership judges the answer to a join or leave that succeeded.
func (v *Verifier) multicastMembership(x *exchange, d *datagram) {
	a, b := x.data[mad.SAHeaderSize:], d.b[mad.SAHeaderSize:]
	if x.h.Method != mad.Set && x.h.Method != mad.Delete {
		return
	}
	v.proxyJoin(x, d, a)
	q := v.peer(x.pair.from, x.pair.to)
	if q.members == nil || len(q.members) > maxKnown {
		q.members = map[member]uint8{}
	}
	k := member{packet.GIDAddr(mcMGID.Bytes(b)), packet.GIDAddr(mcPort.Bytes(a))}
	switch {
	case x.h.Method == mad.Delete:
		v.multicastLeave(x, d, q, k, uint8(mcJoin.Uint(a)))
		return
	case x.s.ComponentMask&maskMG == 0 || zero(mcMGID.Bytes(a)):
		q.expectReport(x, k.group)
		v.multicastCreate(x, d, a, b)
	default:
		v.multicastJoin(x, d, a, b)
	}
	q.members[k] |= uint8(mcJoin.Uint(b))
}

// multicastCreate judges the creation of a group: the request a has the components that it takes, of a full member, and the record b its JoinState (rule MAD-MC-003).
func (v *Verifier) multicastCreate(x *exchange, d *datagram, a, b []byte) {
	v.covered(rule.MADMC003)
	mask, asked, have := x.s.ComponentMask, uint8(mcJoin.Uint(a)), uint8(mcJoin.Uint(b))
	if missing := needed &^ mask; missing != 0 || asked&1 == 0 {
		v.saBad(rule.MADMC003, d, x, "status 0x0600 (insufficient components): a group is created by a full member that gives Q_Key, P_Key, SL, FlowLabel and TClass",
			fmt.Sprintf("success with component mask 0x%x and JoinState %d", mask, asked))
	} else if asked&^have != 0 {
		v.saBad(rule.MADMC003, d, x, fmt.Sprintf("a refusal, or JoinState %d as requested", asked), fmt.Sprintf("JoinState %d", have))
	}
}

// multicastJoin judges the join of a group that there is: the record b is as the request a gave it (rule MAD-MC-002).
func (v *Verifier) multicastJoin(x *exchange, d *datagram, a, b []byte) {
	v.covered(rule.MADMC002)
	mask, asked, have := x.s.ComponentMask, uint8(mcJoin.Uint(a)), uint8(mcJoin.Uint(b))
	if mask&maskJS == 0 || asked == 0 {
		v.saBad(rule.MADMC002, d, x, "a refusal of a join with JoinState 0", "success")
	} else if c := firstDifference(mcMemberComponents, mask, a, b); c != nil {
		v.saBad(rule.MADMC002, d, x, fmt.Sprintf("a refusal, or a group with %s %s as requested", c.Name, c.Text(a)), c.Text(b))
	} else if s, word := unselected(mcSelectors, mask, a, b); word != "" {
		v.saBad(rule.MADMC002, d, x, fmt.Sprintf("a refusal, or a group with %s %s code %d, as requested", s.value.Name, word, s.value.Uint(a)), fmt.Sprintf("code %d", s.value.Uint(b)))
	} else if asked&^have != 0 {
		v.saBad(rule.MADMC002, d, x, fmt.Sprintf("a refusal, or JoinState %d as requested", asked), fmt.Sprintf("JoinState %d", have))
	}
}

// proxyJoin judges that a port is joined by another one only where proxy joins are allowed.
func (v *Verifier) proxyJoin(x *exchange, d *datagram, a []byte) {
	if !x.grh {
		return // who asks is not known by its GID
	}
	v.covered(rule.MADMC004)
	if g := packet.GIDAddr(mcPort.Bytes(a)); g.Lo != x.sgid.Lo && mcProxy.Uint(a) == 0 {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADMC004, Class: rule.Unproven, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: fmt.Sprintf("a refusal: %v asks for port %v without ProxyJoin", x.sgid, g), Actual: "success",
			Detail: "both GIDs may belong to one port",
		})
	}
}

// multicastLeave judges a leave that succeeded: what is left must have been joined.
func (v *Verifier) multicastLeave(x *exchange, d *datagram, q *peer, k member, asked uint8) {
	k.group = packet.GIDAddr(mcMGID.Bytes(x.data[mad.SAHeaderSize:]))
	joined, known := q.members[k]
	if !known {
		return
	}
	v.covered(rule.MADMC005)
	if asked&joined == 0 || asked&^joined != 0 {
		ok := v.sees(x.pair.to, x.dgid) || v.sees(x.pair.from, x.sgid)
		v.report(d.p, rule.Verdict{
			Rule: rule.MADMC005, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: fmt.Sprintf("status 0x0200 (request invalid) to a leave with JoinState %d of a member with %d", asked, joined), Actual: "success",
			Detail: why(ok, whyTap),
		})
	}
	q.members[k] = joined &^ asked
}
