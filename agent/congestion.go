package agent

import (
	"ibwitness/packet"
)

// owed judges the marks that nobody has told of by a time.
func (t *Transport) owed(now int64) {
	for h := range t.table.Hosts() {
		for _, m := range h.Marks {
			if m != nil {
				t.congestion.Finish(m, now)
			}
		}
	}
}

// notified verifies a congestion notification packet. It names the QP that shall slow down, whose connection may be known.
func (t *Transport) notified(p *packet.Packet, host, dir uint32) {
	since := t.table.Since(p.Src, p.Dst)
	c, from := t.table.Connection(t.table.Flow(p, host, dir))
	if p.Encap == packet.Native {
		t.congestion.Backward(c.QPs(), from, p)
		return
	}
	t.congestion.CNP(c.QPs(), from, p, since)
}

// remarked verifies the mark on a packet that another tap has shown without it.
func (t *Transport) remarked(p *packet.Packet) {
	if p.Has&packet.HasBTH == 0 || p.Has&(packet.HasIPv4|packet.HasIPv6) == 0 || p.ICRCState == packet.CRCBad {
		return
	}
	c, from := t.table.ConnectionTo(p)
	if p.Opcode.Service() > packet.UC {
		c, from = nil, 0
	}
	t.congestion.Remarked(c.QPs(), from, p, t.table.FirstECN())
}
