package gmp

import (
	"fmt"
	"hash/crc32"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// segment is one that was seen.
type segment struct {
	n, crc uint32
	frame  uint64
	tap    uint16
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
