package agent

import (
	"math"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// completions is the completion queue agent, made with the first event.
func (t *Transport) completions() *cq.Agent {
	if t.queues == nil {
		t.queues = cq.New(&t.Rec, func(a packet.Addr) bool { return t.near[a] })
		t.queues.Lossy = t.lossy
		t.ver.LifeAt = t.queues.LifeAt
	}
	return t.queues
}

// Log takes over a log of verbs events, before the first packet. Each event is taken before the first packet that is later.
func (t *Transport) Log(l *hcaagent.Log) {
	t.logs.add(l)
	t.sources = append(t.sources, t.completions().Source(l.Name, l.Addr, l.Exact))
}

// eventsUpTo takes the events of the logs that come before a packet of time now.
func (t *Transport) eventsUpTo(now int64) {
	if len(t.logs.list) == 0 {
		return
	}
	due := t.logs.upTo(now)
	for i := range due {
		t.event(t.sources[due[i].log], due[i].Event)
	}
}

// Event takes a verbs event of the device that its QP.Addr names, in the order of packets and events: its clock is that of the packets.
func (t *Transport) Event(e *cq.Event) { t.event(t.completions().Device(e.QP.Addr), e) }

// event takes an event of a device.
func (t *Transport) event(s *cq.Source, e *cq.Event) {
	s.Named(e.QP.Addr)
	t.queues.Event(s, e)
	switch {
	case e.QP.Addr.IsZero() || e.Failed:
		return
	case e.Kind == cq.EvCreateQP && s.Reused(e.QP.QPN):
		t.unknow(e.QP)
		return
	case e.Kind != cq.EvModifyQP || e.State != qp.RTS && e.State != qp.RTR || s.Reused(e.QP.QPN):
		return
	}
	attr, ok := t.queues.Attr(s, e.QP.QPN)
	if !ok {
		return
	}
	fresh := t.fresh[e.QP] || e.Attr != nil && e.Attr.Has(qp.KnowsSQPSN)
	if t.Attributes(e.QP.Addr, e.QP.QPN, attr); !fresh {
		delete(t.fresh, e.QP) // it comes back to RTS, and goes on with its PSNs
	}
}

// observed verifies a packet and lets the completion queue agent see it.
func (t *Transport) observed(p *packet.Packet) {
	t.eventsUpTo(p.Time)
	before := t.repeated
	t.packet(p)
	if t.repeated == before {
		t.queues.Packet(p)
	}
}

// judgeEvents holds work requests and completions against the packets, at the end.
func (t *Transport) judgeEvents(end int64) {
	if t.queues != nil {
		t.eventsUpTo(math.MaxInt64)
		for i, s := range t.sources {
			s.End(t.logs.list[i].Cut)
		}
		t.queues.Finish(end)
	}
}
