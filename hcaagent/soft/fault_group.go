package soft

import "ibwitness/packet"

// Faults of multicast groups, of address handles and of the bytes before a datagram in memory.
var _ = faults(map[string]*Fault{
	"multicast-missed":       {Text: "does not hand a datagram to a queue pair that has joined its group", Rule: "UD-MC-003", Service: packet.UD, Verbs: true, Responder: true, Needs: Multicast},
	"multicast-twice":        {Text: "hands a datagram to a group out twice", Rule: "UD-MC-003", Service: packet.UD, Verbs: true, Responder: true, Needs: Multicast},
	"multicast-unattached":   {Text: "hands a datagram to a queue pair that has not joined its group", Rule: "UD-MC-003", Service: packet.UD, Verbs: true, Responder: true, Needs: Multicast},
	"multicast-to-all":       {Text: "sends a datagram to a group to the MAC address of all stations", Rule: "ROC-V2-033", Service: packet.UD, Needs: Multicast},
	"address-handle-ignored": {Text: "leaves out the traffic class and hop limit of an address handle", Rule: "UD-AH-001", Service: packet.UD, Verbs: true, Needs: Handle},
	"datagram-other-port":    {Text: "sends a datagram to another port than its address handle says", Rule: "UD-AH-001", Service: packet.UD, Verbs: true, Needs: Handle, match: anySend, spoil: func(p *packet.Packet) { p.Dst.Lo ^= 0x40 }},
	"grh-not-reserved":       {Text: "puts a datagram to the beginning of the memory", Rule: "UD-GRH-001", Service: packet.UD, Verbs: true, Responder: true},
	"grh-ipv4-first":         {Text: "puts the IPv4 header of a datagram to the beginning of the memory", Rule: "UD-GRH-003", Service: packet.UD, Verbs: true, Responder: true},
})
