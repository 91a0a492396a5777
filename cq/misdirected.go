package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// astray finds the queue pair that sends what comes to f.to, where events give it another destination: f.to is connected to it and the flow begins with its start PSN. It is
// taken to be connected to f.to from there on.
func (a *Agent) astray(f *Route, p packet.PSN, now int64) {
	to := f.to
	if to == nil || !to.connected() || to.attr.DestAddr != f.flow.Src || to.in.first.Seen() || f.from != nil && !f.from.unlike(to, p) {
		return
	}
	for _, s := range a.sources {
		if s.addr != f.flow.Src {
			continue
		}
		q := s.lifeAt(to.attr.DestQPN, now, f)
		if q == nil || q.typ != to.typ || !q.connected() || !q.attr.Has(qp.KnowsSQPSN) || q.attr.SQPSN != p || q.out.first.Seen() {
			continue
		}
		f.from = q
		return
	}
}

// unlike reports whether the first packet to a queue pair is rather not of q: that is connected to another one, and q starts at another PSN.
func (q *queuePair) unlike(to *queuePair, p packet.PSN) bool {
	return to.attr.DestQPN != q.qpn && q.attr.Has(qp.KnowsSQPSN) && q.attr.SQPSN != p && !q.out.first.Seen()
}

// connected reports whether it is known to which queue pair q was connected, in its first life.
func (q *queuePair) connected() bool {
	return q.known && !q.later && (q.typ == qp.TypeRC || q.typ == qp.TypeUC) && q.attr.Has(qp.KnowsDestQPN|qp.KnowsDestAddr)
}

// destination judges that a packet goes where the queue pair that sends it is connected to (rules BTH-011, ROC-V2-012).
func (a *Agent) destination(q *queuePair, k Flow, at PacketRef, role rule.Role) {
	if q == nil || !q.connected() {
		return
	}
	v := verdict{Verdict: rule.Verdict{Rule: rule.BTH011, Class: rule.Violation, Role: role}, at: at, event: q.wasRTR}
	switch {
	case q.attr.DestQPN != k.To:
		v.Expected, v.Actual = fmt.Sprintf("DestQP 0x%x, the peer that the queue pair was given", q.attr.DestQPN), fmt.Sprintf("DestQP 0x%x", k.To)
	case q.attr.DestAddr != k.Dst && !k.Dst.IsLID():
		v.Rule, v.Expected, v.Actual = rule.ROCV2012, fmt.Sprintf("a packet to %v, the address that the queue pair was given", q.attr.DestAddr), fmt.Sprintf("to %v", k.Dst)
	default:
		return
	}
	a.covered(v.Rule)
	a.accuse(q, v)
	q.attr.DestQPN, q.attr.DestAddr, q.sendsBy = k.To, k.Dst, k // as what it sends shows
	q.src.connects(q)
	a.changes++
}
