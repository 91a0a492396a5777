package cm

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
)

// spoke reports whether a queue pair has sent requests, all of them before a time, as far as the disorder of captures lets one say.
func spoke(q *qp.QP, before int64) bool {
	return q.SQ.Joined && !q.SQ.Fresh && q.SQ.Last.Time+slack < before
}

// requestBeforeRTU judges what was sent before the first RTU (rule CM-SM-016): the passive side waits for the RTU, or for a request.
func (v *Verifier) requestBeforeRTU(m *message, x *exchange) {
	v.staleAnswer(m, x, passive, "RTU")
	c, end, ok := v.connection(x)
	if !ok {
		return
	}
	v.covered(rule.CMSM016)
	a, b := &c.Ends[end], &c.Ends[1-end]
	switch {
	case spoke(a, m.Time):
		v.accuse(m, rule.CMSM016, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "the RTU before the first request", Actual: "a request before the RTU", Evidence: []uint64{a.SQ.Last.Frame},
			Detail: unless(m.sees[sender], "the tap may have missed an earlier RTU"),
		})
	case spoke(b, m.Time) && a.SQ.Fresh:
		v.accuseOther(m, rule.CMSM016, rule.Proven(m.sees[receiver]), rule.Verdict{
			Expected: "no request of the passive side before the RTU", Actual: "a request before the RTU", Evidence: []uint64{b.SQ.Last.Frame},
			Detail: unless(m.sees[receiver], "the tap may have missed an earlier RTU"),
		})
	}
}

// requestBeforeREP judges a request that the passive side sent before its REP (rule CM-SM-016): to the queue pair that the REQ names, and from the PSN on
// that it names, as nobody else does.
func (v *Verifier) requestBeforeREP(m *message, x *exchange) {
	p, ok := v.First(qpOf(x, active), x.key.passive)
	if !x.asked || !ok || p.PSN != x.psn[active] || !p.Info().Request || p.Time <= x.req.first || m.Time-p.Time <= slack {
		return
	}
	v.covered(rule.CMSM016)
	d := rule.Verdict{
		Rule: rule.CMSM016, Class: rule.Proven(m.sees[sender]), Role: rule.Requester,
		Expected: "no request of the passive side before the RTU", Actual: "a request before its REP", Evidence: []uint64{x.req.frame, m.Frame},
		Detail: unless(m.sees[sender], "the two may have been reordered by the network"),
	}
	f := d.On(&p, rule.Endpoint{Addr: m.Src, QPN: x.qpn[passive], QPNKnown: true}, rule.Endpoint{Addr: m.Dst, QPN: p.DestQP, QPNKnown: true})
	f.Assumes = rule.AssumesNear
	v.Rec.Add(f)
}

// atEnd judges, at its end, an exchange of which something is missing: an RTU although requests were sent (rule CM-SM-016), a REP
// although there was an RTU, or the REQ of a REP (rule CM-SM-001).
func (v *Verifier) atEnd(x *exchange) {
	if x.reject.happened() || x.told&toldEarly != 0 {
		return
	}
	if !x.asked {
		v.missingREQ(x)
		return
	}
	d := deadline{side: active, tap: x.req.tap}
	if !x.rep.sent() {
		if x.early.happened() && x.once(toldEarly) {
			d.seen, d.psn = x.early, x.earlyPSN
			v.accused(x, &d, rule.CMSM001, "a REP before the RTU", "an RTU without a REP", nil, true)
		}
		return
	}
	c, end, ok := v.connection(x)
	if x.rtu.happened() || !ok || c.Ends[end].SQ.Fresh || !c.Ends[end].SQ.Joined || !x.once(toldEarly) {
		return
	}
	d.seen, d.psn = seen{x.rep.time, x.rep.frame}, x.rep.psn
	v.covered(rule.CMSM016)
	v.accused(x, &d, rule.CMSM016, "an RTU before the first request", "none", []uint64{c.Ends[end].SQ.Last.Frame}, true)
}

// missingREQ judges, at its end, an exchange whose REP was seen, while its REQ was not (rule CM-SM-001). The REQ may be as old as an MRA allows.
func (v *Verifier) missingREQ(x *exchange) {
	if !x.rep.sent() || x.rep.first-v.Since(x.key.active, x.key.passive) <= hold || v.unjudgedFrom(x, active) || !x.once(toldEarly) {
		return
	}
	v.covered(rule.CMSM001)
	d := deadline{side: passive, seen: seen{x.rep.time, x.rep.frame}, psn: x.rep.psn, tap: x.rep.tap}
	v.accused(x, &d, rule.CMSM001, "a REQ before the REP", "a REP without a REQ", nil, false)
}

// established judges a REP that is retransmitted although the active side's requests have been answered, which tells as much as an RTU (rule CM-SM-010).
func (v *Verifier) established(m *message, x *exchange) {
	c, end, ok := v.connection(x)
	if !ok || x.rep.excused > 0 {
		return
	}
	v.covered(rule.CMSM010)
	if r := c.RQ(1 - end); !x.rtu.happened() && r.Last.Positive && r.Last.Time+slack < m.Time {
		v.accuse(m, rule.CMSM010, rule.Proven(m.sees[sender] || m.Time-r.Last.Time > crossing), rule.Verdict{
			Expected: "no further REP: a request has arrived, which counts as the RTU", Actual: "a retransmitted REP",
			Evidence: []uint64{m.Frame&^0xFFFFFFFF | uint64(r.Last.Frame)}, Detail: fmt.Sprintf("the passive side had responded to the request %s before", rule.Span(m.Time-r.Last.Time)),
		})
	}
}
