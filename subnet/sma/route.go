package sma

import "ibwitness/mad"

// Route is what becomes of a packet at a node.
type Route uint8

// What may become of it.
const (
	Discard Route = iota
	Deliver       // to the agents of the node, or to the manager at it
	Forward       // out of a port
	ByLID         // a directed route goes on by its LIDs
)

// Relay takes an SMP on a directed route one step on, and writes hop pointer and return path into b, 256 bytes (C14-6, C14-9, C14-13, table T17). number is the port
// at which it came in; own says that it comes from the node itself: a request that begins there, or the response to one that was delivered.
func (n *Node) Relay(number uint8, own bool, b []byte) (r Route, out uint8) {
	var s mad.SMP
	if s.Decode(b) != nil || !s.Directed() {
		return Discard, 0
	}
	if s.HopCount() > mad.MaxHops && (!n.has(hopsUnchecked) || s.HopPointer() >= mad.MaxHops) {
		return n.beyond(), 0
	}
	if s.Backward() {
		r, out = n.back(&s, own)
	} else {
		r, out = n.outward(&s, number, own)
	}
	if r == Forward && (out == 0 || n.at(int(out)) == nil) {
		return Discard, 0
	}
	b[6] = uint8(s.HopPointer())
	if own && s.Backward() && r == Forward {
		n.rewrite(b)
	}
	return r, out
}

// rewrite is what a faulty node makes of its response on a directed route, when it has chosen the port out of which that leaves.
func (n *Node) rewrite(b []byte) {
	switch {
	case n.has(drLIDsChanged):
		b[33] ^= 1
		b[35] ^= 1
	case n.has(drCountChanged):
		b[7]++
	case n.has(drPointerKept):
		b[6]++
	case n.has(drDirectionLost):
		b[4] &^= 0x80
	}
}

// beyond is what becomes of an SMP whose hop pointer or count is beyond its end.
func (n *Node) beyond() Route {
	if n.has(hopsUnchecked) {
		return Deliver
	}
	return Discard
}

// outward is C14-9: a request, or a trap.
func (n *Node) outward(s *mad.SMP, number uint8, own bool) (Route, uint8) {
	hp, hc := s.HopPointer(), s.HopCount()
	switch {
	case hp == 0 && hc > 0:
		if !own {
			return Discard, 0
		}
		s.SetHops(1, hc)
		return Forward, s.Initial[1]
	case hp < hc:
		if n.sw == nil {
			return Discard, 0
		}
		s.Return[hp] = n.ingress(number)
		s.SetHops(hp+1, hc)
		if n.has(drOutWrong) {
			return Forward, s.Initial[hp]
		}
		return Forward, s.Initial[hp+1]
	case hp == hc:
		if hc > 0 {
			s.Return[hp] = n.ingress(number)
		}
		s.SetHops(hp+1, hc)
		return n.end(s.DrDLID), 0
	case hp == hc+1:
		return Deliver, 0
	}
	return n.beyond(), 0
}

// ingress is the port that the return path gets.
func (n *Node) ingress(number uint8) uint8 {
	if n.has(drReturnWrong) {
		return number%n.config.Ports + 1
	}
	return number
}

// end is what becomes of an SMP at the end of the directed part of its route: only a switch lets it go on by LIDs.
func (n *Node) end(lid uint16) Route {
	switch {
	case lid == mad.PermissiveLID, n.has(drEndDelivered):
		return Deliver
	case n.sw != nil:
		return ByLID
	}
	return Discard
}

// back is C14-13: a response.
func (n *Node) back(s *mad.SMP, own bool) (Route, uint8) {
	hp, hc := s.HopPointer(), s.HopCount()
	switch {
	case n.has(drBeyondRelayed) && !own && (hp == 1 && s.DrSLID == mad.PermissiveLID || hp > hc+1):
		return Forward, s.Return[1]
	case hp == 0:
		return Deliver, 0
	case hp > hc+1:
		return n.beyond(), 0
	case hp == 1:
		s.SetHops(0, hc)
		return n.end(s.DrSLID), 0
	case hp == hc+1 && !own, hp <= hc && n.sw == nil:
		return Discard, 0
	}
	s.SetHops(hp-1, hc)
	out := s.Return[hp-1]
	switch {
	case !own && n.has(drBackWrong):
		out = s.Return[hp]
	case own && n.has(drReturnRewritten):
		s.Return[hp-1]++
	case own && n.has(drInitialCleared):
		clear(s.Initial)
	}
	return Forward, out
}

// Unicast says what becomes of a packet with a unicast DLID that came in at a port, or, own, comes from the node itself: whether it is for the node, else where
// a switch forwards it to (section 18.2.4.3). Another node sends its own out of the port that they come from.
func (n *Node) Unicast(number uint8, own bool, dlid uint16) (Route, uint8) {
	if n.Owns(number, dlid) {
		return Deliver, 0
	}
	if n.sw == nil {
		if own && n.at(int(number)) != nil {
			return Forward, number
		}
		return Discard, 0
	}
	out, ok := n.Egress(dlid)
	if !ok && out > n.config.Ports && out != noPort && n.has(lftPortUnchecked) {
		return Forward, number
	}
	if !ok || out == 0 || !own && out == number {
		return Discard, 0
	}
	return Forward, out
}
