package agent

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
	"ibwitness/wqe"
)

// settled is how old what was captured is at most when it is verified.
const settled = int64(time.Second)

// judgeExchanges sets up the verifier of CM exchanges.
func (t *Transport) judgeExchanges() {
	t.talks = cm.New(&t.Rec)
	t.talks.Near = t.isNear
	t.talks.Lossy = func() bool { return t.lossy }
	t.talks.Since = func(a, b packet.Addr) int64 {
		host, _ := t.hosts.find(a, b)
		return t.hosts.list[host].first
	}
	t.talks.Traffic = func(q wqe.QP) (*qp.Pair, int, bool) {
		way, ok := t.bound[q]
		if !ok {
			return nil, 0, false
		}
		return &t.pairs.at(way >> 1).Pair, int(way & 1), true
	}
	t.talks.First = t.unconnected
}

// unconnected returns the first packet that host peer has sent to a queue pair of which nothing else is known, with its time, opcode and PSN.
func (t *Transport) unconnected(q wqe.QP, peer packet.Addr) (p packet.Packet, ok bool) {
	host, dir := t.hosts.find(peer, q.Addr)
	way, ok := t.flows.get(flowKey(host, dir, q.QPN), 0)
	if !ok || way&1 != 0 {
		return p, false
	}
	c := t.pairs.at(way >> 1)
	return packet.Packet{
		Encap: c.Encap, Has: packet.HasBTH, Opcode: c.firstOp, PSN: c.firstPSN, DestQP: q.QPN, Src: peer, Dst: q.Addr,
		Time: c.firstTime, Frame: c.firstFrame, Tap: c.firstTap,
	}, !c.Paired
}

// afterwards judges that a connection which CM has ended goes on.
func (t *Transport) afterwards(c *connection, from int, p *packet.Packet) {
	if e := &c.Ends[from]; e.Numbered {
		t.talks.Data(wqe.QP{Addr: e.Addr, QPN: e.Number}, p.Dst, e.Near, p)
	}
}
