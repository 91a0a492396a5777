package connection

import (
	"slices"

	"ibwitness/packet"
	"ibwitness/verifier/rd"
)

// contextFlow in place of a source QPN says that a flow goes to an end-to-end context, and not to a QP.
const contextFlow = 1 << 26

// ContextsOf returns the pair of end-to-end contexts that a packet of RD names, and which of them sent it; nil where it is new.
func (t *Table) ContextsOf(p *packet.Packet, host, dir uint32) (*Connection, int) {
	return t.Connection(t.flows.find(flowKey(host, dir, p.EEC), contextFlow))
}

// FindContexts returns the pair of end-to-end contexts that a packet of RD is of, which contextsOf has returned, and which of them sent it. Like a packet of RC
// one of RD names only its destination; the two directions are found to belong together by a response.
func (t *Table) FindContexts(c *Connection, from int, p *packet.Packet, host, dir uint32) (*Connection, int) {
	key := flowKey(host, dir, p.EEC)
	if c == nil {
		var id uint32
		id, c = t.newContext(p, host, dir)
		t.flows.put(key, contextFlow, id)
		from = 0
	}
	if !c.Paired && p.Info().Response {
		return t.pairContexts(c, p, key, uint64(host)<<1|uint64(reverse(p.Src, p.Dst, dir)))
	}
	return c, from
}

// newContext begins a pair of end-to-end contexts of which one is known.
func (t *Table) newContext(p *packet.Packet, host, dir uint32) (uint32, *Connection) {
	i, c := t.pairs.add()
	c.Service, c.Encap, c.Lossy = packet.RD, p.Encap, t.Lossy || t.Crowded(p)
	c.begins(p)
	c.Between(p.Src, p.Dst)
	c.Ends[0].Near = t.Near(p.Src, p.SGID)
	b := &c.Ends[1]
	b.Near, b.Number, b.Numbered = t.Near(p.Dst, p.DGID), p.EEC, true
	t.await(host, dir, i)
	return i << 1, c
}

// Contexts is up to how many pairs of contexts from one host to another are searched for the one that a response answers.
const Contexts = 4 * searched

// await notes a pair of contexts of which one direction is known.
func (t *Table) await(host, dir, i uint32) {
	if t.contexts == nil {
		t.contexts = map[uint64][]uint32{}
	}
	if way := uint64(host)<<1 | uint64(dir); len(t.contexts[way]) <= Contexts {
		t.contexts[way] = append(t.contexts[way], i)
	}
}

// pairContexts looks for the one pair of contexts that sent the request which a response answers, and makes one of the two. Of more than it searches, which come
// from the other host, none is found.
func (t *Table) pairContexts(c *Connection, p *packet.Packet, key, back uint64) (*Connection, int) {
	over := func(i uint32) bool {
		k := t.pairs.at(i)
		return k.Dead() || k.Paired
	}
	live := t.contexts[back]
	if len(live) > Contexts && !over(live[int(p.PSN)%len(live)]) {
		return c, 0 // one of them tells seldom enough that others are over
	}
	if live = slices.DeleteFunc(live, over); len(live) > 0 {
		t.contexts[back] = live
	}
	found, n := uint32(0), 0
	for _, i := range live {
		if k := t.pairs.at(i); k != c && rd.Asked(&k.Pair, p) {
			found, n = i, n+1
		}
	}
	if n != 1 || len(live) > Contexts || t.Crowded(p) {
		return c, 0
	}
	to := t.pairs.at(found)
	a, b := &to.Ends[0], &to.Ends[1]
	a.Number, a.Numbered = c.Ends[1].Number, true
	a.Count(&c.Ends[1])
	b.Count(&c.Ends[0])
	rd.Join(&to.Pair, &c.Pair)
	to.Lossy, to.Ends[0].Cut, to.Paired, to.PairedBy = to.Lossy || c.Lossy, to.Cut() || c.Cut(), true, ByPSN
	to.PMTU = max(to.PMTU, c.PMTU)
	c.state |= dead
	t.flows.put(key, contextFlow, found<<1|1)
	return to, 1
}
