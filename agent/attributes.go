package agent

import (
	"iter"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Attributes tells the agent what an HCA agent knows of a QP. It holds for connections that begin later.
func (t *Transport) Attributes(a packet.Addr, qpn uint32, attr qp.Attr) {
	t.resolved[attrKey{qp: wqe.QP{Addr: a, QPN: qpn}}] = &knownAttr{Attr: attr}
	if attr.Has(qp.KnowsDestQPN|qp.KnowsDestAddr) && connects(attr.Service) {
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

// resolvedQPs are the QPs that an HCA agent told of.
func (t *Transport) resolvedQPs() iter.Seq[wqe.QP] {
	return func(yield func(wqe.QP) bool) {
		for k := range t.resolved {
			if k.peer.IsZero() && !yield(k.qp) {
				return
			}
		}
	}
}

// unknow forgets what an HCA agent told of a QP, for connections that begin later.
func (t *Transport) unknow(q wqe.QP) {
	delete(t.resolved, attrKey{qp: q})
	delete(t.fresh, q)
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
	peer packet.Addr // that asked, or zero where an HCA agent told
}

// knownAttr is what was told, and when somebody needed it last.
type knownAttr struct {
	qp.Attr
	at int64
}

// remembered is for how long what SIDR said holds although no datagram needs it: the number may have gone to another QP, and nothing on the wire ends one of UD.
const remembered = int64(10 * time.Second)

// attr returns what is known of a QP for judging what it exchanges with peer from time now on, or nil.
func (t *Transport) attr(a packet.Addr, qpn uint32, peer packet.Addr, now int64) *qp.Attr {
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

// sender fills in which QP it is that sends the first packet of a connection, where an HCA agent has told.
func (t *Transport) sender(c *connection, p *packet.Packet) {
	q := t.towards[towards{p.Src, p.Dst, p.DestQP}]
	if a := &c.Ends[0]; !q.Addr.IsZero() && c.Reliable() && p.Info().Request {
		a.Number, a.Numbered = q.QPN, true
		a.Attr = t.attr(q.Addr, q.QPN, p.Dst, p.Time)
	}
}
