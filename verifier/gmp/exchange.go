package gmp

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// key names a transaction of a pair.
type key struct {
	tid   uint64
	class mad.Class
	known bool // true: so that no key is zero
}

// keyOf is the key of a datagram, whoever sent it.
func keyOf(d *datagram) key { return key{d.h.TID, d.h.Class, true} }

// exchange is a transaction: a request, its responses, and their multi-packet transfers.
type exchange struct {
	key          key
	pair         pair
	asked        bool // false: of a transfer whose request was not seen
	answered     bool
	grh          bool
	servedUnduly bool // it was answered though it should have been refused, which is reported
	sl           uint8
	repeats      uint16
	done         uint16 // transfers of the answer that are over
	pkey         uint16
	tap          uint16
	sends, qpn   uint32 // QPs of the requester and of the responder
	h            mad.Header
	s            mad.SA
	psn          packet.PSN
	frame        uint64 // of the newest copy of the request
	first        uint64 // frame of the first copy
	time         int64
	began        int64  // when the first copy was sent
	came         int64  // when the answer came
	icrc         uint32 // of the answer
	sgid, dgid   packet.Addr
	length       int
	data         [mad.Size]byte
	transfers    [2]*transfer // by the R bit of their DATA
	stop         stop
}

// request is the request as it was captured.
func (x *exchange) request() []byte { return x.data[:x.length] }

// whole reports whether all of the request was captured.
func (x *exchange) whole() bool { return x.asked && x.length == mad.Size }

// table holds the exchanges of a pair: those that wait for an answer, and the newest of the others.
type table struct {
	byKey map[key]int32
	ring  []exchange
	next  int32
	// forgot says that there may be a transfer that is not known: it was forgotten, or its header was wrong.
	forgot bool
	left   map[mad.Class]uint64 // requests that had no answer when they were forgotten
}

// maxOpen is how many exchanges of a pair are remembered; the oldest goes first. Below it the oldest goes once it is over, after a while.
const (
	maxOpen = 64
	over    = int64(10 * time.Second)
)

func (t *table) find(k key) *exchange {
	if i, ok := t.byKey[k]; ok {
		return &t.ring[i]
	}
	return nil
}

// begin makes room for an exchange, at time now.
func (t *table) begin(k key, now int64) *exchange {
	if i, ok := t.byKey[k]; ok {
		t.leave(&t.ring[i])
		t.ring[i] = exchange{key: k, time: now}
		return &t.ring[i]
	}
	if n := int32(len(t.ring)); n > 0 {
		t.next = (t.next + 1) % n // the oldest
	}
	if len(t.ring) == 0 || len(t.ring) < maxOpen && t.ring[t.next].kept(now) {
		t.grow()
	}
	x := &t.ring[t.next]
	delete(t.byKey, x.key)
	t.leave(x)
	for _, s := range x.transfers {
		t.forgot = t.forgot || s != nil && !s.ended
	}
	*x = exchange{key: k, time: now}
	t.byKey[k] = t.next
	return x
}

// kept reports whether an exchange is better remembered.
func (x *exchange) kept(now int64) bool {
	return x.key != key{} && (!x.answered || now-x.time < over)
}

// grow makes room for more exchanges, in the order of their age, of which next names the oldest.
func (t *table) grow() {
	old := t.ring
	t.ring = make([]exchange, min(max(2, 2*len(old)), maxOpen))
	if t.byKey == nil {
		t.byKey = map[key]int32{}
	}
	for i := range old {
		t.ring[i] = old[(int(t.next)+i)%len(old)]
		t.byKey[t.ring[i].key] = int32(i)
	}
	t.next = int32(len(old))
}

// soon is how long after a request no requester has given it up already.
const soon = int64(10 * time.Millisecond)

// recent reports whether a packet came soon after the request: the clock was not set in between, and it is the same for both directions.
func (x *exchange) recent(p *packet.Packet) bool {
	return p.Time-x.time < soon && x.time-p.Time < early
}

// after reports whether time a is surely after b in the other direction, and by no more than a clock that is right can tell.
func after(a, b int64) bool { return a-b > early && a-b < 2*limit(defaultRespTime) }

// request notes a request, and judges it against those that are outstanding.
func (v *Verifier) request(d *datagram) {
	p := d.p
	q := v.peer(p.Src, p.Dst)
	k := keyOf(d)
	x, repeats := q.table.find(k), uint16(0)
	if x != nil && x.asked {
		same := x.h == d.h && bytes.Equal(x.data[mad.HeaderSize:x.length], d.b[mad.HeaderSize:])
		v.covered(rule.MADTID001)
		if same {
			v.retransmission(q, x, d)
			return
		}
		if !x.answered {
			repeats = x.repeats + 1 // both may be answered
			ok := v.sees(p.Src, p.SGID) && x.recent(p)
			v.wait(q, waitAnswer, k, 0, p, rule.Verdict{
				Rule: rule.MADTID001, Class: rule.Proven(ok), Role: rule.Requester, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
				Expected: "a transaction ID that no outstanding request of the class has",
				Actual:   fmt.Sprintf("0x%x, of the %v of %s that has no response yet", d.h.TID, x.h.Method, x.h.AttributeName()),
				Detail:   why(ok, "the requester may have abandoned the earlier request, or its response may have been lost before the tap"),
			})
		}
	}
	var sent *transfer // of this very request, where it takes several datagrams
	if x != nil && d.r.Active() {
		sent = x.transfers[0]
	}
	late := q.takeUnmatched(k)
	n := q.askedOf(k.class)
	if late {
		n.answered = p.Time
	}
	x = q.table.begin(k, p.Time)
	x.pair, x.transfers[0] = pair{p.Src, p.Dst}, sent
	x.asked, x.answered, x.repeats = true, late, repeats
	x.h, x.s, x.psn, x.sends, x.qpn, x.pkey, x.sl, x.grh = d.h, d.s, p.PSN, p.SrcQP, p.DestQP, p.PKey, p.SL, p.Has&packet.HasGRH != 0
	x.sgid, x.dgid = p.SGID, p.DGID
	x.length = copy(x.data[:], d.b)
	x.frame, x.tap, x.time = p.Frame, p.Tap, p.Time
	x.first, x.began = p.Frame, p.Time
	n.requests++
	v.redirected(d)
	switch {
	case d.h.Method == mad.Report:
		v.notice(d)
		v.reportDestination(d)
	case d.h.Class == mad.ClassSubnetAdmin && d.whole():
		v.saRequest(d)
	}
}

// retransmission judges the time of a request that is retransmitted (rule MAD-TMO-002): no response has come in time, or it was lost.
func (v *Verifier) retransmission(q *peer, x *exchange, d *datagram) {
	p := d.p
	if p.PSN == x.psn && p.Time-x.time < early && p.Time >= x.time {
		return // a copy of the tap: nobody repeats a request at once
	}
	if r, ok := q.respTime(d.h.Class); ok && v.sees(p.Src, p.SGID) && !x.answered {
		v.covered(rule.MADTMO002)
		if gap := p.Time - x.time; gap < limit(r) && p.Tap == x.tap {
			v.report(p, rule.Verdict{
				Rule: rule.MADTMO002, Class: rule.Violation, Role: rule.Requester, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
				Expected: fmt.Sprintf("no retransmission for %s, the RespTimeValue %d of the responder", rule.Span(limit(r)), r),
				Actual:   "a retransmission after " + rule.Span(gap),
			})
		}
	}
	x.time, x.frame, x.tap, x.psn = p.Time, p.Frame, p.Tap, p.PSN
	if q.takeUnmatched(x.key) {
		x.answered, x.came = true, p.Time
	} else if !x.answered || p.Time-x.came > early { // else it may well have been answered, and be recorded late
		x.answered, x.transfers[1], x.stop = false, nil, stop{} // the answer begins again
	}
	if x.repeats < 1<<15 {
		x.repeats++
	}
}

// limit is a response time, in nanoseconds, by its code.
func limit(code uint8) int64 { return 4096 << min(code, 31) }

// defaultRespTime is the code where none was told: 4.3 s.
const defaultRespTime = 20

// why explains a finding that is not proven.
func why(proven bool, text string) string {
	if proven {
		return ""
	}
	return text
}

// unmatched is a response whose request was not seen: the capture may show them in the wrong order.
type unmatched struct {
	k        key
	p        packet.Packet
	h        mad.Header
	proven   bool
	answered bool // there is an earlier request with the transaction ID, which was answered: most likely it is a second response to that
}

// maxUnmatched is how many of a pair wait for their requests.
const maxUnmatched = 16

// takeUnmatched reports whether a response to a request has been seen already, and forgets it.
func (q *peer) takeUnmatched(k key) bool {
	for i := range q.unmatched {
		if q.unmatched[i].k == k {
			q.unmatched = slices.Delete(q.unmatched, i, i+1)
			return true
		}
	}
	return false
}

// long is how long after the beginning of a capture a response is to a request within it.
const long = int64(10 * time.Second)

// keepUnmatched notes a response to a request that was not seen.
func (v *Verifier) keepUnmatched(q *peer, d *datagram, again bool) {
	if !again {
		v.Skipped[SkipUnasked]++
	}
	if len(q.unmatched) == maxUnmatched {
		q.unmatched = slices.Delete(q.unmatched, 0, 1)
	}
	p := *d.p
	p.Payload, p.Pad, p.Data = nil, nil, nil
	q.unmatched = append(q.unmatched, unmatched{keyOf(d), p, d.h, v.sees(p.Src, p.SGID) && p.Time-q.begun > long, again})
}

// settle judges what has waited for what may come a little later.
func (v *Verifier) settle(q *peer, now int64) {
	n := 0
	for n < len(q.unmatched) && now-q.unmatched[n].p.Time > early {
		if s := &q.unmatched[n]; s.answered {
			v.secondResponse(q, s)
		} else if !v.mismatchedTID(q, s) && len(q.unasked) < maxUnmatched {
			q.unasked = append(q.unasked, *s)
		}
		n++
	}
	q.unmatched = slices.Delete(q.unmatched, 0, n)
	v.reportWaiting(q, now)
}

// secondResponse judges a second response to a request that was seen once, at the responder: it saw no more either.
func (v *Verifier) secondResponse(q *peer, s *unmatched) {
	x, p := q.table.find(s.k), &s.p
	if p.Encap != packet.Native || !v.sees(p.Src, p.SGID) || x == nil || !x.asked || x.repeats > 0 || x.transfers[1] != nil || x.tap != p.Tap || x.frame >= p.Frame {
		return
	}
	if p.ICRC == x.icrc && p.Time-x.came < early {
		return // mirrored
	}
	v.covered(rule.MADTID001)
	v.report(p, rule.Verdict{
		Rule: rule.MADTID001, Class: rule.Violation, Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
		Expected: fmt.Sprintf("one response to the %v of %s", x.h.Method, x.h.AttributeName()), Actual: "a second response",
	})
}

// mismatchedTID judges a response whose request has not come: where a request waits for an answer that differs in nothing but the transaction ID,
// this is its answer. It reports whether it is.
func (v *Verifier) mismatchedTID(q *peer, s *unmatched) bool {
	for i := range q.table.ring {
		x := &q.table.ring[i]
		if x.key.class != s.k.class || !x.asked || x.answered || x.time > s.p.Time || s.p.Time-x.time > limit(defaultRespTime) ||
			answerTo(s.k.class, x.h.Method) != s.h.Method || x.h.Attribute != s.h.Attribute || x.h.Modifier != s.h.Modifier {
			continue
		}
		v.covered(rule.MADTID001)
		proven := s.proven && v.sees(s.p.Src, s.p.SGID) // the capture may have told since that it lost packets
		v.report(&s.p, rule.Verdict{
			Rule: rule.MADTID001, Class: rule.Proven(proven), Assumes: assumesNear(proven), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap},
			Expected: fmt.Sprintf("transaction ID 0x%x of the request", x.key.tid), Actual: fmt.Sprintf("0x%x, of no request", s.k.tid),
			Detail: why(proven, "the request may have been sent before the capture began, or lost before the tap"),
		})
		x.answered = true
		return true
	}
	return false
}
