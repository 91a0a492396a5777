package gmp

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// pair is a requester and the port that it asks.
type pair struct{ from, to packet.Addr }

// peer is what a requester's exchanges with a port have taught.
type peer struct {
	pair           pair
	last           int64 // time of its newest datagram
	table          table
	asked          map[mad.Class]*asked
	unmatched      []unmatched
	unasked        []unmatched // responses to requests of which this pair knows nothing, for Reconcile
	waits          []waiting
	begun          int64      // time of its first datagram
	resp           [256]uint8 // RespTimeValue of the port plus one, by class; 0: not told
	redirections   map[mad.Class]redirection
	counters       map[counterKey]*counters
	smKey          uint64 // that the subnet administrator has answered to
	subscribed     []subscription
	pendingReports []pendingReport
	members        map[member]uint8     // JoinState
	groups         map[packet.Addr]bool // with the signature of the administrator's own, which it had before the requester gave their MGID
}

// maxPeers is of how many pairs something is remembered, and maxKnown how much of each kind for one.
const (
	maxPeers = 1 << 13
	maxKnown = 1 << 10
)

func (v *Verifier) peer(from, to packet.Addr) *peer {
	k := pair{from, to}
	if q := v.peers[k]; q != nil {
		q.last = v.now
		return q
	}
	if len(v.peers) >= maxPeers {
		v.evict()
	}
	q := &peer{pair: k, begun: v.now, last: v.now}
	v.peers[k] = q
	v.list = append(v.list, q)
	return q
}

// evict forgets the half of the pairs that has been silent for longest, after what they leave open is judged.
func (v *Verifier) evict() {
	slices.SortStableFunc(v.list, func(a, b *peer) int { return cmp.Compare(a.last, b.last) })
	silent := v.list[:len(v.list)/2]
	for _, q := range silent {
		v.end(q, v.now)
		delete(v.peers, q.pair)
	}
	v.list = slices.Clone(v.list[len(silent):])
}

// respTime is the RespTimeValue that the port has told for a class, and whether it has.
func (q *peer) respTime(c mad.Class) (uint8, bool) {
	if n := q.resp[c]; n > 0 {
		return n - 1, true
	}
	return 0, false
}

var (
	cpiBase  = mad.LayoutClassPortInfo.Field("baseVersion")
	cpiClass = mad.LayoutClassPortInfo.Field("classVersion")
	cpiResp  = mad.LayoutClassPortInfo.Field("respTimeValue")
	cpiGID   = mad.LayoutClassPortInfo.Field("redirectGID")
	cpiLID   = mad.LayoutClassPortInfo.Field("redirectLID")
	cpiQP    = mad.LayoutClassPortInfo.Field("redirectQP")
)

// attribute is the attribute of a datagram: where it begins depends on the class.
func (d *datagram) attribute() []byte {
	switch c := d.h.Class; {
	case c == mad.ClassSubnetAdmin:
		return d.part(mad.SAHeaderSize, mad.Size)
	case c == mad.ClassCM:
		return d.part(mad.HeaderSize, mad.Size)
	}
	return d.part(mad.PerformanceData, mad.Size)
}

// classPortInfo judges the answer to Get(ClassPortInfo), and learns the response time of the class.
func (v *Verifier) classPortInfo(x *exchange, d *datagram) {
	if x.h.Method != mad.Get {
		return
	}
	v.covered(rule.MADCPI001)
	s, b := d.status(), d.attribute()
	expected, actual, ok := "", "", true
	switch c := s.Code(); {
	case c != 0 && !definedClass(d.h.Class):
		return
	case c == mad.StatusMethod || c == mad.StatusAttribute:
		expected, actual, ok = "ClassPortInfo, which every class has", s.Text(d.h.Class), d.h.Class == mad.ClassPerformance // which every port has
	case s != 0 || len(b) < mad.LayoutClassPortInfo.Size:
		return
	case cpiBase.Uint(b) != 1 || uint8(cpiClass.Uint(b)) != d.h.ClassVersion:
		expected = fmt.Sprintf("base version 1 and class version %d, as in the header", d.h.ClassVersion)
		actual = fmt.Sprintf("base version %d and class version %d", cpiBase.Uint(b), cpiClass.Uint(b))
	}
	if expected != "" {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADCPI001, Class: rule.Proven(ok), Role: rule.Responder, Earlier: rule.Frame{Number: x.frame, Tap: x.tap}, Expected: expected, Actual: actual,
			Detail: why(ok, "the port may not have the class"),
		})
		return
	}
	v.peer(x.pair.from, x.pair.to).resp[d.h.Class] = uint8(cpiResp.Uint(b)) + 1
}

// redirection is where a port has sent the requests of a class.
type redirection struct {
	lid   uint16
	qp    uint32
	frame uint64
	tap   uint16
}

// redirect judges a response that sends the requester elsewhere.
func (v *Verifier) redirect(d *datagram) {
	v.covered(rule.MADRED001)
	b := d.attribute()
	to := redirection{uint16(cpiLID.Uint(b)), uint32(cpiQP.Uint(b)), d.p.Frame, d.p.Tap}
	if len(b) < mad.LayoutClassPortInfo.Size {
		return
	}
	if d.h.Attribute != mad.AttrClassPortInfo || to.qp == 0 || to.lid == 0 && zero(cpiGID.Bytes(b)) {
		v.report(d.p, rule.Verdict{
			Rule: rule.MADRED001, Class: rule.Violation, Role: rule.Responder,
			Expected: "ClassPortInfo with the QP and the LID or GID of the redirection", Actual: fmt.Sprintf("%s, QP 0x%x, LID 0x%04x", d.h.AttributeName(), to.qp, to.lid),
		})
		return
	}
	q := v.peer(d.p.Dst, d.p.Src)
	if q.redirections == nil {
		q.redirections = map[mad.Class]redirection{}
	}
	q.redirections[d.h.Class] = to
}

// redirected judges a request of a class that the port has sent elsewhere.
func (v *Verifier) redirected(d *datagram) {
	to, ok := v.peer(d.p.Src, d.p.Dst).redirections[d.h.Class]
	if !ok || d.h.Attribute == mad.AttrClassPortInfo {
		return
	}
	v.covered(rule.MADRED001)
	if d.p.DestQP == to.qp {
		return
	}
	v.report(d.p, rule.Verdict{
		Rule: rule.MADRED001, Class: rule.Violation, Role: rule.Requester, Earlier: rule.Frame{Number: to.frame, Tap: to.tap},
		Expected: fmt.Sprintf("the request at QP 0x%x, LID 0x%04x, to which the class was redirected", to.qp, to.lid), Actual: fmt.Sprintf("to QP 0x%x", d.p.DestQP),
	})
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
