package gmp

import (
	"fmt"
	"hash/crc32"

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

// segment is one that was seen.
type segment struct {
	n, crc uint32
	frame  uint64
	tap    uint16
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

// data judges a segment, and keeps it in its transfer.
func (v *Verifier) data(q *peer, x *exchange, way int, d *datagram) {
	t := x.transfer(way)
	p, r := d.p, &d.r
	n, first, last := r.Data1, r.Flags&mad.RMPPFirst != 0, r.Flags&mad.RMPPLast != 0
	v.covered(rule.MADRMP002)
	if n == 0 || (n == 1) != first {
		v.rmppBad(rule.MADRMP002, d, "the First flag only in segment 1", fmt.Sprintf("segment %d, First %t", n, first))
		v.takenAsNext(d)
		return
	}
	x.renew(t, way, d)
	t.mixed = t.mixed || t.time != 0 && t.tap != p.Tap
	t.time, t.tap, t.status = p.Time, p.Tap, d.status()
	sees := v.sees(p.Src, p.SGID)
	if x.stop.by != (packet.Addr{}) && t.begun {
		v.afterStop(x, d, n, sees)
		return
	}
	q.arrived(waitData, keyOf(d), n)
	if s := t.segment(n); s.n == n {
		v.segmentRetransmitted(x, t, s, d, sees)
		if !first || sees || s.crc == sum(d) {
			return
		}
		*t = transfer{window: 1, next: 1, time: p.Time, tap: p.Tap, status: t.status} // as what asked for it may not have been recorded
	}
	whole := v.length(t, d, n, first, last)
	if first {
		t.begun, t.firstFrame, t.firstTap = true, p.Frame, p.Tap
	}
	if !t.begun { // its beginning was not seen
		t.next, t.window = max(t.next, n+1), max(t.window, n)
	} else if !v.order(q, t, d, n, sees) {
		return // the number is not its own
	}
	t.take(d, n, last, whole)
}

// renew begins a transfer again where a segment shows that a request which was not seen uses the transaction ID again, or that a repeated request is answered again.
func (x *exchange) renew(t *transfer, way int, d *datagram) {
	first := d.r.Flags&mad.RMPPFirst != 0
	if t.time != 0 && d.p.Time-t.time > 2*limit(defaultRespTime) || first && t.ended && t.segments[1].crc != sum(d) {
		*t = transfer{window: 1, next: 1}
		x.stop, x.asked = stop{}, way == 0 && x.asked
	}
	if first && way == 1 && x.done < x.repeats && t.begun && t.segments[1].crc != sum(d) {
		*t = transfer{window: 1, next: 1}
		x.done++
	}
}

// segment is where the segment of a number is kept.
func (t *transfer) segment(n uint32) *segment { return &t.segments[n%uint32(len(t.segments))] }

// take keeps a segment. whole says that one with the Last flag may be the last.
func (t *transfer) take(d *datagram, n uint32, last, whole bool) {
	switch {
	case !last:
		t.maybe = 0
	case !whole:
		t.maybe = n
	case t.last == 0:
		t.last = n
	}
	*t.segment(n) = segment{n, sum(d), d.p.Frame, d.p.Tap}
}

// afterStop reports a segment after the transfer was stopped or aborted (rule MAD-RMP-009). sees says that a tap near its sender shows the order.
func (v *Verifier) afterStop(x *exchange, d *datagram, n uint32, sees bool) {
	p := d.p
	ok := x.stop.by == p.Src && x.stop.tap == p.Tap || sees && after(p.Time, x.stop.time)
	v.report(p, rule.Verdict{
		Rule: rule.MADRMP009, Class: rule.Proven(ok), Role: rule.Sender, Earlier: rule.Frame{Number: x.stop.frame, Tap: x.stop.tap},
		Expected: fmt.Sprintf("no further segment after %v", x.stop.what), Actual: fmt.Sprintf("segment %d", n), Detail: why(ok, whyTap),
	})
}

// sum is a checksum by which segments differ: of their class header and data, and of the RMPP header without its version and type.
func sum(d *datagram) uint32 { return crc32.ChecksumIEEE(d.part(mad.HeaderSize+2, mad.Size)) }

// order judges the number of a new segment (rules MAD-RMP-003, -005), and reports whether it may be its number.
func (v *Verifier) order(q *peer, t *transfer, d *datagram, n uint32, sees bool) bool {
	v.covered(rule.MADRMP003)
	v.covered(rule.MADRMP005)
	w := rule.Verdict{Rule: rule.MADRMP003, Role: rule.Sender, Actual: fmt.Sprintf("segment %d", n)}
	switch {
	case t.last != 0 && n > t.last:
		w.Class, w.Expected, w.Detail = rule.Proven(!t.mixed), fmt.Sprintf("no segment after segment %d, which has the Last flag", t.last), why(!t.mixed, whyTaps)
		t.last = 0 // once is enough
	case n > t.next:
		w.Class, w.Expected, w.Detail = rule.Proven(sees), fmt.Sprintf("segment %d", t.next), why(sees, whyTap)
	case n > t.window:
		w.Rule, w.Class, w.Expected, w.Detail = rule.MADRMP005, rule.Proven(sees), fmt.Sprintf("no segment above NewWindowLast %d", t.window), why(sees, whyTap)
	}
	t.next = max(t.next, n+1)
	switch {
	case w.Rule == rule.MADRMP005:
		v.wait(q, waitWindow, keyOf(d), n, d.p, w) // the acknowledgement may be recorded after what it allows
	case w.Expected != "":
		v.report(d.p, w)
	}
	return w.Expected == "" || w.Rule == rule.MADRMP005 || w.Class == rule.Unproven
}

// length judges the payload length of a segment, and the Last flag by the payload length of the first one (rule MAD-RMP-004). It reports whether a segment that has the flag may be the last.
func (v *Verifier) length(t *transfer, d *datagram, n uint32, first, last bool) bool {
	v.covered(rule.MADRMP004)
	size := d.r.Data2
	least := uint32(0)
	if d.h.Class == mad.ClassSubnetAdmin {
		least = mad.SAHeaderSize - mad.HeaderSize - mad.RMPPSize
	}
	if first {
		t.total = size
	}
	switch {
	case last && (size < least || size > room):
		v.rmppBad(rule.MADRMP004, d, fmt.Sprintf("%d to %d bytes in the last segment", least, room), fmt.Sprintf("payload length %d", size))
		return false
	case first && !last && size != 0 && size <= room-least:
		v.rmppBad(rule.MADRMP004, d, "the payload length of several segments in the first one", fmt.Sprint(size))
	case t.begun && t.total != 0:
		v.segmentCount(t, d, n, least, first, last)
	}
	return true
}

// segmentCount judges the number of segments by the payload length that the first of them told (rules MAD-RMP-003, -004): the Last flag is due at the last of them.
// least is the length of the class header.
func (v *Verifier) segmentCount(t *transfer, d *datagram, n, least uint32, first, last bool) {
	w := rule.Verdict{Class: rule.Proven(!t.mixed), Role: rule.Sender, Earlier: rule.Frame{Number: t.firstFrame, Tap: t.firstTap}}
	switch {
	case last && !first && !agrees(t.total, n, least):
		w.Rule = rule.MADRMP004
		w.Expected, w.Actual = fmt.Sprintf("as many segments as %d bytes take, the length in the first segment", t.total), fmt.Sprintf("%d segments", n)
	case !last && n == most(t.total, least) && t.next == n:
		v.covered(rule.MADRMP003)
		w.Rule = rule.MADRMP003
		w.Expected, w.Actual = fmt.Sprintf("the Last flag: the first segment gives a length of %d bytes, which take at most %d segments", t.total, n), "none"
	default:
		return
	}
	w.Detail = why(!t.mixed, whyTaps)
	v.report(d.p, w)
}

func segmentsOf(bytes, each uint32) uint32 { return (bytes + each - 1) / each }

// agrees reports whether a payload of total bytes takes n segments. Senders count the class header once or in each segment.
func agrees(total, n, header uint32) bool {
	return segmentsOf(total, room) == n || segmentsOf(total, room-header) == n || total >= header && segmentsOf(total-header, room-header) == n
}

// most is how many segments a payload of total bytes takes at most.
func most(total, header uint32) uint32 { return segmentsOf(total, room-header) }

// segmentRetransmitted judges a segment that is retransmitted (rule MAD-RMP-011).
func (v *Verifier) segmentRetransmitted(x *exchange, t *transfer, s *segment, d *datagram, sees bool) {
	p := d.p
	v.covered(rule.MADRMP011)
	w := rule.Verdict{Rule: rule.MADRMP011, Role: rule.Sender, Earlier: rule.Frame{Number: s.frame, Tap: s.tap}}
	switch {
	case s.crc != sum(d):
		// The receiver may have acknowledged the transfer and asked again under its transaction ID, and neither was recorded.
		w.Class, w.Detail = rule.Proven(sees), why(sees, whyTap)
		w.Expected, w.Actual = fmt.Sprintf("segment %d as originally sent", s.n), "other contents"
	case t.ended && d.response() && (x.done <= x.repeats || x.done > 1 && p.Time-t.endTime <= early):
		t.ended = x.done > x.repeats // it is of another answer, to the request that was repeated, or was in flight when that one ended
		return
	case t.ended:
		ok := sees && after(p.Time, t.endTime)
		w.Class, w.Detail = rule.Proven(ok), why(ok, whyTap)
		w.Expected, w.Actual = "no segment after the last one was acknowledged", fmt.Sprintf("segment %d retransmitted", s.n)
		w.Earlier = rule.Frame{Number: t.endFrame, Tap: t.endTap}
	default:
		return
	}
	v.report(p, w)
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
