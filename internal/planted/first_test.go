package planted

import "ibwitness/packet"

// firstFaults are faults in the first packet of a connection that nothing is known of: 10.77.0.2 sends the WRITEs of frames 1, 4 and so on.
var firstFaults = []fault{
	{"DestQP of the first request", 1, Set(func(p *packet.Packet) { p.DestQP += 0x111 }), "BTH-011", "UV", "", 0, ""},
}
