package agent

import (
	"ibwitness/packet"
	"ibwitness/verifier"
)

// young is how many packets of an unpaired direction are compared with connections that are paired.
const young = 16

// misled looks for the connection that the responses of c answer, where it was paired by one response that went to another QP, the only
// packet that this one ever got. Two in a row that answer its requests tell that c is its other direction, and that the first response
// went to a wrong QP. The connection is unpaired then, and that response is by itself. It returns how many such connections there are, too.
func (t *Transport) misled(c *connection, p *packet.Packet, host, back uint32) (uint32, int) {
	r := &c.Ends[0].RQ
	if !r.Heard || c.Ends[0].Sums.Packets > young {
		return 0, 0
	}
	found, n := uint32(0), 0
	for _, w := range t.hosts.list[host].connections[back] {
		k := t.pairs.at(w >> 1)
		if w&1 == 0 || k.dead || !k.Paired || k.learned != ByPSN || k.Service != c.Service || k.Ends[1].Sums.Packets != 1 || k.Ends[1].RQ.LastFrame == 0 {
			continue
		}
		if before, _ := k.Ends[0].SQ.Messages.Find(r.LastPSN); before != nil && r.LastPSN.After(k.pairedPSN) && verifier.Expects(&k.Pair, 1, p) {
			found, n = w>>1, n+1
		}
	}
	if n != 1 {
		return 0, n
	}
	t.part(found, p, host, reverse(p.Src, p.Dst, back))
	k := t.pairs.at(found)
	a := &k.Ends[0]
	a.RQ.Heard, a.RQ.LastPSN = c.Ends[0].SQ.Joined, c.Ends[0].SQ.Next.Add(-1) // what it has answered since was not followed
	return found, n
}

// part makes a connection of its own of the response that paired the one at index i, and unpairs that. p is a later response.
func (t *Transport) part(i uint32, p *packet.Packet, host, dir uint32) {
	k := t.pairs.at(i)
	a, b := &k.Ends[0], &k.Ends[1]
	first := &packet.Packet{
		Encap: k.Encap, Has: packet.HasBTH, Opcode: k.pairedOp, PSN: k.pairedPSN, DestQP: a.Number, Src: b.Addr, Dst: a.Addr,
		Time: b.RQ.LastTime, Frame: p.Frame - uint64(uint32(p.Frame)-b.RQ.LastFrame), Tap: k.pairedTap,
	}
	at, n := t.pairs.add()
	n.Service, n.Encap, n.Lossy, n.Ends[0].Cut = k.Service, k.Encap, k.Lossy, k.Cut()
	n.firstTime, n.firstFrame, n.firstTap, n.firstOp, n.firstPSN = first.Time, first.Frame, first.Tap, first.Opcode, first.PSN
	n.Ends[0].Addr, n.Ends[0].Near, n.Ends[0].Sums, n.Ends[0].Flow = b.Addr, b.Near, b.Sums, b.Flow
	n.Ends[1].Addr, n.Ends[1].Near, n.Ends[1].Number, n.Ends[1].Numbered, n.Ends[1].Attr = a.Addr, a.Near, a.Number, true, a.Attr
	n.misdirected, n.rightful, k.kept = first, (i<<1|1)+1, true
	t.flows.put(flowKey(host, dir, a.Number), 0, at<<1, n)
	b.Sums, b.Flow = n.Ends[1].Sums, n.Ends[1].Flow
	a.Attr, a.Numbered, a.SQ.Usual, b.SQ.Usual = nil, false, false, false
	k.Paired, k.Early, k.learned = false, nil, n.learned
}
