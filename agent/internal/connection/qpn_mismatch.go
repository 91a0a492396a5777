package connection

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// qpnMismatch is a QP for which CM gave another number than the one that its peer sends to.
type qpnMismatch struct {
	cmQPN uint32 // the number that CM gave
	peer  int    // the end that sends to the QP
	first uint64 // frame of the first packet to it
}

// mismatchSettled is how many messages a QP sends without a retransmission where the answers to them reach it.
const mismatchSettled = 4

// adopt takes the second packet to a QP that nothing is known of for one of the connection that its first packet belongs to, if that one's own QP got
// nothing yet: its number is not the one that CM gave.
func (t *Table) adopt(c *Connection, id uint32, p *packet.Packet, host, dir uint32) (uint32, *Connection) {
	way := c.doubt().rightful - 1
	k, from := t.pairs.at(way>>1), int(way&1)
	first := k.Misdirected
	if m := c.doubt().misdirected; m != nil {
		first = m
	}
	q := &k.Ends[1-from]
	switch {
	case first == nil || first.DestQP != p.DestQP || p.ICRCState == packet.CRCBad || id&1 != 0 || c.Paired || c.Ends[0].Packets() != 1,
		k.PairedBy != ByCM || k.Dead() || k.Closed || k.Service != packet.RC || k.Ends[from].Packets() != 0 || k.doubt().qpnMismatch != nil:
		return id, c
	}
	k.doubted().qpnMismatch = &qpnMismatch{q.Number, from, first.Frame}
	t.Judge.Renumber(q.Addr, p.Src, q.Number, p.DestQP)
	q.Number = p.DestQP
	t.bound[wqe.QP{Addr: q.Addr, QPN: q.Number}] = way ^ 1
	t.flows.put(flowKey(host, dir, q.Number), 0, way)
	t.match.Forget(id >> 1)
	c.state |= dead
	c.doubted().misdirected = nil
	k.CloseMisdirected()
	t.bury(id>>1, &t.hosts.list[host], k, from)
	early := k.TakeEarly()
	k.Count(from, first)
	t.Judge.Flow(&k.Pair, from, first)
	t.Judge.Message(k, from, first)
	for i := range early {
		t.Judge.Message(k, 1-from, &early[i].Packet) // its request was not known yet
	}
	return way, k
}

// checkQPNMismatch looks at a packet of a connection of whose QP CM gave another number: what was sent to the QP is answered, or nothing is asked for again, so that
// it has the number by which the peer calls it. A packet to the other number tells that the peer was wrong.
func (t *Table) checkQPNMismatch(c *Connection, from int, p *packet.Packet) {
	m := c.doubt().qpnMismatch
	switch {
	case from == m.peer && p.DestQP == m.cmQPN:
		t.Judge.Distrust(&c.Pair, "packets went to two QPs of its peer")
		c.doubted().qpnMismatch = nil
	case reachesQP(&c.Pair, m.peer):
		t.reportQPNMismatch(c, true)
	default:
		c.Unseal(from) // so that the next packet is looked at too
	}
}

// reachesQP reports whether the packets of an end evidently reach their QP.
func reachesQP(c *qp.Pair, from int) bool {
	asks, q := c.Ends[from].SQ.Joined && !c.Ends[from].SQ.Fresh, &c.Ends[1-from]
	return asks && c.Ends[from].SQ.Una != c.Ends[from].SQ.First || !asks && q.Sums().Messages >= mismatchSettled && q.Faults().Retransmissions == 0
}

// reportQPNMismatch reports the side that told the wrong number.
func (t *Table) reportQPNMismatch(c *Connection, sure bool) {
	m := c.doubt().qpnMismatch
	q, peer := &c.Ends[1-m.peer], &c.Ends[m.peer]
	t.Judge.QPNMismatch(q.Addr, peer.Addr, m.cmQPN, q.Number, m.first, sure)
	c.doubted().qpnMismatch = nil
}

// QPNMismatches judges, of the connections that leave, those for which CM gave another number than the one that is used.
func (t *Table) QPNMismatches() {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		if m := c.doubt().qpnMismatch; c.Leaving() && !c.Dead() && m != nil {
			t.reportQPNMismatch(c, reachesQP(&c.Pair, m.peer))
		}
	}
}
