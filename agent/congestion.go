package agent

import (
	"ibwitness/packet"
	"ibwitness/verifier"
)

// marks returns where the marks of packets from one address to another are kept.
func (t *Transport) marks(from, to packet.Addr) **verifier.Marks {
	host, dir := t.hosts.find(from, to)
	return &t.hosts.list[host].marks[dir]
}

// owed judges the marks that nobody has told of by a time.
func (t *Transport) owed(now int64) {
	for i := range t.hosts.list {
		for _, m := range t.hosts.list[i].marks {
			if m != nil {
				t.ver.CongestionEnds(m, now)
			}
		}
	}
}

// notified verifies a congestion notification packet. It names the QP that shall slow down, whose connection may be known.
func (t *Transport) notified(p *packet.Packet, host, dir uint32) {
	since := t.hosts.list[host].first
	c, from := (*connection)(nil), 0
	if id, ok := t.flows.get(flowKey(host, dir, p.DestQP), 0); ok {
		c, from = t.pairs.at(id>>1), int(id&1)
	}
	if p.Encap == packet.Native {
		t.ver.Backward(c.pair(), from, p)
		return
	}
	t.ver.CNP(c.pair(), from, p, since)
}

// remarked verifies the mark on a packet that another tap has shown without it.
func (t *Transport) remarked(p *packet.Packet) {
	if p.Has&packet.HasBTH == 0 || p.Has&(packet.HasIPv4|packet.HasIPv6) == 0 || p.ICRCState == packet.CRCBad {
		return
	}
	host, dir := t.hosts.find(p.Src, p.Dst)
	if id, ok := t.flows.get(flowKey(host, dir, p.DestQP), 0); ok && p.Opcode.Service() <= packet.UC {
		t.ver.Remarked(&t.pairs.at(id>>1).Pair, int(id&1), p, t.repeats.ecn)
		return
	}
	t.ver.Remarked(nil, 0, p, t.repeats.ecn)
}
