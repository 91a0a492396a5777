package smp

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/subnet"
)

// origin names a node by its directed route from one side of a tapped link.
type origin struct {
	link  uint32 // that the requests leave by
	count uint8
	path  [64]byte
}

// noteOrigin notes, of a request on a directed route, where it began, and which port sends on this link: the one that its path names, of the node
// that is a hop nearer.
func (v *Verifier) noteOrigin(x *exchange) {
	s, hop := &v.s, v.s.HopPointer()
	if s.DrSLID != permissive || hop < 1 || hop > s.HopCount() {
		return
	}
	if hop == 1 {
		x.link = v.p.Link
	}
	if x.link == 0 || hop == 1 {
		return
	}
	o := origin{link: x.link, count: uint8(hop - 1)}
	copy(o.path[:], hopsOf(s.Initial, hop-1))
	if n := v.origins[o]; n != nil {
		v.senders[v.p.Link] = place{node: n, number: s.Initial[hop]}
	}
}

// noteResponder notes, of a node that says who it is, the port by which it does.
func (v *Verifier) noteResponder(x *exchange, n *subnet.Node, local uint8) {
	s := &v.s
	if v.p.Link == 0 || !s.Directed() || s.DrSLID != permissive || s.DrDLID != permissive {
		return
	}
	if s.HopPointer() == s.HopCount() {
		v.senders[v.p.Link] = place{node: n, number: local}
	}
	if x.link != 0 && len(v.origins) < most {
		o := origin{link: x.link, count: uint8(s.HopCount())}
		copy(o.path[:], hopsOf(s.Initial, s.HopCount()))
		v.origins[o] = n
	}
}

// opposite is the port of a link that another one faces.
func opposite(link uint32) uint32 { return (link - 1) ^ 1 + 1 }

// Leaves judges a unicast packet on a tapped link by the forwarding table of the switch that sends it there (rule LNK-SW-002). A channel adapter at the
// other end proves it: nothing passes through.
func (v *Verifier) Leaves(p *packet.Packet) {
	from := v.senders[p.Link]
	if p.Link == 0 || from.node == nil || from.node.Type != subnet.Switch || p.DLID == 0 || p.DLID >= 0xC000 || p.VL == 15 {
		return
	}
	port, known := from.node.Egress(p.DLID)
	if !known || p.Time-from.node.Routed <= underway {
		return
	}
	v.p, v.mine, v.s.Class = p, true, 0
	if own := v.Subnet.Port(p.SLID); own != nil && own.Node == from.node {
		return // what it sends itself
	}
	if !v.breaks(rule.LNKSW002, port != from.number) {
		return
	}
	class := rule.Unproven
	if v.endsAtAdapter(p, port) && !v.Lossy {
		class = rule.Violation
	}
	want := fmt.Sprintf("LID %d by port %d of switch 0x%016x", p.DLID, port, from.node.GUID)
	if port == noRoute {
		want = fmt.Sprintf("no packet to LID %d, for which switch 0x%016x has no route", p.DLID, from.node.GUID)
	}
	v.report(rule.LNKSW002, class, rule.Network, want, fmt.Sprintf("by port %d", from.number))
}

// noRoute is the entry of a forwarding table by which a switch discards packets.
const noRoute = 255

// endsAtAdapter reports whether a link that a switch sends a packet on ends at a channel adapter that is not its destination. port is what the forwarding table has.
func (v *Verifier) endsAtAdapter(p *packet.Packet, port uint8) bool {
	to := v.senders[opposite(p.Link)]
	if to.node == nil || to.node.Type != subnet.ChannelAdapter {
		return false
	}
	q := v.Subnet.Port(p.DLID)
	return port == noRoute || q == nil || q.Node != to.node || q.Number != to.number
}
