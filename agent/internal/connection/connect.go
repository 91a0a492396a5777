package connection

import (
	"time"

	"ibwitness/hcaagent/passive"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// PairOf begins a connection of which both QPs are known.
func (t *Table) PairOf(f *passive.Fact, p *packet.Packet, how PairedBy) *Connection {
	a, b := &f.Ends[0], &f.Ends[1]
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy, c.Paired, c.PairedBy = f.Service, p.Encap, t.Lossy, true, how
	c.FirstTime, c.FirstFrame, c.FirstTap = f.Time, f.Frame, f.Tap
	c.Between(a.Addr, b.Addr)
	for k, e := range f.Ends {
		attr := e.Attr
		if known := t.Attr(e.Addr, e.QPN, f.Ends[1-k].Addr, f.Time); known != nil {
			attr.Update(known)
		}
		q := &c.Ends[k]
		q.Near, q.Number, q.Numbered, q.Attr = t.near[e.Addr] || t.nearByGID(k, e.Addr, p), e.QPN, true, &attr
		if attr.Has(qp.KnowsPMTU) {
			c.PMTU = attr.PMTU
		}
	}
	if how == ByCM {
		c.Announce(f.Time)
	}
	if how == ByCM && c.Service == packet.XRC {
		c.state |= initiator0 // the active side
	}
	for k := range c.Ends {
		if e := &c.Ends[k]; e.Knows(qp.KnowsSQPSN) {
			qp.Begin(&c.Pair, k, e.Attr.SQPSN)
		}
	}
	host, dir := t.hosts.find(a.Addr, b.Addr)
	t.flows.put(flowKey(host, dir, b.QPN), 0, i<<1)
	t.flows.put(flowKey(host, reverse(a.Addr, b.Addr, dir), a.QPN), 0, i<<1|1)
	t.watch(host, dir, i, 1)
	for k, e := range f.Ends {
		t.bound[wqe.QP{Addr: e.Addr, QPN: e.QPN}] = i<<1 | uint32(k)
	}
	return c
}

// Former returns the connection that CM has ended between the two QPs of a fact, which are to be connected again, and whether its ends are the other way round; nil: there is none.
func (t *Table) Former(f *passive.Fact) (old *Connection, turned bool) {
	a, b := &f.Ends[0], &f.Ends[1]
	host, dir := t.hosts.find(a.Addr, b.Addr)
	way, ok := t.flows.get(flowKey(host, dir, b.QPN), 0)
	if !ok {
		return nil, false
	}
	c, from := t.pairs.at(way>>1), int(way&1)
	x, y := &c.Ends[from], &c.Ends[1-from]
	if c.Dead() || c.ClosedAt == 0 || c.Service != f.Service || !x.Numbered || !y.Numbered || x.Addr != a.Addr || x.Number != a.QPN || y.Addr != b.Addr || y.Number != b.QPN {
		return nil, false
	}
	return c, from == 1
}

// nearByGID reports whether the tap is near an end of a connection by the GID that message p of CM has for it: end 0 gets the message, end 1 sends it.
func (t *Table) nearByGID(end int, a packet.Addr, p *packet.Packet) bool {
	if end == 0 {
		return p.Dst == a && t.Near(p.Dst, p.DGID)
	}
	return p.Src == a && t.Near(p.Src, p.SGID)
}

// Disconnect ends the connection that a fact of CM is about, as message p shows: one that CM has announced, or, where that was before the capture, the one whose
// packets go to a QP that the fact names.
func (t *Table) Disconnect(f *passive.Fact, p *packet.Packet) {
	by := f.Ends[f.By].Addr
	for k, e := range f.Ends {
		q := wqe.QP{Addr: e.Addr, QPN: e.QPN}
		if way, ok := t.bound[q]; ok {
			t.pairs.at(way>>1).Close(by, p)
			delete(t.bound, q)
		} else if c := t.sentTo(q, f.Ends[1-k].Addr); c != nil && !c.Closed {
			c.Close(by, p)
		}
	}
}

// sentTo returns the connection of which the packets of host peer to a queue pair are, where both of its directions are known, or it retransmits what nothing has answered; nil: there is none.
func (t *Table) sentTo(q wqe.QP, peer packet.Addr) *Connection {
	if q.QPN == 0 {
		return nil
	}
	host, dir := t.hosts.find(peer, q.Addr)
	way, ok := t.flows.get(flowKey(host, dir, q.QPN), 0)
	if !ok {
		return nil
	}
	if c := t.pairs.at(way >> 1); !c.Dead() && (c.Paired || c.Reliable() && c.Ends[0].SQ.StillStalled(false)) && Connects(c.Service) {
		return c
	}
	return nil
}

// goesOn is how long after a DREQ the packets of a connection show that it was about another one: those that were on their way have come, and a communication
// manager has read it.
const goesOn = int64(time.Second)

// WentOn reports whether packet p of an end of a connection shows that it was not over, and takes the end back: CM had not announced it, so that a DREQ which names its QP may
// be of an earlier one.
func (c *Connection) WentOn(from int, p *packet.Packet) bool {
	if !c.Closed || c.PairedBy == ByCM || c.PairedBy == ByAgent || p.Time-c.ClosedAt < goesOn || c.notTold(from) {
		return false
	}
	c.Reopen()
	return true
}

// notTold reports whether an end of a reliable connection may still send on it as its host has not read the DREQ of the other: one that has gone on has answers of both ends.
func (c *Connection) notTold(from int) bool {
	e, peer := &c.Ends[from&1], &c.Ends[1-from&1]
	return c.Reliable() && peer.Addr == c.ClosedBy && e.Addr != c.ClosedBy
}

// ConnectedBy returns the connection of a QP of which CM, or an HCA agent, has told, and which end it is.
func (t *Table) ConnectedBy(q wqe.QP) (*Connection, int, bool) {
	way, ok := t.bound[q]
	if !ok {
		return nil, 0, false
	}
	return t.pairs.at(way >> 1), int(way & 1), true
}
