package smp

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// exchange is the transaction of a request, or of a trap: the request and its responses.
type exchange struct {
	mad.Header
	serial         uint64
	tap            uint16 // that showed it first
	link           uint32 // by which a directed route began; 0: not known
	mkey           uint64
	data           [mad.SMPDataSize]byte
	initial        [64]byte
	requestReturn  [64]byte // return path of the request
	responseReturn [64]byte // and of the answer
	drSLID         uint16
	drDLID         uint16
	src, dst       uint16 // LIDs of the LRH
	hop            int
	stateBefore    uint8 // state of the port that a Set of PortInfo is of; 0: not known
	mine           bool  // this shard reports on it
	reserved       bool  // it had reserved bytes set
	asked          int   // how often the request was seen leaving
	answers        int
	sights         int  // how many of the answers were seen where the newest one was
	mismatched     bool // a response with another TID or LID was taken for the answer
	frame          uint64
	time           int64
	last           int64 // when it was asked last

	answerFrame uint64
	answerTime  int64
	answerICRC  uint32
	answerHop   int
	answerTop   int // the first hop at which it was seen
	answerTap   uint16

	slot        *place // where at is kept
	at          place
	port        *port // that checks the M_Key; nil: not known
	keyKnown    bool
	wrongMKey   bool // the M_Key was not that of the port
	badSet      bool // what it sets was reported
	badLIDs     bool // the LIDs in its response were reported
	badModifier bool // its modifier was reported
	badPath     bool // its initial path was reported: it names no port for a hop
	protect     uint8
	before      *exchange // the first of those that asked the same without an answer; nil: none did
	next        *exchange // of the same TID
}

// lifetime is how long an exchange is kept: longer than managers wait for an answer. After that its transaction ID may be that of another one: of a manager that
// began again, or of another subnet that the capture goes on with.
const lifetime = int64(10 * time.Second)

// soon is how long after a request no requester has begun again, with the same TIDs.
const soon = int64(20 * time.Millisecond)

// Recover forgets the exchanges that are open, after a loss: what begins again is proven again.
func (v *Verifier) Recover() {
	v.Lossy, v.order, v.unmatched, v.begun, v.neverAnswered = false, v.order[:0], nil, 0, forgotten{}
	clear(v.open)
	clear(v.asking)
}

// expire forgets old exchanges.
func (v *Verifier) expire() {
	n := 0
	for n < len(v.order) && (v.p.Time-v.order[n].last > lifetime || len(v.order)-n >= most) {
		x := v.order[n]
		if x.answers == 0 {
			v.neverAnswered.put(x)
		}
		if first := v.open[x.TID]; first == x {
			if x.next == nil {
				delete(v.open, x.TID)
			} else {
				v.open[x.TID] = x.next
			}
		} else {
			for ; first != nil; first = first.next {
				if first.next == x {
					first.next = x.next
				}
			}
		}
		n++
	}
	clear(v.order[:n])
	v.order = v.order[n:]
}

// forgotten is the newest requests that were forgotten before they were answered: an answer may come later still.
type forgotten struct {
	list []forgottenRequest
	next int // place of the oldest, once all places are taken
}

type forgottenRequest struct {
	tid  uint64
	last int64 // when it was asked last
}

// mostForgotten is how many of them are kept, and latest how long after a request an answer may come.
const (
	mostForgotten = 4096
	latest        = int64(10 * time.Minute)
)

func (f *forgotten) put(x *exchange) {
	r := forgottenRequest{x.TID, x.last}
	if len(f.list) < mostForgotten {
		f.list = append(f.list, r)
		return
	}
	f.list[f.next] = r
	f.next = (f.next + 1) % mostForgotten
}

// has reports whether the request with a TID may be one of them at a time.
func (f *forgotten) has(tid uint64, now int64) bool {
	if len(f.list) == mostForgotten && now-f.list[f.next].last < latest {
		return true // or one before these
	}
	return slices.ContainsFunc(f.list, func(r forgottenRequest) bool { return r.tid == tid })
}

// mostAlike is how many exchanges of one TID are kept: the newest ones.
const mostAlike = 64

// cut forgets the exchanges of the TID of x beyond those that are kept.
func (x *exchange) cut() {
	for n := 1; x != nil; n++ {
		if n == mostAlike {
			x.next = nil
		}
		x = x.next
	}
}

// keep notes the request or trap at hand as a new exchange.
func (v *Verifier) keep() *exchange {
	s := &v.s
	x := &exchange{
		Header: s.Header, mkey: s.MKey, drSLID: s.DrSLID, drDLID: s.DrDLID, src: v.p.SLID, dst: v.p.DLID, frame: v.p.Frame, time: v.p.Time, last: v.p.Time,
		asked: 1, tap: v.p.Tap, mine: v.mine, reserved: mad.SMPReserved(s.Class, v.p.Payload) != 0, next: v.open[s.TID],
	}
	copy(x.data[:], s.Data)
	if s.Directed() {
		x.hop = s.HopPointer()
		copy(x.initial[:], s.Initial)
		copy(x.requestReturn[:], s.Return)
		x.badPath = missingHop(s.Initial, s.HopCount()) != 0
	}
	v.serial++
	x.serial = v.serial
	x.cut()
	v.open[s.TID] = x
	v.order = append(v.order, x)
	return x
}

// same reports whether the packet at hand is the request of x: at another hop, or retransmitted.
func (v *Verifier) same(x *exchange) bool {
	s := &v.s
	return x.Class == s.Class && x.Method == s.Method && x.Attribute == s.Attribute && x.Modifier == s.Modifier && string(x.data[:]) == string(s.Data) &&
		x.mkey == s.MKey && x.drSLID == s.DrSLID && x.drDLID == s.DrDLID && s.HopCount() == int(x.ClassSpecific&0xFF)
}

// request takes a Get or Set.
func (v *Verifier) request() {
	s := &v.s
	for x := v.open[s.TID]; x != nil; x = x.next {
		if !v.same(x) {
			continue
		}
		if s.Directed() {
			if s.HopPointer() > x.hop {
				v.oneLink[v.p.Tap] = -1
				v.requestNextHop(x)
				v.noteOrigin(x)
				x.hop = s.HopPointer()
				copy(x.requestReturn[:], s.Return)
				return
			}
			if !samePath(s.Initial, x.initial[:], s.HopCount()) {
				continue
			}
			x.hop = s.HopPointer() // it is retransmitted
			copy(x.requestReturn[:], s.Return)
		} else if x.src != v.p.SLID || x.dst != v.p.DLID {
			continue
		}
		x.asked++
		v.compareMKeyAgain(x)
		x.last = v.p.Time
		v.changes(x)
		return
	}
	x := v.keep()
	v.awaits(x)
	v.noteOrigin(x)
	x.slot = v.slot()
	x.at = *x.slot
	v.compareMKey(x)
	v.judgeRequest(x)
	v.changes(x)
}

// requestOf finds the exchange that the response at hand answers: one that it fits in all, or else the only one with its TID and route, or nil.
func (v *Verifier) requestOf() (x *exchange, fits bool) {
	s := &v.s
	n := 0
	for y := v.open[s.TID]; y != nil; y = y.next {
		if y.Class != s.Class || !s.Directed() && (y.src != v.p.DLID || y.dst != v.p.SLID) {
			continue
		}
		if y.Attribute == s.Attribute && (y.Modifier == s.Modifier || y.badModifier) && (!s.Directed() || y.badPath || v.sameRoute(y)) {
			return y, true
		}
		x, n = y, n+1
	}
	if n != 1 {
		return nil, false
	}
	return x, false
}

// sameRoute reports whether the response at hand keeps the route of a request.
func (v *Verifier) sameRoute(x *exchange) bool {
	s := &v.s
	return s.HopCount() == int(x.ClassSpecific&0xFF) && samePath(s.Initial, x.initial[:], s.HopCount()) && s.DrSLID == x.drSLID && s.DrDLID == x.drDLID
}

// response takes a GetResp.
func (v *Verifier) response() {
	x, fits := v.requestOf()
	if x == nil {
		v.keepUnmatched()
		return
	}
	v.from = x.at.port()
	if x.Method == mad.TrapRepress {
		if v.breaks(rule.SMPTRP005, true) {
			v.report(rule.SMPTRP005, v.paired(), rule.Responder, "no response to a TrapRepress", fmt.Sprintf("GetResp(%s)", v.s.AttributeName()), x.frame)
		}
		return
	}
	if !v.keepsRoute(x) || !v.ofRequest(x, fits) || v.responseCopy(x) {
		return
	}
	v.takeResponse(x)
	if v.s.Modifier != x.Modifier {
		return // of a request with another one, as its sender may have meant it
	}
	v.mkeyOfRequest(x)
	v.judgeResponse(x)
}

// keepsRoute judges the hops and the paths of a response on a directed route (rule SMP-DR-010), and reports whether they are those of its request.
func (v *Verifier) keepsRoute(x *exchange) bool {
	s := &v.s
	if !s.Directed() || x.badPath || !v.breaks(rule.SMPDR010, !v.sameRoute(x) || x.hop == s.HopPointer() && v.unrecorded(x)) {
		return true
	}
	v.report(rule.SMPDR010, v.paired(), rule.Responder, fmt.Sprintf("%d hops, initial path %s, DrSLID 0x%04x, DrDLID 0x%04x and the return path that the request recorded",
		x.ClassSpecific&0xFF, pathText(x.initial[:], int(x.ClassSpecific&0xFF)), x.drSLID, x.drDLID),
		fmt.Sprintf("%d hops, initial path %s, DrSLID 0x%04x, DrDLID 0x%04x, return path %s", s.HopCount(), pathText(s.Initial, s.HopCount()), s.DrSLID, s.DrDLID,
			pathText(s.Return, s.HopCount())), x.frame)
	return false
}

// ofRequest judges the attribute and the modifier of a response (rule SMP-MTH-003): fits says that they are those of its request. It reports whether this is the
// response to a Get or a Set.
func (v *Verifier) ofRequest(x *exchange, fits bool) bool {
	s := &v.s
	answers := x.Method == mad.Get || x.Method == mad.Set
	if !v.breaks(rule.SMPMTH003, !fits || !answers) {
		return true
	}
	class := v.paired()
	if (x.answers > 0 || v.p.Time-x.last > soon) && !v.nearEither(x) {
		class, v.unasked = rule.Unproven, true // it may answer another request, to which the requester gave the same TID
	}
	v.report(rule.SMPMTH003, class, rule.Responder, fmt.Sprintf("the response to %v(%s) with %s", x.Method, x.AttributeName(), mad.ModifierText(x.Attribute, x.Modifier)),
		fmt.Sprintf("GetResp(%s) with %s", s.AttributeName(), mad.ModifierText(s.Attribute, s.Modifier)), x.frame)
	v.unasked = false
	return false
}

// responseCopy reports whether a response of the exchange that was judged before is seen again: at another hop of its directed route, or at another tap.
func (v *Verifier) responseCopy(x *exchange) bool {
	s := &v.s
	if s.Directed() && x.answers > 0 && (x.answerHop > s.HopPointer() || x.answerHop < s.HopPointer() && x.answers >= x.asked) {
		v.oneLink[v.p.Tap] = -1
		v.responseNextHop(x)
		return true
	}
	if x.answers > 0 && v.mirrored(x) {
		return true
	}
	if x.sights < x.answers { // those to the repetitions of the request come one by one past the next tap
		x.sights++
		return true
	}
	return false
}

// takeResponse counts a response of the exchange, judges its time, and keeps where it was seen.
func (v *Verifier) takeResponse(x *exchange) {
	s := &v.s
	if s.Directed() && x.answers == 0 {
		v.responseHop(x)
	}
	delete(v.asking, x.question())
	if x.answers++; x.answers > x.asked {
		v.secondResponse(x)
	} else {
		v.respTime(x)
	}
	x.sights = x.answers
	x.answerFrame, x.answerTime, x.answerICRC, x.answerHop, x.answerTop, x.answerTap = v.p.Frame, v.p.Time, v.p.ICRC, s.HopPointer(), s.HopPointer(), v.p.Tap
	if s.Directed() {
		copy(x.responseReturn[:], s.Return)
	}
	if x.wrongMKey {
		v.changes(x)
	}
}

// mirrored reports whether the response at hand is a copy of the newest response of an exchange: another tap shows it, or the same one does, as a switch that
// mirrors both the ingress and the egress of a packet makes it.
func (v *Verifier) mirrored(x *exchange) bool {
	p := v.p
	return p.Tap != x.answerTap || p.ICRC == x.answerICRC && p.Time-x.answerTime < early
}

// secondResponse judges an answer beyond the requests that were seen. Who does not sit at one of the ends may have missed a retransmission of the request.
func (v *Verifier) secondResponse(x *exchange) {
	class := v.paired()
	if !v.nearEither(x) {
		class, v.unasked = rule.Unproven, true
	}
	v.report(rule.SMPMTH003, class, rule.Responder, fmt.Sprintf("one response to %v(%s)", x.Method, x.AttributeName()), fmt.Sprintf("response %d", x.answers), x.frame, x.answerFrame)
	v.unasked = false
}

// unrecorded reports whether the response has another return path than its request had recorded up to here.
func (v *Verifier) unrecorded(x *exchange) bool {
	return !samePath(v.s.Return, x.requestReturn[:], x.hop-1) || x.answers > 0 && x.answerHop == v.s.HopPointer() && !samePath(v.s.Return, x.responseReturn[:], v.s.HopCount())
}

// respTime judges how long the node took.
func (v *Verifier) respTime(x *exchange) {
	port := x.at.port()
	if port == nil || !port.Knows(subnet.KnowsInfo) || x.asked != 1 || x.tap != v.p.Tap {
		return
	}
	limit := int64(4096) << port.RespTime
	d := v.p.Time - x.time
	if v.breaks(rule.SMPPI011, d > limit+limit/4+int64(time.Millisecond)) {
		v.report(rule.SMPPI011, v.lasting(), rule.Responder, fmt.Sprintf("a response within %s, RespTimeValue %d", rule.Span(limit), port.RespTime),
			"after "+rule.Span(d), x.frame)
	}
}
