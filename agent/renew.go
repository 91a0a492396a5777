package agent

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// renew begins a connection anew where its PSN stream goes on from another start, or elsewhere after a long silence: one of its QPs was
// destroyed, and the packets belong to another one that has the same number. Nothing that was known of the old one holds, not even who its
// peer is. first, which end from sent, is the first of those packets.
func (t *Transport) renew(c *qp.Pair, from int, first *packet.Packet, host, dir uint32) (uint32, *connection) {
	key := flowKey(host, dir, first.DestQP)
	t.match.Forget(t.flows.find(key, 0).way >> 1)
	t.ver.Reconnected(c, from, first)
	if c.Ends[from].Numbered {
		b := *first
		b.Src, b.Dst, b.SGID, b.DGID, b.DestQP = first.Dst, first.Src, first.DGID, first.SGID, c.Ends[from].Number
		back := reverse(b.Dst, b.Src, dir)
		t.newConnection(&b, host, back, flowKey(host, back, b.DestQP))
	}
	return t.newConnection(first, host, dir, key)
}

// renewed does so for a packet that was counted for its old connection, and verifies it. It reports false where the connection goes on.
func (t *Transport) renewed(c *qp.Pair, from int, p *packet.Packet) bool {
	host, dir := t.hosts.find(p.Src, p.Dst)
	old := t.flows.find(flowKey(host, dir, p.DestQP), 0)
	if old == nil || &old.c.Pair != c || old.c.learned == ByAgent {
		return false
	}
	c.Ends[from].Sums.Remove(p)
	switch stray, answered := c.Ends[from].SQ.Stray, c.Ends[1-from].SQ.Stray; {
	case stray != nil:
		c.Ends[from].Sums.Remove(stray)
		t.renew(c, from, stray, host, dir)
		t.follow(stray, host, dir)
	case answered != nil:
		c.Ends[1-from].Sums.Remove(answered)
		t.renew(c, 1-from, answered, host, reverse(p.Src, p.Dst, dir))
		t.follow(answered, host, reverse(p.Src, p.Dst, dir))
	default:
		t.renew(c, from, p, host, dir)
	}
	c.Ends[0].SQ.Stray, c.Ends[1].SQ.Stray = nil, nil
	t.follow(p, host, dir)
	return true
}

// follow verifies a packet of a connected service whose headers have been judged.
func (t *Transport) follow(p *packet.Packet, host, dir uint32) {
	f := t.flows.find(flowKey(host, dir, p.DestQP), 0)
	id, c := f.way, f.c
	if !c.Paired && c.Reliable() {
		id, c = t.pair(c, id, p, host, dir)
	}
	from := int(id & 1)
	c.plays(from, p)
	t.count(c, from, p)
	t.ver.Flow(&c.Pair, from, p)
	t.services[c.Service].packet(c, from, p)
	c.Unlean()
}
