package connection

import (
	"ibwitness/packet"
)

// Belongs reports whether a packet is of the service of the connection whose QP it names. A single packet of another service is a
// wrong opcode (rule BTH-004); when the next one is of that service too, the QP number was taken over, and WrongService is nil again.
func (t *Table) Belongs(c *Connection, from int, p *packet.Packet) bool {
	was := c.WrongService
	c.SetWrongService(nil)
	switch s := p.Opcode.Service(); {
	case s == c.Service && c.maySend(from, p):
		if was != nil {
			t.Judge.WrongService(&c.Pair, was, p.Frame)
		}
		return true
	case was != nil && was.Opcode.Service() == s:
		if t.beginsAsOther(c, was, p) || was.DestQP == p.DestQP {
			return false
		}
	}
	b := *p
	b.Payload, b.Pad, b.Data = nil, nil, nil
	c.SetWrongService(&b)
	t.Judge.Unfollowed(p)
	return false
}

// beginsAsOther reports that a connection which CM has announced begins with packets of another service: nobody else begins at the PSN that CM named.
func (t *Table) beginsAsOther(c *Connection, was, p *packet.Packet) bool {
	q := &c.Ends[c.End(was)].SQ
	if c.PairedBy != ByCM || c.Closed || !q.Fresh || q.Next != was.PSN || !was.Info().Request {
		return false
	}
	t.Judge.WrongService(&c.Pair, was, p.Frame)
	return true
}
