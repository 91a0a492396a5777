package agent

import (
	"ibwitness/hcaagent/passive"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/gmp"
	"ibwitness/verifier/smp"
	"ibwitness/wqe"
)

// datagram verifies a UD packet: it names both QPs, so its connection is known at once. Management datagrams also teach.
func (t *Transport) datagram(p *packet.Packet, host, dir uint32) {
	if smp.Is(p) && p.ICRCState != packet.CRCBad {
		t.smp.Packet(p, true)
	}
	key := flowKey(host, dir, p.DestQP)
	id, ok := t.flows.get(key, p.SrcQP+1)
	var c *connection
	sealed := false
	if ok {
		c = t.pairs.at(id >> 1)
	} else if other, connected := t.flows.get(key, 0); connected {
		// A QP of a connected service does not get datagrams: a wrong opcode, or a QP number taken over. What was damaged on the way is neither.
		if !t.seal(nil, 0, p, host, dir) {
			return
		}
		if k := t.pairs.at(other >> 1); !t.belongs(k, int(other&1), p) && k.Stranger != nil {
			return
		}
		sealed = true
	}
	if !sealed && !t.seal(c, int(id&1), p, host, dir) {
		return
	}
	t.tables(p)
	if c == nil {
		id, c = t.newDatagrams(p, host, dir)
	}
	from := int(id & 1)
	if c.Stranger != nil {
		t.belongs(c, from, p)
	}
	t.count(c, from, p)
	t.ver.Header(&c.Pair, from, p)
	t.services[packet.UD].packet(c, from, p)
	if gmp.Management(p) {
		t.gmp.Datagram(p)
	}
	if p.DestQP == 1 || p.SrcQP == 1 {
		t.ver.XRCConnect(&c.Pair, from, p)
		t.ver.Congestion(&c.Pair, from, p)
		t.ver.RoCEConnect(&c.Pair, from, p)
		t.talks.Packet(p)
		for _, f := range t.cm.Management(p) {
			t.learn(&f, p)
		}
	}
}

// anyDatagram in place of a source QPN finds some connection of a datagram QP.
const anyDatagram = 1<<32 - 1

// datagrams returns some flow of datagrams to the QP of a key, and whether there is one. Management and multicast have no QP of their own.
func (t *Transport) datagrams(key uint64, p *packet.Packet) (uint32, bool) {
	if t.flows.more == 0 || p.DestQP <= 1 || p.DestQP == packet.PSNMask {
		return 0, false
	}
	return t.flows.get(key, anyDatagram)
}

// newDatagrams begins the pair of QPs of a datagram.
func (t *Transport) newDatagrams(p *packet.Packet, host, dir uint32) (uint32, *connection) {
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy, c.Paired, c.learned = packet.UD, p.Encap, t.lossy || t.crowded(p), true, ByPacket
	c.firstTime, c.firstFrame, c.firstTap = p.Time, p.Frame, p.Tap
	c.Ends[0] = t.end(p.Src, p.SGID, p.SrcQP, p.Dst, p.Time)
	c.Ends[0].Numbered = p.Has&packet.HasDETH != 0
	c.Ends[1] = t.end(p.Dst, p.DGID, p.DestQP, p.Src, p.Time)
	t.flows.put(flowKey(host, dir, p.DestQP), p.SrcQP+1, i<<1, c)
	t.flows.put(flowKey(host, dir, p.DestQP), anyDatagram, i<<1, c)
	back := flowKey(host, reverse(p.Src, p.Dst, dir), p.SrcQP)
	t.flows.put(back, p.DestQP+1, i<<1|1, c)
	t.flows.put(back, anyDatagram, i<<1|1, c)
	return i << 1, c
}

func (t *Transport) end(a, gid packet.Addr, qpn uint32, peer packet.Addr, now int64) qp.QP {
	q := qp.QP{Addr: a, Near: t.isNear(a, gid), Number: qpn, Numbered: true}
	q.Attr = t.attr(a, qpn, peer, now)
	return q
}

// learn applies what a CM exchange taught.
func (t *Transport) learn(f *passive.Fact, p *packet.Packet) {
	switch f.Kind {
	case passive.Connected:
		t.connect(f, p)
	case passive.Disconnected:
		for _, e := range f.Ends {
			if k, ok := t.bound[wqe.QP{Addr: e.Addr, QPN: e.QPN}]; ok {
				t.pairs.at(k >> 1).Close()
				delete(t.bound, wqe.QP{Addr: e.Addr, QPN: e.QPN})
			}
		}
		t.note(f, p, rule.EvDisconnect, "")
	case passive.Rejected:
		t.note(f, p, rule.EvReject, f.Reason.String())
	case passive.Resolved:
		t.resolved[attrKey{wqe.QP{Addr: f.Ends[1].Addr, QPN: f.Ends[1].QPN}, f.Ends[0].Addr}] = &knownAttr{f.Ends[1].Attr, p.Time}
	}
}

// connect begins a connection whose QPs, start PSNs and attributes CM has told.
func (t *Transport) connect(f *passive.Fact, p *packet.Packet) {
	if !connects(f.Service) {
		return
	}
	early, ok := t.unconnected(wqe.QP{Addr: f.Ends[0].Addr, QPN: f.Ends[0].QPN}, f.Ends[1].Addr)
	c := t.pairOf(f, p, ByCM)
	if q := &c.Ends[1].SQ; ok && q.Fresh && q.Next == early.PSN {
		q.Excused = true // what was sent before the connection was there is not missing
	}
	t.ver.Event(&c.Pair, 0, p, rule.EvConnect, "")
}

// Connect tells the agent of a connection that an HCA agent knows, before its first packet: the two QPs, whose attributes are those given
// to Attributes. p is a sample of its packets: it has their encapsulation and the time, and needs no more.
func (t *Transport) Connect(s packet.Service, ends [2]wqe.QP, p *packet.Packet) {
	f := passive.Fact{Service: s, Time: p.Time, Frame: p.Frame, Tap: p.Tap}
	for k, e := range ends {
		f.Ends[k].Addr, f.Ends[k].QPN = e.Addr, e.QPN
	}
	t.pairOf(&f, p, ByAgent)
}

// pairOf begins a connection of which both QPs are known.
func (t *Transport) pairOf(f *passive.Fact, p *packet.Packet, how Learned) *connection {
	a, b := &f.Ends[0], &f.Ends[1]
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy, c.Paired, c.learned = f.Service, p.Encap, t.lossy, true, how
	c.firstTime, c.firstFrame, c.firstTap = f.Time, f.Frame, f.Tap
	for k, e := range f.Ends {
		attr := e.Attr
		if known := t.attr(e.Addr, e.QPN, f.Ends[1-k].Addr, f.Time); known != nil {
			attr.Merge(known)
		}
		c.Ends[k] = qp.QP{Addr: e.Addr, Near: t.near[e.Addr] || k == 0 && p.Dst == e.Addr && t.isNear(p.Dst, p.DGID) || k == 1 && p.Src == e.Addr && t.isNear(p.Src, p.SGID), Number: e.QPN, Numbered: true, Attr: &attr}
		if attr.Has(qp.KnowsPMTU) {
			c.PMTU = attr.PMTU
		}
	}
	if how == ByCM {
		c.Told = f.Time
	}
	if how == ByCM && c.Service == packet.XRC {
		c.initiator = 1 // the active side
	}
	for k := range c.Ends {
		if e := &c.Ends[k]; e.Knows(qp.KnowsSQPSN) {
			qp.Begin(&c.Pair, k, e.Attr.SQPSN)
		}
	}
	host, dir := t.hosts.find(a.Addr, b.Addr)
	t.flows.put(flowKey(host, dir, b.QPN), 0, i<<1, c)
	t.flows.put(flowKey(host, reverse(a.Addr, b.Addr, dir), a.QPN), 0, i<<1|1, c)
	t.watch(host, dir, i, 1)
	for k, e := range f.Ends {
		t.bound[wqe.QP{Addr: e.Addr, QPN: e.QPN}] = i<<1 | uint32(k)
	}
	return c
}

// note counts what CM says of a connection, where it is known.
func (t *Transport) note(f *passive.Fact, p *packet.Packet, id rule.ID, detail string) {
	c := qp.Pair{Service: f.Service}
	for k, e := range f.Ends {
		c.Ends[k] = qp.QP{Addr: e.Addr, Number: e.QPN, Numbered: e.QPN != 0}
	}
	t.ver.Event(&c, 0, p, id, detail)
}
