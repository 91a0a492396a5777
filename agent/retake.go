package agent

import "ibwitness/packet"

// retake looks at a response to a request that its connection has not sent. Where that connection was paired by the only packet that its
// QP ever got, and what goes on from its PSN goes to another QP, it is that other one that the responses answer: the first packet went to a
// wrong QP, and the connection is that of the others from now on.
func (t *Transport) retake(c *connection, id uint32, p *packet.Packet, host, dir uint32) {
	q := &c.Ends[0].SQ
	i := c.rival - 1
	k := t.pairs.at(i)
	if c.Ends[0].Sums.Packets != 1 || k.Paired || k.dead || k.Service != c.Service {
		c.rival = 0
		return
	}
	c.Sealed[1] = false // so that the next response is looked at too
	w, _ := k.Ends[0].SQ.Messages.Find(p.PSN)
	if id&1 == 0 || !p.Info().Response || p.PSN.Before(q.Next) || !k.Ends[0].SQ.Joined || k.Ends[0].SQ.First != q.Next || w == nil || !w.Answers(p.Opcode.Fn()) {
		return
	}
	c.rival = 0
	back := reverse(p.Src, p.Dst, dir)
	t.flows.put(flowKey(host, back, k.Ends[1].Number), 0, id&^1, c)
	t.separate(c, id>>1, flowKey(host, back, c.Ends[1].Number))
	t.match.Forget(i)
	takeOver(c, k, p.PSN)
	c.Ends[1].Attr = t.attr(c.Ends[1].Addr, c.Ends[1].Number, c.Ends[0].Addr, p.Time)
	t.ver.PathMTU(&c.Pair, max(c.PMTU, k.PMTU))
	t.pairs.bury(i)
}

// separate makes a connection of its own of the first packet of c, with the QP that it went to, under key.
func (t *Transport) separate(c *connection, was uint32, key uint64) {
	i, n := t.pairs.add()
	n.Service, n.Encap, n.Lossy, n.Ends[0].Cut = c.Service, c.Encap, c.Lossy, c.Cut()
	n.firstTime, n.firstFrame, n.firstTap, n.firstOp, n.firstPSN = c.firstTime, c.firstFrame, c.firstTap, c.firstOp, c.firstPSN
	n.astray = was + 1
	for k := range n.Ends {
		a, b := &n.Ends[k], &c.Ends[k]
		a.Addr, a.Near, a.Attr = b.Addr, b.Near, b.Attr
	}
	n.Ends[1].Number, n.Ends[1].Numbered = c.Ends[1].Number, true
	n.Ends[0].Sums, n.Ends[0].Flow = c.Ends[0].Sums, c.Ends[0].Flow
	t.flows.put(key, 0, i<<1, n)
}

// takeOver gives c, whose responses those to k are, the requests and the QP of k. psn is that of the response that tells.
func takeOver(c, k *connection, psn packet.PSN) {
	a, b := &c.Ends[0], &c.Ends[1]
	a.SQ, a.Sums, a.Flow = k.Ends[0].SQ, k.Ends[0].Sums, k.Ends[0].Flow
	a.SQ.Usual, b.SQ.Usual = false, false
	b.Number = k.Ends[1].Number
	c.firstTime, c.firstFrame, c.firstTap, c.firstOp, c.firstPSN = k.firstTime, k.firstFrame, k.firstTap, k.firstOp, k.firstPSN
	c.Lossy, c.Ends[0].Cut, c.Invalidated = c.Lossy || k.Lossy, c.Cut() || k.Cut(), c.Invalidated || k.Invalidated
	c.Least, c.Missent, c.Early = max(c.Least, k.Least), nil, nil
	if until := k.Ends[1].SQ.Waits(); until != 0 {
		b.SQ.WaitTo(until)
	}
	b.RQ = k.Ends[1].RQ
	a.SQ.Unpair(psn, c.Sees(0))
	if r := &k.Ends[0].RQ; r.Heard && b.SQ.Joined && abs(r.LastPSN.Diff(b.SQ.Next)) < nearby*8 {
		b.SQ.Unpair(r.LastPSN.Add(1), c.Sees(1))
	}
	k.dead = true
}

// strays judges, of the connections that leave, first packets that went to a QP that nothing else was ever sent to.
func (t *Transport) strays() {
	for i := range t.pairs.n {
		n := t.pairs.at(i)
		if !n.leaving || n.astray == 0 || n.dead || n.Paired || n.Ends[0].Sums.Packets != 1 || n.Ends[1].Sums.Packets != 0 {
			continue
		}
		first := packet.Packet{
			Time: n.firstTime, Frame: n.firstFrame, Tap: n.firstTap, Opcode: n.firstOp, PSN: n.firstPSN, DestQP: n.Ends[1].Number, Has: packet.HasBTH,
			Src: n.Ends[0].Addr, Dst: n.Ends[1].Addr,
		}
		c := t.pairs.at(n.astray - 1)
		t.ver.Astray(&c.Pair, &first, c.firstFrame)
	}
}
