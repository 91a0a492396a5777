package ladder

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// Flow is the two ends of the connection that a finding is about. The number of a queue pair may be unknown; packets to it then do not belong.
type Flow [2]rule.Endpoint

// FlowOf returns what a finding says of its connection.
func FlowOf(f *rule.Finding) Flow { return Flow{f.Accused, f.Peer} }

// Way returns which end of the flow sent a packet, and false where the packet is not of the flow.
func (w Flow) Way(p *packet.Packet) (from int, ok bool) {
	if p.Has&packet.HasBTH == 0 {
		return 0, false
	}
	for from := range w {
		a, b := &w[from], &w[1-from]
		if p.Src != a.Addr || p.Dst != b.Addr || !b.QPNKnown || p.DestQP != b.QPN {
			continue
		}
		if p.Has&packet.HasDETH != 0 && a.QPNKnown && p.SrcQP != a.QPN {
			continue
		}
		return from, true
	}
	return 0, false
}

// sender returns the end that a packet of the finding comes from, be it of the flow or not: one with a wrong address is not.
func (w Flow) sender(p *packet.Packet) int {
	if from, ok := w.Way(p); ok {
		return from
	}
	switch {
	case p.Src == w[0].Addr:
		return 0
	case p.Src == w[1].Addr:
		return 1
	case p.Dst == w[0].Addr:
		return 1
	}
	return 0
}

// is reports whether an end of the flow is an endpoint.
func (w Flow) is(end int, e rule.Endpoint) bool {
	o := &w[end]
	return o.Addr == e.Addr && (!o.QPNKnown || !e.QPNKnown || o.QPN == e.QPN)
}

// Complete fills in a number that the finding did not know from the two ends of a connection, where they can only be its.
func (w *Flow) Complete(ends Flow) bool {
	if w[0].QPNKnown && w[1].QPNKnown {
		return true
	}
	for turn := range ends {
		a, b := ends[turn], ends[1-turn]
		if w[0].Addr != a.Addr || w[1].Addr != b.Addr || !a.QPNKnown || !b.QPNKnown ||
			w[0].QPNKnown && w[0].QPN != a.QPN || w[1].QPNKnown && w[1].QPN != b.QPN || !w[0].QPNKnown && !w[1].QPNKnown {
			continue
		}
		w[0].QPN, w[0].QPNKnown, w[1].QPN, w[1].QPNKnown = a.QPN, true, b.QPN, true
		return true
	}
	return false
}
