package gmp

import (
	"bytes"
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

var (
	infSubscribe = mad.LayoutInformInfo.Field("subscribe")
	infQPN       = mad.LayoutInformInfo.Field("QPN")
	infFirst     = mad.LayoutInformInfo.Field("LIDRangeBegin")
	infTrap      = mad.LayoutInformInfo.Field("trapNumber")

	noticeGeneric  = mad.LayoutNotice.Field("isGeneric")
	noticeTrap     = mad.LayoutNotice.Field("trapNumber")
	noticeType     = mad.LayoutNotice.Field("noticeType")
	noticeProducer = mad.LayoutNotice.Field("nodeType")
	noticeIssuer   = mad.LayoutNotice.Field("issuerLID")
)

// allLIDs is the LIDRangeBegin of a subscription to the traps of all ports.
const allLIDs = 0xFFFF

// subscription is an InformInfo that a subnet administrator has confirmed.
type subscription struct {
	qpn   uint32
	from  uint32 // QP that asked: managers report to it as well
	trap  uint16
	all   bool // of all LIDs: LIDRangeBegin is 0xFFFF
	frame uint64
	tap   uint16
}

// pendingReport is a multicast group that was created, of which the subscriber has yet to be told.
type pendingReport struct {
	group packet.Addr
	x     exchange
}

// maxPendingReports is of how many groups a subscriber waits to be told.
const maxPendingReports = 16

// expectReport notes that a group was created by a port that is subscribed to the news of it.
func (q *peer) expectReport(x *exchange, group packet.Addr) {
	if slices.ContainsFunc(q.subscribed, func(s subscription) bool { return s.trap == mad.TrapMulticastCreated || s.trap == 0xFFFF }) && len(q.pendingReports) < maxPendingReports {
		q.pendingReports = append(q.pendingReports, pendingReport{group, *x})
	}
}

// missingReports judges the groups of which a subscriber has not been told when the capture ends, at time end.
func (v *Verifier) missingReports(q *peer, end int64) {
	for i := range q.pendingReports {
		x := &q.pendingReports[i].x
		if end-x.time <= 2*limit(defaultRespTime) || !v.sees(x.pair.from, x.sgid) {
			continue
		}
		p := x.responder()
		v.covered(rule.MADMC007)
		v.report(&p, rule.Verdict{
			Rule: rule.MADMC007, Class: rule.Unproven, Role: rule.Responder,
			Expected: fmt.Sprintf("a report that group %v was created, to which the port is subscribed", q.pendingReports[i].group),
			Actual:   "nothing within " + rule.Span(end-x.time),
			Detail:   "the group may have existed, or the manager may not count the port among its members' partitions",
		})
	}
}

// informInfo judges the answer to an InformInfo (rule MAD-INF-001), and keeps the subscription.
func (v *Verifier) informInfo(x *exchange, d *datagram) {
	if x.h.Method != mad.Set || x.h.Attribute != mad.AttrInformInfo || d.status() != 0 || !d.whole() || !x.whole() {
		return
	}
	asked := datagram{h: x.h, b: x.request()}
	a, b := asked.attribute()[:mad.LayoutInformInfo.Size], d.attribute()[:mad.LayoutInformInfo.Size]
	v.covered(rule.MADINF001)
	at := infSubscribe.Off / 8
	if !bytes.Equal(a[:at], b[:at]) || !bytes.Equal(a[at+1:], b[at+1:]) || b[at] != a[at] && b[at] != 0 {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADINF001, Class: rule.Violation, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: "the InformInfo of the request, with subscribe 0 where it is refused", Actual: "another InformInfo: " + difference(mad.LayoutInformInfo, a, b),
		})
		return
	}
	q := v.peer(x.pair.from, x.pair.to)
	s := subscription{uint32(infQPN.Uint(a)), x.sends, uint16(infTrap.Uint(a)), infFirst.Uint(a) == allLIDs, x.frame, x.tap}
	switch {
	case a[at] == 0:
		q.unsubscribe(s)
	case b[at] != 0 && len(q.subscribed) < maxKnown:
		q.subscribed = append(q.subscribed, s)
	}
}

// unsubscribe ends the first subscription of the QP and the trap of s.
func (q *peer) unsubscribe(s subscription) {
	i := slices.IndexFunc(q.subscribed, func(o subscription) bool { return o.qpn == s.qpn && o.trap == s.trap })
	if i >= 0 {
		q.subscribed = slices.Delete(q.subscribed, i, i+1)
	}
}

// difference names the first component in which two attributes differ.
func difference(l *mad.Layout, a, b []byte) string {
	for _, f := range l.Fields {
		if !f.Same(a, b) {
			return fmt.Sprintf("%s %s instead of %s", f.Name, f.Text(b), f.Text(a))
		}
	}
	return "nothing"
}

// unsubscription judges a request that ends a subscription (rule MAD-INF-002).
func (v *Verifier) unsubscription(d *datagram) {
	b := d.attribute()
	if d.h.Method != mad.Set || len(b) < mad.LayoutInformInfo.Size {
		return
	}
	v.covered(rule.MADINF002)
	if infSubscribe.Uint(b) == 0 && infQPN.Uint(b) == 0 {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADINF002, Class: rule.Violation, Role: rule.Requester,
			Expected: "the QPN of the subscription to be removed", Actual: "QPN 0",
		})
	}
}

// notice judges a notice of a subnet manager about ports or multicast groups (rules SMP-TRP-007, MAD-MC-007, -008).
func (v *Verifier) notice(d *datagram) {
	b := d.attribute()
	if d.h.Class != mad.ClassSubnetAdmin || d.h.Attribute != mad.AttrNotice || len(b) < mad.LayoutNotice.Size || noticeGeneric.Uint(b) == 0 {
		return
	}
	gid := mad.NoticeGID(b)
	trap := noticeTrap.Uint(b)
	v.covered(rule.SMPTRP007)
	number, producer := uint16(trap), uint32(noticeProducer.Uint(b))
	if defined, may := mad.TrapProducer(number, producer); !defined || !may || !mad.NoticeTypeDefined(uint8(noticeType.Uint(b))) {
		v.report(d.p, rule.Verdict{
			Rule: rule.SMPTRP007, Class: rule.Violation, Role: rule.Sender, Expected: "a trap number, producer and type of table T14",
			Actual: fmt.Sprintf("%s of producer %d, type %d", mad.TrapName(number), producer, noticeType.Uint(b)),
		})
	}
	id, expected, bad := rule.ID(0), "", false
	switch trap {
	case mad.TrapMulticastCreated, mad.TrapMulticastDeleted:
		id, expected, bad = rule.MADMC007, "the MGID of the group", gid[0] != 0xFF
	case mad.TrapGIDInService, mad.TrapGIDOutOfService:
		id, expected, bad = rule.MADMC008, "the GID of the port", gid[0] == 0xFF || zero(gid[8:])
	default:
		return
	}
	v.covered(id)
	if q := v.peer(d.p.Dst, d.p.Src); trap == mad.TrapMulticastCreated {
		q.pendingReports = slices.DeleteFunc(q.pendingReports, func(o pendingReport) bool { return o.group == packet.GIDAddr(gid) })
	}
	if bad {
		v.report(d.p, rule.Verdict{
			Rule: id, Class: rule.Violation, Role: rule.Sender,
			Expected: fmt.Sprintf("%s in trap %d", expected, trap), Actual: fmt.Sprintf("%x", gid),
		})
	}
}

// reportDestination judges the QP that a report goes to: that of a subscription, or QP1 (rule MAD-INF-004).
func (v *Verifier) reportDestination(d *datagram) {
	q := v.peer(d.p.Dst, d.p.Src) // the subscriber asked
	if d.h.Class != mad.ClassSubnetAdmin || len(q.subscribed) == 0 {
		return
	}
	v.reportPartition(q, d)
	v.covered(rule.MADINF004)
	if d.p.DestQP == 1 {
		return
	}
	for _, s := range q.subscribed {
		if s.qpn == d.p.DestQP || s.from == d.p.DestQP {
			return
		}
	}
	s := q.subscribed[len(q.subscribed)-1]
	v.report(d.p, rule.Verdict{
		Rule: rule.MADINF004, Class: rule.Unproven, Role: rule.Requester, Earlier: rule.Frame{Number: s.frame, Tap: s.tap},
		Expected: fmt.Sprintf("the report at QP 0x%x of the subscription, or at QP1", s.qpn), Actual: fmt.Sprintf("to QP 0x%x", d.p.DestQP),
		Detail: "a subscription from before the capture may name this QP",
	})
}

// reportPartition judges that a report goes only to a subscriber that shares a partition with the port that the trap is of.
func (v *Verifier) reportPartition(q *peer, d *datagram) {
	b := d.attribute()
	if d.h.Attribute != mad.AttrNotice || len(b) < mad.LayoutNotice.Size || slices.ContainsFunc(q.subscribed, func(s subscription) bool { return s.all }) {
		return
	}
	to, of := v.Subnet.Port(d.p.DLID), v.Subnet.Port(uint16(noticeIssuer.Uint(b)))
	if d.p.Encap != packet.Native || !to.Knows(subnet.KnowsPKeys) || !of.Knows(subnet.KnowsPKeys) {
		return
	}
	v.covered(rule.MADINF003)
	for _, k := range to.PKeys {
		if member, full := of.Member(k); member && (full || k>>15 != 0) {
			return
		}
	}
	s := q.subscribed[len(q.subscribed)-1]
	v.report(d.p, rule.Verdict{
		Rule: rule.MADINF003, Class: rule.Unproven, Role: rule.Requester, Earlier: rule.Frame{Number: s.frame, Tap: s.tap},
		Expected: fmt.Sprintf("no report of LID 0x%04x, which shares no partition with the subscriber", of.LID), Actual: fmt.Sprintf("trap %d", noticeTrap.Uint(b)),
		Detail: "packets that the capture does not hold may have set P_Keys",
	})
}
