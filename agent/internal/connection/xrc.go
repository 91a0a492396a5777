package connection

import "ibwitness/packet"

// maySend reports whether end from of a connection may send a packet: on XRC one end sends all requests, the other all responses. Which is
// which, the first packet says. A single one that says otherwise is wrong; see belongs.
func (c *Connection) maySend(from int, p *packet.Packet) bool {
	in := p.Info()
	if c.Service != packet.XRC || !in.Request && !in.Response {
		return true
	}
	initiator := from
	if in.Response {
		initiator = 1 - from
	}
	if c.state&(initiator0|initiator1) == 0 {
		c.state |= initiator0 << initiator
	}
	return c.state&(initiator0<<initiator) != 0
}
