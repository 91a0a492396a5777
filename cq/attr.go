package cq

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// Attr returns what is known of the newest life of a queue pair.
func (a *Agent) Attr(s *Source, qpn uint32) (qp.Attr, bool) {
	if q := a.qp(s, qpn); q != nil {
		return q.onWire(), true
	}
	return qp.Attr{}, false
}

// onWire is the attributes as far as packets show them.
func (q *queuePair) onWire() qp.Attr {
	attr := q.attr
	attr.Service = q.service()
	if attr.PKey == 0 {
		attr.Known &^= qp.KnowsPKey // known only by its index
	}
	attr.SQPSN &= packet.PSNMask
	attr.RQPSN &= packet.PSNMask
	return attr
}

// LifeAt reports whether a queue pair was there at a time and not in error, as far as events show. That takes a log with the clock of the packets, which
// goes on after that time, or a device whose events come one by one.
func (a *Agent) LifeAt(addr packet.Addr, qpn uint32, at int64) qp.Life {
	for _, s := range a.sources {
		q := a.qp(s, qpn)
		if s.addr != addr || q == nil {
			continue
		}
		switch {
		case q.failed != nil || q.overrun != nil || q.gone && (!s.exact || q.died <= at): // that it failed may have shown late
			return qp.Gone
		case !q.gone && q.state < qp.RTR || !q.known || !s.exact || s.cut || s.ended && s.newest < at:
			return qp.LifeUnknown
		}
		return qp.Alive
	}
	return qp.LifeUnknown
}
