package connection

import (
	"iter"
	"maps"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Attributes tells the table what an HCA agent knows of a QP. It holds for connections that begin later.
func (t *Table) Attributes(a packet.Addr, qpn uint32, attr qp.Attr) {
	k := attrKey{qp: wqe.QP{Addr: a, QPN: qpn}}
	if was := t.resolved[k]; was != nil {
		was.Known &= attr.Known // what is not known any more, is not for connections that there are either
	}
	t.resolved[k] = &knownAttr{Attr: attr}
	if attr.Has(qp.KnowsDestQPN|qp.KnowsDestAddr) && Connects(attr.Service) {
		k, q := towards{a, attr.DestAddr, attr.DestQPN}, wqe.QP{Addr: a, QPN: qpn}
		if was, ok := t.towards[k]; ok && was != q {
			q = wqe.QP{} // which of the two sends is not known
		}
		t.towards[k] = q
	}
	if attr.Has(qp.KnowsSQPSN) {
		t.fresh[wqe.QP{Addr: a, QPN: qpn}] = true
	}
}

// ResolvedQPs are the QPs that an HCA agent reported.
func (t *Table) ResolvedQPs() iter.Seq[wqe.QP] {
	return func(yield func(wqe.QP) bool) {
		for k := range t.resolved {
			if k.peer.IsZero() && !yield(k.qp) {
				return
			}
		}
	}
}

// Unknow forgets what an HCA agent reported of a QP, for connections that begin later.
func (t *Table) Unknow(q wqe.QP) {
	delete(t.resolved, attrKey{qp: q})
	delete(t.fresh, q)
	delete(t.reborn, q)
	for k, v := range t.towards {
		if v == q {
			delete(t.towards, k)
		}
	}
}

// attrKey is a QP that something is known of. What SIDR said is known to the host that asked: another one may be in another shard, and
// what is found must not depend on that.
type attrKey struct {
	qp   wqe.QP
	peer packet.Addr // that asked, or zero where an HCA agent reported it
}

// knownAttr is what was told, and when somebody needed it last.
type knownAttr struct {
	qp.Attr
	at int64
}

// told takes over what an HCA agent has reported of the QPs of a connection whose directions response p has shown to be one, and returns its path MTU, or 0 where
// that is what packets show. responded says which ends have sent a response before p.
func (t *Table) told(c *Connection, p *packet.Packet, responded [2]bool) (pmtu uint32) {
	for k := range c.Ends {
		if e := &c.Ends[k]; e.Attr == nil {
			e.Attr = t.Attr(e.Addr, e.Number, c.Ends[1-k].Addr, p.Time)
			c.Unlook()
		}
	}
	if !t.OneClock {
		return 0
	}
	for k := range c.Ends {
		e, peer := &c.Ends[k], &c.Ends[1-k]
		if f := t.resolved[attrKey{qp: wqe.QP{Addr: e.Addr, QPN: e.Number}}]; f != nil {
			began(&peer.SQ, c.RQ(k), !responded[k] && f.Has(qp.KnowsRQPSN), f.RQPSN)
			began(&e.SQ, c.RQ(1-k), !responded[1-k] && f.Has(qp.KnowsSQPSN), f.SQPSN)
		}
	}
	if e := &c.Ends[0]; e.Knows(qp.KnowsPMTU) {
		pmtu = e.Attr.PMTU
	}
	switch e := &c.Ends[1]; {
	case !e.Knows(qp.KnowsPMTU):
	case pmtu == 0:
		pmtu = e.Attr.PMTU
	case pmtu != e.Attr.PMTU: // what each sends and accepts is compared with what it was given
		pmtu = 0
	}
	if e := &c.Ends[1]; c.Service == packet.RC && e.Knows(qp.KnowsDestQPN|qp.KnowsDestAddr) && e.Attr.DestAddr == p.Dst {
		t.Judge.PeerQP(&c.Pair, 1, p)
	}
	return pmtu
}

// began takes over that a responder counts the messages of a send queue from 0 on, where nothing was responded to and start, the PSN at which it begins, is known.
func began(q *qp.SendQueue, r *qp.ReceiveQueue, known bool, start packet.PSN) {
	if known && q.Joined && q.First == start && r.MSN.Degree == qp.MSNUnknown {
		r.MSN.Begin()
	}
}

// remembered is for how long what SIDR said holds although no datagram needs it: the number may have gone to another QP, and nothing on the wire ends one of UD.
const remembered = int64(10 * time.Second)

// Attr returns what is known of a QP for judging what it exchanges with peer from time now on, or nil.
func (t *Table) Attr(a packet.Addr, qpn uint32, peer packet.Addr, now int64) *qp.Attr {
	k := attrKey{wqe.QP{Addr: a, QPN: qpn}, peer}
	if f := t.resolved[k]; f != nil && now-f.at <= remembered {
		f.at = now
		return &f.Attr
	}
	k.peer = packet.Addr{}
	if f := t.resolved[k]; f != nil {
		return &f.Attr
	}
	return nil
}

// towards is where a connected QP sends.
type towards struct {
	from, to packet.Addr
	qpn      uint32
}

// sender fills in which QP it is that sends the first packet of a connection, where an HCA agent has reported it.
func (t *Table) sender(c *Connection, p *packet.Packet) {
	q := t.towards[towards{p.Src, p.Dst, p.DestQP}]
	if a := &c.Ends[0]; !q.Addr.IsZero() && (c.Reliable() || c.Service == packet.UC) && p.Info().Request {
		a.Number, a.Numbered = q.QPN, true
		a.Attr = t.Attr(q.Addr, q.QPN, p.Dst, p.Time)
	}
}

// responderTold returns which queue pair it is that sends response p, where an HCA agent that tells all from the beginning has reported it.
func (t *Table) responderTold(p *packet.Packet) (qpn uint32, ok bool) {
	if !t.OneClock {
		return 0, false
	}
	if q := t.towards[towards{p.Src, p.Dst, p.DestQP}]; !q.Addr.IsZero() {
		return q.QPN, true
	}
	a := t.resolved[attrKey{qp: wqe.QP{Addr: p.Dst, QPN: p.DestQP}}]
	if a == nil || !a.Has(qp.KnowsDestQPN|qp.KnowsDestAddr) || a.DestAddr != p.Src {
		return 0, false
	}
	return a.DestQPN, true
}

// Resolve takes what SIDR told peer of a QP.
func (t *Table) Resolve(q wqe.QP, peer packet.Addr, attr *qp.Attr, at int64) {
	t.resolved[attrKey{q, peer}] = &knownAttr{*attr, at}
}

// IsFresh reports whether the start PSN of a QP is known, and it has sent nothing yet.
func (t *Table) IsFresh(q wqe.QP) bool { return t.fresh[q] }

// Unfresh takes it that a QP has sent before.
func (t *Table) Unfresh(q wqe.QP) { delete(t.fresh, q) }

// UnfreshOf takes it that all QPs of a host have sent before.
func (t *Table) UnfreshOf(a packet.Addr) {
	maps.DeleteFunc(t.fresh, func(q wqe.QP, _ bool) bool { return q.Addr == a })
}

// FreshQPs reports whether there are any whose start PSN is known, and that have sent nothing yet.
func (t *Table) FreshQPs() bool { return len(t.fresh) > 0 }

// Reborn tells the table that a connected QP, of which an HCA agent tells, has begun another life, in which it starts at the PSN of its attributes.
func (t *Table) Reborn(q wqe.QP) { t.reborn[q] = true }

// IsReborn reports whether a QP has begun another life, of which no packet has come yet.
func (t *Table) IsReborn(q wqe.QP) bool { return t.reborn[q] }

// BeginsLife reports whether a packet is the first request of another life of the QP that sends it.
func (t *Table) BeginsLife(p *packet.Packet) bool {
	if len(t.reborn) == 0 || !p.Info().Request {
		return false
	}
	q := t.towards[towards{p.Src, p.Dst, p.DestQP}]
	f := t.resolved[attrKey{qp: q}]
	return t.reborn[q] && f != nil && p.PSN == f.SQPSN
}

// Begins has the first datagram of a QP judged for its PSN, to whichever destination it goes.
func (t *Table) Begins(q *qp.QP) {
	k := wqe.QP{Addr: q.Addr, QPN: q.Number}
	if !t.fresh[k] {
		return
	}
	delete(t.fresh, k)
	q.SQ.Fresh, q.SQ.Next = true, t.resolved[attrKey{qp: k}].SQPSN
}
