package connection

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
)

// watched is up to how many connections of a pair of hosts are looked at when a packet names a QP that nothing is known of.
const watched = 64

// watch notes a new connection of a pair of hosts, whose first end sends in a direction. Unpaired, its other end sends nothing.
func (t *Table) watch(host, dir, i, paired uint32) {
	if l := &t.hosts.list[host].connections; len(l[0])+len(l[1]) <= watched {
		l[dir] = append(l[dir], watchedWay{way: i<<1 | paired})
	}
}

// watchPaired notes that a connection is paired now, by response p.
func (t *Table) watchPaired(host, dir, i uint32, p *packet.Packet) {
	l := t.hosts.list[host].connections
	again := t.pairs.at(i).state&kept != 0 // it may have been paired before
	if len(l[0])+len(l[1]) > watched && !again {
		return
	}
	k := slices.IndexFunc(l[dir], func(w watchedWay) bool { return w.way>>1 == i })
	if k < 0 || len(l[0])+len(l[1]) > watched && l[dir][k].way&1 == 0 {
		return
	}
	l[dir][k] = watchedWay{i<<1 | 1, firstOf(p), p.Tap}
}

// misdirectedFirst looks at the first packet to an unknown QP: it may belong to another QP of the host.
func (t *Table) misdirectedFirst(c *Connection, id uint32, p *packet.Packet, host, dir uint32) {
	l := t.hosts.list[host].connections
	if len(l[0])+len(l[1]) > watched {
		return
	}
	i, from := t.expecting(l[dir], 0, c, p), 0
	if k := t.expecting(l[1-dir], 1, c, p); k < i {
		i, from = k, 1
	}
	if i == nobody {
		return
	}
	k := t.pairs.at(i)
	b := *p
	b.Payload, b.Pad, b.Data = nil, nil, nil
	if k.PairedBy == ByPSN && k.Ends[0].Packets() == 1 && from == 0 {
		k.doubted().rival = id + 1
		k.Unseal(1)
	}
	c.doubted().rightful = (i<<1 | uint32(from)) + 1
	if p.Info().Request {
		k.Misdirect(&b)
		k.Ends[from].SQ.Usual = false
	} else {
		c.doubted().misdirected = &b
		k.state |= kept
		stream.MayBeMissing(&k.Pair, from, p)
	}
}

// rightful returns, in place of connection i, the one that its only packet belongs to, if that one has gone on: that packet went to a wrong QP.
func (t *Table) rightful(i uint32, p *packet.Packet) uint32 {
	c := t.pairs.at(i)
	way := c.doubt().rightful
	if way&1 == 0 || c.Ends[0].Packets() != 1 { // none, or the other end
		return i
	}
	j := way >> 1
	if k := t.pairs.at(j); !k.Dead() && !k.Paired && k.Service == c.Service && k.Ends[0].SQ.Next.After(p.PSN) {
		return j
	}
	return i
}

// psn is the PSN of the response that paired it.
func (w *watchedWay) psn() packet.PSN { return packet.PSN(w.first & packet.PSNMask) }

const nobody = 1<<32 - 1

// expecting returns the first connection but c of which an end may send the packet next, or nobody.
func (t *Table) expecting(list []watchedWay, from int, c *Connection, p *packet.Packet) uint32 {
	request := p.Info().Request
	half := request && from == 0 // an unpaired connection will do
	lines := &t.ahead.lines
	for _, fetch := range [...]func(*qp.Pair){
		func(c *qp.Pair) { c.Fetch(lines) }, func(c *qp.Pair) { c.FetchNext(from, lines) },
	} { // while many connections are new, none of this is in the cache
		for _, w := range list {
			if half || w.way&1 != 0 {
				fetch(QPs(t.pairs.at(w.way >> 1)))
			}
		}
		lines.Fetch()
	}
	for _, w := range list {
		if !half && w.way&1 == 0 {
			continue
		}
		k := t.pairs.at(w.way >> 1)
		if request && k.Ends[from].SQ.Next != p.PSN {
			continue // as most do: the rest need not be read
		}
		if k != c && !k.Dead() && k.Service == c.Service && stream.Expects(&k.Pair, from, p) {
			return w.way >> 1
		}
	}
	return nobody
}

// MisdirectedResponses has do take, of the connections that leave, each response that went to a QP that nothing else was ever sent to, with the connection and the end
// that it is of.
func (t *Table) MisdirectedResponses(do func(c *qp.Pair, from int, p *packet.Packet)) {
	for i := range t.pairs.n {
		c := t.pairs.at(i)
		d := c.doubt()
		if !c.Leaving() || d.misdirected == nil || c.Dead() || c.Paired || c.Ends[0].Packets() != 1 {
			continue
		}
		way := d.rightful - 1
		do(&t.pairs.at(way>>1).Pair, int(way&1), d.misdirected)
	}
}

// young is how many packets of an unpaired direction are compared with connections that are paired.
const young = 16

// pairedByMisdirected looks for the connection that the responses of c answer, where it was paired by one response that went to another QP, the only
// packet that this one ever got. Two in a row that answer its requests tell that c is its other direction, and that the first response
// went to a wrong QP. The connection is unpaired then, and that response is by itself. It returns how many such connections there are, too.
func (t *Table) pairedByMisdirected(c *Connection, p *packet.Packet, host, back uint32) (uint32, int) {
	r := c.Ends[0].Lone()
	if !r.Seen || c.Ends[0].Packets() > young {
		return 0, 0
	}
	var found watchedWay
	n := 0
	for _, w := range t.hosts.list[host].connections[back] {
		k := t.pairs.at(w.way >> 1)
		if w.way&1 == 0 || k.Dead() || !k.Paired || k.PairedBy != ByPSN || k.Service != c.Service || k.Ends[1].Packets() != 1 || k.RQ(1).Last.Frame == 0 {
			continue
		}
		if before, _ := k.Ends[0].SQ.Messages.Find(r.PSN); before != nil && r.PSN.After(w.psn()) && stream.Expects(&k.Pair, 1, p) {
			found, n = w, n+1
		}
	}
	if n != 1 {
		return 0, n
	}
	t.splitResponse(found, p, host, reverse(p.Src, p.Dst, back))
	k := t.pairs.at(found.way >> 1)
	a := &k.Ends[0]
	lone := a.Lone()
	lone.Seen, lone.PSN = c.Ends[0].SQ.Joined, c.Ends[0].SQ.Next.Add(-1) // what it has answered since was not followed
	a.SetLone(lone)
	return found.way >> 1, n
}

// splitResponse makes a connection of its own of the response that paired connection w, and unpairs that. p is a later response.
func (t *Table) splitResponse(w watchedWay, p *packet.Packet, host, dir uint32) {
	i := w.way >> 1
	k := t.pairs.at(i)
	a, b := &k.Ends[0], &k.Ends[1]
	first := &packet.Packet{
		Encap: k.Encap, Has: packet.HasBTH, Opcode: packet.Opcode(w.first >> 24), PSN: w.psn(), DestQP: a.Number, Src: b.Addr, Dst: a.Addr,
		Time: k.RQ(1).Last.Time, Frame: p.Frame - uint64(uint32(p.Frame)-k.RQ(1).Last.Frame), Tap: w.tap,
	}
	at, n := t.pairs.addOneWay()
	n.Service, n.Encap, n.Lossy, n.Ends[0].Cut = k.Service, k.Encap, k.Lossy, k.Cut()
	n.begins(first)
	n.Between(b.Addr, a.Addr)
	n.Ends[0].Near = b.Near
	n.Ends[0].TakeSent(b.Direction)
	n.Ends[1].Near, n.Ends[1].Number, n.Ends[1].Numbered, n.Ends[1].Attr = a.Near, a.Number, true, a.Attr
	d := n.doubted()
	d.misdirected, d.rightful = first, (i<<1|1)+1
	k.state |= kept
	t.flows.put(flowKey(host, dir, a.Number), 0, at<<1)
	b.TakeSent(n.Ends[1].Direction)
	a.Attr, a.Numbered, a.SQ.Usual, b.SQ.Usual = nil, false, false, false
	k.TakeEarly()
	k.Paired, k.PairedBy = false, n.PairedBy
}

// unpairMisdirected looks at a response to a request that its connection has not sent. Where that connection was paired by the only packet that its
// QP ever got, and what goes on from its PSN goes to another QP, it is that other one that the responses answer: the first packet went to a
// wrong QP, and the connection is that of the others from now on.
func (t *Table) unpairMisdirected(c *Connection, id uint32, p *packet.Packet, host, dir uint32) {
	q := &c.Ends[0].SQ
	i := c.doubt().rival - 1
	k := t.pairs.at(i)
	if c.Ends[0].Packets() != 1 || k.Paired || k.Dead() || k.Service != c.Service {
		c.doubted().rival = 0
		return
	}
	c.Unseal(1) // so that the next response is looked at too
	w, _ := k.Ends[0].SQ.Messages.Find(p.PSN)
	if id&1 == 0 || !p.Info().Response || p.PSN.Before(q.Next) || !k.Ends[0].SQ.Joined || k.Ends[0].SQ.First != q.Next || w == nil || !w.Answers(p.Opcode.Fn()) {
		return
	}
	c.doubted().rival = 0
	back := reverse(p.Src, p.Dst, dir)
	t.flows.put(flowKey(host, back, k.Ends[1].Number), 0, id&^1)
	t.splitRequest(c, id>>1, flowKey(host, back, c.Ends[1].Number))
	t.match.Forget(i)
	takeOver(c, k, p.PSN)
	c.Unlook()
	c.Ends[1].Attr = t.Attr(c.Ends[1].Addr, c.Ends[1].Number, c.Ends[0].Addr, p.Time)
	t.Judge.PathMTU(&c.Pair, max(c.PMTU, k.PMTU))
	t.bury(i, &t.hosts.list[host], c, 0)
}

// splitRequest makes a connection of its own of the first packet of c, with the QP that it went to, under key.
func (t *Table) splitRequest(c *Connection, was uint32, key uint64) {
	i, n := t.pairs.addOneWay()
	n.Service, n.Encap, n.Lossy, n.Ends[0].Cut = c.Service, c.Encap, c.Lossy, c.Cut()
	n.beginsAs(c)
	n.doubted().astray = was + 1
	n.Between(c.Ends[0].Addr, c.Ends[1].Addr)
	for k := range n.Ends {
		a, b := &n.Ends[k], &c.Ends[k]
		a.Near, a.Attr = b.Near, b.Attr
	}
	n.Ends[1].Number, n.Ends[1].Numbered = c.Ends[1].Number, true
	n.Ends[0].TakeSent(c.Ends[0].Direction)
	t.flows.put(key, 0, i<<1)
}

// takeOver gives c, whose responses those to k are, the requests and the QP of k. psn is that of the response that tells.
func takeOver(c, k *Connection, psn packet.PSN) {
	a, b := &c.Ends[0], &c.Ends[1]
	a.TakeOver(k.Ends[0].Direction)
	a.SQ.Usual, b.SQ.Usual = false, false
	b.Number = k.Ends[1].Number
	c.beginsAs(k)
	c.Lossy, c.Ends[0].Cut, c.Invalidated = c.Lossy || k.Lossy, c.Cut() || k.Cut(), c.Invalidated || k.Invalidated
	c.TakeEarly()
	c.ShowPayload(k.LeastPMTU())
	c.CloseMisdirected()
	if until := k.Ends[1].SQ.Waits(); until != 0 {
		b.SQ.WaitTo(until)
	}
	c.RQ(1).TakeOver(k.RQ(1))
	a.SQ.Unpair(psn, c.Sees(0))
	if r := k.Ends[0].Lone(); r.Seen && b.SQ.Joined && abs(r.PSN.Diff(b.SQ.Next)) < near*8 {
		b.SQ.Unpair(r.PSN.Add(1), c.Sees(1))
	}
	k.state |= dead
}

// MisdirectedRequests has do take, of the connections that leave, each first packet that went to a QP that nothing else was ever sent to, with the connection that it is of,
// and the frame of its next one.
func (t *Table) MisdirectedRequests(do func(c *qp.Pair, first *packet.Packet, next uint64)) {
	for i := range t.pairs.n {
		n := t.pairs.at(i)
		if !n.Leaving() || n.doubt().astray == 0 || n.Dead() || n.Paired || n.Ends[0].Packets() != 1 || n.Ends[1].Packets() != 0 {
			continue
		}
		first := packet.Packet{
			Time: n.FirstTime, Frame: n.FirstFrame, Tap: n.FirstTap, Opcode: n.FirstOp(), PSN: n.FirstPSN(), DestQP: n.Ends[1].Number, Has: packet.HasBTH,
			Src: n.Ends[0].Addr, Dst: n.Ends[1].Addr,
		}
		c := t.pairs.at(n.doubt().astray - 1)
		do(&c.Pair, &first, c.FirstFrame)
	}
}
