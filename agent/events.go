package agent

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// completions is the completion queue agent, made with the first event.
func (t *Transport) completions() *cq.Agent {
	if t.queues == nil {
		t.queues = cq.New(&t.Rec, func(a packet.Addr) bool { return t.near[a] })
		t.ver.LifeAt = t.queues.LifeAt
	}
	return t.queues
}

// Log takes over a log of verbs events, all that it has, before the first packet.
func (t *Transport) Log(l *hcaagent.Log) {
	a := t.completions()
	a.Log(l)
	for _, q := range a.Attributes(l.Addr) {
		t.Attributes(q.QP.Addr, q.QP.QPN, q.Attr)
	}
	if l.More != nil {
		t.live = append(t.live, l)
	}
}

// catchUp takes the events that have come since, of devices that are at work.
func (t *Transport) catchUp() {
	for _, l := range t.live {
		for _, e := range l.More() {
			t.Event(e)
		}
	}
}

// Event takes a verbs event of the device that its QP.Addr names, in the order of packets and events: its clock is that of the packets.
func (t *Transport) Event(e *hcaagent.Event) {
	t.completions().Event(e)
	if e.Kind != hcaagent.EvModifyQP || e.Failed || e.State != hcaagent.RTS && e.State != hcaagent.RTR {
		return
	}
	attr, ok := t.queues.Attr(e.QP)
	if !ok {
		return
	}
	fresh := t.fresh[e.QP] || e.Attr != nil && e.Attr.Has(hcaagent.KnowsSQPSN)
	if t.Attributes(e.QP.Addr, e.QP.QPN, attr); !fresh {
		delete(t.fresh, e.QP) // it comes back to RTS, and goes on with its PSNs
	}
}

// observed verifies a packet and lets the completion queue agent see it.
func (t *Transport) observed(p *packet.Packet) {
	before := t.repeated
	t.packet(p)
	if t.repeated == before {
		t.queues.Packet(p)
	}
}

// judgeEvents holds work requests and completions against the packets, at the end.
func (t *Transport) judgeEvents(end int64) {
	if t.queues != nil {
		t.queues.Lossy = t.lossy
		t.queues.Finish(end)
	}
}
