package cq

import (
	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// Known is what events tell of a queue pair.
type Known struct {
	QP   hcaagent.QP
	Attr hcaagent.Attr
}

// Attributes returns what the events of a device tell of its queue pairs. A QPN that was used again is left out: its packets would be
// compared with the attributes of another connection.
func (a *Agent) Attributes(addr packet.Addr) (list []Known) {
	for _, q := range a.lives {
		if q.src.addr == addr && !addr.IsZero() && len(q.src.qps[q.qpn]) == 1 {
			list = append(list, Known{hcaagent.QP{Addr: addr, QPN: q.qpn}, q.onWire()})
		}
	}
	return list
}

// Attr returns what is known of the newest life of a queue pair of a device whose events come one by one.
func (a *Agent) Attr(qp hcaagent.QP) (hcaagent.Attr, bool) {
	if s := a.live[qp.Addr]; s != nil {
		if q := a.qp(s, qp.QPN); q != nil {
			return q.onWire(), true
		}
	}
	return hcaagent.Attr{}, false
}

// onWire is the attributes as far as packets show them.
func (q *queuePair) onWire() hcaagent.Attr {
	attr := q.attr
	attr.Service = q.service()
	if attr.PKey == 0 {
		attr.Known &^= hcaagent.KnowsPKey // known only by its index
	}
	attr.SQPSN &= packet.PSNMask
	attr.RQPSN &= packet.PSNMask
	return attr
}

// LifeAt reports whether a queue pair was there at a time and not in error, as far as events show. That takes a log with the clock of the packets, which
// goes on after that time, or a device whose events come one by one.
func (a *Agent) LifeAt(addr packet.Addr, qpn uint32, at int64) hcaagent.Life {
	for _, s := range a.sources {
		q := a.qp(s, qpn)
		if s.addr != addr || q == nil {
			continue
		}
		switch {
		case q.failed != nil || q.overrun != nil || q.gone && (!s.exact || q.died <= at): // that it failed may have shown late
			return hcaagent.Gone
		case !q.gone && q.state < hcaagent.RTR || !q.known || !s.exact || s.cut || a.live[addr] != s && s.newest < at:
			return hcaagent.LifeUnknown
		}
		return hcaagent.Alive
	}
	return hcaagent.LifeUnknown
}
