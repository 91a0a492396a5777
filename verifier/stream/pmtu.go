package stream

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// PathMTU takes the path MTU that was learned of one direction of a connection for both, once they are paired; 0: not learned.
func (v *Verifier) PathMTU(c *qp.Pair, pmtu uint32) {
	if pmtu != 0 {
		v.LearnPMTU(c, nil, pmtu)
	}
}

// LearnPMTU notes the path MTU of a connection, that p shows, and settles READs that waited for it.
func (v *Verifier) LearnPMTU(c *qp.Pair, p *packet.Packet, pmtu uint32) {
	c.LearnPMTU(pmtu)
	for from := range c.Ends {
		m := &c.Ends[from].SQ.Messages
		for i := range m.Len() {
			if w := m.At(i); w.Has(wqe.Unsized) {
				v.acknowledged.Sized(c, from, p, i, wqe.Packets(w.Length, pmtu))
			}
		}
	}
}
