package gmp

import (
	"bytes"
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// answerTo is the method of the response to a request.
func answerTo(c mad.Class, m mad.Method) mad.Method {
	switch {
	case m == mad.Set:
		return mad.GetResp
	case c == mad.ClassSubnetAdmin && m == mad.GetTraceTable:
		return mad.GetTableResp
	}
	return m | 0x80
}

// response compares a response with its request.
func (v *Verifier) response(d *datagram) {
	p := d.p
	q := v.peer(p.Dst, p.Src)
	if q.arrived(waitAnswer, keyOf(d), 0) {
		q.table.late(d.h.Class)
		return // to the request before, which had the same transaction ID
	}
	x := q.table.find(keyOf(d))
	if x != nil && v.stale(x, d) {
		x.asked = false
	}
	if x == nil || !x.asked {
		v.unaskedResponse(q, d)
		return
	}
	v.covered(rule.MADTID001)
	first := !x.answered
	if !first && !d.r.Active() {
		v.keepUnmatched(q, d, true)
		return
	}
	if !v.fits(x, d) {
		return
	}
	if first && d.r.Data1 <= 1 { // one that is retransmitted was judged
		v.returnAddress(x, d)
		v.acceptedPKey(x, d)
		v.responseTime(x, d)
	}
	x.answered, x.came, x.icrc = true, p.Time, p.ICRC
	q.askedOf(d.h.Class).answered = p.Time
	v.errorStatus(x, d)
	v.contents(x, d)
}

// unaskedResponse takes a response whose request was not seen.
func (v *Verifier) unaskedResponse(q *peer, d *datagram) {
	if d.h.Class == mad.ClassSubnetAdmin && d.whole() {
		v.saResponse(d, nil)
	}
	if d.r.Active() && d.r.Data1 > 1 { // its first segment told
		return
	}
	v.keepUnmatched(q, d, false)
}

// contents judges the attribute of a response, by its class.
func (v *Verifier) contents(x *exchange, d *datagram) {
	if d.status()&mad.StatusRedirect != 0 {
		v.redirect(d)
		return
	}
	if d.h.Attribute == mad.AttrClassPortInfo {
		v.classPortInfo(x, d)
	}
	switch d.h.Class {
	case mad.ClassSubnetAdmin:
		if d.whole() {
			v.saResponse(d, x)
		}
	case mad.ClassPerformance:
		v.performance(x, d)
	}
	if d.h.Attribute == mad.AttrInformInfo {
		v.informInfo(x, d)
	}
}

// stale reports whether a request is so old that the response may well be to another one with its transaction ID, which was lost before the tap. Between two taps
// their clocks hide how old it is.
func (v *Verifier) stale(x *exchange, d *datagram) bool {
	p := d.p
	if x.tap != p.Tap && !x.recent(p) {
		return true
	}
	return p.Time-x.time > 2*limit(defaultRespTime) && d.r.Data1 <= 1 && !v.sees(p.Src, p.SGID) && !v.sees(p.Dst, p.DGID)
}

// fits judges that a response with the transaction ID of a request is to that request, and reports whether it is.
func (v *Verifier) fits(x *exchange, d *datagram) bool {
	h := &d.h
	want := answerTo(h.Class, x.h.Method)
	ok := x.recent(d.p) || v.sees(d.p.Src, d.p.SGID) || v.sees(d.p.Dst, d.p.DGID)
	if h.Method != want {
		if methodOfClass(h.Class, x.h.Method) && d.status().Code() != mad.StatusMethod && methodOfClass(h.Class, h.Method&^0x80) && !noResponse(h.Class, h.Method&^0x80) {
			v.report(d.p, rule.Verdict{
				Rule: rule.MADMTH001, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
				Expected: fmt.Sprintf("%v to %v", want, x.h.Method), Actual: h.Method.String(), Detail: why(ok, whyReused),
			})
		}
		return false
	}
	multi := h.Class == mad.ClassSubnetAdmin && x.h.Attribute == mad.AttrMultiPathRecord && x.h.Method == mad.GetMulti
	if (h.Attribute != x.h.Attribute && !multi || h.Modifier != x.h.Modifier) && d.status()&mad.StatusRedirect == 0 {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADTID001, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: fmt.Sprintf("the attribute and modifier of the request with this transaction ID: %s, modifier 0x%x", x.h.AttributeName(), x.h.Modifier),
			Actual:   fmt.Sprintf("%s, modifier 0x%x", h.AttributeName(), h.Modifier),
			Detail:   why(ok, whyReused),
		})
		return false
	}
	return true
}

// returnAddress judges that a response has the addresses, the P_Key and the SL of its request, with source and destination exchanged (rule MAD-TID-002).
func (v *Verifier) returnAddress(x *exchange, d *datagram) {
	p := d.p
	v.covered(rule.MADTID002)
	expected, actual := "", ""
	native := p.Encap == packet.Native
	grh := p.Has&packet.HasGRH != 0
	switch {
	case p.DestQP != x.sends:
		expected, actual = fmt.Sprintf("to QP 0x%x, the source of the request", x.sends), fmt.Sprintf("to QP 0x%x", p.DestQP)
	case (p.PKey^x.pkey)&0x7FFF != 0:
		expected, actual = fmt.Sprintf("P_Key 0x%04x of the request", x.pkey), fmt.Sprintf("P_Key 0x%04x", p.PKey)
	case native && p.SL != x.sl:
		expected, actual = fmt.Sprintf("SL %d of the request", x.sl), fmt.Sprintf("SL %d", p.SL)
	case native && grh != x.grh:
		expected, actual = fmt.Sprintf("a GRH: %t, as in the request", x.grh), fmt.Sprintf("%t", grh)
	case native && grh && (p.DGID != x.sgid || p.SGID != x.dgid):
		expected, actual = fmt.Sprintf("from GID %v to %v, the source of the request", x.dgid, x.sgid), fmt.Sprintf("from %v to %v", p.SGID, p.DGID)
	}
	class, detail := rule.Violation, ""
	if expected == "" && p.SrcQP != x.qpn {
		expected, actual = fmt.Sprintf("from QP 0x%x, the destination of the request", x.qpn), fmt.Sprintf("from QP 0x%x", p.SrcQP)
		class, detail = rule.Unproven, "requesters do not compare the source QP of a response"
	}
	if expected != "" {
		v.report(p, rule.Verdict{
			Rule: rule.MADTID002, Class: class, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap}, Expected: expected, Actual: actual, Detail: detail,
		})
	}
}

// acceptedPKey judges that the request had a P_Key that QP1 of the responder accepts: one that matches an entry in the table of its port (rule PKY-005).
func (v *Verifier) acceptedPKey(x *exchange, d *datagram) {
	port := v.Subnet.Port(d.p.SLID)
	if d.p.Encap != packet.Native || !port.Knows(subnet.KnowsPKeys) || !port.Settled(x.time) || x.qpn != 1 {
		return
	}
	v.covered(rule.PKY005)
	if port.Takes(x.pkey) {
		return
	}
	ok := v.sees(d.p.Src, d.p.SGID)
	v.report(d.p, rule.Verdict{
		Rule: rule.PKY005, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
		Expected: fmt.Sprintf("no response: P_Key 0x%04x of the request matches none of the %d in the table of the port", x.pkey, len(port.PKeys)), Actual: "a response",
		Detail: why(ok, "packets that the capture does not hold may have changed the table"),
	})
}

// responseTime judges that a response comes within the RespTimeValue of the responder (rule MAD-TMO-001).
func (v *Verifier) responseTime(x *exchange, d *datagram) {
	p := d.p
	v.covered(rule.MADTMO001)
	code, told := v.peer(p.Dst, p.Src).respTime(d.h.Class)
	if !told {
		code = defaultRespTime
	}
	took := p.Time - x.time
	if took <= limit(code) || p.Tap != x.tap {
		return
	}
	ok := told && v.sees(p.Src, p.SGID)
	v.report(p, rule.Verdict{
		Rule: rule.MADTMO001, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
		Expected: fmt.Sprintf("a response within %s, RespTimeValue %d", rule.Span(limit(code)), code), Actual: "after " + rule.Span(took),
		Detail: why(ok, "the RespTimeValue of the responder is not known, or the tap is not at it"),
	})
}

// errorStatus judges the response to a request that a responder cannot serve: its status says so, and its data are those of the request (rule MAD-STS-002).
func (v *Verifier) errorStatus(x *exchange, d *datagram) {
	s := d.status()
	v.covered(rule.MADSTS002)
	if s&^(mad.StatusBusy|mad.StatusRedirect) == 0 {
		expected := ""
		switch {
		case x.h.BaseVersion != 1:
			expected = fmt.Sprintf("%v to base version %d", mad.StatusVersion.Text(d.h.Class), x.h.BaseVersion)
		case x.h.Class == mad.ClassSubnetAdmin && x.h.ClassVersion != 2:
			expected = fmt.Sprintf("%v to class version %d", mad.StatusVersion.Text(d.h.Class), x.h.ClassVersion)
		case !methodOfClass(x.h.Class, x.h.Method):
			expected = fmt.Sprintf("%v to method 0x%02x", mad.StatusMethod.Text(d.h.Class), uint8(x.h.Method))
		}
		if expected != "" && !x.servedUnduly {
			x.servedUnduly = true // each segment of the answer says the same
			v.report(d.p, rule.Verdict{
				Rule: rule.MADSTS002, Class: rule.Violation, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap}, Expected: expected, Actual: s.Text(d.h.Class),
			})
		}
		return
	}
	if c := s.Code(); c != mad.StatusVersion && c != mad.StatusMethod && c != mad.StatusAttribute || !d.whole() || !x.whole() {
		return
	}
	from := mad.HeaderSize
	if mad.HasRMPP(d.h.Class) {
		from = mad.SAHeaderSize // its headers are the responder's own
	}
	if !bytes.Equal(d.b[from:], x.data[from:]) {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADSTS002, Class: rule.Unproven, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: "the data of the request, unchanged, with " + s.Text(d.h.Class), Actual: "other data",
			Detail: "responders differ in the data that they return with an error",
		})
	}
}

// unanswered judges the requests of a pair that are still open when the capture ends, at time end.
func (v *Verifier) unanswered(q *peer, end int64) {
	for i := range q.table.ring {
		x := &q.table.ring[i]
		if !x.asked || x.answered || end-x.time <= limit(defaultRespTime) || !v.sees(x.pair.to, x.dgid) {
			continue
		}
		id := rule.MADSTS002
		switch {
		case x.h.Method == mad.Report:
			id = rule.MADINF004
		case x.h.Attribute == mad.AttrClassPortInfo && x.h.Method == mad.Get:
			id = rule.MADCPI001
		case x.h.Class != mad.ClassPerformance:
			continue
		}
		p := x.responder()
		v.covered(id)
		v.report(&p, rule.Verdict{
			Rule: id, Class: rule.Unproven, Role: rule.Responder,
			Expected: fmt.Sprintf("%v to the %v of %s", answerTo(x.h.Class, x.h.Method), x.h.Method, x.h.AttributeName()),
			Actual:   "nothing within " + rule.Span(end-x.time),
			Detail:   "the request may not have reached the agent of its class: receivers drop datagrams when their queue is full",
		})
	}
}

// responder makes a packet of the responder, of which nothing was seen, with the frame and time of the request.
func (x *exchange) responder() packet.Packet {
	return packet.Packet{
		Frame: x.frame, Tap: x.tap, Time: x.time, PSN: x.psn, Opcode: packet.Op(packet.UD, packet.SendOnly), Has: packet.HasBTH,
		Src: x.pair.to, SrcQP: x.qpn, Dst: x.pair.from, DestQP: x.sends,
	}
}
