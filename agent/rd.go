package agent

import "ibwitness/packet"

// reliable verifies a packet of RD. Like one of RC it names only its destination, which is an end-to-end context; the two directions are
// found to belong together by a response.
func (t *Transport) reliable(p *packet.Packet, host, dir uint32) {
	c, from := t.table.ContextsOf(p, host, dir)
	doubt := func() {
		if c != nil {
			t.services[packet.RD].Gap(&c.Pair, from, p)
		}
	}
	if k, _ := t.table.Named(p, host, dir); k != nil { // a QP does not change its service for one packet
		doubt()
		t.other(p, host, dir)
		return
	}
	if !t.seal(nil, 0, p, host, dir) {
		doubt()
		return
	}
	c, from = t.table.FindContexts(c, from, p, host, dir)
	c.Count(from, p)
	t.header.Packet(nil, 0, p) // the packet names its queue pairs
	t.services[packet.RD].Packet(&c.Pair, from, p)
}
