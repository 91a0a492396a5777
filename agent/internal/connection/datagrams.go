package connection

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// anyDatagram in place of a source QPN finds some connection of a datagram QP.
const anyDatagram = 1<<32 - 1

// datagrams returns some flow of datagrams to the QP of a key, and whether there is one. Management and multicast have no QP of their own.
func (t *Table) datagrams(key uint64, p *packet.Packet) (uint32, bool) {
	if t.flows.more == 0 || p.DestQP <= 1 || p.DestQP == packet.PSNMask {
		return 0, false
	}
	return t.flows.get(key, anyDatagram)
}

// DatagramsOf returns the pair of QPs that a datagram names, and which of them sent it; nil where it is new.
func (t *Table) DatagramsOf(p *packet.Packet, host, dir uint32) (*Connection, int) {
	return t.Connection(t.flows.find(flowKey(host, dir, p.DestQP), p.SrcQP+1))
}

// NewDatagrams begins the pair of QPs of a datagram.
func (t *Table) NewDatagrams(p *packet.Packet, host, dir uint32) *Connection {
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy, c.Paired, c.PairedBy = packet.UD, p.Encap, t.Lossy || t.Crowded(p), true, ByPacket
	c.FirstTime, c.FirstFrame, c.FirstTap = p.Time, p.Frame, p.Tap
	c.Between(p.Src, p.Dst)
	t.end(&c.Ends[0], p.SGID, p.SrcQP, p.Dst, p.Time)
	c.Ends[0].Numbered = p.Has&packet.HasDETH != 0
	t.end(&c.Ends[1], p.DGID, p.DestQP, p.Src, p.Time)
	t.flows.put(flowKey(host, dir, p.DestQP), p.SrcQP+1, i<<1)
	t.flows.put(flowKey(host, dir, p.DestQP), anyDatagram, i<<1)
	back := flowKey(host, reverse(p.Src, p.Dst, dir), p.SrcQP)
	t.flows.put(back, p.DestQP+1, i<<1|1)
	t.flows.put(back, anyDatagram, i<<1|1)
	return c
}

func (t *Table) end(q *qp.QP, gid packet.Addr, qpn uint32, peer packet.Addr, now int64) {
	q.Near, q.Number, q.Numbered = t.Near(q.Addr, gid), qpn, true
	q.Attr = t.Attr(q.Addr, qpn, peer, now)
}
