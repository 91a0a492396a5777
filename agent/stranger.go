package agent

import (
	"ibwitness/packet"
)

// belongs reports whether a packet is of the service of the connection whose QP it names. A single packet of another service is a
// wrong opcode (rule BTH-004); when the next one is of that service too, the QP number was taken over, and Stranger is nil again.
func (t *Transport) belongs(c *connection, from int, p *packet.Packet) bool {
	was := c.Stranger
	c.Stranger = nil
	switch s := p.Opcode.Service(); {
	case s == c.Service && c.plays(from, p):
		if was != nil {
			t.ver.Stranger(&c.Pair, was, p.Frame)
		}
		return true
	case was != nil && was.Opcode.Service() == s && was.DestQP == p.DestQP:
		return false
	}
	b := *p
	b.Payload, b.Pad, b.Data = nil, nil, nil
	c.Stranger = &b
	t.ver.Unfollowed(p)
	return false
}
