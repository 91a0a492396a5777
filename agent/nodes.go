package agent

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// nodes fills in, at the end, which nodes the endpoints of the findings are, as far as subnet management has shown.
func (t *Transport) nodes() {
	if len(t.smp.Subnet.Nodes) == 0 {
		return
	}
	for i := range t.Rec.Findings {
		f := &t.Rec.Findings[i]
		t.node(&f.Accused)
		t.node(&f.Peer)
	}
}

func (t *Transport) node(e *rule.Endpoint) {
	n := t.smp.Subnet.Find(e.Node.GUID)
	if e.Node.GUID == 0 && e.Addr.IsLID() {
		if p := t.smp.Subnet.Port(packet.LIDOf(e.Addr)); p != nil {
			n = p.Node
		}
	}
	if n != nil {
		e.Node.GUID, e.Node.Description = n.GUID, n.Description
	}
}
