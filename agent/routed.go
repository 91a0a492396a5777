package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
)

// routed takes a packet that was seen already, before or after a router or at another mirrored port, and reports whether it was: it was sent once, and is judged once.
func (t *Transport) routed(p *packet.Packet, host, dir uint32) bool {
	since, hop, is := t.table.Routed(p, host, dir)
	switch is {
	case connection.NoCopy:
		return false
	case connection.RoutedCopy:
		t.ver.Copies.Route(p, since, hop)
	case connection.MirroredCopy:
		t.ver.Copies.Mirror(p)
	}
	if t.table.AnyNear() { // what is shown at one of the ports need not have passed the other
		t.twoTaps(p)
	}
	t.seenAgain(p)
	return true
}

// seenAgain takes of a packet that was seen already what the network has changed.
func (t *Transport) seenAgain(p *packet.Packet) {
	p.Copy = true
	if p.TClass&3 == 3 && t.table.FirstECN() != 3 {
		t.remarked(p)
	} else if p.Flaws&packet.FlawOuterMark != 0 {
		t.congestion.Unfollowed(p)
	}
}
