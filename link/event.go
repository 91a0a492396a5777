package link

import "ibwitness/packet"

// Event is what a tap on a link saw: a data packet, a link packet or a change of the physical state of a port.
type Event struct {
	Time  int64 // nanoseconds since the Unix epoch
	Frame uint64
	Tap   uint16
	Way   packet.Way // WayOut: seen where it was sent
	Kind  Kind
	State uint8 // of Physical
	Mark  Mark
	FC    FlowControl    // of Packet, if Size is that of one
	Size  int            // bytes of the frame on the wire
	Data  *packet.Packet // of Data; nil where the frame has no room for an LRH. It is valid during the call
}
