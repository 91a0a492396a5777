package connection

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// pair tries to find the other direction of an unpaired RC connection: a response belongs to the one flow that expects its PSN.
func (t *Table) pair(c *Connection, id uint32, p *packet.Packet, host, dir uint32) (uint32, *Connection) {
	in := p.Info()
	if in.Request {
		if id&1 == 0 && connectable(p.DestQP) && (p.AckReq || in.First || in.Only) { // a NAK names the first packet of a message, an ACK the last
			t.match.Note(uint64(host)<<1|uint64(dir), id>>1, p.PSN, p.PSN)
		}
		return id, c
	}
	if !in.Response || id&1 != 0 {
		return id, c
	}
	if stream.ReusesQP(&c.Pair, 0, p) {
		id, c = t.reuse(&c.Pair, 0, p, host, dir)
	}
	back := reverse(p.Src, p.Dst, dir)
	i, ok := t.requesterOf(c, p, host, back)
	if !ok {
		i, ok = t.requesterTold(p, host, back)
	}
	if !ok || i == id>>1 {
		t.hosts.list[host].answered[dir] = true
		return id, c
	}
	i = t.rightful(i, p)
	to := t.pairs.at(i)
	if to.Dead() || to.Service != c.Service || !to.awaitsPeer(p) {
		t.anotherPeer(to, p)
		t.hosts.list[host].answered[dir] = true
		return id, c
	}
	if stream.IsOfReusedQP(&c.Pair, p, to.FirstTime) {
		id, c = t.reuse(&c.Pair, 0, p, host, dir)
	}
	t.join(to, i, c, id>>1, p, host, dir)
	gone := id >> 1
	id = i<<1 | 1
	t.flows.put(flowKey(host, dir, p.DestQP), 0, id)
	t.bury(gone, &t.hosts.list[host], to, 1)
	return id, to
}

// awaitsPeer reports whether the other direction of a connection is not known, and response p may be of it: its QPN is not another one that an HCA agent has reported.
func (c *Connection) awaitsPeer(p *packet.Packet) bool {
	a := &c.Ends[0]
	return !c.Paired && (!a.Numbered || a.Number == p.DestQP)
}

// anotherPeer has a response judged that answers a request of connection to and went to another QP than the one that sends it, where HCA agents that tell all from
// the beginning have told both, and nothing of the QP that the response went to.
func (t *Table) anotherPeer(to *Connection, p *packet.Packet) {
	a, b := &to.Ends[0], &to.Ends[1]
	if t.OneClock && !to.Dead() && !to.Paired && to.Service == packet.RC && a.Numbered && a.Number != p.DestQP &&
		b.Knows(qp.KnowsDestQPN|qp.KnowsDestAddr) && b.Attr.DestAddr == a.Addr && b.Attr.DestQPN == a.Number && t.resolved[attrKey{qp: wqe.QP{Addr: p.Dst, QPN: p.DestQP}}] == nil {
		t.Judge.PeerQP(&to.Pair, 1, p)
	}
}

// requesterOf finds the connection that sent the requests which the responses of c answer: one in the direction back.
func (t *Table) requesterOf(c *Connection, p *packet.Packet, host, back uint32) (i uint32, ok bool) {
	scope := uint64(host)<<1 | uint64(back)
	if i, ok = t.match.Match(scope, p.PSN); ok {
		return i, true
	}
	if t.reuseElsewhere(p, host, back) {
		if i, ok = t.match.Match(scope, p.PSN); ok {
			return i, true
		}
	}
	n := 0
	if i, n = t.search(host, back, p); n == 0 {
		i, n = t.pairedByMisdirected(c, p, host, back)
	}
	return i, n == 1
}

// requesterTold finds the connection that the responses of a queue pair are to where an HCA agent has told who its peer is, whatever their PSN: one that has sent
// nothing, of which the agent has told with which PSN it begins, begins here.
func (t *Table) requesterTold(p *packet.Packet, host, back uint32) (i uint32, ok bool) {
	qpn, ok := t.responderTold(p)
	if !ok {
		return 0, false
	}
	key := flowKey(host, back, qpn)
	if f := t.flows.find(key, 0); f != nil {
		return f.way >> 1, f.way&1 == 0
	}
	start := t.resolved[attrKey{qp: wqe.QP{Addr: p.Dst, QPN: p.DestQP}}]
	if start == nil || !start.Has(qp.KnowsSQPSN) {
		return 0, false
	}
	request := *p
	request.Src, request.Dst, request.SGID, request.DGID, request.DestQP = p.Dst, p.Src, p.DGID, p.SGID, qpn
	id, c := t.newConnection(&request, host, back, key)
	qp.Begin(&c.Pair, 0, start.SQPSN)
	return id >> 1, true
}

// seenFromStart reports whether connection to began with the first request of its queue pair, and response p of c is the first to it.
func (t *Table) seenFromStart(to, c *Connection, p *packet.Packet) bool {
	q, lone := &to.Ends[0].SQ, c.Ends[0].Lone()
	if !t.OneClock || !q.Joined || lone.Seen {
		return false
	}
	requester, responder := t.resolved[attrKey{qp: wqe.QP{Addr: p.Dst, QPN: p.DestQP}}], t.resolved[attrKey{qp: wqe.QP{Addr: p.Src, QPN: to.Ends[1].Number}}]
	return requester != nil && requester.Has(qp.KnowsSQPSN) && requester.SQPSN == q.First || responder != nil && responder.Has(qp.KnowsRQPSN) && responder.RQPSN == q.First
}

// join makes connection c, of index gone, the other direction of connection to, of index i, whose requests response p answers.
func (t *Table) join(to *Connection, i uint32, c *Connection, gone uint32, p *packet.Packet, host, dir uint32) {
	back := reverse(p.Src, p.Dst, dir)
	waiting := &t.hosts.list[host].waiting
	switch {
	case t.Crowded(p):
		to.Guessed = qp.GuessedLate
	case waiting[back] > fewWaiting:
		to.Guessed = qp.Guessed
	}
	waiting[back], waiting[dir] = waiting[back]-1, waiting[dir]-1
	psn := p.PSN
	if t.seenFromStart(to, c, p) {
		psn = to.Ends[0].SQ.First // nothing was answered before
	}
	responded := merge(to, c, psn)
	t.watchPaired(host, back, i, p)
	pmtu := t.told(to, p, responded)
	if pmtu == 0 {
		pmtu = max(to.PMTU, c.PMTU)
	}
	t.Judge.PathMTU(&to.Pair, pmtu)
	t.match.Forget(i)
	t.match.Forget(gone)
}

// fewWaiting is how many connections of which one direction was seen may wait in a direction for one to be found by a single PSN: of more, one may expect it by
// chance, while the one that the response is to has sent nothing yet that the capture holds.
const fewWaiting = 64

// searched is up to how many unpaired connections of a pair of hosts are searched for the one that a response answers.
const searched = 64

// search looks for the one unpaired connection that sent a request with the response's PSN: with many requests outstanding the
// matcher, which knows the newest of each, may not find it. It returns how many there are, too; many where it is not known.
func (t *Table) search(host, dir uint32, p *packet.Packet) (uint32, int) {
	list := &t.hosts.list[host].unpaired[dir]
	live := (*list)[:0]
	for _, i := range *list {
		if c := t.pairs.at(i); !c.Paired && !c.Dead() {
			live = append(live, i)
		}
	}
	*list = live
	if len(live) > searched {
		return 0, len(live)
	}
	found, n := uint32(0), 0
	for _, i := range live {
		if w, _ := t.pairs.at(i).Ends[0].SQ.Messages.Find(p.PSN); w != nil && w.Answers(p.Opcode.Fn()) {
			found, n = i, n+1
		}
	}
	return found, n
}

// NeverAnswered reports whether nothing has answered a connection of which one direction was seen: no response came the other way that may be to it.
func (t *Table) NeverAnswered(c *qp.Pair) bool {
	if c.Paired || t.hosts.used == 0 {
		return false
	}
	s := t.hosts.slot(c.Ends[1].Addr, c.Ends[0].Addr)
	return s.way == 0 || !t.hosts.list[(s.way-1)>>1].answered[(s.way-1)&1]
}
