package gmp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// room is how many bytes of class header and data a segment has.
const room = uint32(mad.RMPPRoom)

// transfer is the sending of the segments of one message.
type transfer struct {
	begun    bool   // the first segment was seen, so that all is known
	mixed    bool   // segments of it were seen at several taps: one of an earlier transfer with this transaction ID may be among them
	tap      uint16 // of the newest segment
	ended    bool   // the last segment was acknowledged
	next     uint32 // segment that comes next
	last     uint32 // number of the last segment; 0: not seen
	maybe    uint32 // of the newest one, whose Last flag may be wrong; 0: it is not so
	total    uint32 // payload length as the first segment told it; 0: not told
	window   uint32 // NewWindowLast
	acked    uint32
	endFrame uint64
	endTap   uint16
	firstTap uint16 // of the first segment

	firstFrame uint64
	endTime    int64
	time       int64      // of the newest segment
	status     mad.Status // of it
	segments   [64]segment
}

// stop is what broke a transfer off.
type stop struct {
	by    packet.Addr // zero: nothing did
	what  mad.RMPPType
	frame uint64
	tap   uint16
	time  int64
}

// rmpp judges the multi-packet protocol in a datagram, and reports whether the datagram goes on to be judged as a request or response.
func (v *Verifier) rmpp(d *datagram) bool {
	r := &d.r
	if !r.Active() {
		v.inactive(d)
		return true
	}
	v.covered(rule.MADRMP001)
	if r.Version != 1 || r.Type < mad.RMPPData || r.Type > mad.RMPPAbort {
		v.rmppBad(rule.MADRMP001, d, "RMPP version 1, type 1 to 4", fmt.Sprintf("version %d, %v", r.Version, r.Type))
		v.takenAsNext(d)
		return false
	}
	v.covered(rule.MADRMP008)
	if !r.Status.Fits(r.Type) {
		v.rmppBad(rule.MADRMP008, d, "a status that "+r.Type.String()+" may have", fmt.Sprintf("status %d", uint8(r.Status)))
	}
	q, x, way := v.transferOf(d)
	if r.Type == mad.RMPPData {
		if v.data(q, x, way, d); way == 1 {
			return true
		}
		return r.Data1 <= 1 // a request: what follows its first segment is no other one
	}
	if !v.toData(x, way, d) {
		return false
	}
	v.statusOfSegment(x.transfers[1-way], d)
	if r.Type == mad.RMPPAck {
		v.ack(q, x, x.transfer(1-way), d)
		return false
	}
	v.covered(rule.MADRMP009)
	x.stop = stop{d.p.Src, r.Type, d.p.Frame, d.p.Tap, d.p.Time}
	x.answered = true
	return false
}

// inactive judges the RMPP header of a datagram that does not use RMPP (rule MAD-RMP-010).
func (v *Verifier) inactive(d *datagram) {
	r := &d.r
	v.covered(rule.MADRMP010)
	// Only the version and the response time are left in by libraries that fill the header from a template.
	if r.Type != 0 || r.Flags != 0 || r.Status != 0 || r.Data1 != 0 || r.Data2 != 0 {
		v.rmppBad(rule.MADRMP010, d, "an RMPP header of 0 outside a transfer", fmt.Sprintf("%v, flags %d, %v, data 0x%x and 0x%x", r.Type, r.Flags, r.Status, r.Data1, r.Data2))
		v.takenAsNext(d)
	}
}

// toData judges the R bit and the segment number of an ACK, STOP or ABORT (rule MAD-RMP-007), and reports whether it is to DATA of the other side.
func (v *Verifier) toData(x *exchange, way int, d *datagram) bool {
	r := &d.r
	v.covered(rule.MADRMP007)
	switch {
	case x.transfers[way] != nil && x.transfers[1-way] == nil && x.receives(d.p, way):
		v.rmppBad(rule.MADRMP007, d, fmt.Sprintf("the inverse of the R bit of the DATA to which this %v responds", r.Type), fmt.Sprintf("method 0x%02x", uint8(d.h.Method)))
		return false
	case r.Type != mad.RMPPAck && r.Data1|r.Data2 != 0:
		w := rule.Verdict{
			Rule: rule.MADRMP007, Class: rule.Unproven, Role: rule.Sender, Expected: "no segment number and window in " + r.Type.String(),
			Actual: fmt.Sprintf("0x%x and 0x%x", r.Data1, r.Data2), Detail: "by the public sources these fields are reserved",
		}
		v.report(d.p, w)
	}
	return true
}

// takenAsNext takes a segment whose RMPP header is wrong for the next one of its transfer: its receiver may do so, and acknowledge it.
func (v *Verifier) takenAsNext(d *datagram) {
	p := d.p
	for way, q := range []*peer{v.peer(p.Src, p.Dst), v.peer(p.Dst, p.Src)} {
		q.table.forgot = true
		if x := q.table.find(keyOf(d)); x != nil && x.transfers[way] != nil && d.r.Data1 == x.transfers[way].next {
			x.transfers[way].next++
		}
	}
}

// statusOfSegment judges the status of a packet that is to a segment of t: it is that of the segment, or 0.
func (v *Verifier) statusOfSegment(t *transfer, d *datagram) {
	if t == nil || t.time == 0 {
		return
	}
	v.covered(rule.MADSTS001)
	if s := d.status(); s != 0 && s != t.status && s.Defined() { // else it is reported already
		v.rmppBad(rule.MADSTS001, d, t.status.Text(d.h.Class)+", as in the segment, or 0", d.status().Text(d.h.Class))
	}
}

func (v *Verifier) rmppBad(id rule.ID, d *datagram, expected, actual string) {
	v.report(d.p, rule.Verdict{Rule: id, Class: rule.Violation, Role: rule.Sender, Expected: expected, Actual: actual})
}

// transferOf finds the exchange of a datagram of a transfer, and the R bit of the DATA of its side. Where the request was not seen it begins one.
func (v *Verifier) transferOf(d *datagram) (*peer, *exchange, int) {
	p := d.p
	asks, answers, way := pair{p.Src, p.Dst}, pair{p.Dst, p.Src}, 0
	if d.response() {
		asks, answers, way = answers, asks, 1
	}
	k := keyOf(d)
	q := v.peer(asks.from, asks.to)
	if x := q.table.find(k); x != nil {
		return q, x, way
	}
	if d.r.Type != mad.RMPPData {
		o := v.peer(answers.from, answers.to)
		if x := o.table.find(k); x != nil && x.transfers[way] != nil {
			return o, x, way // its R bit may be wrong
		}
	}
	x := q.table.begin(k, p.Time)
	x.pair = asks
	return q, x, way
}

// receives reports whether a packet, whose R bit is that of the DATA of an exchange, is of the side that gets the DATA.
func (x *exchange) receives(p *packet.Packet, way int) bool {
	if way == 1 {
		return p.Src == x.pair.from && x.pair.from != x.pair.to
	}
	return p.Src == x.pair.to && x.pair.from != x.pair.to
}

// transfer is the one of a side, begun where there was none.
func (x *exchange) transfer(way int) *transfer {
	if x.transfers[way] == nil {
		x.transfers[way] = &transfer{window: 1, next: 1}
	}
	return x.transfers[way]
}

// ack judges an acknowledgement of segments (rule MAD-RMP-006).
func (v *Verifier) ack(q *peer, x *exchange, t *transfer, d *datagram) {
	p, n, window := d.p, d.r.Data1, d.r.Data2
	if x.stop.by != (packet.Addr{}) {
		return
	}
	v.covered(rule.MADRMP006)
	sees := v.sees(p.Src, p.SGID)
	if t.time == 0 && !x.asked && sees && p.Time-q.begun > long && !q.table.forgot {
		v.wait(q, waitData, keyOf(d), n, p, rule.Verdict{
			Rule: rule.MADRMP007, Class: rule.Violation, Role: rule.Sender, Expected: "the transaction ID of the acknowledged segment",
			Actual: fmt.Sprintf("0x%x, of no transfer", d.h.TID),
		})
		return
	}
	q.arrived(waitWindow, keyOf(d), window)
	v.window(q, t, d, sees)
	t.window, t.acked = max(t.window, window), max(t.acked, n)
	if last := max(t.last, t.maybe); last != 0 && n >= last && !t.ended {
		t.ended, t.endFrame, t.endTap, t.endTime = true, p.Frame, p.Tap, p.Time
		if t == x.transfers[1] && x.done < 1<<15 {
			x.done++
		}
	}
}

// window judges the segment number and the NewWindowLast of an acknowledgement. sees says that the tap is near its sender.
func (v *Verifier) window(q *peer, t *transfer, d *datagram, sees bool) {
	p, n, window := d.p, d.r.Data1, d.r.Data2
	w := rule.Verdict{Rule: rule.MADRMP006, Role: rule.Sender}
	switch {
	case window < n:
		w.Class, w.Expected, w.Actual = rule.Violation, fmt.Sprintf("NewWindowLast at least %d, the acknowledged segment", n), fmt.Sprint(window)
	case t.begun && n >= t.next:
		w.Class, w.Detail = rule.Proven(sees), why(sees, whyTap)
		w.Expected, w.Actual = fmt.Sprintf("segment %d acknowledged at most", t.next-1), fmt.Sprintf("segment %d", n)
		v.wait(q, waitData, keyOf(d), n, p, w) // the segment may be recorded after its acknowledgement
		return
	case t.begun && window < t.window && n >= t.acked:
		w.Class, w.Detail = rule.Proven(sees), why(sees, whyTap)
		w.Expected, w.Actual = fmt.Sprintf("NewWindowLast at least %d, as before", t.window), fmt.Sprint(window)
	default:
		return
	}
	v.report(p, w)
}
