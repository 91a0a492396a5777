package cm

import (
	"fmt"
	"hash/maphash"

	"ibwitness/packet"
	"ibwitness/rule"
)

var seed = maphash.MakeSeed()

// digest is a hash of the content of a message.
func digest(b []byte) uint64 { return maphash.Bytes(seed, b) }

// begin notes a message that is sent for the first time.
func (s *sending) begin(m *message) {
	*s = sending{
		tid: m.h.TID, digest: digest(m.b), time: m.Time, first: m.Time, timer: m.Time, frame: m.Frame, psn: m.PSN, tap: m.Tap, ipid: m.IPID, times: 1, cut: m.Cut,
	}
}

// copied reports whether m is a copy of the newest of s that the network made.
func (s *sending) copied(m *message) bool {
	if m.Encap == packet.RoCEv2IPv4 && m.IPID != 0 {
		return s.ipid == m.IPID && m.Time-s.time < crossing && s.same(m)
	}
	return m.Time-s.time < slack && s.psn == m.PSN && s.same(m)
}

// excuse notes that the other side gave cause to retransmit it.
func (s *sending) excuse() { s.excused = min(s.excused+1, 100) }

func (s *sending) same(m *message) bool { return s.cut || m.Cut || s.digest == digest(m.b) }

// retransmission judges a message that side retransmits (rules CM-SM-002, -003, -004, -006). limit is how often it may: negative, not known. sure
// says that it is proven to be the same one.
func (v *Verifier) retransmission(x *exchange, side int, s *sending, m *message, limit int, sure bool) {
	name := m.h.AttributeName()
	class := rule.Proven(m.sees[sender])
	v.covered(rule.CMSM002)
	if !s.same(m) {
		v.accuse(m, rule.CMSM002, rule.Proven(sure), rule.Verdict{
			Expected: "the " + name + " as originally sent", Actual: "other content", Evidence: []uint64{s.frame}, Detail: unless(sure, unended),
		})
	}
	v.retransmissionTime(x, side, s, m, class)
	if s.excused == 0 {
		s.times, s.timer = s.times+1, m.Time
	} else {
		s.excused--
		s.again++
	}
	if limit >= 0 {
		v.covered(rule.CMSM003)
		if int(s.times) > limit+1 {
			v.accuse(m, rule.CMSM003, class, rule.Verdict{
				Expected: fmt.Sprintf("at most %d retransmissions of the %s", limit, name), Actual: fmt.Sprintf("retransmission %d", s.times-1), Evidence: []uint64{s.frame},
			})
		}
	}
	s.time, s.frame, s.ipid = m.Time, m.Frame, m.IPID
}

// retransmissionTime judges how long side waited before it retransmitted a message.
func (v *Verifier) retransmissionTime(x *exchange, side int, s *sending, m *message, class rule.Class) {
	if s.excused > 0 {
		return
	}
	name := m.h.AttributeName()
	if p := x.mra[1-side]; p.time > s.time && x.mraTimeout[1-side] > 0 {
		v.covered(rule.CMSM006)
		switch waited := m.Time - p.time; {
		case waited >= lenient(x.mraTimeout[1-side]):
			return
		case waited > crossing:
			v.accuse(m, rule.CMSM006, class, rule.Verdict{
				Expected: fmt.Sprintf("no %s within the %s that the MRA requested", name, rule.Span(x.mraTimeout[1-side])), Actual: "after " + rule.Span(waited),
				Evidence: []uint64{p.frame},
			})
			return
		}
	}
	if wait := x.timeout[1-side]; wait > 0 {
		v.covered(rule.CMSM004)
		if s == &x.rep && m.Time-v.Since(m.Src, m.Dst) < wait {
			return // an earlier one may have been sent before the capture began
		}
		if waited := m.Time - s.timer; waited < lenient(wait) {
			v.accuse(m, rule.CMSM004, class, rule.Verdict{
				Expected: fmt.Sprintf("no retransmission of the %s within %s", name, rule.Span(wait)), Actual: "after " + rule.Span(waited), Evidence: []uint64{s.frame},
			})
		}
	}
}

// lenient is how long a sender must have waited at least: many round a time of 4.096 µs · 2^code to 2^(code-8) ms.
func lenient(wait int64) int64 { return wait / 8 * 7 }
