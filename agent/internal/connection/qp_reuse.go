package connection

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// reuse begins a connection again where its PSN stream goes on from another start, or elsewhere after a long silence: one of its QPs was
// destroyed, and the packets belong to another one that has the same number. Nothing that was known of the old one holds, not even who its
// peer is. first, which end from sent, is the first of those packets.
func (t *Table) reuse(c *qp.Pair, from int, first *packet.Packet, host, dir uint32) (uint32, *Connection) {
	key := flowKey(host, dir, first.DestQP)
	t.match.Forget(t.flows.find(key, 0).way >> 1)
	t.Judge.Reconnected(c, from, first)
	c.Ends[from].Reused = true
	if c.Ends[from].Numbered {
		b := *first
		b.Src, b.Dst, b.SGID, b.DGID, b.DestQP = first.Dst, first.Src, first.DGID, first.SGID, c.Ends[from].Number
		back := reverse(b.Dst, b.Src, dir)
		t.newConnection(&b, host, back, flowKey(host, back, b.DestQP))
	}
	return t.newConnection(first, host, dir, key)
}

// Reused does so for a packet that was counted for its old connection, and verifies it. It reports false where the connection goes on.
func (t *Table) Reused(c *qp.Pair, from int, p *packet.Packet) bool {
	host, dir := t.hosts.find(p.Src, p.Dst)
	old := t.flows.find(flowKey(host, dir, p.DestQP), 0)
	if old == nil || &t.pairs.at(old.way>>1).Pair != c || t.pairs.at(old.way>>1).PairedBy == ByAgent || t.follows(&c.Ends[from], p.Time) || t.follows(&c.Ends[1-from], p.Time) {
		return false
	}
	c.Ends[from].UncountPacket(p)
	switch stray, answered := c.Ends[from].SQ.Jump, c.Ends[1-from].SQ.Jump; {
	case stray != nil:
		t.reuseAtJump(c, from, host, dir)
	case answered != nil:
		t.reuseAtJump(c, 1-from, host, reverse(p.Src, p.Dst, dir))
	default:
		t.reuse(c, from, p, host, dir)
	}
	t.follow(p, host, dir)
	return true
}

// follows reports whether the verbs events of an end reach up to time at, and tell of no other life of its queue pair.
func (t *Table) follows(e *qp.QP, at int64) bool {
	if !e.Numbered || !e.Knows(qp.KnowsSQPSN) {
		return false
	}
	f := t.resolved[attrKey{qp: wqe.QP{Addr: e.Addr, QPN: e.Number}}]
	return f != nil && &f.Attr == e.Attr && t.Judge.LifeAt(e.Addr, e.Number, at) == qp.Alive
}

// reuseAtJump begins a connection again with the requests of end from that are far from their stream.
func (t *Table) reuseAtJump(c *qp.Pair, from int, host, dir uint32) {
	requests := slices.Clone(c.Ends[from].SQ.JumpRequests())
	for i := range requests {
		c.Ends[from].UncountPacket(&requests[i])
	}
	t.reuse(c, from, &requests[0], host, dir)
	c.Ends[0].SQ.CloseJump()
	c.Ends[1].SQ.CloseJump()
	for i := range requests {
		t.follow(&requests[i], host, dir)
	}
}

// reuseElsewhere begins the connection again whose requests, far from their stream, a response to another QP answers. It reports whether there is one.
func (t *Table) reuseElsewhere(p *packet.Packet, host, back uint32) bool {
	for end, dir := range [2]uint32{back, 1 - back} {
		for _, w := range t.hosts.list[host].connections[dir] {
			k := t.pairs.at(w.way >> 1)
			if w.way&1 != 0 && !k.Dead() && k.Service == p.Opcode.Service() && k.PairedBy != ByAgent && stream.AnswersJump(&k.Pair, end, p) {
				t.reuseAtJump(&k.Pair, end, host, back)
				return true
			}
		}
	}
	return false
}

// follow verifies a packet of a connected service whose headers have been judged.
func (t *Table) follow(p *packet.Packet, host, dir uint32) {
	f := t.flows.find(flowKey(host, dir, p.DestQP), 0)
	id, c := f.way, t.pairs.at(f.way>>1)
	if !c.Paired && c.Reliable() {
		id, c = t.pair(c, id, p, host, dir)
	}
	from := int(id & 1)
	c.maySend(from, p)
	c.Count(from, p)
	t.Judge.Flow(&c.Pair, from, p)
	t.Judge.Message(c, from, p)
	c.ClearAssumed()
}
