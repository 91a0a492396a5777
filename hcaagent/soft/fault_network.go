package soft

import "ibwitness/packet"

// Faults of what a device takes below the BTH, which no right peer gives the occasion for: conformance tests show them.
var _ = faults(map[string]*Fault{
	"ipv6-missing":      {Text: "takes no packet over IPv6", Responder: true, Needs: Tester},
	"udp-port-ignored":  {Text: "takes a packet to another UDP port than 4791", Responder: true, Needs: Tester},
	"ip-version-taken":  {Text: "takes a packet whose IP version is neither 4 nor 6", Responder: true, Needs: Tester},
	"qp0-taken":         {Text: "takes a packet to QP 0 on RoCE", Responder: true, Needs: Tester},
	"gid-type-ignored":  {Text: "takes a packet of the other version of RoCE for a connection", Responder: true, Needs: Tester},
	"dgid-ignored":      {Text: "takes a packet to another GID of its port for a connection, and on a native link to one that it does not have", Responder: true, Needs: Tester},
	"ud-one-version":    {Text: "takes no datagram of RoCEv1", Service: packet.UD, Responder: true, Needs: Tester},
	"ipver-taken":       {Text: "takes a GRH whose IP version is not 6", Responder: true, Needs: Tester},
	"next-header-taken": {Text: "takes a GRH whose next header is not that of IBA transport", Responder: true, Needs: Tester},
	"paylen-ignored":    {Text: "takes a GRH whose payload length is wrong", Responder: true, Needs: Tester},
	"grh-ignored":       {Text: "takes a packet without a GRH where the address vector is global, and one with it where it is local", Responder: true, Needs: Tester},
	"lid-unchecked":     {Text: "takes a packet to another LID, and one from a multicast LID", Service: packet.UD, Responder: true, Needs: Tester},
	"raw-taken":         {Text: "takes a raw packet for one of IBA transport", Service: packet.UD, Responder: true, Needs: Tester},
	"grh-missing":       {Text: "sends no GRH where its address vector is global", Rule: "NET-GRH-006", Needs: Tester, match: anySend, spoil: withoutGRH},
	"cnp-acknowledged":  {Text: "acknowledges a CNP", Needs: Tester},
	"flow-label":        {Text: "sends another flow label than its address vector has", Needs: Tester, match: anySend, spoil: func(p *packet.Packet) { p.FlowLabel ^= 1 }},
	"rate-stays":        {Text: "stays slow when no CNPs come any more", Needs: Tester},
	"rate-kept":         {Text: "sends no slower for CNPs", Needs: Tester},
})

// withoutGRH takes the GRH out of a packet on a native link.
func withoutGRH(p *packet.Packet) {
	if p.Has&packet.HasLRH != 0 {
		p.Has, p.LNH = p.Has&^packet.HasGRH, packet.LNHLocal
		p.FitLengths()
	}
}

// decodesRaw takes a raw packet apart as if it were one of IBA transport, where the fault has the device take it.
func (h *HCA) decodesRaw(p *packet.Packet, frame []byte) bool {
	if p.LNH >= packet.LNHLocal || !h.breaks("raw-taken") {
		return true
	}
	b := append([]byte(nil), frame...)
	b[1] = b[1]&^3 | packet.LNHLocal
	return packet.DecodeInfiniBand(p, b, len(b))
}

// decodesOdd takes a frame apart that no receiver takes for RoCEv2, where the fault has the device take it.
func (h *HCA) decodesOdd(p *packet.Packet, frame []byte) bool {
	b := frame[etherSize:]
	if h.fault.is == nil || !packet.DecodeOffPort(p, b, len(b)) {
		return false
	}
	flaw := p.Flaws
	p.Flaws = 0
	return flaw == packet.FlawPort && h.breaks("udp-port-ignored") || flaw == packet.FlawVersion && h.breaks("ip-version-taken")
}

// excuses reports whether the device takes a packet although its headers contradict themselves.
func (q *queuePair) excuses(p *packet.Packet) bool {
	switch p.Flaws {
	case packet.FlawVersion:
		return q.h.breaks("ipver-taken")
	case packet.FlawNextHeader:
		return q.h.breaks("next-header-taken")
	case packet.FlawLRHLength:
		return q.h.breaks("paylen-ignored")
	}
	return false
}

// anyOf is the first queue pair of the service of a packet.
func (h *HCA) anyOf(p *packet.Packet) *queuePair {
	for _, x := range h.sorted() {
		if x.service == p.Opcode.Service() {
			return x
		}
	}
	return nil
}
