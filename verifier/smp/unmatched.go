package smp

import (
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// unmatched is a response to no request that was seen: that may be recorded a little later.
type unmatched struct {
	p    packet.Packet
	data []byte // of the datagram
	mine bool
}

// early is how much before its request a response may be recorded, and maxStrays how many wait for theirs.
const (
	early        = int64(time.Millisecond)
	maxUnmatched = 64
)

// keepUnmatched notes the response at hand.
func (v *Verifier) keepUnmatched() {
	if v.open[v.s.TID] != nil && v.s.Directed() || len(v.unmatched) == maxUnmatched {
		return // of several requests with its TID it is not known which one it answers
	}
	p := *v.p
	p.Payload = append([]byte(nil), p.Payload...)
	p.Data, p.Pad = nil, nil
	v.unmatched = append(v.unmatched, unmatched{p, p.Payload, v.mine})
}

// Finish judges what is open when the capture ends.
func (v *Verifier) Finish() { v.settle(1<<63 - 1) }

// settle judges the responses that have waited long enough for their requests.
func (v *Verifier) settle(now int64) {
	for len(v.unmatched) > 0 && now-v.unmatched[0].p.Time > early {
		s := &v.unmatched[0]
		v.p, v.mine, v.from, v.leans = &s.p, s.mine, nil, false
		if v.s.Decode(s.data) == nil {
			if x, _ := v.requestOf(); x == nil {
				v.mismatchedResponse()
			}
		}
		v.unmatched = v.unmatched[1:]
	}
}

// mostCompared is up to how many requests a response to none is compared with.
const mostCompared = 4096

// mismatchedResponse judges a response to no request: where just one request waits for a response that differs in nothing but its TID, or the LID at one end, this is
// the response.
func (v *Verifier) mismatchedResponse() {
	s, p := &v.s, v.p
	x := v.loneRequest()
	if x == nil || x.TID != s.TID && v.neverAnswered.has(s.TID, p.Time) {
		return
	}
	x.mismatched = true
	id, want, have := rule.MADTID002, "", ""
	sees := v.near() || v.Near(p.Dst)
	switch {
	case x.TID != s.TID:
		id, want, have = rule.SMPMTH003, fmt.Sprintf("TID 0x%016x of the %v(%s)", x.TID, x.Method, x.AttributeName()), fmt.Sprintf("0x%016x, of no request", s.TID)
		v.from = x.at.port()
		sees = (v.near() || v.Near(p.Dst)) && p.Time-v.begun > lifetime
	case x.dst != p.SLID: // nobody else knows of the request
		v.asked = packet.LIDAddr(x.dst)
		sees = sees || v.Near(v.asked)
		want, have = fmt.Sprintf("a response from LID %d, the destination of the request", x.dst), fmt.Sprintf("from LID %d", p.SLID)
	default:
		want, have = fmt.Sprintf("a response to LID %d, the source of the request", x.src), fmt.Sprintf("to LID %d", p.DLID)
	}
	class := rule.Unproven
	if sees && !v.Lossy {
		class = rule.Violation
	}
	v.breaks(id, true)
	v.unasked = true
	v.report(id, class, rule.Responder, want, have, x.frame)
	v.unasked, v.asked = false, packet.Addr{}
}

// loneRequest returns the only request to which the response at hand would be the answer but for its TID, or for the LID at one end; nil: there is none, or
// there are several.
func (v *Verifier) loneRequest() (x *exchange) {
	if len(v.order) > mostCompared {
		return nil
	}
	for _, y := range v.order {
		if !v.waitsFor(y) || !v.almostFits(y) {
			continue
		}
		if x != nil {
			return nil
		}
		x = y
	}
	return x
}

// waitsFor reports whether a request of the last four seconds has no answer yet, and asks for the attribute of the response at hand.
func (v *Verifier) waitsFor(x *exchange) bool {
	s, p := &v.s, v.p
	if x.answers > 0 || x.mismatched || x.Method != mad.Get && x.Method != mad.Set {
		return false
	}
	return x.Class == s.Class && x.Attribute == s.Attribute && x.Modifier == s.Modifier && x.time <= p.Time && p.Time-x.last <= 4*second
}

// almostFits reports whether the response at hand has the directed route of a request; or, where it is routed by LIDs, the LIDs of both ends, or the TID and one of them.
func (v *Verifier) almostFits(x *exchange) bool {
	s, p := &v.s, v.p
	if s.Directed() {
		return v.sameRoute(x)
	}
	to, from := x.src == p.DLID, x.dst == p.SLID
	return to && from || x.TID == s.TID && (to || from)
}
